// What can be recovered of a damaged compressed file: the content of every undamaged frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "formats/io/byte_source.h"

namespace btf::zstd {

struct SalvageOptions {
  // Use the bytes of a truncated frame, although no checksum covers them.
  bool cut_frame = false;
  // Cancellation and progress, in bytes of the file, after each frame.
  const Execution* execution = nullptr;
};

// Reading lost content is an error with the reason. The size is that of the content known to exist.
class SalvagedContent : public ByteSource {
 public:
  // An error if any of [offset, offset + bytes) is lost; the range must be within the content.
  virtual Status whole(std::uint64_t offset, std::uint64_t bytes) const = 0;

  virtual std::uint64_t frames() const = 0;  // frames with content that were found
  virtual std::uint64_t lost_frames() const = 0;
  // The first faults of the compressed file; their offsets refer to that file.
  virtual const std::vector<Error>& damage() const = 0;
};

// Uses the seek table if it does not contradict the frames; else goes from frame to frame, and
// after damage to the next magic number. Each frame is decompressed once to check it. Files with
// frames above kLargestFrame are read front to back up to the first damaged frame.
Result<std::unique_ptr<SalvagedContent>> salvage(std::string name, std::unique_ptr<ByteSource> file,
                                                 const SalvageOptions& options);

}  // namespace btf::zstd

// What is left of a damaged compressed file: the content of every frame that is as it was written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "formats/io/byte_source.h"

namespace btf::zstd {

// The rest of a damaged compressed file: the content of every frame that is as it was written.

struct SalvageOptions {
  // Use the bytes of a truncated frame, which no checksum covers.
  bool cut_frame = false;
  // Cancellation and progress, in bytes of the file, from frame to frame.
  const Execution* execution = nullptr;
};

// Reading what is lost is an error that says why. The size is that of what is known to be there.
class SalvagedContent : public ByteSource {
 public:
  // Is nothing of it lost? [offset, offset + bytes) lies in the content.
  virtual Status whole(std::uint64_t offset, std::uint64_t bytes) const = 0;

  virtual std::uint64_t frames() const = 0;  // with content, that were found
  virtual std::uint64_t lost_frames() const = 0;
  // The first faults of the compressed file; offsets are in that file.
  virtual const std::vector<Error>& damage() const = 0;
};

// By the seek table if it does not contradict the frames, else from frame to frame, and behind
// damage from the next magic number on. Each frame is decompressed once to see what it is worth.
// Frames above kLargestFrame are read front to back, up to the first that is damaged.
Result<std::unique_ptr<SalvagedContent>> salvage(std::string name, std::unique_ptr<ByteSource> file,
                                                 const SalvageOptions& options);

}  // namespace btf::zstd

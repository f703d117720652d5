// Compresses what is written to it into the seekable zstd format.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/io/byte_sink.h"
#include "formats/zstd/frame_encoder.h"

namespace btf::zstd {

// A piece has frames of its own, of so much content each, and less only in the last.
inline constexpr std::size_t kFrameContent = 1U << 20;
// But pieces up to this that follow on one another share frames,
inline constexpr std::uint64_t kSmallPiece = 256;
// as many as fit whole.
inline constexpr std::size_t kSharedFrame = 16U << 10;

class CompressingSink : public ByteSink {
 public:
  // The size of the compressed file. Ask after commit().
  virtual std::uint64_t file_bytes() const = 0;
};

// To be written front to back. `threads` compress, the calling one being one of them; the bytes do
// not depend on their number. commit() writes the seek table; `file` itself is not committed by it.
std::unique_ptr<CompressingSink> compressing_sink(ByteSink& file, Compression compression,
                                                  unsigned threads);

}  // namespace btf::zstd

// Compresses what is written to it into the seekable zstd format.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/byte_sink.h"
#include "formats/zstd/frame_encoder.h"

namespace btf::zstd {

// Content of a frame; the last before the end of a piece may have less.
inline constexpr std::size_t kFrameContent = 1U << 20;

class CompressingSink : public ByteSink {
 public:
  // Of the compressed file. Ask after commit().
  virtual std::uint64_t file_bytes() const = 0;
};

// To be written front to back. `threads` compress, the calling one being one of them; the bytes do
// not depend on their number. commit() writes the seek table; `file` itself is not committed by it.
std::unique_ptr<CompressingSink> compressing_sink(ByteSink& file, Compression compression,
                                                  unsigned threads);

}  // namespace btf::zstd

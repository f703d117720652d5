// Where a zstd frame ends, by the headers in it and without decompressing: what is needed to go from
// frame to frame in a file that has no seek table, or a wrong one.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf::zstd {

struct FrameShape {
  enum class Fault : std::uint8_t {
    none,
    cut,    // the file ends within it
    wrong,  // no such frame can be
  };

  Fault fault = Fault::none;
  std::uint64_t bytes = 0;               // in the file; of a frame without fault
  std::optional<std::uint64_t> content;  // bytes, as its header says
  std::uint64_t blocks = 0;
  std::uint64_t most_content = 0;  // what its blocks can hold
  bool checksum = false;
};

// The frame with content that begins there; one of more blocks is wrong. An error is one of
// reading.
Result<FrameShape> frame_shape(const ByteSource& file, std::uint64_t offset,
                               std::uint64_t most_blocks = UINT64_MAX);

}  // namespace btf::zstd

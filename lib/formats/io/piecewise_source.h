// Bytes that come from several places, as one source: parts of files, or of what other sources make
// of them (turned round, unpacked, decoded).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

struct Piece {
  std::uint64_t begin = 0;  // in the whole
  std::uint64_t length = 0;
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset = 0;  // in the source
};

// In ascending order, none over another; between them there may be gaps, which cannot be read. Each
// lies within its source. An error: they are not so.
Result<std::unique_ptr<ByteSource>> piecewise_source(std::vector<Piece> pieces);

}  // namespace btf

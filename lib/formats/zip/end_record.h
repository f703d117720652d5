// The end of a zip file, which says where its directory is.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf::zip {

struct EndRecord {
  std::uint64_t entries = 0;
  std::uint64_t directory_begin = 0;
  std::uint64_t directory_end = 0;  // inside the file
};

// Its comment, if any, ends with the file. The zip64 one counts where there is one.
Result<EndRecord> read_end(const ByteSource& source);

}  // namespace btf::zip

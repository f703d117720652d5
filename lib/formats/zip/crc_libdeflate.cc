// For programs that are linked statically.
#include <libdeflate.h>

#include "formats/zip/crc.h"

namespace btf {

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before) {
  // Of no bytes, libdeflate wants a pointer all the same: without one it starts anew.
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

}  // namespace btf

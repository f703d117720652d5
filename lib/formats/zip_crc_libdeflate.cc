#include <libdeflate.h>

#include "formats/zip_crc.h"

namespace btf {

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before) {
  // libdeflate restarts if the pointer is null, even for no bytes.
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

}  // namespace btf

#include <isa-l/crc.h>

#include "formats/zip_crc.h"

namespace btf {

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

}  // namespace btf

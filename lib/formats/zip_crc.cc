#include "formats/zip_crc.h"

#include <zlib.h>

namespace btf {

static_assert(sizeof(z_off_t) == 8, "members may have more than 2 GiB");

std::uint32_t CrcJoin::operator()(std::uint32_t first, std::uint32_t second,
                                  std::uint64_t second_bytes) {
  if (shift_ == 0 || bytes_ != second_bytes) {
    bytes_ = second_bytes;
    shift_ = crc32_combine_gen(static_cast<z_off_t>(second_bytes));
  }
  return static_cast<std::uint32_t>(crc32_combine_op(first, second, shift_));
}

}  // namespace btf

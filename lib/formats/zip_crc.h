// The crc of zip files: 32 bits of a content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace btf {

// The crc of `bytes` after others with the crc `before`.
std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Joins the crcs of two contents, for many whose second one has the same length.
class CrcJoin {
 public:
  std::uint32_t operator()(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t shift_ = 0;  // by so many bytes; finding it is most of the work
};

}  // namespace btf

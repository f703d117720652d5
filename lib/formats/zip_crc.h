// CRC-32 of zip files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace btf {

// The CRC of `bytes` that follow others with the CRC `before`.
std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Joins the CRCs of two contents, for many pairs whose second part has the same length.
class CrcJoin {
 public:
  std::uint32_t operator()(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t shift_ = 0;  // bytes of shift; computing it is most of the work
};

}  // namespace btf

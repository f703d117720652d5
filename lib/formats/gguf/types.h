// The types of ggml: numbers as they are, and blocks of codes with their scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "btf/dtype.h"

namespace btf {

// The numbers of one block, all of them.
using DecodeBlock = void (*)(const std::byte* block, float* numbers);

struct GgmlType {
  std::uint32_t code = 0;
  std::string_view name;
  std::uint32_t elements = 1;  // of a block
  std::uint32_t bytes = 0;
  std::optional<DType> dtype{};  // of a block of one element
  DecodeBlock decode = nullptr;
  // Its blocks have no field of more than a byte, so they are the same in big-endian files. Of the
  // scales of others writers turn round some, or none.
  bool any_endian = false;
};

// nullptr: there is no such type, or none any more.
const GgmlType* find_ggml_type(std::uint32_t code);

// Stands for all that find_ggml_type() does not know. Nobody knows how large its tensors are.
inline constexpr GgmlType kUnknownGgmlType{};

inline constexpr std::size_t kMostBlockElements = 256;

}  // namespace btf

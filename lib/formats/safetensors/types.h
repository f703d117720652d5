// The types of safetensors, in the order in which its reference counts them: tensors are written by
// it, the last type first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "btf/dtype.h"

namespace btf {

struct SafetensorsType {
  std::string_view name;
  std::uint8_t bits = 0;
};

inline constexpr auto kSafetensorsTypes = std::to_array<SafetensorsType>(
    {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
     {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
     {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
     {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
     {"I64", 64},        {"U64", 64}});

// Its index in the table.
std::optional<std::uint8_t> find_safetensors_type(std::string_view name);
std::optional<std::uint8_t> safetensors_type_of(DType dtype);

// Nothing: no dtype stands for it.
std::optional<DType> dtype_of(const SafetensorsType& type);

}  // namespace btf

// Scales and zero points found by their names alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "btf/attributes.h"
#include "btf/file.h"

namespace btf {

// A name that several have is no one's.
using NamedTensors = std::unordered_map<std::string, std::optional<std::uint64_t>>;

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index);

// A scale by its name, and another that has as good a name.
struct NamedScales {
  QuantizedBy by;
  std::optional<std::uint64_t> rival{};
};

// Tensors with the names of scales and zero points of these codes; nothing without a scale.
std::optional<NamedScales> scales_called_after(const NamedTensors& names, const std::string& codes);

// The kind of codes of this name and dtype that are known and cannot be decoded; empty for all
// others.
std::string_view undecoded_codes(const TensorInfo& codes);

// Does the name say that the tensor belongs to codes, so that it is none itself: a scale, a zero
// point, a shape, the order of groups?
bool is_called_part(std::string_view name);

// Why a tensor of this name is no scale of weights, though programs write it beside them: "a
// maximum, ..."; empty for all others.
std::string_view why_no_scale(std::string_view name);

}  // namespace btf

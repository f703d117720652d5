// Scales and zero points found by their names alone.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "btf/attributes.h"
#include "btf/file.h"

namespace btf {

// A name that several have is no one's.
using NamedTensors = std::unordered_map<std::string, std::optional<std::uint64_t>>;

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index);

// Tensors with the names of scales and zero points of these codes; nothing without a scale.
std::optional<QuantizedBy> scales_called_after(const NamedTensors& names, const std::string& codes);

// The kind of codes of this name and dtype that are known and cannot be decoded; empty for all
// others.
std::string_view undecoded_codes(const TensorInfo& codes);

// Links codes that the attributes link with none with the tensors that are called as theirs are
// (docs/convert.md, section 3).
void link_by_names(const TensorFile& file, FileAttributes& attributes);

// Those that the attributes call another tensor's scales or zero points.
std::set<std::uint64_t> linked_scales(const FileAttributes& attributes);

}  // namespace btf

#include "convert/quantize/scale_names.h"

#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "convert/quantize/plan_rules.h"

namespace btf {
namespace {

constexpr std::array<std::string_view, 2> kScale{"_scale", ".scale"};
constexpr std::array<std::string_view, 4> kZeroPoint{"_zero_point", ".zero_point", "_zp", ".zp"};
constexpr std::array<std::string_view, 1> kGlobalScale{"_scale_2"};

std::optional<std::uint64_t> find_companion(const NamedTensors& names, const std::string& codes,
                                            const auto& endings) {
  for (const std::string_view ending : endings)
    if (const auto at = names.find(codes + std::string(ending)); at != names.end())
      return at->second;
  return std::nullopt;
}

}  // namespace

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index) {
  const auto [at, added] = names.emplace(name, index);
  if (!added) at->second.reset();
}

std::optional<QuantizedBy> scales_called_after(const NamedTensors& names,
                                               const std::string& codes) {
  const auto scale = find_companion(names, codes, kScale);
  if (!scale) return std::nullopt;
  QuantizedBy by{.scale = *scale};
  by.zero_point = find_companion(names, codes, kZeroPoint);
  by.global_scale = find_companion(names, codes, kGlobalScale);
  return by;
}

std::set<std::uint64_t> linked_scales(const FileAttributes& attributes) {
  std::set<std::uint64_t> found;
  for (const auto& [index, tensor] : attributes.tensors) {
    if (!tensor.quantized) continue;
    const QuantizedBy& by = *tensor.quantized;
    for (const auto& link : {std::optional(by.scale), by.global_scale, by.zero_point})
      if (link) found.insert(*link);
  }
  return found;
}

void link_by_names(const TensorFile& file, FileAttributes& attributes) {
  std::set<std::uint64_t> linked = linked_scales(attributes);
  for (const auto& [index, tensor] : attributes.tensors)
    if (tensor.quantized) linked.insert(index);
  NamedTensors names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto record = file.tensor(i);
    if (!record || record->name.empty()) continue;
    add_name(names, record->name, i);
  }
  for (const auto& [name, index] : names) {
    if (!index || linked.contains(*index)) continue;
    const auto by = scales_called_after(names, name);
    if (!by) continue;
    const auto codes = file.tensor(*index);
    if (!codes || !holds_codes(*codes)) continue;
    attributes.tensors[*index].quantized = by;
  }
}

}  // namespace btf

#include "convert/quantize/scale_names.h"

#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "convert/quantize/plan_rules.h"

namespace btf {
namespace {

// Names of the companions of codes: the name of the codes with this behind it, in place of its end.
struct CompanionName {
  std::string_view ending;
  std::string_view replaced = {};
};

constexpr auto kScale = std::to_array<CompanionName>({
    {"_scale"},
    {".scale"},
    {"_scale_inv"},  // DeepSeek's: to be multiplied by, whatever it says
    {".scale", ".weight"},
    {".scale_inv", ".weight"},
});
constexpr auto kZeroPoint = std::to_array<CompanionName>({
    {"_zero_point"},
    {".zero_point"},
    {"_zp"},
    {".zp"},
    {".zero_point", ".weight"},
});
constexpr auto kGlobalScale = std::to_array<CompanionName>({{"_scale_2"}, {".scale_2", ".weight"}});

// Codes that stand for others, which btftool does not make numbers of.
struct UndecodedCodes {
  std::string_view ending;
  DType dtype{};
  std::string_view what;
};

constexpr auto kUndecoded = std::to_array<UndecodedCodes>({
    {".qweight", DType::int32, "GPTQ's or AWQ's, packed in int32, with 'scales' and 'qzeros'"},
    {".qzeros", DType::int32, "zero points of GPTQ or AWQ, packed in int32"},
    {"weight_packed", DType::int32, "compressed-tensors', packed in int32"},
    {"weight_packed", DType::uint8, "compressed-tensors', two float4_e2m1fn in a byte"},
    {"_blocks", DType::uint8, "blocks of MXFP4, two float4_e2m1fn in a byte, with '_scales'"},
    {".weight", DType::uint32, "MLX's, packed in uint32, with 'scales' and 'biases'"},
});

std::optional<std::uint64_t> find_companion(const NamedTensors& names, const std::string& codes,
                                            const auto& forms) {
  for (const CompanionName& form : forms) {
    if (!codes.ends_with(form.replaced)) continue;
    const std::string name =
        codes.substr(0, codes.size() - form.replaced.size()) + std::string(form.ending);
    if (const auto at = names.find(name); at != names.end()) return at->second;
  }
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

std::string_view undecoded_codes(const TensorInfo& codes) {
  for (const UndecodedCodes& row : kUndecoded)
    if (codes.dtype == row.dtype && codes.name.ends_with(row.ending)) return row.what;
  return {};
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

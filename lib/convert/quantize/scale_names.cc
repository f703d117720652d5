#include "convert/quantize/scale_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace btf {
namespace {

// Names of the companions of codes: the name of the codes with this behind it, in place of its end.
// Those that keep the whole name go first.
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
    {"weights_scaling_factor", "weight"},  // TensorRT-LLM's
    {"_scale", "_quantized"},              // onnxruntime's
    {"._scale", "._data"},                 // Quanto's
    {"scale", "qdata"},                    // torchao's
    {"scale", "int_data"},
});
constexpr auto kZeroPoint = std::to_array<CompanionName>({
    {"_zero_point"},
    {".zero_point"},
    {"_zp"},
    {".zp"},
    {".zero_point", ".weight"},
    {"_zero_point", "_quantized"},
    {"zero_point", "qdata"},
    {"zero_point", "int_data"},
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

// Tensors that come with codes and are not codes themselves.
constexpr auto kParts = std::to_array<std::string_view>({
    "_scale",       ".scale",      "_scale_inv", ".scale_inv",   "_scale_2",
    ".scale_2",     "_scales",     ".scales",    "_zero_point",  ".zero_point",
    "_zp",          ".zp",         "g_idx",      "weight_shape", "scaling_factor",
    "global_scale", ".absmax",     "_absmax",    ".quant_map",   "_quant_map",
    "_amax",        "quant_state.bitsandbytes__nf4",             "quant_state.bitsandbytes__fp4",
});

constexpr auto kNoScales = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"amax", "a maximum, not a scale: of int8 the scale is amax / 127, of float8_e4m3fn amax / 448"},
    {".SCB", "a maximum of each row, not a scale: the scale is SCB / 127"},
    {"absmax", "a maximum of each block of packed codes"},
    {"input_scale", "of activations"},
    {"output_scale", "of activations"},
    {"activation_scaling_factor", "of activations"},
});

std::optional<std::uint64_t> companion(const NamedTensors& names, const std::string& codes,
                                       const CompanionName& form) {
  if (!codes.ends_with(form.replaced)) return std::nullopt;
  const auto at = names.find(codes.substr(0, codes.size() - form.replaced.size()) +
                             std::string(form.ending));
  return at == names.end() ? std::nullopt : at->second;
}

// The first that there is, and another of the same rank.
std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>> companions(
    const NamedTensors& names, const std::string& codes, const auto& forms) {
  std::optional<std::uint64_t> first;
  bool whole_name = false;
  for (const CompanionName& form : forms) {
    const auto found = companion(names, codes, form);
    if (!found) continue;
    if (first && whole_name == form.replaced.empty()) return {first, found};
    if (first) break;
    first = found;
    whole_name = form.replaced.empty();
  }
  return {first, std::nullopt};
}

}  // namespace

void add_name(NamedTensors& names, const std::string& name, std::uint64_t index) {
  const auto [at, added] = names.emplace(name, index);
  if (!added) at->second.reset();
}

std::optional<NamedScales> scales_called_after(const NamedTensors& names,
                                               const std::string& codes) {
  const auto [scale, rival] = companions(names, codes, kScale);
  if (!scale) return std::nullopt;
  QuantizedBy by{.scale = *scale};
  by.zero_point = companions(names, codes, kZeroPoint).first;
  by.global_scale = companions(names, codes, kGlobalScale).first;
  return NamedScales{std::move(by), rival};
}

std::string_view undecoded_codes(const TensorInfo& codes) {
  for (const UndecodedCodes& row : kUndecoded)
    if (codes.dtype == row.dtype && codes.name.ends_with(row.ending)) return row.what;
  return {};
}

bool is_called_part(std::string_view name) {
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.ends_with(part); });
}

std::string_view why_no_scale(std::string_view name) {
  for (const auto& [ending, why] : kNoScales)
    if (name.ends_with(ending)) return why;
  return {};
}

}  // namespace btf

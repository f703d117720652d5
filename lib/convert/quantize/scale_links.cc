#include "convert/quantize/scale_links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "core/errors.h"

namespace btf {
namespace {

// Names of companions: the name of the codes with this ending, which is appended or replaces the
// ending of the codes. The former come first.
struct CompanionName {
  std::string_view ending;
  std::string_view replaced = {};
};

constexpr auto kScale = std::to_array<CompanionName>({
    {"_scale"},
    {".scale"},
    {"_scale_inv"},  // DeepSeek's; the codes are multiplied by it in spite of its name
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

// Packed codes that btftool does not decode.
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

// Endings of tensors that accompany codes and are not codes themselves.
constexpr auto kParts = std::to_array<std::string_view>({
    "_scale",
    ".scale",
    "_scale_inv",
    ".scale_inv",
    "_scale_2",
    ".scale_2",
    "_scales",
    ".scales",
    "_zero_point",
    ".zero_point",
    "_zp",
    ".zp",
    "g_idx",
    "weight_shape",
    "scaling_factor",
    "global_scale",
    ".absmax",
    "_absmax",
    ".quant_map",
    "_quant_map",
    "_amax",
    "quant_state.bitsandbytes__nf4",
    "quant_state.bitsandbytes__fp4",
});

constexpr auto kNoScales = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"amax",
     "a maximum, not a scale: of int8 the scale is amax / 127, of float8_e4m3fn amax / 448"},
    {".SCB", "a maximum of each row, not a scale: the scale is SCB / 127"},
    {"absmax", "a maximum of each block of packed codes"},
    {"input_scale", "of activations"},
    {"output_scale", "of activations"},
    {"activation_scaling_factor", "of activations"},
});

std::optional<std::uint64_t> companion(const NamedTensors& names, const std::string& codes,
                                       const CompanionName& form) {
  if (!codes.ends_with(form.replaced)) return std::nullopt;
  const auto at =
      names.find(codes.substr(0, codes.size() - form.replaced.size()) + std::string(form.ending));
  return at == names.end() ? std::nullopt : at->second;
}

// The first companion that exists, and another one of the same rank.
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

std::optional<NamedScales> scales_named_after(const NamedTensors& names, const std::string& codes) {
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

bool is_companion_name(std::string_view name) {
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.ends_with(part); });
}

std::string_view why_not_scale(std::string_view name) {
  for (const auto& [ending, why] : kNoScales)
    if (name.ends_with(ending)) return why;
  return {};
}

Status check_given_scale(const GivenScale& given, const TensorInfo& codes) {
  for (const double scale : given.scales)
    if (!(scale > 0) || !std::isfinite(scale))
      return refuse_scaling("a scale of " + number_text(scale) + "; scales must be positive");
  if (given.axis) {
    if (*given.axis >= codes.dims.size())
      return refuse_scaling(concat("there is no dim ", *given.axis,
                                   " for the scales, the tensor has rank ", codes.dims.size()));
    if (codes.dims[*given.axis] != given.scales.size())
      return refuse_scaling(concat(given.scales.size(), " scales for the ", codes.dims[*given.axis],
                                   " indices of dim ", *given.axis));
  }
  const bool shifted = std::ranges::any_of(given.zero_points, [](auto zero) { return zero != 0; });
  if (shifted && info(*codes.dtype).floating())
    return refuse_scaling("a zero point does not apply to " + std::string(info(*codes.dtype).name) +
                          ": only integers have one");
  return {};
}

void apply_given_scale(const GivenScale& given, Scales& scales) {
  scales.values = given.scales;
  scales.zero_points = given.zero_points;
  scales.axis = given.axis;
}

bool holds_codes(const TensorInfo& record) {
  return record.known() && record.storage && can_scale(*record.dtype);
}

std::string no_scales_text(const TensorFile& file, const TensorInfo& codes) {
  if (const std::string_view what = undecoded_codes(codes); !what.empty())
    return "its codes are " + std::string(what) + ": these are not decoded";
  std::string text =
      "no scales were found for its " + std::string(info(*codes.dtype).name) + " codes: ";
  if (!codes.named)
    return text + (file.tensor_count() == 1 ? "the file has no other tensor"
                                            : "no scale record follows them");
  text += "the file links no tensor as their scales, and none is called '" + codes.name + "_scale'";
  if (const std::string found = scale_candidates(file, codes); !found.empty())
    text += "; the file has " + found + ", but nothing says that they belong to it";
  return text;
}

std::unexpected<Error> refuse_scaling(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

bool is_integer(DType dtype) {
  return !info(dtype).floating() && info(dtype).kind != NumberKind::boolean;
}

bool is_code(std::int64_t number, DType integer) {
  const bool has_sign = info(integer).kind == NumberKind::signed_integer;
  const auto largest = static_cast<std::int64_t>(
      std::min<std::uint64_t>(largest_code(integer), std::numeric_limits<std::int64_t>::max()));
  return number >= (has_sign ? -largest - 1 : 0) && number <= largest;
}

Status check_zero_point(const Quantization& wanted, DType codes) {
  const std::int64_t zero = wanted.zero_point.value_or(0);
  if (zero == 0 && !wanted.find_zero_point) return {};
  const DTypeInfo& row = info(codes);
  const std::string name(row.name);
  if (row.floating())
    return refuse_scaling("a zero point does not apply to " + name + ": only integers have one");
  // The computed zero point fits a double, and so does a width of 32 bits times any float32.
  if (wanted.find_zero_point && row.bits > 32)
    return refuse_scaling(
        "a zero point can only be computed for integers of up to 32 bits, not for " + name);
  if (!is_code(zero, codes))
    return refuse_scaling(concat("the zero point ", zero, " is outside the range of ", name));
  return {};
}

// A cast that cannot lose anything accepts any policy, but not if it has a scale.
Status check_scaled_policy(const ScaledCast& cast) {
  const CastPolicy& policy = cast.policy;
  const DTypeInfo& target = info(cast.to);
  const std::string name(target.name);
  if (policy.overflow == Overflow::wrap)
    return refuse_scaling("overflow wrap does not apply with a scale: codes are clamped");
  if (policy.overflow == Overflow::ieee &&
      (!target.floating() || target.fp.specials == FloatSpecials::none))
    return refuse_scaling("overflow ieee does not apply to " + name + ": it has no Inf and no NaN");
  if (target.floating() && policy.rounding != Rounding::by_table &&
      policy.rounding != Rounding::nearest)
    return refuse_scaling("a rounding other than to nearest does not apply to " + name +
                          ": with a scale it applies to integers only");
  return {};
}

Status check_quantized_dtype(DType dtype) {
  if (can_scale(dtype)) return {};
  return refuse_scaling("a scale for " + std::string(info(dtype).name) +
                        " cannot be chosen: quantising needs an integer or a float of 8 bits or "
                        "less");
}

Status check_dequantized_dtype(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.floating() && row.bits > 8) return {};
  return refuse_scaling("dequantising gives float16, bfloat16, float32 or float64, not " +
                        std::string(row.name));
}

namespace {

constexpr std::size_t kMaxCandidates = 4;

// In a file with more tensors, each of which may ask, only tensors around the codes are considered.
constexpr std::uint64_t kMaxSearched = 1024;
constexpr std::uint64_t kAround = 32;

bool no_names(const TensorFile& file) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
    if (const auto name = file.own_name(i); name && *name) return false;
  return true;
}

// Returns true if these could be scales of the codes: one, or as many as a dim has indices or equal
// blocks.
bool may_scale(const TensorInfo& scales, const TensorInfo& codes) {
  if (!scales.known() || !scales.storage || !info(*scales.dtype).floating()) return false;
  if (scales.storage->elements() == 1) return true;
  if (scales.dims.size() == 1)
    return std::ranges::find(codes.dims, scales.dims[0]) != codes.dims.end();
  if (scales.dims.size() != codes.dims.size()) return false;
  const auto fits = [](std::uint64_t count, std::uint64_t dim) {
    return count > 0 && count <= dim;
  };
  return std::ranges::equal(scales.dims, codes.dims, fits) && scales.dims != codes.dims;
}

std::size_t common_start(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The prefix of a tensor's module: "a.b." for "a.b.weight".
std::string_view module_of(std::string_view name) { return name.substr(0, name.rfind('.') + 1); }

// Returns true for tensors that programs store next to codes instead of a scale, whatever their
// dims.
bool replaces_scales(const TensorInfo& tensor, const TensorInfo& codes) {
  return tensor.known() && !why_not_scale(tensor.name).empty() &&
         tensor.name.starts_with(module_of(codes.name));
}

std::string shown(const TensorInfo& tensor) {
  std::string text = "'" + tensor.name + "' (" + std::string(info(*tensor.dtype).name) + " " +
                     dims_text(tensor.dims);
  if (const std::string_view why = why_not_scale(tensor.name); !why.empty())
    text += ", " + std::string(why);
  return text + ")";
}

}  // namespace

ScaleLinks ScaleLinks::of(const TensorFile& file, const FileAttributes& attributes) {
  ScaleLinks links;
  for (const auto& [index, tensor] : attributes.tensors) {
    if (tensor.quantized) links.link(index, *tensor.quantized);
    if (tensor.role == "scale" || tensor.role == "zero_point") links.parts_.insert(index);
  }
  links.by_place_ = links.links_.empty() && no_names(file);
  if (!links.by_place_) links.link_by_names(file);
  return links;
}

void ScaleLinks::link(std::uint64_t codes, const QuantizedBy& by) {
  links_.emplace(codes, by);
  for (const auto& companion : {std::optional(by.scale), by.global_scale, by.zero_point})
    if (companion) companions_.insert(*companion);
}

void ScaleLinks::link_by_names(const TensorFile& file) {
  const std::set<std::uint64_t> linked = companions_;
  NamedTensors names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto name = file.own_name(i);
    if (name && *name) add_name(names, **name, i);
  }
  for (const auto& [name, index] : names) {
    if (!index || links_.contains(*index) || linked.contains(*index) || parts_.contains(*index))
      continue;
    const auto found = scales_named_after(names, name);
    if (!found) continue;
    const auto codes = file.tensor(*index);
    if (!codes || !holds_codes(*codes)) continue;
    if (found->rival) rivals_.emplace(*index, *found->rival);
    link(*index, found->by);
  }
}

const QuantizedBy* ScaleLinks::find(std::uint64_t codes) const {
  const auto found = links_.find(codes);
  return found == links_.end() ? nullptr : &found->second;
}

Status ScaleLinks::check_clear(const TensorFile& file, std::uint64_t codes) const {
  const auto rival = rivals_.find(codes);
  if (rival == rivals_.end()) return {};
  std::string text;
  for (const std::uint64_t scale : {links_.at(codes).scale, rival->second}) {
    const auto record = file.tensor(scale);
    text += text.empty() ? "" : " or ";
    text += record && record->known() ? shown(*record) : concat("tensor ", scale);
  }
  return refuse_scaling("its scales may be " + text + ": both are named like its scales");
}

bool ScaleLinks::is_part(const TensorInfo& record) const {
  if (links_.contains(record.index)) return false;
  return parts_.contains(record.index) || companions_.contains(record.index) ||
         (record.named && is_companion_name(record.name));
}

std::string scale_candidates(const TensorFile& file, const TensorInfo& codes) {
  std::vector<TensorInfo> found;
  const std::uint64_t count = file.tensor_count();
  const bool around = count > kMaxSearched;
  const std::uint64_t end = around ? std::min(count, codes.index + kAround + 1) : count;
  for (std::uint64_t i = around ? codes.index - std::min(codes.index, kAround) : 0; i < end; ++i) {
    auto record = file.tensor(i);
    if (i != codes.index && record && record->named &&
        (may_scale(*record, codes) || replaces_scales(*record, codes)))
      found.push_back(*std::move(record));
  }
  // The closest names first; in a large checkpoint most belong to other modules.
  std::ranges::stable_sort(found, std::ranges::greater(), [&](const TensorInfo& tensor) {
    return common_start(tensor.name, codes.name);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMaxCandidates); ++i)
    text += (i > 0 ? ", " : "") + shown(found[i]);
  if (found.size() > kMaxCandidates)
    text += concat(" and ", found.size() - kMaxCandidates, " more");
  return text;
}

}  // namespace btf

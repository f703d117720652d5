#include "convert/quantize/plan_rules.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "btf/value.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scale_names.h"

namespace btf {

bool holds_codes(const TensorInfo& record) {
  return record.known() && record.storage && can_scale(*record.dtype);
}

std::string no_scales_text(const TensorFile& file, const TensorInfo& codes) {
  if (const std::string_view what = undecoded_codes(codes); !what.empty())
    return "its codes are " + std::string(what) + ": these are not decoded";
  std::string text =
      "no scales for its " + std::string(info(*codes.dtype).name) + " codes are found: ";
  if (!codes.named)
    return text + (file.tensor_count() == 1 ? "the file has no other tensor"
                                            : "none stand behind them as scales do");
  text += "no tensor is linked as theirs, and none is called '" + codes.name + "_scale'";
  if (const std::string found = scale_candidates(file, codes); !found.empty())
    text += "; the file has " + found + ", and nothing says that they belong to it";
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
  // A double holds what is found, and a width of 32 bits times any float32.
  if (wanted.find_zero_point && row.bits > 32)
    return refuse_scaling("a zero point is found for integers of up to 32 bits, not for " + name);
  if (!is_code(zero, codes))
    return refuse_scaling("the zero point " + std::to_string(zero) + " is beyond " + name);
  return {};
}

// A cast that cannot lose anything takes any policy; with a scale it can.
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
                          ": with a scale it is for integers");
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

}  // namespace btf

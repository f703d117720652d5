#include "btf/cast.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/dtype_range.h"

namespace btf {
namespace {

constexpr auto kOverflow = std::to_array<Named<Overflow>>({
    {Overflow::saturate, "saturate"},
    {Overflow::ieee, "ieee"},
    {Overflow::wrap, "wrap"},
    {Overflow::error, "error"},
});

constexpr auto kRounding = std::to_array<Named<Rounding>>({
    {Rounding::nearest, "nearest"},
    {Rounding::zero, "zero"},
    {Rounding::up, "up"},
    {Rounding::down, "down"},
});

}  // namespace

std::span<const Named<Overflow>> overflow_names() { return kOverflow; }

std::span<const Named<Rounding>> rounding_names() { return kRounding; }

void LossAccount::add(const LossAccount& other) {
  elements += other.elements;
  overflowed += other.overflowed;
  nan_lost += other.nan_lost;
  to_zero += other.to_zero;
  inexact += other.inexact;
  nan += other.nan;
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
}

Status check_policy(DType from, DType to, const CastPolicy& policy) {
  const DTypeInfo& source = info(from);
  const DTypeInfo& target = info(to);
  const std::string pair = std::string(source.name) + " to " + std::string(target.name);
  const bool floating = target.floating();
  if (policy.overflow == Overflow::wrap && floating && can_overflow(from, to))
    return fail(ErrorCode::invalid_argument,
                "overflow wrap does not apply to " + pair + ": only integers wrap");
  const bool no_special = floating ? target.fp.specials == FloatSpecials::none : true;
  if (policy.overflow == Overflow::ieee && no_special && can_overflow(from, to))
    return fail(ErrorCode::invalid_argument, "overflow ieee does not apply to " + pair + ": " +
                                                 std::string(target.name) +
                                                 " has no Inf and no NaN");
  const bool nearest_anyway =
      policy.rounding == Rounding::by_table || (policy.rounding == Rounding::nearest && floating);
  if (floating && !target.fp.power_of_two && !nearest_anyway && !is_lossless(from, to))
    return fail(ErrorCode::invalid_argument,
                "a rounding other than to nearest does not apply to " + pair +
                    ": it is for float to integer and for float8_e8m0fnu");
  return {};
}

}  // namespace btf

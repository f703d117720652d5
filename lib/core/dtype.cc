#include "core/dtype.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "btf/cast.h"
#include "btf/did_you_mean.h"
#include "btf/dtype.h"
#include "core/names.h"

namespace btf {
namespace {

// fp8e5m2 and fp8_e5m2 are one name.
bool same_word(std::string_view a, std::string_view b) {
  const auto letters = [](std::string_view name) {
    std::string text(name);
    std::erase(text, '_');
    return text;
  };
  return same_name(a, b) || same_name(letters(a), letters(b));
}

struct Range {
  // Every value is m * 2^e with |m| < 2^digits and low <= e, and its magnitude is below 2^high.
  int digits = 0;
  int low = 0;
  int high = 0;
  bool negative = false;
  bool zero = true;
  bool nan = false;
  bool infinity = false;
  bool keeps_infinity = false;  // a cast from another type keeps Inf
};

Range range_of(const DTypeInfo& row) {
  switch (row.kind) {
    case NumberKind::boolean:
      return {.digits = 1, .low = 0, .high = 1};
    case NumberKind::unsigned_integer:
      return {.digits = row.bits, .low = 0, .high = row.bits};
    case NumberKind::signed_integer:
      return {.digits = row.bits - 1, .low = 0, .high = row.bits - 1, .negative = true};
    case NumberKind::floating:
      break;
  }
  const FloatGeometry& fp = row.fp;
  Range range{.digits = fp.mantissa_bits + 1,
              .low = (fp.power_of_two ? 0 : 1) - fp.bias - fp.mantissa_bits,
              .high = (1 << fp.exponent_bits) - fp.bias,
              .negative = !fp.power_of_two,
              .zero = !fp.power_of_two,
              .nan = fp.specials != FloatSpecials::none,
              .infinity = fp.specials == FloatSpecials::ieee,
              .keeps_infinity = fp.specials == FloatSpecials::ieee && !fp.saturates};
  if (fp.specials == FloatSpecials::ieee || fp.power_of_two) range.high -= 1;
  return range;
}

}  // namespace

std::span<const DTypeInfo> dtypes() { return dtype_rows::kRows; }

const DTypeInfo& info(DType dtype) { return dtype_rows::kRows[row_of(dtype)]; }

const DTypeInfo* find_dtype(std::uint8_t code) {
  const auto* row = std::ranges::find(dtype_rows::kRows, code, &DTypeInfo::code);
  return row == dtype_rows::kRows.end() ? nullptr : row;
}

Result<DType> parse_dtype(std::string_view name) {
  // The usual case first: some files name the dtype of every tensor.
  const auto* const row = std::ranges::find(dtype_rows::kRows, name, &DTypeInfo::name);
  if (row != dtype_rows::kRows.end()) return row->dtype;
  const std::string_view word = without_owner(name);
  std::vector<std::string_view> names;
  for (const DTypeInfo& row : dtype_rows::kRows) {
    names.push_back(row.name);
    std::ranges::copy(row.aliases, std::back_inserter(names));
    names.insert(names.end(), {row.torch, row.tensorrt});
    std::erase(names, std::string_view());
    if (std::ranges::any_of(names, [&](std::string_view own) { return same_word(own, word); }))
      return row.dtype;
  }
  return fail(ErrorCode::invalid_argument, "unknown dtype '" + std::string(name) + "'" +
                                               did_you_mean(word, names) + "; there are " +
                                               name_list(dtype_rows::kRows));
}

bool can_overflow(DType from, DType to) {
  if (from == to || info(to).kind == NumberKind::boolean) return false;
  const Range source = range_of(info(from));
  const Range target = range_of(info(to));
  const bool negative = source.negative && !target.negative && !info(to).fp.power_of_two;
  // A number with more digits in the last binade may be rounded out of the range.
  const bool rounded_over =
      info(to).floating() && source.high == target.high && source.digits > target.digits;
  return source.high > target.high || negative || rounded_over ||
         (source.infinity && !target.keeps_infinity);
}

bool is_lossless(DType from, DType to) {
  if (from == to) return true;
  const Range source = range_of(info(from));
  const Range target = range_of(info(to));
  // The most negative integer is -2^high, which needs one more binade in a float.
  const DTypeInfo& row = info(from);
  const int extra = row.kind == NumberKind::signed_integer && info(to).floating() ? 1 : 0;
  return source.digits <= target.digits && source.low >= target.low &&
         source.high + extra <= target.high && source.negative <= target.negative &&
         source.zero <= target.zero && source.nan <= target.nan &&
         source.infinity <= target.keeps_infinity;
}

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

std::span<const Named<Overflow>> overflow_names() { return kOverflow; }

std::span<const Named<Rounding>> rounding_names() { return kRounding; }

void LossAccount::add(const LossAccount& other) {
  elements += other.elements;
  overflowed += other.overflowed;
  nan_lost += other.nan_lost;
  to_zero += other.to_zero;
  inexact += other.inexact;
  nan += other.nan;
  sign_lost += other.sign_lost;
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

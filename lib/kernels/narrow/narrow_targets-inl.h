// Casts doubles to codes of any dtype by the constants of a Narrowing: one class for each kind of
// target.
#if defined(BTF_KERNELS_NARROW_NARROW_TARGETS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_NARROW_NARROW_TARGETS_INL_H
#undef BTF_KERNELS_NARROW_NARROW_TARGETS_INL_H
#else
#define BTF_KERNELS_NARROW_NARROW_TARGETS_INL_H
#endif

#include <hwy/highway.h>

#include <bit>
#include <limits>

#include "kernels/narrow/narrowing.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using WordTag = hn::ScalableTag<std::uint64_t>;
using Doubles = hn::Vec<DoubleTag>;
using Words = hn::Vec<WordTag>;
using Lanes = hn::Mask<DoubleTag>;

const DoubleTag kDoubles;
const WordTag kWords;

constexpr std::uint64_t kSign64 = 1ULL << 63;
constexpr std::uint64_t kExponent64 = 0x7ff0000000000000;

HWY_INLINE Words words_of(Doubles x) { return hn::BitCast(kWords, x); }
HWY_INLINE Doubles doubles_of(Words bits) { return hn::BitCast(kDoubles, bits); }
HWY_INLINE Doubles all(double x) { return hn::Set(kDoubles, x); }
HWY_INLINE Words all_words(std::uint64_t x) { return hn::Set(kWords, x); }
HWY_INLINE Doubles sign_of(Doubles x) {
  return doubles_of(hn::And(words_of(x), all_words(kSign64)));
}

// The result of a vector of numbers.
struct Narrowed {
  Words codes;
  // The values of the codes: Inf or NaN after an overflow that gives these; undefined if the number
  // was NaN.
  Doubles values;
  Lanes over;  // the number is beyond the range; undefined if it was NaN
};

HWY_INLINE Doubles plain_error(const Narrowed& result, Doubles x) {
  return hn::Abs(hn::Sub(result.values, x));
}

class ToFloating {
 public:
  static constexpr bool kRoundsTo53 = false;
  static constexpr bool kHasZero = true;

  explicit HWY_INLINE ToFloating(const Narrowing& to)
      : sign_shift_(std::countl_zero(to.sign_bit)),
        drop_(to.drop),
        sign_bit_(all_words(to.sign_bit)),
        code_bits_(all_words(2 * to.sign_bit - 1)),
        signed_zero_(all_words(to.has_minus_zero ? to.sign_bit : 0)),
        least_normal_(doubles_of(all_words(to.least_normal))),
        to_addend_(all_words(to.to_addend)),
        over_(all(to.over)),
        cut_(all(to.cut)),
        beyond_(all(to.beyond)),
        nan_code_(all_words(to.nan_code)),
        nan_sign_(all_words(to.nan_sign)) {}

  HWY_INLINE Narrowed narrow(Doubles x, Doubles) const {
    const Doubles size = hn::Abs(x);
    const Doubles sign = sign_of(x);
    const Doubles magnitude = hn::Min(size, cut_);
    const Words binade =
        hn::And(words_of(hn::Max(magnitude, least_normal_)), all_words(kExponent64));
    const Doubles addend =
        doubles_of(hn::Add(hn::Add(binade, hn::ShiftRightSame(binade, drop_)), to_addend_));
    const Doubles sum = hn::Add(magnitude, addend);
    const Words code = hn::And(words_of(sum), code_bits_);
    const Words sign_bits = hn::And(hn::ShiftRightSame(words_of(sign), sign_shift_), sign_bit_);
    const auto zero = hn::Eq(code, hn::Zero(kWords));
    const Words kept = hn::And(sign_bits, hn::IfThenElse(zero, signed_zero_, sign_bit_));
    Lanes over = hn::Ge(size, over_);
    const Doubles value = hn::Or(hn::IfThenElse(over, beyond_, hn::Sub(sum, addend)), sign);
    const Words nan = hn::Or(nan_code_, hn::And(sign_bits, nan_sign_));
    over = hn::AndNot(hn::Eq(value, x), over);  // Inf that stays Inf
    return {hn::IfThenElse(hn::RebindMask(kWords, hn::IsNaN(x)), nan, hn::Or(code, kept)), value,
            over};
  }
  static HWY_INLINE Doubles error(const Narrowed& result, Doubles x) {
    return plain_error(result, x);
  }

 private:
  int sign_shift_;
  int drop_;
  Words sign_bit_;
  Words code_bits_;
  Words signed_zero_;
  Doubles least_normal_;
  Words to_addend_;
  Doubles over_;
  Doubles cut_;
  Doubles beyond_;
  Words nan_code_;
  Words nan_sign_;
};

class ToDouble {
 public:
  static constexpr bool kRoundsTo53 = true;
  static constexpr bool kHasZero = true;

  explicit HWY_INLINE ToDouble(const Narrowing& to) : nan_code_(all_words(to.nan_code)) {}

  HWY_INLINE Narrowed narrow(Doubles x, Doubles) const {
    const Words nan = hn::Or(nan_code_, words_of(sign_of(x)));
    return {hn::IfThenElse(hn::RebindMask(kWords, hn::IsNaN(x)), nan, words_of(x)), x,
            hn::MaskFromVec(hn::Zero(kDoubles))};
  }
  static HWY_INLINE Doubles error(const Narrowed& result, Doubles x) {
    return plain_error(result, x);
  }

 private:
  Words nan_code_;
};

HWY_INLINE Doubles rounded(Doubles x, Rounding rounding) {
  if (rounding == Rounding::nearest) return hn::Round(x);
  if (rounding == Rounding::up) return hn::Ceil(x);
  if (rounding == Rounding::down) return hn::Floor(x);
  return hn::Trunc(x);
}

// At most 32 bits. NaN becomes 0.
class ToInteger32 {
 public:
  static constexpr bool kRoundsTo53 = false;
  static constexpr bool kHasZero = true;

  explicit HWY_INLINE ToInteger32(const Narrowing& to)
      : rounding_(to.rounding),
        wraps_(to.wraps),
        least_(all(to.least)),
        most_(all(to.most)),
        modulus_(all(to.modulus)),
        inverse_(all(1 / to.modulus)),
        mask_(all_words(static_cast<std::uint64_t>(to.modulus) - 1)) {}

  // `values` does not include the zero point.
  HWY_INLINE Narrowed narrow(Doubles x, Doubles zero_point) const {
    const Doubles number = hn::IfThenElseZero(hn::Eq(x, x), x);
    const Doubles whole = hn::Add(rounded(number, rounding_), zero_point);
    const Doubles inside = hn::Min(hn::Max(whole, least_), most_);
    const Lanes over = hn::Ne(inside, whole);
    if (wraps_) return wrapped(whole, over);
    // The low digits are those of the integer, in two's complement.
    const Words code = hn::And(words_of(hn::Add(inside, all(0x1.8p52))), mask_);
    return {code, hn::Sub(inside, zero_point), over};
  }
  static HWY_INLINE Doubles error(const Narrowed& result, Doubles x) {
    return plain_error(result, x);
  }

 private:
  HWY_INLINE Narrowed wrapped(Doubles whole, Lanes over) const {
    const Doubles times = hn::Floor(hn::Mul(whole, inverse_));
    const Doubles rest = hn::Sub(whole, hn::Mul(times, modulus_));       // exact
    const Doubles known = hn::IfThenElseZero(hn::Eq(rest, rest), rest);  // Inf becomes 0
    const Words code = hn::And(words_of(hn::Add(known, all(0x1p52))), mask_);
    const Doubles value = hn::IfThenElse(hn::Gt(rest, most_), hn::Sub(rest, modulus_), rest);
    return {code, value, over};
  }

  Rounding rounding_;
  bool wraps_;
  Doubles least_;
  Doubles most_;
  Doubles modulus_;
  Doubles inverse_;
  Words mask_;
};

// 64 bits, clamped. NaN becomes 0.
class ToInteger64 {
 public:
  static constexpr bool kRoundsTo53 = false;
  static constexpr bool kHasZero = true;

  explicit HWY_INLINE ToInteger64(const Narrowing& to)
      : rounding_(to.rounding),
        least_(all(to.least)),
        end_(all(to.most)),
        last_(all_words(to.least < 0 ? ~kSign64 : ~0ULL)) {}

  HWY_INLINE Narrowed narrow(Doubles x, Doubles) const {
    const Doubles number = hn::IfThenElseZero(hn::Eq(x, x), x);
    const Doubles whole = rounded(number, rounding_);
    const Doubles inside = hn::Min(hn::Max(whole, least_), end_);
    const Lanes above = hn::Ge(whole, end_);
    // Two halves of 32 bits, the upper one with the sign.
    const Doubles upper = hn::Floor(hn::Mul(inside, all(0x1p-32)));
    const Doubles lower = hn::Sub(inside, hn::Mul(upper, all(0x1p32)));
    const Words high = hn::ShiftLeft<32>(words_of(hn::Add(upper, all(0x1.8p52))));
    const Words low = hn::And(words_of(hn::Add(lower, all(0x1p52))), all_words(0xffffffffU));
    const Words code = hn::IfThenElse(hn::RebindMask(kWords, above), last_, hn::Or(high, low));
    return {code, inside, hn::Or(above, hn::Lt(whole, least_))};
  }
  // The largest number, end_ - 1, is not a double. For a number far beyond it, the double before
  // end_ gives the same difference after rounding.
  HWY_INLINE Doubles error(const Narrowed& result, Doubles x) const {
    const Lanes above = hn::Ge(x, end_);
    const Doubles near = hn::Add(hn::Sub(x, end_), all(1));
    const Doubles far = hn::Sub(x, doubles_of(hn::Sub(words_of(end_), all_words(1))));
    return hn::IfThenElse(above, hn::IfThenElse(hn::Ge(x, all(0x1p100)), far, near),
                          plain_error(result, x));
  }

 private:
  Rounding rounding_;
  Doubles least_;
  Doubles end_;
  Words last_;
};

class ToBoolean {
 public:
  static constexpr bool kRoundsTo53 = false;
  static constexpr bool kHasZero = true;

  explicit HWY_INLINE ToBoolean(const Narrowing&) {}

  HWY_INLINE Narrowed narrow(Doubles x, Doubles) const {
    const Lanes some = hn::Not(hn::Eq(x, hn::Zero(kDoubles)));  // also true for NaN
    return {hn::IfThenElseZero(hn::RebindMask(kWords, some), all_words(1)),
            hn::IfThenElseZero(some, all(1)),
            hn::Eq(hn::Abs(x), all(std::numeric_limits<double>::infinity()))};
  }
  static HWY_INLINE Doubles error(const Narrowed& result, Doubles x) {
    return plain_error(result, x);
  }
};

// Without a sign and without zero. A zero has an error, but no relative one.
class ToPowerOfTwo {
 public:
  static constexpr bool kRoundsTo53 = false;
  static constexpr bool kHasZero = false;

  explicit HWY_INLINE ToPowerOfTwo(const Narrowing& to)
      : least_(doubles_of(all_words(to.least_normal))),
        lift_(all_words(to.lift)),
        over_(all(to.over)),
        cut_(all(to.cut)),
        beyond_(all(to.beyond)),
        nan_code_(all_words(to.nan_code)) {}

  HWY_INLINE Narrowed narrow(Doubles x, Doubles) const {
    const Words lifted = hn::Add(words_of(hn::Abs(x)), lift_);
    const Doubles power = doubles_of(hn::And(lifted, all_words(kExponent64)));
    const Doubles inside = hn::Min(hn::Max(power, least_), cut_);
    const Lanes over = hn::Gt(power, over_);
    const Words code = hn::ShiftRight<52>(hn::Sub(words_of(inside), words_of(least_)));
    return {hn::IfThenElse(hn::RebindMask(kWords, hn::IsNaN(x)), nan_code_, code),
            hn::IfThenElse(over, beyond_, inside), over};
  }
  static HWY_INLINE Doubles error(const Narrowed& result, Doubles x) {
    return plain_error(result, x);
  }

 private:
  Doubles least_;
  Words lift_;
  Doubles over_;
  Doubles cut_;
  Doubles beyond_;
  Words nan_code_;
};

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

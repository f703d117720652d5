// Casts quotients of floats to codes of 8 bits or fewer by the constants of a Narrowing: one class
// for each kind of target. The relative error of a quotient is less than 2^-22; numbers that are
// therefore uncertain count neither as within the range nor as over.
#if defined(BTF_KERNELS_SCALE_FLOAT_TARGETS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_SCALE_FLOAT_TARGETS_INL_H
#undef BTF_KERNELS_SCALE_FLOAT_TARGETS_INL_H
#else
#define BTF_KERNELS_SCALE_FLOAT_TARGETS_INL_H
#endif

#include <bit>

#include "kernels/cast/cast_vectors-inl.h"
#include "kernels/scale/scale.h"

// The proofs that errors of quotients are floats need a fused multiply-add.
#undef BTF_FLOAT_LANES
#if HWY_NATIVE_FMA && BTF_CAST_VECTORS
#define BTF_FLOAT_LANES 1
#else
#define BTF_FLOAT_LANES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#if BTF_FLOAT_LANES

namespace hn = hwy::HWY_NAMESPACE;

using FloatMask = hn::Mask<hn::ScalableTag<float>>;

// The codes of a vector of numbers.
struct FloatCodes {
  Ints codes;      // low 8 bits
  Floats values;   // the numbers of the codes, without the scale
  Floats measure;  // for sides()
  Floats limit;    // for sides()
};

struct FloatSides {
  FloatMask within;
  FloatMask over;
};

// If the scale is a float, an error of up to half a scale is a float: the number and the product
// are multiples of half the scale's last digit.
class FloatsToInteger {
 public:
  HWY_INLINE FloatsToInteger(const Narrowing& to, const FloatChunk& chunk)
      : least_(hn::Set(kFloats, static_cast<float>(to.least) - chunk.zero_point)),
        most_(hn::Set(kFloats, static_cast<float>(to.most) - chunk.zero_point)),
        zero_point_(hn::Set(kInts, static_cast<std::int32_t>(chunk.zero_point))),
        mask_(hn::Set(kInts, static_cast<std::int32_t>(to.modulus) - 1)) {}

  HWY_INLINE FloatCodes narrow(Floats x, Floats inverse) const {
    const Floats quotient = hn::Mul(x, inverse);
    const Floats inside = hn::Min(hn::Max(quotient, least_), most_);
    const Floats values = hn::Round(inside);
    const Ints codes = hn::And(hn::Add(hn::ConvertTo(kInts, values), zero_point_), mask_);
    return {codes, values, quotient, inside};
  }
  template <bool kExact>
  HWY_INLINE FloatSides sides(const FloatCodes& result, Floats error, Floats scale) const {
    constexpr float kLess = kExact ? .5F : .5F * (1 - 0x1p-20F);
    constexpr float kMore = kExact ? .5F : .5F * (1 + 0x1p-20F);
    const FloatMask beyond = hn::Ne(result.measure, result.limit);
    return {hn::Lt(error, hn::Mul(scale, hn::Set(kFloats, kLess))),
            hn::And(beyond, hn::Gt(error, hn::Mul(scale, hn::Set(kFloats, kMore))))};
  }

 private:
  Floats least_;
  Floats most_;
  Ints zero_point_;
  Ints mask_;
};

// As in narrow_targets-inl.h. Here as well an error is a float: half of the last digit of the
// code's number, times a scale of 24 digits.
class FloatsToFloating {
 public:
  HWY_INLINE FloatsToFloating(const Narrowing& to, const FloatChunk& chunk)
      : drop_(to.drop - kDigitsMore),
        sign_shift_(31 - std::countr_zero(to.sign_bit)),
        sign_bit_(hn::Set(kBits, static_cast<std::uint32_t>(to.sign_bit))),
        code_bits_(hn::Set(kBits, static_cast<std::uint32_t>(to.sign_bit - 1))),
        signed_zero_(
            hn::Set(kBits, to.has_minus_zero ? static_cast<std::uint32_t>(to.sign_bit) : 0U)),
        least_normal_(hn::Set(kFloats, static_cast<float>(std::bit_cast<double>(to.least_normal)))),
        cut_(hn::Set(kFloats, just_below(not_below(to.over)))) {
    const auto least = static_cast<float>(std::bit_cast<double>(to.least_normal));
    const auto bits = std::bit_cast<std::uint32_t>(least);
    const auto mantissa = static_cast<unsigned>(23 - drop_);
    to_addend_ =
        hn::Set(kBits, (static_cast<std::uint32_t>(drop_) << 23) - (bits >> 23 << mantissa));
    // From half of the last digit on, the nearest value may be the other one.
    const float half = std::bit_cast<float>((126U - mantissa) << 23);
    certain_ = hn::Set(kFloats, chunk.powers ? 2 * half : half - 0x1p-20F);
    over_ = hn::Set(kFloats, not_below(to.over) * (chunk.powers ? 1 : 1 + 0x1p-20F));
  }

  HWY_INLINE FloatCodes narrow(Floats x, Floats inverse) const {
    const Floats quotient = hn::Mul(x, inverse);
    const Floats size = hn::Abs(quotient);
    const Floats magnitude = hn::Min(size, cut_);
    const Bits binade =
        hn::And(hn::BitCast(kBits, hn::Max(magnitude, least_normal_)), hn::Set(kBits, 0x7f800000U));
    const Floats addend = hn::BitCast(
        kFloats, hn::Add(hn::Add(binade, hn::ShiftRightSame(binade, drop_)), to_addend_));
    const Floats sum = hn::Add(magnitude, addend);
    const Floats value = hn::Sub(sum, addend);
    const Bits code = hn::And(hn::BitCast(kBits, sum), code_bits_);
    const Bits sign = hn::And(hn::ShiftRightSame(hn::BitCast(kBits, x), sign_shift_), sign_bit_);
    const auto zero = hn::Eq(code, hn::Zero(kBits));
    const Bits kept = hn::And(sign, hn::IfThenElse(zero, signed_zero_, sign_bit_));
    return {hn::BitCast(kInts, hn::Or(code, kept)), hn::CopySign(value, x), size,
            hn::Mul(hn::BitCast(kFloats, binade), certain_)};
  }
  template <bool>
  HWY_INLINE FloatSides sides(const FloatCodes& result, Floats, Floats) const {
    const Floats apart = hn::Abs(hn::Sub(result.measure, hn::Abs(result.values)));
    const FloatMask over = hn::Ge(result.measure, over_);
    return {hn::AndNot(over, hn::Lt(apart, result.limit)), over};
  }

 private:
  static constexpr int kDigitsMore = 52 - 23;
  static HWY_INLINE float just_below(float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) - 1);
  }
  // The least float that is not below a positive number: `over` may be the double next to a tie.
  static HWY_INLINE float not_below(double x) {
    const auto near = static_cast<float>(x);
    if (static_cast<double>(near) >= x) return near;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) + 1);
  }

  int drop_;
  int sign_shift_;
  Bits sign_bit_;
  Bits code_bits_;
  Bits signed_zero_;
  Floats least_normal_;
  Floats cut_;
  Bits to_addend_;
  Floats certain_;
  Floats over_;
};

// The low bytes of the vectors, in their order.
HWY_INLINE void store_low_bytes(const Ints (&codes)[kVectors], std::byte* target) {
  const Shorts first = hn::ReorderDemote2To(kShorts, codes[0], codes[1]);
  const Shorts second = hn::ReorderDemote2To(kShorts, codes[2], codes[3]);
  const auto bytes = in_order<4, std::int32_t>(pack<false>(first, second));
  hn::StoreU(hn::BitCast(kBytes, bytes), kBytes, reinterpret_cast<std::int8_t*>(target));
}

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

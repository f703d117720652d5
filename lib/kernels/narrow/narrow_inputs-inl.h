// The inputs of narrowing: numbers, or results of one operation on them, which may have more digits
// than a double. Such a result is rounded to odd: of the two adjacent doubles, to the one whose
// last digit is 1. Rounding that to 51 digits or fewer gives the same as rounding the exact result.
#if defined(BTF_KERNELS_NARROW_NARROW_INPUTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_NARROW_NARROW_INPUTS_INL_H
#undef BTF_KERNELS_NARROW_NARROW_INPUTS_INL_H
#else
#define BTF_KERNELS_NARROW_NARROW_INPUTS_INL_H
#endif

#include "kernels/narrow/narrow_targets-inl.h"
#include "kernels/narrow/narrowing.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// `near` is the nearest double; the exact result differs from it in the direction of `rest`.
HWY_INLINE Doubles to_odd(Doubles near, Doubles rest) {
  const Words below = hn::ShiftRight<63>(hn::Xor(words_of(near), words_of(rest)));
  const Words odd = hn::Or(hn::Sub(words_of(near), below), all_words(1));
  // For Inf and NaN the rest is NaN.
  const Lanes rounded = hn::Gt(hn::Abs(rest), hn::Zero(kDoubles));
  return hn::IfThenElse(rounded, doubles_of(odd), near);
}

// The rounding error of a product: a * b is exactly product + product_rest().
HWY_INLINE Doubles product_rest(Doubles a, Doubles b, Doubles product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, product);
#else
  const Doubles splitter = all(0x1p27 + 1);
  const auto upper = [&](Doubles x) HWY_ATTR {
    const Doubles scaled = hn::Mul(x, splitter);
    return hn::Sub(scaled, hn::Sub(scaled, x));
  };
  const Doubles a_high = upper(a);
  const Doubles a_low = hn::Sub(a, a_high);
  const Doubles b_high = upper(b);
  const Doubles b_low = hn::Sub(b, b_high);
  const Doubles rest = hn::Sub(hn::Mul(a_high, b_high), product);
  const Doubles middle = hn::Add(hn::Add(rest, hn::Mul(a_high, b_low)), hn::Mul(a_low, b_high));
  return hn::Add(middle, hn::Mul(a_low, b_low));
#endif
}

// In each class, At is the vector that begins with element i: `number` is to be narrowed,
// zero_point() is added to integers, relative errors are relative to size(), and
// error(target, result) is the error of the result.

class Plain {
 public:
  template <bool kRoundsTo53>
  class At {
   public:
    HWY_INLINE At(const Plain& input, std::size_t i) : number(hn::Load(kDoubles, input.x_ + i)) {}
    HWY_INLINE Doubles zero_point() const { return hn::Zero(kDoubles); }
    HWY_INLINE Doubles size() const { return hn::Abs(number); }
    template <typename Target>
    HWY_INLINE Doubles error(const Target& target, const Narrowed& result) const {
      return target.error(result, number);
    }

    Doubles number;
  };

  HWY_INLINE Plain(const NarrowChunk& chunk, const Narrowing&) : x_(chunk.numbers) {
    // Padding: 1 can be represented in every dtype.
    for (std::size_t i = 0; i < hn::MaxLanes(kDoubles); ++i) chunk.numbers[chunk.count + i] = 1;
  }

 private:
  const double* x_;
};

class Split {
 public:
  template <bool kRoundsTo53>
  class At {
   public:
    HWY_INLINE At(const Split& input, std::size_t i)
        : high_(hn::Load(kDoubles, input.high_ + i)),
          low_(hn::Load(kDoubles, input.low_ + i)),
          sum_(hn::Add(high_, low_)),
          number(kRoundsTo53 ? sum_ : to_odd(sum_, hn::Sub(low_, hn::Sub(sum_, high_)))) {}
    HWY_INLINE Doubles zero_point() const { return hn::Zero(kDoubles); }
    HWY_INLINE Doubles size() const { return hn::Abs(sum_); }
    // value - high - low, rounded once.
    template <typename Target>
    HWY_INLINE Doubles error(const Target&, const Narrowed& result) const {
      const Doubles near = hn::Sub(result.values, high_);
      const Doubles part = hn::Sub(near, result.values);
      const Doubles rest =
          hn::Sub(hn::Sub(result.values, hn::Sub(near, part)), hn::Add(high_, part));
      return hn::Abs(hn::Add(near, hn::Sub(rest, low_)));
    }

   private:
    Doubles high_;
    Doubles low_;
    Doubles sum_;

   public:
    Doubles number;
  };

  HWY_INLINE Split(const NarrowChunk& chunk, const Narrowing&)
      : high_(chunk.numbers), low_(chunk.low) {
    for (std::size_t i = 0; i < hn::MaxLanes(kDoubles); ++i) {
      chunk.numbers[chunk.count + i] = 1;
      chunk.low[chunk.count + i] = 0;
    }
  }

 private:
  const double* high_;
  const double* low_;
};

// Scales and zero points, one for all numbers or one for each.
template <bool kEach>
class Scaling {
 public:
  HWY_INLINE explicit Scaling(const NarrowChunk& chunk)
      : scales_(chunk.scales),
        zero_points_(chunk.zero_points),
        scale_(all(chunk.scales[0])),
        zero_point_(all(chunk.zero_points[0])) {
    if constexpr (kEach)
      for (std::size_t i = 0; i < hn::MaxLanes(kDoubles); ++i) {
        chunk.scales[chunk.count + i] = 1;
        chunk.zero_points[chunk.count + i] = 0;
      }
  }
  HWY_INLINE Doubles scale(std::size_t i) const {
    return kEach ? hn::Load(kDoubles, scales_ + i) : scale_;
  }
  HWY_INLINE Doubles zero_point(std::size_t i) const {
    return kEach ? hn::Load(kDoubles, zero_points_ + i) : zero_point_;
  }

 private:
  const double* scales_;
  const double* zero_points_;
  Doubles scale_;
  Doubles zero_point_;
};

template <bool kEach>
class Quotient {
 public:
  template <bool kRoundsTo53>
  class At {
   public:
    HWY_INLINE At(const Quotient& input, std::size_t i)
        : x_(hn::Load(kDoubles, input.x_ + i)),
          scale_(input.scaling_.scale(i)),
          zero_point_(input.scaling_.zero_point(i)),
          number(quotient()) {}
    HWY_INLINE Doubles zero_point() const { return zero_point_; }
    HWY_INLINE Doubles size() const { return hn::Abs(x_); }
    // value * scale - x, rounded once.
    template <typename Target>
    HWY_INLINE Doubles error(const Target&, const Narrowed& result) const {
#if HWY_NATIVE_FMA
      return hn::Abs(hn::NegMulAdd(result.values, scale_, x_));
#else
      const Doubles product = hn::Mul(result.values, scale_);
      const Doubles rest = product_rest(result.values, scale_, product);
      // The rest of a number that is not finite is NaN.
      return hn::Abs(hn::Sub(hn::Sub(x_, product), rest));
#endif
    }

   private:
    HWY_INLINE Doubles quotient() const {
      const Doubles near = hn::Div(x_, scale_);
#if HWY_NATIVE_FMA
      const Doubles rest = hn::NegMulAdd(near, scale_, x_);
#else
      const Doubles product = hn::Mul(near, scale_);
      const Doubles rest = hn::Sub(hn::Sub(x_, product), product_rest(near, scale_, product));
#endif
      const Doubles odd = to_odd(near, rest);
      if constexpr (!kEach) return odd;
      const Lanes none = hn::Eq(scale_, hn::Zero(kDoubles));
      const Doubles zero = hn::Mul(x_, hn::Zero(kDoubles));  // Inf and NaN give NaN
      const Lanes finite = hn::And(none, hn::Eq(zero, hn::Zero(kDoubles)));
      return hn::IfThenElse(finite, zero, hn::IfThenElse(none, x_, odd));
    }

    Doubles x_;
    Doubles scale_;
    Doubles zero_point_;

   public:
    Doubles number;
  };

  HWY_INLINE Quotient(const NarrowChunk& chunk, const Narrowing&)
      : x_(chunk.numbers), scaling_(chunk) {
    for (std::size_t i = 0; i < hn::MaxLanes(kDoubles); ++i) chunk.numbers[chunk.count + i] = 0;
  }

 private:
  const double* x_;
  Scaling<kEach> scaling_;
};

template <bool kEach>
class Product {
 public:
  template <bool kRoundsTo53>
  class At {
   public:
    HWY_INLINE At(const Product& input, std::size_t i)
        : At(hn::Sub(hn::Load(kDoubles, input.x_ + i), input.scaling_.zero_point(i)),
             input.scaling_.scale(i)) {}
    HWY_INLINE Doubles zero_point() const { return hn::Zero(kDoubles); }
    HWY_INLINE Doubles size() const { return hn::Abs(near_); }
    template <typename Target>
    HWY_INLINE Doubles error(const Target&, const Narrowed& result) const {
      return hn::Abs(hn::Sub(hn::Sub(result.values, near_), rest_));
    }

   private:
    HWY_INLINE At(Doubles code, Doubles scale)
        : near_(hn::Mul(code, scale)),
          rest_(product_rest(code, scale, near_)),
          number(kRoundsTo53 ? near_ : to_odd(near_, rest_)) {}

    Doubles near_;
    Doubles rest_;

   public:
    Doubles number;
  };

  HWY_INLINE Product(const NarrowChunk& chunk, const Narrowing&)
      : x_(chunk.numbers), scaling_(chunk) {
    // Padding with 0, whatever the zero point is.
    for (std::size_t i = 0; i < hn::MaxLanes(kDoubles); ++i)
      chunk.numbers[chunk.count + i] = kEach ? 0 : chunk.zero_points[0];
  }

 private:
  const double* x_;
  Scaling<kEach> scaling_;
};

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

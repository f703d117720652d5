#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/scale/scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scale/scaled_floats.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/scale/certain_quotients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#if BTF_FLOAT_LANES

template <bool kEach>
class ScaleLanes {
 public:
  HWY_INLINE explicit ScaleLanes(const FloatChunk& chunk)
      : chunk_(chunk),
        high_(hn::Set(kFloats, *chunk.high)),
        low_(hn::Set(kFloats, *chunk.low)),
        inverse_(hn::Set(kFloats, *chunk.inverse)) {}

  // From element `i` on. Not a struct, which the compiler would copy in halves.
  HWY_INLINE Floats high(std::size_t i) const {
    return kEach ? hn::LoadU(kFloats, chunk_.high + i) : high_;
  }
  HWY_INLINE Floats low(std::size_t i) const {
    return kEach ? hn::LoadU(kFloats, chunk_.low + i) : low_;
  }
  HWY_INLINE Floats inverse(std::size_t i) const {
    return kEach ? hn::LoadU(kFloats, chunk_.inverse + i) : inverse_;
  }

 private:
  const FloatChunk& chunk_;
  Floats high_;
  Floats low_;
  Floats inverse_;
};

HWY_INLINE double scale_of(const FloatChunk& chunk, std::size_t i) {
  if (!chunk.each) return chunk.scale;
  return static_cast<double>(chunk.high[i]) + static_cast<double>(chunk.low[i]);
}

// Counts masks, which are -1 if set.
class Counter {
 public:
  HWY_INLINE Counter() : lanes_(hn::Zero(kInts)) {}
  HWY_INLINE void add(FloatMask mask) {
    lanes_ = hn::Sub(lanes_, hn::VecFromMask(kInts, hn::RebindMask(kInts, mask)));
  }
  HWY_INLINE std::uint64_t sum() const {
    return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(kInts, lanes_)));
  }

 private:
  Ints lanes_;
};

struct Largest {
  double absolute = 0;
  double relative = 0;

  HWY_INLINE void add(double error, double size) {
    if (!(error > 0) || !(error < std::numeric_limits<double>::infinity())) return;
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / size);
  }
};

// The least error that exceeds the largest so far, minus the error of floats.
struct ErrorBars {
  HWY_INLINE ErrorBars(const FloatChunk& chunk, const Largest& largest)
      : absolute(hn::Set(kFloats, bar(largest.absolute))),
        relative(hn::Set(kFloats, largest.relative >= chunk.worst ? 2 : bar(largest.relative))) {}

  HWY_INLINE FloatMask may_be_largest(Floats error) const { return hn::Ge(error, absolute); }
  HWY_INLINE FloatMask may_be_worst(Floats error, Floats size) const {
    // Its sign is that of the exact difference.
    const Floats room = hn::MulSub(relative, size, error);
    return hn::RebindMask(kFloats, hn::Lt(hn::BitCast(kInts, room), hn::Zero(kInts)));
  }
  static HWY_INLINE float bar(double largest) {
    return largest < 0x1p-100 ? 0 : static_cast<float>(largest * (1 - 0x1p-19));
  }

  Floats absolute;
  Floats relative;
};

// The exact errors of a vector, in double precision as in the account.
HWY_NOINLINE Largest add_errors(const FloatChunk& chunk, Floats numbers, Floats values,
                                std::size_t i, Largest largest) {
  HWY_ALIGN std::array<float, kLanes> x;
  HWY_ALIGN std::array<float, kLanes> value;
  hn::Store(numbers, kFloats, x.data());
  hn::Store(values, kFloats, value.data());
  for (std::size_t k = 0; k < std::min(chunk.count - i, kLanes); ++k)
    largest.add(std::abs(std::fma(-static_cast<double>(value[k]), scale_of(chunk, i + k),
                                  static_cast<double>(x[k]))),
                std::abs(static_cast<double>(x[k])));
  return largest;
}

// The same for products, whose errors are floats.
HWY_NOINLINE Largest add_product_errors(const FloatChunk& chunk, Floats numbers, Floats errors,
                                        std::size_t i, Largest largest) {
  HWY_ALIGN std::array<float, kLanes> code;
  HWY_ALIGN std::array<float, kLanes> error;
  hn::Store(numbers, kFloats, code.data());
  hn::Store(errors, kFloats, error.data());
  for (std::size_t k = 0; k < std::min(chunk.count - i, kLanes); ++k)
    largest.add(static_cast<double>(error[k]),
                std::abs(static_cast<double>(code[k]) * scale_of(chunk, i + k)));
  return largest;
}

HWY_INLINE double largest_lane(Floats x) {
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(kFloats, x)));
}

// Calls block(from, i, out) for blocks from element i on; the last one is padded.
template <typename Target, typename Block>
HWY_INLINE void by_float_blocks(const FloatChunk& chunk, float filling, Target* target,
                                Block&& block) {
  HWY_ALIGN std::array<float, kBlock> rest;
  HWY_ALIGN std::array<Target, kBlock> last;
  for (std::size_t i = 0; i < chunk.count; i += kBlock) {
    const std::size_t n = std::min(kBlock, chunk.count - i);
    const float* from = chunk.numbers + i;
    Target* out = target + i;
    if (n < kBlock) {
      rest.fill(filling);
      from = std::copy_n(from, n, rest.data()) - n;
      out = last.data();
    }
    block(from, i, out);
    if (n < kBlock) std::copy_n(out, n, target + i);
  }
}

// The error of vectors where scale and sum of floats differ.
constexpr float kSlack = 0x1p-44F;
constexpr float kNoError = 0x1p-40F;

template <typename Target, bool kEach, bool kExact>
HWY_INLINE bool quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                          LossAccount& account) {
  const Target target(to, chunk);
  const ScaleLanes<kEach> scales(chunk);
  Largest largest{account.max_abs, account.max_rel};
  ErrorBars bars(chunk, largest);
  Floats seen = hn::Zero(kFloats);
  Counter changed;
  Counter zeros;
  Counter overs;
  FloatMask sure = hn::Eq(seen, seen);
  const auto cast = [&](Floats x, std::size_t i) HWY_ATTR BTF_INLINE_LAMBDA {
    const Floats scale = scales.high(i);
    const FloatCodes result = target.narrow(x, scales.inverse(i));
    Floats error = hn::NegMulAdd(result.values, scale, x);
    if constexpr (!kExact) error = hn::NegMulAdd(result.values, scales.low(i), error);
    error = hn::Abs(error);
    const FloatSides sides = target.template sides<kExact>(result, error, scale);
    sure = hn::And(sure, hn::Or(sides.within, sides.over));

    const FloatMask differs = hn::Ne(error, hn::Zero(kFloats));
    const FloatMask is_changed = hn::AndNot(sides.over, differs);
    overs.add(sides.over);
    changed.add(is_changed);
    zeros.add(hn::And(is_changed, hn::Eq(result.values, hn::Zero(kFloats))));
    const Floats size = hn::Abs(x);
    Floats most = error;
    FloatMask look = sides.over;
    if constexpr (kExact) {
      seen = hn::Max(seen, hn::IfThenElseZero(is_changed, error));
      look = hn::And(look, bars.may_be_largest(most));
    } else {
      sure = hn::And(sure, hn::Ge(error, hn::Mul(size, hn::Set(kFloats, kNoError))));
      most = hn::MulAdd(size, hn::Set(kFloats, kSlack), error);
      look = hn::And(differs, bars.may_be_largest(most));
    }
    look = hn::Or(look, bars.may_be_worst(most, size));
    if (HWY_UNLIKELY(!hn::AllFalse(kFloats, look))) {
      largest = add_errors(chunk, x, result.values, i, largest);
      bars = ErrorBars(chunk, largest);
    }
    return result.codes;
  };
  by_float_blocks(chunk, 0, codes,
                  [&](const float* from, std::size_t i, std::byte* out) HWY_ATTR BTF_INLINE_LAMBDA {
                    Ints vectors[kVectors];
                    for (std::size_t v = 0; v < kVectors; ++v)
                      vectors[v] = cast(hn::LoadU(kFloats, from + v * kLanes), i + v * kLanes);
                    store_low_bytes(vectors, out);
                  });
  if (!hn::AllTrue(kFloats, sure)) return false;
  account.elements += chunk.count;
  account.overflowed += overs.sum();
  account.to_zero += zeros.sum();
  account.inexact += changed.sum() - zeros.sum();
  account.max_abs = std::max(largest.absolute, largest_lane(seen));
  account.max_rel = largest.relative;
  return true;
}

template <typename Target, bool kEach>
HWY_INLINE bool quotients_of(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                             LossAccount& account) {
  return chunk.floats ? quotients<Target, kEach, true>(to, chunk, codes, account)
                      : quotients<Target, kEach, false>(to, chunk, codes, account);
}

template <typename Target>
HWY_INLINE bool quotients_to(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                             LossAccount& account) {
  return chunk.each ? quotients_of<Target, true>(to, chunk, codes, account)
                    : quotients_of<Target, false>(to, chunk, codes, account);
}

template <bool kExact, bool kRelative>
HWY_INLINE bool certain_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                                  LossAccount& account) {
  const float relative = account.max_rel < 0x1p-20 ? 0 : ErrorBars::bar(account.max_rel);
  CertainQuotients<kExact, kRelative> clean(to, chunk, relative);
  by_float_blocks(chunk, 0, codes,
                  [&](const float* from, std::size_t, std::byte* out)
                      HWY_ATTR BTF_INLINE_LAMBDA { clean.block(from, out); });
  const CleanTally found = clean.tally();
  if (!(found.error <= most_clean_error(chunk)) || found.record) return false;
  if (std::max(found.largest, -found.least) > kMaxScales * *chunk.high) return false;
  LossAccount tally = account;
  if (found.overflowed != 0) settle_ends(to, chunk, found, tally);
  const auto error = static_cast<double>(found.error);
  if (kExact) {
    // The number may have been clamped.
    if (found.overflowed != 0 && error > tally.max_abs) return false;
    tally.max_abs = std::max(tally.max_abs, error);
  } else {
    // The error of vectors is up to 2^-22 of half a scale.
    if (tally.max_abs < chunk.scale * 0x1p-2 || error >= tally.max_abs * (1 - 0x1p-18))
      return false;
  }
  tally.elements += chunk.count;
  tally.overflowed += found.overflowed;
  tally.to_zero += found.to_zero;
  tally.inexact += found.changed - found.to_zero;
  account = tally;
  return true;
}

// Returns false if a chunk has special values.
HWY_INLINE bool clean_integer_quotients(const Narrowing& to, const FloatChunk& chunk,
                                        std::byte* codes, LossAccount& account) {
  if (chunk.each || chunk.zero_point < static_cast<float>(to.least) ||
      chunk.zero_point > static_cast<float>(to.most))
    return false;
  const bool relative = account.max_rel < chunk.worst;
  if (chunk.floats)
    return relative ? certain_quotients<true, true>(to, chunk, codes, account)
                    : certain_quotients<true, false>(to, chunk, codes, account);
  return relative ? certain_quotients<false, true>(to, chunk, codes, account)
                  : certain_quotients<false, false>(to, chunk, codes, account);
}

bool integer_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                       LossAccount& account) {
  if (clean_integer_quotients(to, chunk, codes, account)) return true;
  return quotients_to<FloatsToInteger>(to, chunk, codes, account);
}

bool floating_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                        LossAccount& account) {
  return quotients_to<FloatsToFloating>(to, chunk, codes, account);
}

template <bool kEach>
HWY_INLINE bool products_of(const FloatChunk& chunk, float* results, LossAccount& account) {
  const ScaleLanes<kEach> scales(chunk);
  const Floats zero_point = hn::Set(kFloats, chunk.zero_point);
  Largest largest{account.max_abs, account.max_rel};
  ErrorBars bars(chunk, largest);
  Floats seen = hn::Zero(kFloats);
  Floats none = hn::Zero(kFloats);
  Counter changed;
  const auto multiply = [&](Floats number, std::size_t i) HWY_ATTR BTF_INLINE_LAMBDA {
    const Floats scale = scales.high(i);
    const Floats code = hn::Sub(number, zero_point);
    const Floats small = hn::Mul(code, scales.low(i));
    // -0 and a negative low part would give 0.
    const Floats product = hn::CopySign(hn::MulAdd(code, scale, small), code);
    const Floats error = hn::Abs(hn::Add(hn::MulSub(code, scale, product), small));
    // For Inf and NaN the differences are NaN.
    none = hn::Add(none, hn::Sub(product, product));
    changed.add(hn::Ne(error, hn::Zero(kFloats)));
    seen = hn::Max(seen, error);
    if (HWY_UNLIKELY(!hn::AllFalse(kFloats, bars.may_be_worst(error, hn::Abs(product))))) {
      largest = add_product_errors(chunk, code, error, i, largest);
      bars = ErrorBars(chunk, largest);
    }
    return product;
  };
  by_float_blocks(chunk, chunk.zero_point, results,
                  [&](const float* from, std::size_t i, float* out) HWY_ATTR BTF_INLINE_LAMBDA {
                    for (std::size_t at = 0; at < kBlock; at += kLanes)
                      hn::StoreU(multiply(hn::LoadU(kFloats, from + at), i + at), kFloats,
                                 out + at);
                  });
  if (!hn::AllTrue(kFloats, hn::Eq(none, hn::Zero(kFloats)))) return false;
  account.elements += chunk.count;
  account.inexact += changed.sum();
  account.max_abs = std::max(largest.absolute, largest_lane(seen));
  account.max_rel = largest.relative;
  return true;
}

bool products(const FloatChunk& chunk, float* results, LossAccount& account) {
  return chunk.each ? products_of<true>(chunk, results, account)
                    : products_of<false>(chunk, results, account);
}

bool has_lanes() { return true; }

#else

bool integer_quotients(const Narrowing&, const FloatChunk&, std::byte*, LossAccount&) {
  return false;
}
bool floating_quotients(const Narrowing&, const FloatChunk&, std::byte*, LossAccount&) {
  return false;
}
bool products(const FloatChunk&, float*, LossAccount&) { return false; }
bool has_lanes() { return false; }

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

FloatScale float_scale(double scale) {
  const auto high = static_cast<float>(scale);
  return {high, static_cast<float>(scale - static_cast<double>(high)), high == 0 ? 0 : 1 / high};
}

void FloatScales::add(const FloatScale& scale) {
  high.push_back(scale.high);
  low.push_back(scale.low);
  inverse.push_back(scale.inverse);
}

bool fits_floats(double scale) { return scale == 0 || (scale >= 0x1p-60 && scale <= 0x1p60); }

bool has_float_lanes() { return BTF_SIMD_CALL(has_lanes)(); }

bool floats_narrow_to(const Narrowing& to) {
  if (to.kind == TargetKind::integer)
    return to.modulus <= 256 && !to.wraps && to.rounding == Rounding::nearest;
  return to.kind == TargetKind::floating && to.sign_bit <= 0x80 && std::isfinite(to.beyond);
}

bool float_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                     LossAccount& account) {
  return to.kind == TargetKind::integer
             ? BTF_SIMD_CALL(integer_quotients)(to, chunk, codes, account)
             : BTF_SIMD_CALL(floating_quotients)(to, chunk, codes, account);
}

bool float_products(const FloatChunk& chunk, float* results, LossAccount& account) {
  return BTF_SIMD_CALL(products)(chunk, results, account);
}

}  // namespace btf
#endif

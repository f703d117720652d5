// The account of casts in vectors: the numbers of elements beyond the range, of others that
// changed, and of those that became zero; the largest error; whether the largest relative error may
// grow and, if so, the largest one of the chunk.
#if defined(BTF_KERNELS_CAST_WATCHER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_WATCHER_INL_H
#undef BTF_KERNELS_CAST_WATCHER_INL_H
#else
#define BTF_KERNELS_CAST_WATCHER_INL_H
#endif

#include "kernels/cast/cast_loop.h"
#include "kernels/cast/cast_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

#if BTF_CAST_VECTORS

using Over = hn::Mask<hn::ScalableTag<float>>;

// The elements beyond the range, the others that have changed, and those that became zero.
class Changes {
 public:
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  HWY_INLINE Changes() {}
  HWY_INLINE void see(std::size_t v, Floats error, Floats) {
    block_ |= bits_of_mask(kFloats, hn::Ne(error, hn::Zero(kFloats))) << (v * kLanes);
  }
  HWY_INLINE void see(std::size_t v, Floats error, Floats, Over over) {
    const auto changed = hn::AndNot(over, hn::Ne(error, hn::Zero(kFloats)));
    block_ |= bits_of_mask(kFloats, changed) << (v * kLanes);
    over_ |= bits_of_mask(kFloats, over) << (v * kLanes);
  }
  // Zeros are counted by codes, of which a vector has more than of floats.
  template <typename D, typename V>
  HWY_INLINE void see_codes(std::size_t at, D d, V codes, hn::TFromD<D> bits) {
    const auto zero = hn::Eq(hn::And(codes, hn::Set(d, bits)), hn::Zero(d));
    to_zero_ += hwy::PopCount(block_ & bits_of_mask(d, zero) << at);
  }
  HWY_INLINE void end_block() {
    changed_ += hwy::PopCount(block_);
    overflowed_ += hwy::PopCount(over_);
    block_ = 0;
    over_ = 0;
  }
  HWY_INLINE std::uint32_t overflowed() const { return static_cast<std::uint32_t>(overflowed_); }
  HWY_INLINE std::uint32_t changed() const { return static_cast<std::uint32_t>(changed_); }
  HWY_INLINE std::uint32_t to_zero() const { return static_cast<std::uint32_t>(to_zero_); }

 private:
  std::uint64_t block_ = 0;
  std::uint64_t over_ = 0;
  std::size_t overflowed_ = 0;
  std::size_t changed_ = 0;
  std::size_t to_zero_ = 0;
#else
  HWY_INLINE Changes()
      : overflowed_(hn::Zero(kBits)), changed_(hn::Zero(kBits)), to_zero_(hn::Zero(kBits)) {}
  HWY_INLINE void see(std::size_t, Floats error, Floats rounded) {
    count(hn::Ne(error, hn::Zero(kFloats)), rounded);
  }
  HWY_INLINE void see(std::size_t, Floats error, Floats rounded, Over over) {
    count(hn::AndNot(over, hn::Ne(error, hn::Zero(kFloats))), rounded);
    overflowed_ = hn::Sub(overflowed_, bits_of(hn::VecFromMask(kFloats, over)));
  }
  template <typename D, typename V>
  HWY_INLINE void see_codes(std::size_t, D, V, hn::TFromD<D>) {}
  HWY_INLINE void end_block() {}
  HWY_INLINE std::uint32_t overflowed() const { return sum(overflowed_); }
  HWY_INLINE std::uint32_t changed() const { return sum(changed_); }
  HWY_INLINE std::uint32_t to_zero() const { return sum(to_zero_); }

 private:
  HWY_INLINE static std::uint32_t sum(Bits counts) {
    return hn::GetLane(hn::SumOfLanes(kBits, counts));
  }
  HWY_INLINE void count(Over changed, Floats rounded) {
    const auto zero = hn::And(changed, hn::Eq(rounded, hn::Zero(kFloats)));
    changed_ = hn::Sub(changed_, bits_of(hn::VecFromMask(kFloats, changed)));
    to_zero_ = hn::Sub(to_zero_, bits_of(hn::VecFromMask(kFloats, zero)));
  }

  Bits overflowed_;
  Bits changed_;
  Bits to_zero_;
#endif
};

// Collects the account's figures of a chunk.
template <Watch kWatch>
class Watcher {
 public:
  explicit HWY_INLINE Watcher(float bar)
      : bar_(hn::Set(kFloats, bar)), largest_(hn::Zero(kBits)), record_(hn::Zero(kBits)) {}

  // Vector `v` of a block: `rounded` is the target's value for `value`; both may be without their
  // signs. `over`, if any, are the values beyond the range, whose errors count as well.
  template <typename... MaybeOver>
  HWY_INLINE void see(std::size_t v, Floats value, Floats magnitude, Floats rounded,
                      MaybeOver... over) {
    if constexpr (kWatch == Watch::nothing) return;
    const Floats error = hn::Abs(hn::Sub(rounded, value));
    largest_ = hn::Max(largest_, bits_of(error));
    changes_.see(v, error, rounded, over...);
    if constexpr (kWatch == Watch::relative) record_ = hn::Or(record_, below(error, magnitude));
  }
  // The codes of the block from element `at` on, in order. Only the code of zero has none of
  // `bits`.
  template <typename D, typename V>
  HWY_INLINE void see_codes(std::size_t at, D d, V codes, hn::TFromD<D> bits) {
    if constexpr (kWatch != Watch::nothing) changes_.see_codes(at, d, codes, bits);
  }
  HWY_INLINE void end_block() { changes_.end_block(); }

  HWY_INLINE Tally tally() const {
    if constexpr (kWatch == Watch::nothing) return {};
    return {.overflowed = changes_.overflowed(),
            .changed = changes_.changed(),
            .to_zero = changes_.to_zero(),
            .max_error = hn::GetLane(hn::MaxOfLanes(kBits, largest_)),
            .record = !hn::AllFalse(kInts, hn::Lt(hn::BitCast(kInts, record_), hn::Zero(kInts)))};
  }

 private:
  // The top bit is set if the relative error is above the bar.
  HWY_INLINE Bits below(Floats error, Floats magnitude) const {
#if HWY_NATIVE_FMA
    return bits_of(hn::MulSub(bar_, magnitude, error));
#else
    // A subnormal product may have been rounded up to the error itself.
    const Bits e = bits_of(error);
    const Bits room = hn::Sub(bits_of(hn::Mul(bar_, magnitude)), e);
    return hn::And(hn::Sub(room, hn::Set(kBits, 1)), hn::Sub(hn::Zero(kBits), e));
#endif
  }

  Floats bar_;
  Bits largest_;
  Bits record_;
  Changes changes_;
};

// Stores the errors of a chunk, block by block.
class ErrorKeeper {
 public:
  explicit HWY_INLINE ErrorKeeper(Errors& errors) : errors_(errors) {}

  // As for a Watcher.
  HWY_INLINE void see(std::size_t v, Floats value, Floats magnitude, Floats rounded) {
    keep(v, hn::Abs(hn::Sub(rounded, value)), magnitude);
  }
  HWY_INLINE void see(std::size_t v, Floats value, Floats magnitude, Floats rounded, Over over) {
    keep(v, hn::IfThenZeroElse(over, hn::Abs(hn::Sub(rounded, value))), magnitude);
  }
  template <typename D, typename V>
  HWY_INLINE void see_codes(std::size_t, D, V, hn::TFromD<D>) {}
  HWY_INLINE void end_block() { at_ += kBlock; }

 private:
  HWY_INLINE void keep(std::size_t v, Floats error, Floats magnitude) {
    const std::size_t i = at_ + v * kLanes;
    hn::StoreU(bits_of(error), kBits, errors_.error.data() + i);
    hn::StoreU(bits_of(magnitude), kBits, errors_.magnitude.data() + i);
  }

  Errors& errors_;
  std::size_t at_ = 0;
};

static_assert(kChunk % kBlock == 0, "the last block of a chunk is kept whole");

#endif

HWY_INLINE double quotient(const Errors& errors, std::size_t i) {
  return as_double(errors.error[i]) / as_double(errors.magnitude[i]);
}

// Data with few different values has the largest relative error in every chunk, which should not
// cost a division for each element. Quotients of floats are equal or differ by more than 2^-49 of
// their magnitude. So if one element close to the largest quotient so far has exactly that one, all
// elements that are as close have it.
HWY_INLINE bool has_larger_quotient(const Errors& errors, std::size_t count, double max_rel) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  constexpr std::size_t kStep = hn::MaxLanes(d);
  const auto nearly = hn::Set(d, max_rel * (1 - 0x1p-51));
  const auto beyond = hn::Set(d, max_rel * (1 + 0x1p-51));
  const auto at = [&](const std::array<FloatBits, kChunk>& bits, std::size_t i) HWY_ATTR {
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const float*>(bits.data() + i)));
  };
  std::size_t near = count;
  const std::size_t whole = count - count % kStep;
  for (std::size_t i = 0; i < whole; i += kStep) {
    const auto error = at(errors.error, i);
    const auto size = at(errors.magnitude, i);
    if (!hn::AllFalse(d, hn::Gt(error, hn::Mul(beyond, size)))) return true;
    const std::intptr_t found = hn::FindFirstTrue(d, hn::Gt(error, hn::Mul(nearly, size)));
    if (found >= 0) near = i + static_cast<std::size_t>(found);
  }
  for (std::size_t i = whole; i < count; ++i) {
    const double error = as_double(errors.error[i]);
    const double size = as_double(errors.magnitude[i]);
    if (error > hn::GetLane(beyond) * size) return true;
    if (error > hn::GetLane(nearly) * size) near = i;
  }
  return near != count && quotient(errors, near) != max_rel;
}

// In double precision, as in the account.
HWY_INLINE void settle_quotients(const Errors& errors, std::size_t count, LossAccount& account) {
  if (!has_larger_quotient(errors, count, account.max_rel)) return;
  // Divides doubles only for elements that are close to the largest quotient of floats. No error is
  // less than 2^-24 of its number, so the quotients are normal.
  FloatBits largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const FloatBits bits = std::bit_cast<FloatBits>(std::bit_cast<float>(errors.error[i]) /
                                                    std::bit_cast<float>(errors.magnitude[i]));
    largest = std::max(largest, bits & sign_mask(0 - errors.error[i]));  // ignores 0 / 0
  }
  const double close = as_double(largest) * (1 - 0x1p-20);
  for (std::size_t i = 0; i < count; ++i)
    if (as_double(errors.error[i]) > close * as_double(errors.magnitude[i]))
      account.max_rel = std::max(account.max_rel, quotient(errors, i));
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

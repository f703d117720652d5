// float32 to integers of at most 32 bits and to bool: one function per pair, compiled for several
// instruction sets.
#include "kernels/cast/cast_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/cast_small_integers.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/cast/cast_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

// To bool: anything except zero is true. Errors are the distances from 1; the largest ones are
// those of the least and largest of a chunk's negative and of its positive numbers.

// For true elements, the error grows with the magnitude of a negative number. The relative error
// falls with the magnitude of numbers below 1, and grows with that of numbers above.
HWY_INLINE void settle_true(double x, LossAccount& account) {
  const double error = std::abs(1 - x);
  account.max_abs = std::max(account.max_abs, error);
  account.max_rel = std::max(account.max_rel, error / std::abs(x));
}

struct Float32ToBool {
  static constexpr std::size_t kSourceBytes = sizeof(float);
  static constexpr std::size_t kTargetBytes = 1;
  static constexpr std::uint32_t kOne = std::bit_cast<std::uint32_t>(1.0F);

  // Any chunk.
  static void loop(const Chunk& chunk, LossAccount& account) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<std::uint32_t>(chunk.source, i);
      const std::uint32_t magnitude = bits & kMagnitude32;
      store(chunk.target, i, static_cast<std::uint8_t>(magnitude != 0));
      if (magnitude > kInfinity32) {
        ++account.nan;
        ++account.nan_lost;
      } else if (magnitude == kInfinity32) {
        ++account.overflowed;
      } else if (magnitude != 0 && bits != kOne) {
        ++account.inexact;
        settle_true(static_cast<double>(std::bit_cast<float>(bits)), account);
      }
    }
  }
};

#if !BTF_CAST_VECTORS

HWY_INLINE bool float32_to_bool(const Chunk&, LossAccount&) { return false; }

#else

// The least and the largest bits of positive numbers, which must not be Inf or NaN.
class Ends {
 public:
  HWY_INLINE Ends() : least_(hn::Set(kBits, ~0U)), most_(hn::Zero(kInts)) {}
  // The bits of zero and of negative numbers are larger than all others after subtracting 1.
  HWY_INLINE void see(Bits bits) {
    least_ = hn::Min(least_, hn::Sub(bits, hn::Set(kBits, 1)));
    most_ = hn::Max(most_, hn::BitCast(kInts, bits));
  }
  HWY_INLINE void settle(double sign, LossAccount& account) const {
    const auto most = static_cast<FloatBits>(hn::GetLane(hn::MaxOfLanes(kInts, most_)));
    if (most == 0) return;
    settle_true(sign * as_double(hn::GetLane(hn::MinOfLanes(kBits, least_)) + 1), account);
    settle_true(sign * as_double(most), account);
  }

 private:
  Bits least_;
  Ints most_;
};

// Returns false if there is NaN or Inf.
HWY_INLINE bool float32_to_bool(const Chunk& chunk, LossAccount& account) {
  const Bits sign = hn::Set(kBits, ~kMagnitude32);
  Ends positive;
  Ends negative;
  Bits largest = hn::Zero(kBits);
  std::uint32_t same = 0;
  const std::uint32_t padding = by_blocks<kBlock, std::uint32_t, std::uint8_t>(
      chunk, [&](const std::uint32_t* from, std::uint8_t* to, bool stream) HWY_ATTR {
        Block codes;
        std::uint64_t exact = 0;
        for (std::size_t v = 0; v < kVectors; ++v) {
          const Bits bits = hn::LoadU(kBits, from + v * kLanes);
          const Bits magnitude = hn::AndNot(sign, bits);
          positive.see(bits);
          negative.see(hn::Xor(bits, sign));
          largest = hn::Max(largest, magnitude);
          const auto zero = hn::Eq(magnitude, hn::Zero(kBits));
          const auto one = hn::Eq(bits, hn::Set(kBits, Float32ToBool::kOne));
          exact |= bits_of_mask(kBits, hn::Or(zero, one)) << (v * kLanes);
          codes[v] = hn::IfThenZeroElse(hn::RebindMask(kInts, zero), hn::Set(kInts, 1));
        }
        same += static_cast<std::uint32_t>(hwy::PopCount(exact));
        ShortBlock shorts;
        shorten(codes, shorts);
        put(hn::BitCast(kBytes, in_order<4, std::int32_t>(pack<true>(shorts[0], shorts[1]))),
            kBytes, reinterpret_cast<std::int8_t*>(to), stream);
      });
  if (hn::GetLane(hn::MaxOfLanes(kBits, largest)) >= kInfinity32) return false;
  account.inexact += chunk.count + padding - same;
  positive.settle(1, account);
  negative.settle(-1, account);
  return true;
}

#endif

HWY_INLINE void cast_float32_to_bool(const CastRuns& work, LossAccount& account) {
  each_chunk<Float32ToBool>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    if (float32_to_bool(chunk, account)) return;
    streamed<Float32ToBool>(chunk, [&](const Chunk& some) {
      Float32ToBool::loop(some, account);
      return true;
    });
  });
}

#define BTF_PAIR(name, ...) \
  void name(const CastRuns& work, LossAccount& account) { __VA_ARGS__(work, account); }

BTF_PAIR(f32_i4, cast_narrow<InVectors<ToInteger<DType::int4>>>)
BTF_PAIR(f32_u4, cast_narrow<InVectors<ToInteger<DType::uint4>>>)
BTF_PAIR(f32_i8, cast_narrow<InVectors<ToInteger<DType::int8>>>)
BTF_PAIR(f32_u8, cast_narrow<InVectors<ToInteger<DType::uint8>>>)
BTF_PAIR(f32_i16, cast_narrow<InVectors<ToInteger<DType::int16>>>)
BTF_PAIR(f32_u16, cast_narrow<InVectors<ToInteger<DType::uint16>>>)
BTF_PAIR(f32_i32, cast_narrow<InVectors<ToInteger<DType::int32>>>)
BTF_PAIR(f32_u32, cast_narrow<InVectors<ToInteger<DType::uint32>>>)
BTF_PAIR(f32_bool, cast_float32_to_bool)

#undef BTF_PAIR

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

#define BTF_ROW(name, from, to) {from, to, BTF_SIMD_TABLE(name)}

constexpr auto kRows = std::to_array<CastRunsRow>({
    BTF_ROW(f32_i4, DType::float32, DType::int4),
    BTF_ROW(f32_u4, DType::float32, DType::uint4),
    BTF_ROW(f32_i8, DType::float32, DType::int8),
    BTF_ROW(f32_u8, DType::float32, DType::uint8),
    BTF_ROW(f32_i16, DType::float32, DType::int16),
    BTF_ROW(f32_u16, DType::float32, DType::uint16),
    BTF_ROW(f32_i32, DType::float32, DType::int32),
    BTF_ROW(f32_u32, DType::float32, DType::uint32),
    BTF_ROW(f32_bool, DType::float32, DType::boolean),
});

}  // namespace

std::span<const CastRunsRow> small_integer_rows() { return kRows; }

}  // namespace btf
#endif

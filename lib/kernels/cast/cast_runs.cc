// The table of the pairs that have functions of their own, and the functions for types of 16 bits
// or more and for lossless casts: the most important ones use explicit vectors for chunks without
// special values, the rest the loops of cast_from_wide.h and cast_exact.h.
#include "kernels/cast/cast_runs.h"

#include <array>

#include "kernels/cast/cast_rows.h"
#include "kernels/cast/cast_tile.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/cast_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/cast/cast_exact.h"
#include "kernels/cast/cast_from_wide.h"
#include "kernels/cast/cast_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

#if !BTF_CAST_VECTORS

HWY_INLINE bool float64_to_float32(Chunk, WideBars, WideTally&) { return false; }
HWY_INLINE bool int64_to_int32(Chunk) { return false; }
HWY_INLINE bool bfloat16_to_float32(Chunk) { return false; }
HWY_INLINE bool float32_to_float64(Chunk) { return false; }

#else

const hn::ScalableTag<double> kDoubles;
const hn::ScalableTag<std::uint64_t> kWideBits;
using Doubles = hn::Vec<hn::ScalableTag<double>>;
using WideBits = hn::Vec<hn::ScalableTag<std::uint64_t>>;

// Elements of 64 bits that become a vector of 32.
constexpr std::size_t kPair = kLanes;

// Returns false if there is NaN, or a number beyond the range.
HWY_INLINE bool float64_to_float32(Chunk chunk, WideBars bars, WideTally& tally) {
  const hn::Half<hn::ScalableTag<float>> half;
  const Doubles absolute = hn::Set(kDoubles, std::bit_cast<double>(bars.absolute));
  const Doubles relative = hn::Set(kDoubles, bars.relative);
  Doubles record = hn::Zero(kDoubles);
  Bits largest = hn::Zero(kBits);
  std::uint64_t exact = 0;
  std::uint32_t zeros = 0;
  const auto narrow = [&](const double* from) HWY_ATTR {
    const Doubles value = hn::LoadU(kDoubles, from);
    const auto result = hn::DemoteTo(half, value);
    const Doubles error = hn::Abs(hn::Sub(hn::PromoteTo(kDoubles, result), value));
    exact += without(kWideBits, hn::BitCast(kWideBits, error), kMagnitude64);
    // As in wide_record(), no product that counts is subnormal.
    const Doubles room = hn::MulSub(relative, hn::Abs(value), error);
    record = hn::Or(record, hn::Or(hn::Sub(absolute, error), room));
    return result;
  };
  const std::uint32_t padding = by_blocks<kPair, double, float>(
      chunk, [&](const double* from, float* to, bool stream) HWY_ATTR {
        const auto low = narrow(from);
        const Floats result = hn::Combine(kFloats, narrow(from + kPair / 2), low);
        const Bits magnitude = bits_of(hn::Abs(result));
        largest = hn::Max(largest, magnitude);
        zeros += without(kBits, magnitude, kMagnitude32);
        put(result, kFloats, to, stream);
      });
  const auto records = hn::Lt(hn::BitCast(hn::ScalableTag<std::int64_t>(), record),
                              hn::Zero(hn::ScalableTag<std::int64_t>()));
  tally = {.changed = chunk.count + padding - exact,
           .zeros = zeros - padding,
           .record = !hn::AllFalse(hn::ScalableTag<std::int64_t>(), records)};
  return hn::GetLane(hn::MaxOfLanes(kBits, largest)) < kInfinity32;
}

// Returns false if there is a number beyond the range.
HWY_INLINE bool int64_to_int32(Chunk chunk) {
  const WideBits shift = hn::Set(kWideBits, 0x80000000U);
  WideBits all = hn::Zero(kWideBits);
  by_blocks<kPair, std::uint64_t, std::uint32_t>(
      chunk, [&](const std::uint64_t* from, std::uint32_t* to, bool stream) HWY_ATTR {
        const WideBits low = hn::LoadU(kWideBits, from);
        const WideBits high = hn::LoadU(kWideBits, from + kPair / 2);
        all = hn::Or(all, hn::Or(hn::Add(low, shift), hn::Add(high, shift)));
        put(hn::ConcatEven(kBits, hn::BitCast(kBits, high), hn::BitCast(kBits, low)), kBits, to,
            stream);
      });
  return hn::AllTrue(kWideBits, hn::Eq(hn::ShiftRight<32>(all), hn::Zero(kWideBits)));
}

// Returns false if there is NaN, as below.
HWY_INLINE bool bfloat16_to_float32(Chunk chunk) {
  const hn::Rebind<std::uint16_t, hn::ScalableTag<float>> halves;
  Bits largest = hn::Zero(kBits);
  by_blocks<2 * kLanes, std::uint16_t, float>(
      chunk, [&](const std::uint16_t* from, float* to, bool stream) HWY_ATTR {
        for (std::size_t at = 0; at < 2 * kLanes; at += kLanes) {
          const Bits bits = hn::ShiftLeft<16>(hn::PromoteTo(kBits, hn::LoadU(halves, from + at)));
          largest = hn::Max(largest, hn::And(bits, hn::Set(kBits, kMagnitude32)));
          put(floats_of(bits), kFloats, to + at, stream);
        }
      });
  return hn::GetLane(hn::MaxOfLanes(kBits, largest)) <= kInfinity32;
}

HWY_INLINE bool float32_to_float64(Chunk chunk) {
  const hn::Half<hn::ScalableTag<float>> half;
  const hn::Half<hn::ScalableTag<std::uint32_t>> half_bits;
  auto largest = hn::Zero(half_bits);
  by_blocks<kLanes, float, double>(chunk, [&](const float* from, double* to, bool stream) HWY_ATTR {
    for (std::size_t at = 0; at < kLanes; at += kLanes / 2) {
      const auto values = hn::LoadU(half, from + at);
      largest = hn::Max(largest, hn::BitCast(half_bits, hn::Abs(values)));
      put(hn::PromoteTo(kDoubles, values), kDoubles, to + at, stream);
    }
  });
  return hn::GetLane(hn::MaxOfLanes(half_bits, largest)) <= kInfinity32;
}

#endif

#if BTF_CAST_VECTORS && !(HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2)

// Uses exact instructions. Returns false if there is NaN.
HWY_INLINE bool float16_to_float32(Chunk chunk) {
  const hn::Rebind<hwy::float16_t, hn::ScalableTag<float>> halves;
  Shorts largest = hn::Zero(kShorts);
  by_blocks<2 * kLanes, std::int16_t, float>(
      chunk, [&](const std::int16_t* from, float* to, bool stream) HWY_ATTR {
        const Shorts codes = hn::LoadU(kShorts, from);
        largest = hn::Max(largest, hn::And(codes, hn::Set(kShorts, 0x7fff)));
        for (std::size_t v = 0; v < 2; ++v) {
          const auto* half = reinterpret_cast<const hwy::float16_t*>(from) + v * kLanes;
          put(hn::PromoteTo(kFloats, hn::LoadU(halves, half)), kFloats, to + v * kLanes, stream);
        }
      });
  return hn::GetLane(hn::MaxOfLanes(kShorts, largest)) <= 0x7c00;
}

#else

HWY_INLINE bool float16_to_float32(Chunk) { return false; }

#endif

// Uses the loops of cast_exact.h alone.
template <typename Body>
HWY_INLINE void cast_exactly(const CastRuns& work, LossAccount& account) {
  each_chunk<Body>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    fetch_ahead<Body>(chunk);
    account.nan +=
        streamed<Body>(chunk, [](const Chunk& some) HWY_ATTR { return Body::loop(some); });
  });
}

#if BTF_CAST_VECTORS

// Integers of 8 and 16 bits, for which the compiler's code is slow with wide vectors.
template <typename Body, typename Integer>
HWY_INLINE void cast_integers_to_float32(const CastRuns& work, LossAccount& account) {
  const hn::Rebind<Integer, hn::ScalableTag<float>> integers;
  each_chunk<Body>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    by_blocks<kBlock, Integer, float>(
        chunk, [&](const Integer* from, float* to, bool stream) HWY_ATTR {
          for (std::size_t v = 0; v < kVectors; ++v) {
            const auto values = hn::PromoteTo(kInts, hn::LoadU(integers, from + v * kLanes));
            put(hn::ConvertTo(kFloats, values), kFloats, to + v * kLanes, stream);
          }
        });
  });
}

HWY_INLINE void cast_int32_to_int64(const CastRuns& work, LossAccount& account) {
  const hn::ScalableTag<std::int64_t> wide;
  const hn::Half<hn::ScalableTag<std::int32_t>> half;
  each_chunk<Int32ToInt64>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    by_blocks<kPair, std::int32_t, std::int64_t>(
        chunk, [&](const std::int32_t* from, std::int64_t* to, bool stream) HWY_ATTR {
          for (std::size_t at = 0; at < kPair; at += kPair / 2)
            put(hn::PromoteTo(wide, hn::LoadU(half, from + at)), wide, to + at, stream);
        });
  });
}

#else

template <typename Body, typename>
HWY_INLINE void cast_integers_to_float32(const CastRuns& work, LossAccount& account) {
  cast_exactly<Body>(work, account);
}

HWY_INLINE void cast_int32_to_int64(const CastRuns& work, LossAccount& account) {
  cast_exactly<Int32ToInt64>(work, account);
}

#endif

HWY_INLINE void cast_float64_to_float32(const CastRuns& work, LossAccount& account) {
  each_chunk<Float64ToFloat32>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    const WideBars bars = wide_bars(account);
    WideTally tally;
    const bool clean = float64_to_float32(chunk, bars, tally);
    if (!clean)
      tally = streamed<Float64ToFloat32>(chunk, [&](const Chunk& some) HWY_ATTR {
        return Float64ToFloat32::loop<false>(some, bars, nullptr);
      });
    add_wide<Float64ToFloat32>(chunk, bars, tally, !clean || tally.zeros != 0, account);
  });
}

HWY_INLINE void cast_int64_to_int32(const CastRuns& work, LossAccount& account) {
  each_chunk<Int64ToInt32>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    if (!int64_to_int32(chunk))
      account.overflowed += streamed<Int64ToInt32>(
          chunk, [&](const Chunk& some) HWY_ATTR { return Int64ToInt32::loop(some, account); });
  });
}

// `vectors` returns false if a chunk has NaN.
template <typename Body, bool (*vectors)(Chunk)>
HWY_INLINE void cast_floats_exactly(const CastRuns& work, LossAccount& account) {
  each_chunk<Body>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    if (!vectors(chunk))
      account.nan +=
          streamed<Body>(chunk, [](const Chunk& some) HWY_ATTR { return Body::loop(some); });
  });
}

HWY_INLINE void cast_int32_to_float32(const CastRuns& work, LossAccount& account) {
  using Body = Int32ToFloat32;
  each_chunk<Body>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    fetch_ahead<Body>(chunk);
    const WideBars bars = wide_bars(account);
    const WideTally tally = streamed<Body>(chunk, [&](const Chunk& some) HWY_ATTR {
      return Body::exact(some) ? Body::exact_loop(some) : Body::loop<false>(some, bars, nullptr);
    });
    add_wide<Body>(chunk, bars, tally, false, account);
  });
}

#define BTF_PAIR(name, ...) \
  void name(const CastRuns& work, LossAccount& account) { __VA_ARGS__(work, account); }

BTF_PAIR(f32_f16, cast_narrow<InVectors<ToFloat16>>)
BTF_PAIR(f32_bf16, cast_narrow<InVectors<ToBfloat16>>)
BTF_PAIR(f64_f32, cast_float64_to_float32)
BTF_PAIR(i32_f32, cast_int32_to_float32)
BTF_PAIR(i64_i32, cast_int64_to_int32)
BTF_PAIR(f16_f32, cast_floats_exactly<SmallFloatToFloat32<DType::float16>, float16_to_float32>)
BTF_PAIR(bf16_f32, cast_floats_exactly<SmallFloatToFloat32<DType::bfloat16>, bfloat16_to_float32>)
BTF_PAIR(e4m3_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3fn>>)
BTF_PAIR(e5m2_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e5m2>>)
BTF_PAIR(e2m1_f32, cast_exactly<SmallFloatToFloat32<DType::float4_e2m1fn>>)
BTF_PAIR(e4m3fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3fnuz>>)
BTF_PAIR(e5m2fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e5m2fnuz>>)
BTF_PAIR(e3m4_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e3m4>>)
BTF_PAIR(e4m3ieee_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3>>)
BTF_PAIR(e4m3b11fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3b11fnuz>>)
BTF_PAIR(i4_f32, cast_exactly<SmallIntegerToFloat32<DType::int4>>)
BTF_PAIR(u4_f32, cast_exactly<SmallIntegerToFloat32<DType::uint4>>)
BTF_PAIR(i8_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::int8>, std::int8_t>)
BTF_PAIR(u8_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::uint8>, std::uint8_t>)
BTF_PAIR(i16_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::int16>, std::int16_t>)
BTF_PAIR(u16_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::uint16>, std::uint16_t>)
BTF_PAIR(bool_f32, cast_exactly<SmallIntegerToFloat32<DType::boolean>>)
BTF_PAIR(f32_f64, cast_floats_exactly<Float32ToFloat64, float32_to_float64>)
BTF_PAIR(i32_i64, cast_int32_to_int64)

#undef BTF_PAIR

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

#define BTF_ROW(name, from, to) {from, to, BTF_SIMD_TABLE(name)}

constexpr auto kRows = std::to_array<CastRunsRow>({
    BTF_ROW(f32_f16, DType::float32, DType::float16),
    BTF_ROW(f32_bf16, DType::float32, DType::bfloat16),
    BTF_ROW(f64_f32, DType::float64, DType::float32),
    BTF_ROW(i32_f32, DType::int32, DType::float32),
    BTF_ROW(i64_i32, DType::int64, DType::int32),
    BTF_ROW(f16_f32, DType::float16, DType::float32),
    BTF_ROW(bf16_f32, DType::bfloat16, DType::float32),
    BTF_ROW(e4m3_f32, DType::float8_e4m3fn, DType::float32),
    BTF_ROW(e5m2_f32, DType::float8_e5m2, DType::float32),
    BTF_ROW(e2m1_f32, DType::float4_e2m1fn, DType::float32),
    BTF_ROW(e4m3fnuz_f32, DType::float8_e4m3fnuz, DType::float32),
    BTF_ROW(e5m2fnuz_f32, DType::float8_e5m2fnuz, DType::float32),
    BTF_ROW(e3m4_f32, DType::float8_e3m4, DType::float32),
    BTF_ROW(e4m3ieee_f32, DType::float8_e4m3, DType::float32),
    BTF_ROW(e4m3b11fnuz_f32, DType::float8_e4m3b11fnuz, DType::float32),
    BTF_ROW(i4_f32, DType::int4, DType::float32),
    BTF_ROW(u4_f32, DType::uint4, DType::float32),
    BTF_ROW(i8_f32, DType::int8, DType::float32),
    BTF_ROW(u8_f32, DType::uint8, DType::float32),
    BTF_ROW(i16_f32, DType::int16, DType::float32),
    BTF_ROW(u16_f32, DType::uint16, DType::float32),
    BTF_ROW(bool_f32, DType::boolean, DType::float32),
    BTF_ROW(f32_f64, DType::float32, DType::float64),
    BTF_ROW(i32_i64, DType::int32, DType::int64),
});

// Indexed by the rows of both dtypes.
using Table = std::array<std::array<const CastRunsRow*, kDTypeCount>, kDTypeCount>;

Table all_rows() {
  Table table{};
  for (const std::span<const CastRunsRow> some :
       {small_float_rows(), small_integer_rows(), std::span<const CastRunsRow>(kRows)})
    for (const CastRunsRow& row : some) table[row_of(row.from)][row_of(row.to)] = &row;
  return table;
}

class FastCast final : public RunCast {
 public:
  explicit FastCast(CastRunsFn run) : run_(run) {}
  void operator()(const CastRuns& work, LossAccount& account) const override {
    run_(work, account);
  }

 private:
  CastRunsFn run_;
};

}  // namespace

CastRunsFn find_cast_runs(DType from, DType to) {
  static const Table table = all_rows();
  const CastRunsRow* const row = table[row_of(from)][row_of(to)];
  return row == nullptr ? nullptr : row->run[cpu_level()];
}

bool is_default(const CastPolicy& policy) {
  return policy.rounding == Rounding::by_table &&
         (policy.overflow == Overflow::saturate || policy.overflow == Overflow::error);
}

bool cast_fast_applies(const CastJob& job) {
  return is_default(job.policy) && find_cast_runs(job.from, job.to) != nullptr;
}

void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  cast_tile(FastCast(find_cast_runs(job.from, job.to)), job, tile, account);
}

}  // namespace btf
#endif

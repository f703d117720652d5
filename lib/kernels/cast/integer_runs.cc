#include "kernels/cast/integer_runs.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/simd_targets.h"
#include "kernels/number/number.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/integer_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/cast/cast_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <DType T>
constexpr const DTypeInfo& kRowOf = dtype_rows::kRows[row_of(T)];

template <unsigned kBits>
using Unsigned = std::conditional_t<
    kBits <= 8, std::uint8_t,
    std::conditional_t<kBits == 16, std::uint16_t,
                       std::conditional_t<kBits == 32, std::uint32_t, std::uint64_t>>>;

// The integer type that kernels use for elements of T.
template <DType T>
using Native =
    std::conditional_t<kRowOf<T>.kind == NumberKind::signed_integer,
                       std::make_signed_t<Unsigned<kRowOf<T>.bits>>, Unsigned<kRowOf<T>.bits>>;

// The limits of a dtype's range, clamped to those of the integer type.
template <DType T, typename Integer>
constexpr Integer least_of() {
  if constexpr (kRowOf<T>.kind != NumberKind::signed_integer || std::is_unsigned_v<Integer>)
    return 0;
  else if constexpr (kRowOf<T>.bits >= 8 * sizeof(Integer))
    return std::numeric_limits<Integer>::min();
  else
    return static_cast<Integer>(-(std::int64_t{1} << (kRowOf<T>.bits - 1)));
}

template <DType T, typename Integer>
constexpr Integer largest_of() {
  constexpr std::uint64_t kLargest =
      number::low_bits(kRowOf<T>.bits - (kRowOf<T>.kind == NumberKind::signed_integer ? 1U : 0U));
  constexpr auto kEnd = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  return static_cast<Integer>(std::min(kLargest, kEnd));
}

// To the same kind of integer in kBytes, a step at a time.
template <std::size_t kBytes, typename D, typename V>
HWY_INLINE auto widened([[maybe_unused]] D d, V values) {
  if constexpr (sizeof(hn::TFromD<D>) >= kBytes) {
    return values;
  } else {
    const hn::Rebind<hwy::MakeWide<hn::TFromD<D>>, D> wide;
    return widened<kBytes>(wide, hn::PromoteTo(wide, values));
  }
}

template <DType From, DType To>
class IntegerCast {
  using Source = Native<From>;
  using Target = Native<To>;
  using Bits = std::make_unsigned_t<Target>;
  static constexpr std::size_t kWidest = std::max(sizeof(Source), sizeof(Target));

 public:
  static constexpr std::size_t kElements = HWY_MAX_BYTES / kWidest;

  HWY_INLINE IntegerCast() : least_(hn::Zero(kFrom)), largest_(hn::Zero(kFrom)) {}

  HWY_INLINE void operator()(const Source* from, Bits* to) {
    const auto values = hn::LoadU(kFrom, from);
    least_ = hn::Min(least_, values);
    largest_ = hn::Max(largest_, values);
    const auto inside = clamped(values);
    if constexpr (kClamps) overflowed_ += count_of(kFrom, hn::Ne(inside, values));
    const hn::Rebind<Bits, decltype(kFrom)> bits;
    const hn::RebindToUnsigned<decltype(kFrom)> words;
    if constexpr (sizeof(Source) > sizeof(Target)) {
      auto codes = hn::TruncateTo(bits, hn::BitCast(words, inside));
      if constexpr (kRowOf<To>.half_byte()) codes = hn::And(codes, hn::Set(bits, kMask));
      hn::StoreU(codes, bits, to);
    } else {
      auto codes = hn::BitCast(bits, widened<sizeof(Target)>(kFrom, inside));
      if constexpr (kRowOf<To>.half_byte()) codes = hn::And(codes, hn::Set(bits, kMask));
      hn::StoreU(codes, bits, to);
    }
  }

  HWY_INLINE IntegerTally tally() const {
    const Source least = lane_of(least_, [](Source a, Source b) { return std::min(a, b); });
    const Source largest = lane_of(largest_, [](Source a, Source b) { return std::max(a, b); });
    IntegerTally tally{.overflowed = overflowed_};
    if constexpr (sizeof(Source) == 8) {
      constexpr Source kMax = Source{1} << 53;
      if constexpr (std::is_signed_v<Source>) tally.doubles = least >= -kMax;
      tally.doubles = tally.doubles && largest <= kMax;
    }
    tally.least = static_cast<double>(least);
    tally.largest = static_cast<double>(largest);
    return tally;
  }

 private:
  static constexpr hn::CappedTag<Source, kElements> kFrom{};
  static constexpr Source kMin = least_of<To, Source>();
  static constexpr Source kLargest = largest_of<To, Source>();
  static constexpr bool kClampsBelow = kMin > std::numeric_limits<Source>::min();
  static constexpr bool kClampsAbove = kLargest < std::numeric_limits<Source>::max();
  static constexpr bool kClamps = kClampsBelow || kClampsAbove;
  static constexpr Bits kMask = static_cast<Bits>(number::low_bits(kRowOf<To>.bits));
  using Values = hn::Vec<hn::CappedTag<Source, kElements>>;

  static HWY_INLINE Values clamped(Values values) {
    if constexpr (kClampsBelow) values = hn::Max(values, hn::Set(kFrom, kMin));
    if constexpr (kClampsAbove) values = hn::Min(values, hn::Set(kFrom, kLargest));
    return values;
  }
  template <typename Pick>
  static HWY_INLINE Source lane_of(Values values, Pick&& pick) {
    HWY_ALIGN std::array<Source, kElements> lanes;
    hn::Store(values, kFrom, lanes.data());
    Source result = lanes[0];
    for (const Source lane : lanes) result = pick(result, lane);
    return result;
  }

  Values least_;
  Values largest_;
  std::uint64_t overflowed_ = 0;
};

#if BTF_CAST_VECTORS

constexpr bool is_integer(const DTypeInfo& row) {
  return row.kind == NumberKind::signed_integer || row.kind == NumberKind::unsigned_integer;
}

template <DType From, DType To>
IntegerTally cast_integers(const std::byte* source, std::byte* target, std::size_t count) {
  IntegerCast<From, To> cast;
  by_blocks<IntegerCast<From, To>::kElements, Native<From>, Unsigned<kRowOf<To>.bits>>(
      Chunk{source, target, count, 0, false},
      [&](const Native<From>* from, Unsigned<kRowOf<To>.bits>* to, bool)
          HWY_ATTR { cast(from, to); });
  return cast.tally();
}

template <DType From, DType To>
constexpr IntegerRunFn row() {
  if constexpr (From != To && is_integer(kRowOf<From>) && !kRowOf<From>.half_byte() &&
                is_integer(kRowOf<To>))
    return cast_integers<From, To>;
  else
    return nullptr;
}

template <std::size_t... Pair>
constexpr auto make_rows(std::index_sequence<Pair...>) {
  return std::array<IntegerRunFn, sizeof...(Pair)>{
      row<dtype_rows::kRows[Pair / kDTypeCount].dtype,
          dtype_rows::kRows[Pair % kDTypeCount].dtype>()...};
}

IntegerRunFn find_row(DType from, DType to) {
  static constexpr auto kRows = make_rows(std::make_index_sequence<kDTypeCount * kDTypeCount>{});
  return kRows[row_of(from) * kDTypeCount + row_of(to)];
}

#else

IntegerRunFn find_row(DType, DType) { return nullptr; }

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

IntegerRunFn find_integer_run(DType from, DType to) { return BTF_SIMD_CALL(find_row)(from, to); }

}  // namespace btf
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/simd_targets.h"
#include "kernels/narrow/narrowing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/narrow/narrow_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/narrow/narrow_inputs-inl.h"
#include "kernels/narrow/narrow_targets-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes64 = hn::MaxLanes(DoubleTag());

// Counts masks, which are -1 if set.
class Count {
 public:
  HWY_INLINE Count() : lanes_(hn::Zero(kWords)) {}
  HWY_INLINE void add(Lanes mask) {
    lanes_ = hn::Sub(lanes_, words_of(hn::VecFromMask(kDoubles, mask)));
  }
  HWY_INLINE std::uint64_t sum() const { return hn::GetLane(hn::SumOfLanes(kWords, lanes_)); }

 private:
  Words lanes_;
};

HWY_INLINE double largest_lane(Doubles x) { return hn::GetLane(hn::MaxOfLanes(kDoubles, x)); }

struct Relative {
  bool record = false;  // a relative error may be above the bar
  double largest = 0;   // the largest one; only with kDivide
};

// Adds the chunk to the account, except for its largest relative error.
template <typename Target, typename Input, bool kDivide, typename Code>
HWY_INLINE Relative narrow_once(const Narrowing& to, const NarrowChunk& chunk, double bar,
                                Code* codes, LossAccount& account) {
  using At = typename Input::template At<Target::kRoundsTo53>;
  const hn::Rebind<Code, DoubleTag> code_tag;
  const Target target(to);
  const Input input(chunk, to);
  const Doubles bars = all(bar);
  const Doubles infinity = all(std::numeric_limits<double>::infinity());
  Count nan;
  Count over;
  Count changed;
  Count zeros;
  Count negative;  // where the target has no signs
  Doubles largest = hn::Zero(kDoubles);
  Doubles relative = hn::Zero(kDoubles);
  for (std::size_t i = 0; i < chunk.count; i += kLanes64) {
    const At at(input, i);
    const Narrowed result = target.narrow(at.number, at.zero_point());
    if constexpr (sizeof(Code) == 8)
      hn::Store(result.codes, code_tag, codes + i);
    else
      hn::Store(hn::TruncateTo(code_tag, result.codes), code_tag, codes + i);

    const Lanes is_nan = hn::IsNaN(at.number);
    const Lanes is_over = hn::AndNot(is_nan, result.over);
    Doubles error = at.error(target, result);
    error = hn::IfThenElseZero(hn::Lt(error, infinity), error);
    const Lanes differs = hn::Ne(error, hn::Zero(kDoubles));
    const Lanes is_changed = hn::AndNot(is_over, differs);
    nan.add(is_nan);
    over.add(is_over);
    changed.add(is_changed);
    if constexpr (Target::kHasZero)
      zeros.add(hn::And(is_changed, hn::Eq(result.values, hn::Zero(kDoubles))));
    else
      negative.add(hn::And(is_changed, hn::Lt(at.number, hn::Zero(kDoubles))));
    largest = hn::Max(largest, error);
    Lanes counts = differs;
    const Doubles size = at.size();
    if constexpr (!Target::kHasZero) counts = hn::And(counts, hn::Ne(size, hn::Zero(kDoubles)));
    if constexpr (kDivide) {
      relative = hn::Max(relative, hn::IfThenElseZero(counts, hn::Div(error, size)));
    } else {
      const Lanes above = hn::And(counts, hn::Ge(error, hn::Mul(bars, size)));
      relative = hn::Or(relative, hn::VecFromMask(kDoubles, above));
    }
  }
  account.nan += nan.sum();
  account.nan_lost += to.has_nan ? 0 : nan.sum();
  account.overflowed += over.sum();
  account.to_zero += zeros.sum();
  account.inexact += changed.sum() - zeros.sum();
  account.sign_lost += negative.sum();
  account.max_abs = std::max(account.max_abs, largest_lane(largest));
  if constexpr (kDivide) return {false, largest_lane(relative)};
  const hn::RebindToSigned<DoubleTag> ints;
  return {!hn::AllTrue(ints, hn::Eq(hn::BitCast(ints, relative), hn::Zero(ints))), 0};
}

template <typename Target, typename Input, typename Code>
HWY_INLINE void narrow_chunk(const Narrowing& to, const NarrowChunk& chunk, Code* codes,
                             LossAccount& account) {
  // A little less than the largest so far, since products are rounded.
  const double bar = account.max_rel * (1 - 0x1p-40);
  LossAccount tally = account;
  const Relative found = narrow_once<Target, Input, false>(to, chunk, bar, codes, tally);
  if (found.record) {
    tally = account;
    const Relative exact = narrow_once<Target, Input, true>(to, chunk, bar, codes, tally);
    tally.max_rel = std::max(tally.max_rel, exact.largest);
  }
  account = tally;
  account.elements += chunk.count;
}

template <typename Target, typename Input>
HWY_INLINE void narrow(const Narrowing& to, const NarrowChunk& chunk, NarrowCodes& codes,
                       LossAccount& account) {
  if (to.kind == TargetKind::double_ || to.kind == TargetKind::wide_integer)
    narrow_chunk<Target, Input>(to, chunk, codes.wide.data(), account);
  else
    narrow_chunk<Target, Input>(to, chunk, codes.narrow.data(), account);
}

#define BTF_NARROW(name, target, input)                                        \
  void name(const Narrowing& to, const NarrowChunk& chunk, NarrowCodes& codes, \
            LossAccount& account) {                                            \
    narrow<target, input>(to, chunk, codes, account);                          \
  }
#define BTF_NARROW_SCALED(name, target, input)                                 \
  void name(const Narrowing& to, const NarrowChunk& chunk, NarrowCodes& codes, \
            LossAccount& account) {                                            \
    if (chunk.each)                                                            \
      narrow<target, input<true>>(to, chunk, codes, account);                  \
    else                                                                       \
      narrow<target, input<false>>(to, chunk, codes, account);                 \
  }

BTF_NARROW(plain_floating, ToFloating, Plain)
BTF_NARROW(plain_double, ToDouble, Plain)
BTF_NARROW(plain_integer, ToInteger32, Plain)
BTF_NARROW(plain_wide, ToInteger64, Plain)
BTF_NARROW(plain_boolean, ToBoolean, Plain)
BTF_NARROW(plain_power, ToPowerOfTwo, Plain)
BTF_NARROW(split_floating, ToFloating, Split)
BTF_NARROW(split_double, ToDouble, Split)
BTF_NARROW(split_integer, ToInteger32, Split)
BTF_NARROW(split_boolean, ToBoolean, Split)
BTF_NARROW(split_power, ToPowerOfTwo, Split)
BTF_NARROW_SCALED(quotient_floating, ToFloating, Quotient)
BTF_NARROW_SCALED(quotient_integer, ToInteger32, Quotient)
BTF_NARROW_SCALED(product_floating, ToFloating, Product)
BTF_NARROW_SCALED(product_double, ToDouble, Product)

#undef BTF_NARROW
#undef BTF_NARROW_SCALED

bool is_fused() { return HWY_NATIVE_FMA != 0; }

template <typename Code>
HWY_INLINE void pack(const std::uint32_t* codes, std::size_t count, std::byte* target) {
  const hn::ScalableTag<std::uint32_t> from;
  const hn::Rebind<Code, decltype(from)> to;
  constexpr std::size_t kLanes = hn::MaxLanes(from);
  auto* out = reinterpret_cast<Code*>(target);
  std::size_t i = 0;
  for (; count - i >= kLanes; i += kLanes)
    hn::StoreU(hn::TruncateTo(to, hn::Load(from, codes + i)), to, out + i);
  for (; i < count; ++i) {
    const auto code = static_cast<Code>(codes[i]);
    std::memcpy(out + i, &code, sizeof(code));
  }
}

void pack_bytes(const std::uint32_t* codes, std::size_t count, std::byte* target) {
  pack<std::uint8_t>(codes, count, target);
}
void pack_shorts(const std::uint32_t* codes, std::size_t count, std::byte* target) {
  pack<std::uint16_t>(codes, count, target);
}

// The halves of 32 bits become the last digits of 2^52 and 2^84.
bool split_words(const std::byte* source, std::size_t count, bool has_sign, double* high,
                 double* low) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(source);
  const Words flip = all_words(has_sign ? 0x80000000U : 0);
  const Doubles upper_base = all(has_sign ? 0x1p84 + 0x1p63 : 0x1p84);
  const Words half = all_words(has_sign ? 1ULL << 53 : 0);
  Words all_bits = hn::Zero(kWords);
  const auto one = [&](const std::uint64_t* words, double* to_high, double* to_low) HWY_ATTR {
    const Words x = hn::LoadU(kWords, words);
    const Words upper = hn::Xor(hn::ShiftRight<32>(x), flip);
    const Words lower = hn::And(x, all_words(0xffffffffU));
    all_bits = hn::Or(all_bits, hn::Add(x, half));
    hn::Store(hn::Sub(doubles_of(hn::Or(upper, words_of(all(0x1p84)))), upper_base), kDoubles,
              to_high);
    hn::Store(hn::Sub(doubles_of(hn::Or(lower, words_of(all(0x1p52)))), all(0x1p52)), kDoubles,
              to_low);
  };
  std::size_t i = 0;
  for (; count - i >= kLanes64; i += kLanes64) one(from + i, high + i, low + i);
  if (i < count) {
    HWY_ALIGN std::array<std::uint64_t, kLanes64> rest{};
    std::memcpy(rest.data(), from + i, (count - i) * sizeof(std::uint64_t));
    one(rest.data(), high + i, low + i);
  }
  const Words beyond = all_words(~0ULL << (has_sign ? 54 : 53));
  if (!hn::AllTrue(kWords, hn::Eq(hn::And(all_bits, beyond), hn::Zero(kWords)))) return true;
  for (i = 0; i < count; i += kLanes64)
    hn::Store(hn::Add(hn::Load(kDoubles, high + i), hn::Load(kDoubles, low + i)), kDoubles,
              high + i);
  return false;
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

struct Row {
  TargetKind kind;
  NumberSource source;
  std::array<NarrowFn, kCpuLevels> narrow;
};

constexpr auto kRows = std::to_array<Row>({
    {TargetKind::floating, NumberSource::plain, BTF_SIMD_TABLE(plain_floating)},
    {TargetKind::double_, NumberSource::plain, BTF_SIMD_TABLE(plain_double)},
    {TargetKind::integer, NumberSource::plain, BTF_SIMD_TABLE(plain_integer)},
    {TargetKind::wide_integer, NumberSource::plain, BTF_SIMD_TABLE(plain_wide)},
    {TargetKind::boolean, NumberSource::plain, BTF_SIMD_TABLE(plain_boolean)},
    {TargetKind::power_of_two, NumberSource::plain, BTF_SIMD_TABLE(plain_power)},
    {TargetKind::floating, NumberSource::split, BTF_SIMD_TABLE(split_floating)},
    {TargetKind::double_, NumberSource::split, BTF_SIMD_TABLE(split_double)},
    {TargetKind::integer, NumberSource::split, BTF_SIMD_TABLE(split_integer)},
    {TargetKind::boolean, NumberSource::split, BTF_SIMD_TABLE(split_boolean)},
    {TargetKind::power_of_two, NumberSource::split, BTF_SIMD_TABLE(split_power)},
    {TargetKind::floating, NumberSource::quotient, BTF_SIMD_TABLE(quotient_floating)},
    {TargetKind::integer, NumberSource::quotient, BTF_SIMD_TABLE(quotient_integer)},
    {TargetKind::floating, NumberSource::product, BTF_SIMD_TABLE(product_floating)},
    {TargetKind::double_, NumberSource::product, BTF_SIMD_TABLE(product_double)},
});

}  // namespace

NarrowFn find_narrow(TargetKind kind, NumberSource source) {
  const auto* const row = std::ranges::find_if(
      kRows, [&](const Row& r) { return r.kind == kind && r.source == source; });
  return row == kRows.end() ? nullptr : row->narrow[cpu_level()];
}

bool narrow_is_fused() { return BTF_SIMD_CALL(is_fused)(); }

void pack_codes(const NarrowCodes& codes, std::size_t count, std::size_t element_bytes,
                std::byte* target) {
  if (element_bytes == 1) return BTF_SIMD_CALL(pack_bytes)(codes.narrow.data(), count, target);
  if (element_bytes == 2) return BTF_SIMD_CALL(pack_shorts)(codes.narrow.data(), count, target);
  if (element_bytes == 4)
    std::memcpy(target, codes.narrow.data(), count * element_bytes);
  else
    std::memcpy(target, codes.wide.data(), count * element_bytes);
}

bool split_integers(const std::byte* source, std::size_t count, bool has_sign, double* high,
                    double* low) {
  return BTF_SIMD_CALL(split_words)(source, count, has_sign, high, low);
}

}  // namespace btf
#endif

#include "kernels/cast/few_codes.h"

#include <algorithm>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/few_codes.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/cast/cast_vectors-inl.h"

// SSE2 has no instruction that looks up bytes.
#undef BTF_CODE_LOOKUP
#if !BTF_CAST_VECTORS || HWY_TARGET == HWY_SSE2
#define BTF_CODE_LOOKUP 0
#else
#define BTF_CODE_LOOKUP 1
#endif

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#if BTF_CODE_LOOKUP

namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<std::uint8_t> kCodes;
using Codes = hn::Vec<hn::ScalableTag<std::uint8_t>>;
constexpr std::size_t kCodeLanes = HWY_MAX_BYTES;
constexpr std::size_t kBlocks = HWY_MAX_BYTES / 16;

HWY_INLINE Codes load_codes(const std::uint8_t* source, std::uint8_t most) {
  return hn::Min(hn::LoadU(kCodes, source), hn::Set(kCodes, most));
}

template <std::size_t kBytes>
constexpr auto make_dword_order() {
  std::array<std::uint32_t, 4 * kBlocks> order{};
  for (std::size_t k = 0; k < kBlocks; ++k)
    for (std::size_t w = 0; w < 4; ++w) {
      std::size_t from = 4 * k + w;
      if (kBytes == 2) from = 2 * (kBlocks * (w / 2) + k) + w % 2;
      if (kBytes == 4) from = kBlocks * w + k;
      if (kBytes == 8) {
        constexpr std::size_t kPart = 4 / kBlocks;
        from = 4 * (w / kPart) + kPart * k + w % kPart;
      }
      order[4 * k + w] = static_cast<std::uint32_t>(from);
    }
  return order;
}

// The order within 16 bytes: the pairs r with the same r modulo kBlocks are adjacent.
constexpr auto make_pair_order() {
  std::array<std::uint8_t, 16> order{};
  constexpr std::size_t kPart = 8 / kBlocks;
  for (std::size_t q = 0; q < 8; ++q)
    for (std::size_t h = 0; h < 2; ++h)
      order[2 * q + h] = static_cast<std::uint8_t>(2 * (q / kPart + kBlocks * (q % kPart)) + h);
  return order;
}

// Interleaving works on pieces of 16 bytes; codes are moved so that its results are in order: the
// n-th of them has the n-th kBytes-th part of each piece.
template <std::size_t kBytes>
HWY_INLINE Codes arranged(Codes codes) {
  if constexpr (kBlocks == 1 || kBytes == 1) return codes;
  if constexpr (kBytes == 8) {
    HWY_ALIGN static constexpr auto kPairs = make_pair_order();
    codes = hn::TableLookupBytes(codes, hn::LoadDup128(kCodes, kPairs.data()));
  }
  HWY_ALIGN static constexpr auto kOrder = make_dword_order<kBytes>();
  return hn::BitCast(kCodes, hn::TableLookupLanes(hn::BitCast(kBits, codes),
                                                  hn::SetTableIndices(kBits, kOrder.data())));
}

// A table for each byte of the target's code.
template <std::size_t kBytes>
class Tables {
 public:
  explicit HWY_INLINE Tables(const FewCodes& codes) {
    for (std::size_t b = 0; b < kBytes; ++b)
      tables_[b] = hn::LoadDup128(kCodes, codes.planes[b].data());
  }

  // Calls store(vector, n) for vectors of codes, n being the vector's number.
  template <typename Store>
  HWY_INLINE void look_up(Codes codes, Store&& store) const {
    Codes planes[kBytes];
    for (std::size_t b = 0; b < kBytes; ++b) planes[b] = hn::TableLookupBytes(tables_[b], codes);
    if constexpr (kBytes == 1) {
      store(planes[0], 0);
    } else if constexpr (kBytes == 2) {
      each_pair<std::uint8_t>(planes[0], planes[1], 0, store);
    } else if constexpr (kBytes == 4) {
      quarters(planes, 0, [&](Codes four, std::size_t n) HWY_ATTR { store(four, n); });
    } else {
      Codes low[4];
      Codes high[4];
      quarters(planes, 0, [&](Codes four, std::size_t n) HWY_ATTR { low[n] = four; });
      quarters(planes, 4, [&](Codes four, std::size_t n) HWY_ATTR { high[n] = four; });
      for (std::size_t n = 0; n < 4; ++n) each_pair<std::uint32_t>(low[n], high[n], 2 * n, store);
    }
  }

 private:
  template <typename T, typename Store>
  static HWY_INLINE void each_pair(Codes low, Codes high, std::size_t n, Store&& store) {
    const hn::ScalableTag<T> d;
    const auto a = hn::BitCast(d, low);
    const auto b = hn::BitCast(d, high);
    store(hn::BitCast(kCodes, hn::InterleaveLower(d, a, b)), n);
    store(hn::BitCast(kCodes, hn::InterleaveUpper(d, a, b)), n + 1);
  }
  template <typename Store>
  static HWY_INLINE void quarters(const Codes (&planes)[kBytes], std::size_t first, Store&& store) {
    Codes low[2];
    Codes high[2];
    each_pair<std::uint8_t>(planes[first], planes[first + 1], 0,
                            [&](Codes two, std::size_t n) HWY_ATTR { low[n] = two; });
    each_pair<std::uint8_t>(planes[first + 2], planes[first + 3], 0,
                            [&](Codes two, std::size_t n) HWY_ATTR { high[n] = two; });
    for (std::size_t n = 0; n < 2; ++n) each_pair<std::uint16_t>(low[n], high[n], 2 * n, store);
  }

  Codes tables_[kBytes];
};

template <typename Code>
HWY_INLINE void look_up_codes(const FewCodes& codes, const FewCodesRun& run) {
  constexpr std::size_t kBytes = sizeof(Code);
  const Tables<kBytes> tables(codes);
  by_blocks<kCodeLanes, std::uint8_t, Code>(
      Chunk{run.source, run.target, run.count, run.ahead, run.stream},
      [&](const std::uint8_t* from, Code* to, bool stream) HWY_ATTR {
        auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
        tables.look_up(arranged<kBytes>(load_codes(from, codes.most)),
                       [&](Codes some, std::size_t n)
                           HWY_ATTR { put(some, kCodes, bytes + n * kCodeLanes, stream); });
      });
}

void look_up_all(const FewCodes& codes, const FewCodesRun& run) {
  if (codes.target_bytes == 1) return look_up_codes<std::uint8_t>(codes, run);
  if (codes.target_bytes == 2) return look_up_codes<std::uint16_t>(codes, run);
  if (codes.target_bytes == 4) return look_up_codes<std::uint32_t>(codes, run);
  look_up_codes<std::uint64_t>(codes, run);
}

// Calls see(vector of codes) for all whole vectors of a run, at most kMax of them before flush().
// Returns the number of elements.
template <std::size_t kMax, typename See, typename Flush>
HWY_INLINE std::size_t each_vector(const FewCodes& codes, const FewCodesRun& run, See&& see,
                                   Flush&& flush) {
  const auto* source = reinterpret_cast<const std::uint8_t*>(run.source);
  std::size_t i = 0;
  while (run.count - i >= kCodeLanes) {
    const std::size_t vectors = std::min((run.count - i) / kCodeLanes, kMax);
    const std::size_t end = i + vectors * kCodeLanes;
    for (; i < end; i += kCodeLanes) see(load_codes(source + i, codes.most));
    flush();
  }
  return i;
}

std::uint64_t count_all_marked(const FewCodes& codes, const FewCodesRun& run,
                               const CodeMarks& marks) {
  const hn::ScalableTag<std::uint64_t> sums;
  const Codes table = hn::LoadDup128(kCodes, marks.data());
  Codes counts = hn::Zero(kCodes);
  std::uint64_t total = 0;
  // Counts of 8 bits are summed before they overflow.
  std::size_t i = each_vector<255>(
      codes, run,
      [&](Codes some) HWY_ATTR { counts = hn::Add(counts, hn::TableLookupBytes(table, some)); },
      [&]() HWY_ATTR {
        total += hn::GetLane(hn::SumOfLanes(sums, hn::SumsOf8(counts)));
        counts = hn::Zero(kCodes);
      });
  for (; i < run.count; ++i)
    total += marks[std::min(std::to_integer<std::uint8_t>(run.source[i]), codes.most)];
  return total;
}

std::uint32_t all_seen_codes(const FewCodes& codes, const FewCodesRun& run) {
  HWY_ALIGN static constexpr CodeMarks kLow{1, 2, 4, 8, 16, 32, 64, 128};
  HWY_ALIGN static constexpr CodeMarks kHigh{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128};
  const Codes low_table = hn::LoadDup128(kCodes, kLow.data());
  const Codes high_table = hn::LoadDup128(kCodes, kHigh.data());
  Codes low = hn::Zero(kCodes);
  Codes high = low;
  std::size_t i = each_vector<SIZE_MAX>(
      codes, run,
      [&](Codes some) HWY_ATTR {
        low = hn::Or(low, hn::TableLookupBytes(low_table, some));
        high = hn::Or(high, hn::TableLookupBytes(high_table, some));
      },
      [] {});
  std::uint32_t seen = 0;
  HWY_ALIGN std::array<std::uint8_t, kCodeLanes> lanes;
  hn::Store(low, kCodes, lanes.data());
  for (const std::uint8_t lane : lanes) seen |= lane;
  hn::Store(high, kCodes, lanes.data());
  for (const std::uint8_t lane : lanes) seen |= static_cast<std::uint32_t>(lane) << 8;
  for (; i < run.count; ++i)
    seen |= 1U << std::min(std::to_integer<std::uint8_t>(run.source[i]), codes.most);
  return seen;
}

bool can_look_up() { return true; }

#else

void look_up_all(const FewCodes&, const FewCodesRun&) {}
std::uint64_t count_all_marked(const FewCodes&, const FewCodesRun&, const CodeMarks&) { return 0; }
std::uint32_t all_seen_codes(const FewCodes&, const FewCodesRun&) { return 0; }
bool can_look_up() { return false; }

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

bool has_code_lookup() { return BTF_SIMD_CALL(can_look_up)(); }

void cast_few_codes(const FewCodes& codes, const FewCodesRun& run) {
  BTF_SIMD_CALL(look_up_all)(codes, run);
}

std::uint64_t count_marked(const FewCodes& codes, const FewCodesRun& run, const CodeMarks& marks) {
  return BTF_SIMD_CALL(count_all_marked)(codes, run, marks);
}

std::uint32_t seen_codes(const FewCodes& codes, const FewCodesRun& run) {
  return BTF_SIMD_CALL(all_seen_codes)(codes, run);
}

}  // namespace btf
#endif

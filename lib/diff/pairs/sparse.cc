#include "diff/pairs/sparse.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/pairs/real_values.h"
#include "elements/parallel.h"

namespace btf {
namespace {

constexpr std::uint64_t kNoNumber = UINT64_MAX;
// Runs that begin alike for so long are handed on as they are.
constexpr std::uint64_t kLeastAlike = 32;

struct EntrySide {
  std::unique_ptr<CooSource> source;
  CooRun run;
  std::uint64_t at = 0;
  bool ended = false;

  Status fill() {
    if (ended || at < run.count) return {};
    BTF_ASSIGN(run, source->next_run());
    at = 0;
    ended = run.count == 0;
    return {};
  }
  std::uint64_t left() const { return run.count - at; }
  const std::uint64_t* keys() const { return run.keys + at; }
};

// One side of merged entries; zeros for elements that it does not store.
template <std::size_t kBytes>
void gather_codes(const CooRun& run, const std::uint32_t* from, std::uint64_t count,
                  std::uint32_t nowhere, std::byte* codes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (from[i] == nowhere)
      std::memset(codes + i * kBytes, 0, kBytes);
    else
      std::memcpy(codes + i * kBytes, run.codes + from[i] * kBytes, kBytes);
  }
}

using GatherCodesFn = void (*)(const CooRun& run, const std::uint32_t* from, std::uint64_t count,
                               std::uint32_t nowhere, std::byte* codes);

// By the binary logarithm of a code's bytes.
constexpr GatherCodesFn kGatherCodes[] = {gather_codes<1>, gather_codes<2>, gather_codes<4>,
                                          gather_codes<8>};

// Two sides' entries in one order. Used again and again by one worker.
class Merger {
 public:
  Merger(DType actual, DType golden)
      : bytes_{info(actual).buffer_bytes(), info(golden).buffer_bytes()},
        numbers_(kPairRun),
        from_{std::vector<std::uint32_t>(kPairRun), std::vector<std::uint32_t>(kPairRun)},
        codes_{std::vector<std::uint64_t>(kPairRun), std::vector<std::uint64_t>(kPairRun)} {}

  // run(SparseRun) for the numbers from `begin` on and below `end`.
  template <typename Run>
  Status merge(EntrySide left, EntrySide right, std::uint64_t begin, std::uint64_t end,
               const Execution& execution, Run&& run) {
    for (;;) {
      BTF_TRY(check_cancelled(execution));
      BTF_TRY(left.fill());
      BTF_TRY(right.fill());
      if (left.ended && right.ended) break;
      SparseRun merged = take_alike(left, right);
      if (merged.count == 0) merged = take_merged(left, right);
      merged.begin = begin;
      merged.end = begin = merged.numbers[merged.count - 1] + 1;
      run(merged);
    }
    if (begin < end) run(SparseRun{.begin = begin, .end = end});
    return {};
  }

 private:
  static SparseRun take_alike(EntrySide& left, EntrySide& right) {
    const std::uint64_t most = std::min({left.left(), right.left(), kPairRun});
    const std::uint64_t* const numbers = left.keys();
    const auto count = static_cast<std::uint64_t>(
        std::mismatch(numbers, numbers + most, right.keys()).first - numbers);
    if (count < most && count < kLeastAlike) return {};
    const SparseRun run{.count = count,
                        .numbers = numbers,
                        .actual_codes = left.run.code(left.at),
                        .golden_codes = right.run.code(right.at)};
    left.at += count;
    right.at += count;
    return run;
  }

  // Until there is no more room, or a side has to read on.
  SparseRun take_merged(EntrySide& left, EntrySide& right) {
    constexpr auto kNowhere = UINT32_MAX;
    std::uint64_t count = 0;
    const auto unfinished = [](const EntrySide& side) { return side.ended || side.left() > 0; };
    const auto number_of = [](const EntrySide& side) {
      return side.left() > 0 ? *side.keys() : kNoNumber;
    };
    while (count < kPairRun && unfinished(left) && unfinished(right)) {
      const std::uint64_t a = number_of(left);
      const std::uint64_t b = number_of(right);
      const std::uint64_t number = std::min(a, b);
      if (number == kNoNumber) break;
      numbers_[count] = number;
      from_[0][count] = a == number ? static_cast<std::uint32_t>(left.at) : kNowhere;
      from_[1][count] = b == number ? static_cast<std::uint32_t>(right.at) : kNowhere;
      left.at += a == number ? 1 : 0;
      right.at += b == number ? 1 : 0;
      ++count;
    }
    const auto codes = [&](std::size_t which, const EntrySide& side) {
      auto* const bytes = reinterpret_cast<std::byte*>(codes_[which].data());
      kGatherCodes[std::countr_zero(bytes_[which])](side.run, from_[which].data(), count, kNowhere,
                                                    bytes);
      return bytes;
    };
    return {.count = count,
            .numbers = numbers_.data(),
            .actual_codes = codes(0, left),
            .golden_codes = codes(1, right)};
  }

  std::array<std::uint64_t, 2> bytes_;
  std::vector<std::uint64_t> numbers_;
  std::array<std::vector<std::uint32_t>, 2> from_;  // in the side's run
  std::array<std::vector<std::uint64_t>, 2> codes_;
};

}  // namespace

Result<SparseSlabs> SparseSlabs::open(const DiffSide& actual, const DiffSide& golden,
                                      const Execution& execution, std::uint64_t granule) {
  SparseSlabs slabs(actual, golden, execution);
  BTF_ASSIGN(const auto left, actual.entry_marks());
  BTF_ASSIGN(const auto right, golden.entry_marks());
  slabs.begins_.push_back(0);
  // Those of the side with more entries.
  if (!left.empty() && !right.empty())
    for (const std::uint64_t mark : left.size() < right.size() ? right : left) {
      const std::uint64_t begin = mark / granule * granule;
      if (begin > slabs.begins_.back()) slabs.begins_.push_back(begin);
    }
  const std::uint64_t pieces = slabs.begins_.size();
  slabs.begins_.push_back(*element_count(golden.dims()));
  if (pieces > 1) slabs.workers_ = worker_count(execution, pieces, UINT64_MAX);
  return slabs;
}

Status SparseSlabs::walk(const Visit& visit) const {
  std::vector<Merger> mergers(workers_, Merger(actual_->dtype(), golden_->dtype()));
  const std::uint64_t pieces = begins_.size() - 1;
  return for_each_slab(
      *execution_, workers_, pieces, [&](unsigned worker, std::uint64_t slab) -> Status {
        const std::uint64_t begin = begins_[slab];
        const std::uint64_t end = begins_[slab + 1];
        const KeyRange range = pieces == 1 ? KeyRange{} : KeyRange{begin, end};
        EntrySide left;
        EntrySide right;
        BTF_ASSIGN(left.source, actual_->entries(range));
        BTF_ASSIGN(right.source, golden_->entries(range));
        return mergers[worker].merge(std::move(left), std::move(right), begin, end, *execution_,
                                     [&](const SparseRun& run) { visit(worker, slab, run); });
      });
}

}  // namespace btf

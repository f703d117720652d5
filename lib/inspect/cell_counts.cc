#include "inspect/cell_counts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "btf/try.h"

namespace btf {
namespace {

constexpr unsigned kCellBits = 16;                 // of the first pass
constexpr std::uint64_t kLeastCounts = 32U << 10;  // of a worker, in passes behind the first

// Cells are numbered by what is left of an ordinal, counted from the range's first, without its
// `shift` lowest bits. Those that some question asks more about are open.
class CellPass {
 public:
  CellPass(OrdinalRange range, unsigned shift) : range_(range), shift_(shift) {
    cells_.push_back(0);
    filter_shift_ = shift;
  }

  unsigned shift() const { return shift_; }

  std::size_t open(std::vector<std::uint64_t> cells) {
    std::ranges::sort(cells);
    const auto same = std::ranges::unique(cells);
    cells.erase(same.begin(), same.end());
    cells_ = std::move(cells);
    if (filter_.empty()) {
      filter_shift_ = shift_;
      filter_.resize(((range_.greatest - range_.least) >> shift_) + 1);
    }
    std::ranges::fill(filter_, std::uint8_t{0});
    for (const std::uint64_t cell : cells_) filter_[cell >> (filter_shift_ - shift_)] = 1;
    return cells_.size();
  }

  // Divides every open cell into cells of `bits` fewer bits, and counts these.
  Status count(const ElementPasses& passes, const CodeOrder& order, unsigned bits) {
    const unsigned next = shift_ - bits;
    const std::uint64_t each =
        first_ ? ((range_.greatest - range_.least) >> next) + 1 : 1ULL << bits;
    std::vector<std::vector<std::uint64_t>> counts(passes.workers());
    for (auto& mine : counts) mine.resize(cells_.size() * each);
    BTF_TRY(passes.run([&](unsigned worker, const ElementPiece& piece) {
      add(piece, order, next, each, counts[worker].data());
    }));
    if (passes.absent() > 0) {
      const std::uint64_t zero = order.ordinal(0) - range_.least;
      if (const std::uint64_t at = place(zero, next, each); at != UINT64_MAX)
        counts[0][at] += passes.absent();
    }
    counts_ = std::move(counts[0]);
    for (std::size_t w = 1; w < counts.size(); ++w)
      for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[w][i];
    each_ = each;
    bits_ = bits;
    shift_ = next;
    first_ = false;
    return {};
  }

  // The counts of the cell's parts, of `parent` which was open.
  std::span<const std::uint64_t> parts(std::uint64_t parent) const {
    const auto at =
        static_cast<std::uint64_t>(std::ranges::lower_bound(cells_, parent) - cells_.begin());
    return {counts_.data() + at * each_, each_};
  }
  // The number of a part of it.
  std::uint64_t part(std::uint64_t parent, std::uint64_t number) const {
    return (parent << bits_) + number;
  }

 private:
  std::uint64_t place(std::uint64_t relative, unsigned next, std::uint64_t each) const {
    if (relative > range_.greatest - range_.least) return UINT64_MAX;
    if (first_) return relative >> next;
    if (filter_[relative >> filter_shift_] == 0) return UINT64_MAX;
    const std::uint64_t cell = relative >> shift_;
    const auto found = std::ranges::lower_bound(cells_, cell);
    if (found == cells_.end() || *found != cell) return UINT64_MAX;
    return static_cast<std::uint64_t>(found - cells_.begin()) * each +
           ((relative >> next) & (each - 1));
  }

  void add(const ElementPiece& piece, const CodeOrder& order, unsigned next, std::uint64_t each,
           std::uint64_t* counts) const {
    std::array<std::uint64_t, kStatsChunk> ordinals;
    const std::uint64_t bytes = order.code_bytes();
    const std::uint64_t span = range_.greatest - range_.least;
    for (std::uint64_t at = 0; at < piece.count; at += kStatsChunk) {
      const std::uint64_t some = std::min(kStatsChunk, piece.count - at);
      order.ordinals(piece.codes + at * bytes, some, ordinals.data());
      if (first_) {
        for (std::uint64_t i = 0; i < some; ++i) {
          const std::uint64_t relative = ordinals[i] - range_.least;
          if (relative <= span) ++counts[relative >> next];
        }
        continue;
      }
      for (std::uint64_t i = 0; i < some; ++i) {
        const std::uint64_t relative = ordinals[i] - range_.least;
        if (relative > span || filter_[relative >> filter_shift_] == 0) continue;
        if (const std::uint64_t to = place(relative, next, each); to != UINT64_MAX) ++counts[to];
      }
    }
  }

  OrdinalRange range_;
  unsigned shift_;
  bool first_ = true;
  std::vector<std::uint64_t> cells_;  // open ones, ascending
  unsigned filter_shift_ = 0;
  std::vector<std::uint8_t> filter_;   // by cells of the first pass: is any of it open?
  std::vector<std::uint64_t> counts_;  // of the parts of open cells
  std::uint64_t each_ = 1;
  unsigned bits_ = 0;
};

// Where a question stands: in a cell, with what is known to lie below the cell.
struct Search {
  std::uint64_t cell = 0;
  std::uint64_t before = 0;
  bool done = false;
};

}  // namespace

Status count_cells(const ElementPasses& passes, const CodeOrder& order, OrdinalRange range,
                   std::span<BelowQuery> below, std::span<RankQuery> ranks, std::uint64_t memory) {
  std::vector<Search> below_at(below.size());
  std::vector<Search> ranks_at(ranks.size());
  auto bits = static_cast<unsigned>(std::bit_width(range.greatest - range.least));
  CellPass pass(range, bits);
  unsigned step = std::min(bits, kCellBits);
  while (!below.empty() || !ranks.empty()) {
    BTF_TRY(pass.count(passes, order, step));
    const unsigned shift = pass.shift();
    std::vector<std::uint64_t> cells;
    for (std::size_t i = 0; i < below.size(); ++i) {
      Search& at = below_at[i];
      if (at.done) continue;
      const std::uint64_t relative = below[i].ordinal - range.least;
      const auto parts = pass.parts(at.cell);
      const std::uint64_t cell = relative >> shift;
      for (std::uint64_t k = 0; pass.part(at.cell, k) < cell; ++k) at.before += parts[k];
      at.cell = cell;
      at.done = relative == cell << shift;
      if (at.done)
        below[i].below = at.before;
      else
        cells.push_back(cell);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Search& at = ranks_at[i];
      if (at.done) continue;
      const auto parts = pass.parts(at.cell);
      std::uint64_t k = 0;
      while (k + 1 < parts.size() && at.before + parts[k] <= ranks[i].rank) at.before += parts[k++];
      at.cell = pass.part(at.cell, k);
      at.done = shift == 0;
      if (at.done)
        ranks[i].ordinal = range.least + at.cell;
      else
        cells.push_back(at.cell);
    }
    if (cells.empty()) break;
    const std::uint64_t open = pass.open(std::move(cells));
    const std::uint64_t room =
        std::max(kLeastCounts, memory / passes.workers() / sizeof(std::uint64_t)) / open;
    step = std::clamp(static_cast<unsigned>(std::bit_width(room)) - 1, 1U, std::min(shift, 16U));
  }
  return {};
}

}  // namespace btf

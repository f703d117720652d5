#include "inspect/cell_counts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "btf/try.h"

namespace btf {
namespace {

constexpr unsigned kCellBits = 16;
constexpr std::uint64_t kSortedAtOnce = 64U << 10;
constexpr std::uint64_t kShareSorted = 32;         // of all elements, one in so many
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
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (i % each != 0) counts_[i] += counts_[i - 1];
    each_ = each;
    bits_ = bits;
    shift_ = next;
    first_ = false;
    return {};
  }

  // The ordinals in open cells, from the range's first, ascending.
  Result<std::vector<std::uint64_t>> gather(const ElementPasses& passes,
                                            const CodeOrder& order) const {
    std::vector<std::vector<std::uint64_t>> found(passes.workers());
    BTF_TRY(passes.run([&](unsigned worker, const ElementPiece& piece) {
      visit(piece, order, [&](std::uint64_t relative) {
        if (open(relative)) found[worker].push_back(relative);
      });
    }));
    std::vector<std::uint64_t> all = std::move(found[0]);
    for (std::size_t w = 1; w < found.size(); ++w)
      all.insert(all.end(), found[w].begin(), found[w].end());
    if (passes.absent() > 0)
      if (const std::uint64_t zero = order.ordinal(0) - range_.least; open(zero))
        all.insert(all.end(), passes.absent(), zero);
    std::ranges::sort(all);
    return all;
  }

  // For each part of the cell `parent`, which was open: how many are in it or in one before it.
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
  bool open(std::uint64_t relative) const {
    if (relative > range_.greatest - range_.least) return false;
    return first_ || (filter_[relative >> filter_shift_] != 0 &&
                      std::ranges::binary_search(cells_, relative >> shift_));
  }

  // Calls take() with every ordinal, from the range's first; what is outside of it is larger.
  void visit(const ElementPiece& piece, const CodeOrder& order, const auto& take) const {
    std::array<std::uint64_t, kStatsChunk> ordinals;
    for (std::uint64_t at = 0; at < piece.count; at += kStatsChunk) {
      const std::uint64_t some = std::min(kStatsChunk, piece.count - at);
      order.ordinals(piece.codes + at * order.code_bytes(), some, ordinals.data());
      for (std::uint64_t i = 0; i < some; ++i) take(ordinals[i] - range_.least);
    }
  }

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
    const std::uint64_t span = range_.greatest - range_.least;
    if (first_) {
      visit(piece, order, [&](std::uint64_t relative) {
        if (relative <= span) ++counts[relative >> next];
      });
      return;
    }
    visit(piece, order, [&](std::uint64_t relative) {
      if (relative > span || filter_[relative >> filter_shift_] == 0) return;
      if (const std::uint64_t to = place(relative, next, each); to != UINT64_MAX) ++counts[to];
    });
  }

  OrdinalRange range_;
  unsigned shift_;
  bool first_ = true;
  std::vector<std::uint64_t> cells_;  // open ones, ascending
  unsigned filter_shift_ = 0;
  std::vector<std::uint8_t> filter_;   // by cells of the first pass: is any of it open?
  std::vector<std::uint64_t> counts_;  // of the parts of open cells, each with those before it
  std::uint64_t each_ = 1;
  unsigned bits_ = 0;
};

// Where a question stands: in a cell, with what is known to lie below the cell.
struct Search {
  std::uint64_t cell = 0;
  std::uint64_t before = 0;
  bool done = false;
};

class Searches {
 public:
  Searches(OrdinalRange range, std::span<BelowQuery> below, std::span<RankQuery> ranks)
      : range_(range),
        below_(below),
        ranks_(ranks),
        below_at_(below.size()),
        ranks_at_(ranks.size()) {}

  // Looks at the parts of cells. The cells that are asked more about, and how many are in them.
  std::vector<std::uint64_t> advance(const CellPass& pass) {
    std::vector<std::uint64_t> cells;
    open_ = 0;
    const unsigned shift = pass.shift();
    for (std::size_t i = 0; i < below_.size(); ++i) {
      Search& at = below_at_[i];
      if (at.done) continue;
      const std::uint64_t relative = below_[i].ordinal - range_.least;
      const auto parts = pass.parts(at.cell);
      const std::uint64_t k = (relative >> shift) - pass.part(at.cell, 0);
      const std::uint64_t before = k > 0 ? parts[k - 1] : 0;
      at.before += before;
      at.cell = relative >> shift;
      at.done = shift == 0 || relative == at.cell << shift;
      if (at.done) {
        below_[i].below = at.before;
        continue;
      }
      cells.push_back(at.cell);
      add_open(parts[k] - before);
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Search& at = ranks_at_[i];
      if (at.done) continue;
      const auto parts = pass.parts(at.cell);
      const auto found = std::ranges::upper_bound(parts, ranks_[i].rank - at.before);
      const auto k = static_cast<std::uint64_t>(found - parts.begin());
      const std::uint64_t before = k > 0 ? parts[k - 1] : 0;
      at.before += before;
      at.cell = pass.part(at.cell, k);
      at.done = shift == 0;
      if (at.done) {
        ranks_[i].ordinal = range_.least + at.cell;
        continue;
      }
      cells.push_back(at.cell);
      add_open(parts[k] - before);
    }
    return cells;
  }

  // At most so many elements are in open cells.
  std::uint64_t open() const { return open_; }

  // All elements of open cells are there, counted from the range's first, in their order.
  void finish(std::span<const std::uint64_t> sorted, unsigned shift) {
    const auto first_of = [&](const Search& at) {
      const std::uint64_t first = shift < 64 ? at.cell << shift : 0;
      return std::ranges::lower_bound(sorted, first) - sorted.begin();
    };
    for (std::size_t i = 0; i < below_.size(); ++i) {
      const Search& at = below_at_[i];
      if (at.done) continue;
      const std::uint64_t relative = below_[i].ordinal - range_.least;
      const auto end = std::ranges::lower_bound(sorted, relative) - sorted.begin();
      below_[i].below = at.before + static_cast<std::uint64_t>(end - first_of(at));
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const Search& at = ranks_at_[i];
      if (at.done) continue;
      const auto place = static_cast<std::uint64_t>(first_of(at)) + (ranks_[i].rank - at.before);
      ranks_[i].ordinal = range_.least + sorted[place];
    }
  }

 private:
  void add_open(std::uint64_t count) {
    if (__builtin_add_overflow(open_, count, &open_)) open_ = UINT64_MAX;
  }

  OrdinalRange range_;
  std::span<BelowQuery> below_;
  std::span<RankQuery> ranks_;
  std::vector<Search> below_at_;
  std::vector<Search> ranks_at_;
  std::uint64_t open_ = 0;
};

}  // namespace

Status count_cells(const ElementPasses& passes, const CodeOrder& order, OrdinalRange range,
                   std::span<BelowQuery> below, std::span<RankQuery> ranks, std::uint64_t memory) {
  Searches searches(range, below, ranks);
  const auto bits = static_cast<unsigned>(std::bit_width(range.greatest - range.least));
  CellPass pass(range, bits);
  unsigned step = std::min(bits, kCellBits);
  // So few are sorted sooner than they are counted once more.
  const std::uint64_t few =
      std::min(memory / 64, std::max(kSortedAtOnce, passes.elements() / kShareSorted));
  std::uint64_t open = passes.elements();
  for (;;) {
    if (open <= few && pass.shift() > 0) {
      BTF_ASSIGN(const auto sorted, pass.gather(passes, order));
      searches.finish(sorted, pass.shift());
      return {};
    }
    BTF_TRY(pass.count(passes, order, step));
    std::vector<std::uint64_t> cells = searches.advance(pass);
    if (cells.empty()) return {};
    open = searches.open();
    const std::uint64_t room =
        std::max(kLeastCounts, memory / passes.workers() / sizeof(std::uint64_t)) /
        pass.open(std::move(cells));
    step = std::clamp(static_cast<unsigned>(std::bit_width(room)) - 1, 1U,
                      std::min(pass.shift(), kCellBits));
  }
}

}  // namespace btf

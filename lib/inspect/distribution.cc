// Counts ordinals: how many are below a given one, and which is the n-th. Uses several passes over
// the elements, each of which refines the cells that still matter.
#include "inspect/distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/inspect.h"
#include "btf/try.h"
#include "core/errors.h"
#include "inspect/stats.h"
#include "kernels/number/number.h"

namespace btf {
namespace {

// A query about the ordinals in a range, and its answer.
struct BelowQuery {
  std::uint64_t ordinal = 0;
  std::uint64_t below = 0;
};
struct RankQuery {
  std::uint64_t rank = 0;  // from 0, within the range
  std::uint64_t ordinal = 0;
};

constexpr unsigned kCellBits = 16;
constexpr std::uint64_t kSortedAtOnce = 64U << 10;
constexpr std::uint64_t kShareSorted = 32;       // fraction of all elements, as 1 / kShareSorted
constexpr std::uint64_t kMinCounts = 32U << 10;  // of a worker, in passes after the first

// A cell is numbered by its ordinals relative to the range, without the `shift` lowest bits. Cells
// that a query needs refined are open.
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

  // Divides every open cell into smaller cells, `bits` bits each, and counts those.
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

  // The ordinals in open cells, relative to the range, ascending.
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

  // For each part of the open cell `parent`: the number of elements in it and in earlier parts.
  std::span<const std::uint64_t> parts(std::uint64_t parent) const {
    const auto at =
        static_cast<std::uint64_t>(std::ranges::lower_bound(cells_, parent) - cells_.begin());
    return {counts_.data() + at * each_, each_};
  }
  // The number of a part.
  std::uint64_t part(std::uint64_t parent, std::uint64_t number) const {
    return (parent << bits_) + number;
  }

 private:
  bool open(std::uint64_t relative) const {
    if (relative > range_.greatest - range_.least) return false;
    return first_ || (filter_[relative >> filter_shift_] != 0 &&
                      std::ranges::binary_search(cells_, relative >> shift_));
  }

  // Calls take() with every ordinal relative to the range; ordinals outside of it are larger than
  // the range.
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
  std::vector<std::uint64_t> cells_;  // open cells, ascending
  unsigned filter_shift_ = 0;
  std::vector<std::uint8_t> filter_;  // by cell of the first pass: whether it contains an open cell
  std::vector<std::uint64_t> counts_;  // of the parts of open cells, cumulative
  std::uint64_t each_ = 1;
  unsigned bits_ = 0;
};

// The state of a query: its cell, and the number of elements below the cell.
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

  // Looks at the parts of cells. Returns the cells to refine and counts their elements.
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

  // An upper bound of the elements in open cells.
  std::uint64_t open() const { return open_; }

  // `sorted` has all elements of open cells, relative to the range.
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

// `memory` is the number of bytes for the counts of all workers.
Status count_cells(const ElementPasses& passes, const CodeOrder& order, OrdinalRange range,
                   std::span<BelowQuery> below, std::span<RankQuery> ranks, std::uint64_t memory) {
  Searches searches(range, below, ranks);
  const auto bits = static_cast<unsigned>(std::bit_width(range.greatest - range.least));
  CellPass pass(range, bits);
  unsigned step = std::min(bits, kCellBits);
  // Sorting this few is faster than another counting pass.
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
        std::max(kMinCounts, memory / passes.workers() / sizeof(std::uint64_t)) /
        pass.open(std::move(cells));
    step = std::clamp(static_cast<unsigned>(std::bit_width(room)) - 1, 1U,
                      std::min(pass.shift(), kCellBits));
  }
}

constexpr std::uint8_t kTableBits = 8;

// Floats are ordered as sign and magnitude.
template <typename Code>
void turn(const std::byte* codes, std::uint64_t count, bool floating, Code sign,
          std::uint64_t* out) {
  const auto* from = reinterpret_cast<const Code*>(codes);
  if (!floating) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<Code>(from[i] ^ sign);
    return;
  }
  constexpr unsigned kTop = sizeof(Code) * 8 - 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto negative = static_cast<Code>(-static_cast<Code>(from[i] >> kTop));
    out[i] = static_cast<Code>(from[i] ^ static_cast<Code>(negative | sign));
  }
}

}  // namespace

CodeOrder::CodeOrder(DType dtype) : row_(info(dtype)), widen_(widener<long double>(dtype)) {
  if (row_.bits > kTableBits) {
    sign_ = row_.kind == NumberKind::unsigned_integer ? 0 : number::sign_bit(row_);
    bits_ = number::low_bits(row_.bits);
    return;
  }
  struct Row {
    long double value;
    std::uint8_t code;
  };
  std::vector<Row> rows;
  // The byte of a 4-bit code or of a bool may have any value.
  const std::size_t all = std::size_t{1} << 8;
  ordinals_.assign(all, UINT16_MAX);
  for (std::size_t code = 0; code < all; ++code) {
    if (code >> row_.bits != 0) break;
    std::byte bytes[sizeof(std::uint64_t)]{};
    std::memcpy(bytes, &code, sizeof code);
    long double value = 0;
    widen_(bytes, 1, 1, &value);
    if (std::isfinite(value)) rows.push_back({value, static_cast<std::uint8_t>(code)});
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(row.value, row.code); });
  for (const Row& row : rows) {
    ordinals_[row.code] = static_cast<std::uint16_t>(codes_.size());
    codes_.push_back(row.code);
  }
}

void CodeOrder::ordinals(const std::byte* codes, std::uint64_t count, std::uint64_t* out) const {
  switch (row_.buffer_bytes()) {
    case 1:
      for (std::uint64_t i = 0; i < count; ++i)
        out[i] = ordinals_[std::to_integer<std::uint8_t>(codes[i])];
      return;
    case 2:
      return turn(codes, count, row_.floating(), static_cast<std::uint16_t>(sign_), out);
    case 4:
      return turn(codes, count, row_.floating(), static_cast<std::uint32_t>(sign_), out);
    default:
      return turn(codes, count, row_.floating(), sign_, out);
  }
}

std::uint64_t CodeOrder::ordinal(std::uint64_t code) const {
  std::uint64_t out = 0;
  ordinals(reinterpret_cast<const std::byte*>(&code), 1, &out);
  return out;
}

std::uint64_t CodeOrder::code(std::uint64_t ordinal) const {
  if (!codes_.empty()) return codes_[ordinal];
  const bool turned = row_.floating() && (ordinal & sign_) == 0;
  return turned ? ~ordinal & bits_ : ordinal ^ sign_;
}

long double CodeOrder::value(std::uint64_t ordinal) const {
  const std::uint64_t bits = code(ordinal);
  long double value = 0;
  widen_(reinterpret_cast<const std::byte*>(&bits), 1, 1, &value);
  return value;
}

OrdinalRange CodeOrder::finite() const {
  if (!codes_.empty()) return {0, codes_.size() - 1};
  if (!row_.floating()) return {0, bits_};
  const std::uint64_t largest = largest_code(row_.dtype);
  return {ordinal(largest | sign_), ordinal(largest)};
}

std::optional<OrdinalRange> CodeOrder::zero() const {
  const std::uint64_t bits = ordinal(0);
  OrdinalRange range{bits, bits};
  if (value(bits) != 0) return std::nullopt;
  widen(range);
  return range;
}

void CodeOrder::widen(OrdinalRange& range) const {
  const std::uint64_t last = codes_.empty() ? bits_ : codes_.size() - 1;
  while (range.least > 0 && value(range.least - 1) == value(range.least)) --range.least;
  while (range.greatest < last && value(range.greatest + 1) == value(range.greatest))
    ++range.greatest;
}

namespace {

Status check(const DistributionOptions& options) {
  if (options.bins > kMaxBins)
    return fail(ErrorCode::invalid_argument, "a histogram has at most ", kMaxBins, " bins, not ",
                options.bins);
  if (options.percentiles.size() > kMaxPercentiles)
    return fail(ErrorCode::invalid_argument, "more than ", kMaxPercentiles, " percentiles");
  for (const double p : options.percentiles)
    if (!(p >= 0 && p <= 100))
      return fail(ErrorCode::invalid_argument, "a percentile is a number from 0 to 100");
  return {};
}

// The numbers of numpy.linspace; in long double if a double overflows.
std::vector<double> edges_of(double least, double greatest, std::uint32_t bins) {
  if (least == greatest) {
    least -= 0.5;
    greatest += 0.5;
  }
  std::vector<double> edges(bins + 1);
  const double step = (greatest - least) / bins;
  for (std::uint32_t i = 0; i < bins; ++i)
    edges[i] =
        std::isfinite(step) && step != 0
            ? static_cast<double>(i) * step + least
            : static_cast<double>((static_cast<long double>(greatest) - least) / bins * i + least);
  edges[bins] = greatest;
  return edges;
}

// The first ordinal whose number is not below `edge`.
std::uint64_t first_from(const CodeOrder& order, OrdinalRange range, double edge) {
  while (range.least < range.greatest) {
    const std::uint64_t middle = range.least + (range.greatest - range.least) / 2;
    if (order.value(middle) >= static_cast<long double>(edge))
      range.greatest = middle;
    else
      range.least = middle + 1;
  }
  return range.least;
}

// Interpolates like numpy.percentile.
double between(double low, double high, double part) {
  const double step = high - low;
  if (!std::isfinite(step)) return low * (1 - part) + high * part;
  return part >= 0.5 ? high - step * (1 - part) : low + step * part;
}

class Queries {
 public:
  Queries(const CodeOrder& order, OrdinalRange range, std::uint64_t finite,
          const DistributionOptions& options)
      : order_(order), range_(range), finite_(finite) {
    for (const double p : options.percentiles) {
      const auto last = static_cast<double>(finite - 1);  // may be rounded up beyond 64 bits
      const double place = last * (p / 100);
      const std::uint64_t low =
          place >= last ? finite - 1 : std::min(static_cast<std::uint64_t>(place), finite - 1);
      parts_.push_back(std::clamp(place - static_cast<double>(low), 0.0, 1.0));
      ranks.push_back({low, range.least});
      ranks.push_back({std::min(low + 1, finite - 1), range.least});
    }
    if (options.bins == 0) return;
    const auto number = [&](std::uint64_t ordinal) {
      return static_cast<double>(order.value(ordinal));
    };
    edges_ = edges_of(number(range.least), number(range.greatest), options.bins);
    for (std::uint32_t i = 1; i < options.bins; ++i) {
      const bool beyond = order.value(range.greatest) < static_cast<long double>(edges_[i]);
      beyond_.push_back(beyond);
      below.push_back({beyond ? range.least : first_from(order, range, edges_[i]), 0});
    }
  }

  Distribution answers() const {
    Distribution found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto number = [&](const RankQuery& rank) {
        return static_cast<double>(order_.value(rank.ordinal)) + 0.0;  // turns -0 into 0
      };
      found.percentiles.push_back(
          between(number(ranks[2 * i]), number(ranks[2 * i + 1]), parts_[i]));
    }
    if (edges_.empty()) return found;
    Histogram histogram{edges_, {}};
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < below.size(); ++i) {
      const std::uint64_t all = beyond_[i] ? finite_ : below[i].below;
      histogram.counts.push_back(all - before);
      before = all;
    }
    histogram.counts.push_back(finite_ - before);
    found.histogram = std::move(histogram);
    return found;
  }

  std::vector<RankQuery> ranks;
  std::vector<BelowQuery> below;

 private:
  const CodeOrder& order_;
  OrdinalRange range_;
  std::uint64_t finite_;
  std::vector<double> parts_;  // fraction of the way from a rank to the next
  std::vector<double> edges_;
  std::vector<bool> beyond_;  // edges above all numbers
};

}  // namespace

Result<Distribution> distribution(const TensorFile& file, const TensorInfo& tensor,
                                  const TensorStats& stats, const DistributionOptions& options,
                                  const Execution& execution) {
  BTF_TRY(check(options));
  if (stats.finite == 0) return Distribution{};
  BTF_ASSIGN(const ElementPasses passes, ElementPasses::open(file, tensor, execution));
  const CodeOrder order(*tensor.dtype);
  // Zeros of both signs, and all codes of true, are one number.
  OrdinalRange range{order.ordinal(stats.min->code), order.ordinal(stats.max->code)};
  order.widen(range);
  Queries questions(order, range, stats.finite, options);
  // A single number needs no pass.
  if (order.value(range.least) == order.value(range.greatest)) {
    for (BelowQuery& query : questions.below)
      query.below = query.ordinal == range.least ? 0 : stats.finite;
    return questions.answers();
  }
  if (questions.below.empty() && questions.ranks.empty()) return questions.answers();
  BTF_TRY(count_cells(passes, order, range, questions.below, questions.ranks, execution.memory));
  return questions.answers();
}

}  // namespace btf

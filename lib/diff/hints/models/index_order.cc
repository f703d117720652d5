// Recognises an index of one dim by its elements at some indices of the other dims.
#include "diff/hints/models/index_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/models/reordering.h"
#include "elements/cast.h"
#include "elements/slabs.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

using Column = std::vector<long double>;

// Reads columns of a dense side.
class ColumnReader {
 public:
  static Result<ColumnReader> open(const DiffSide& side, std::size_t dim);

  // The column at row `row` of along(dims, dim).
  Result<Column> read(std::uint64_t row);

 private:
  ColumnReader(const DiffSide& side, std::size_t dim)
      : side_(&side), dim_(dim), place_(along(side.dims(), dim)) {}

  const DiffSide* side_;
  std::size_t dim_;
  Along place_;
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
};

// A column of golden, sorted, to count and find the numbers that agree with one of actual's.
class SortedColumn {
 public:
  SortedColumn(const Column& golden, const Agreement& agreement);

  struct Window {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
  };
  Window agreeing(long double actual) const;
  std::uint32_t index(std::size_t at) const { return order_[at]; }

 private:
  const Column* golden_;
  const Agreement* agreement_;
  std::vector<std::uint32_t> order_;  // NaN last
  std::size_t numbers_ = 0;           // numbers that are not NaN
};

Result<ColumnReader> ColumnReader::open(const DiffSide& side, std::size_t dim) {
  ColumnReader reader(side, dim);
  BTF_ASSIGN(reader.reader_, side.reader(*side.storage()));
  return reader;
}

Result<Column> ColumnReader::read(std::uint64_t row) {
  Box box{index_of(side_->dims(), place_.number(row, 0)), {}};
  box.hi = box.lo;
  for (std::uint64_t& end : box.hi) ++end;
  box.hi[dim_] = place_.size;
  BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
  const std::byte* codes = in_row_major(slab, box.counts(), side_->dtype(), buffer_).data;
  Column column(place_.size);
  widener<long double>(side_->dtype())(codes, 1, place_.size, column.data());
  return column;
}

SortedColumn::SortedColumn(const Column& golden, const Agreement& agreement)
    : golden_(&golden), agreement_(&agreement), order_(golden.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  const auto numbers =
      std::ranges::partition(order_, [&](std::uint32_t i) { return !std::isnan(golden[i]); });
  numbers_ = static_cast<std::size_t>(numbers.begin() - order_.begin());
  std::ranges::sort(order_.begin(), numbers.begin(), {},
                    [&](std::uint32_t i) { return std::pair(golden[i], i); });
}

// Numbers that agree with `actual` form one interval around it.
SortedColumn::Window SortedColumn::agreeing(long double actual) const {
  if (std::isnan(actual)) return {numbers_, order_.size()};
  const auto begin = order_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(numbers_);
  const auto agree = [&](std::uint32_t i) {
    return sampled_agree(actual, (*golden_)[i], *agreement_);
  };
  const auto middle =
      std::partition_point(begin, end, [&](std::uint32_t i) { return (*golden_)[i] < actual; });
  const auto low = std::partition_point(begin, middle, [&](std::uint32_t i) { return !agree(i); });
  const auto high = std::partition_point(middle, end, agree);
  return {static_cast<std::size_t>(low - begin), static_cast<std::size_t>(high - begin)};
}

constexpr std::uint64_t kMaxValues = 1U << 18;  // kept per side
constexpr std::size_t kMaxCells = 16;           // cells by which an index is recognised
constexpr std::size_t kProbes = 4;              // indices that are tried first
constexpr std::uint64_t kMaxLooks = 1U << 24;   // comparisons of two indices
constexpr std::uint64_t kMaxUnmatched =
    4;  // at most one in this many indices that differ may match none
constexpr std::uint64_t kMaxMissing =
    50;  // the same for indices that do not occur, if there is one cell
constexpr std::size_t kMaxWeighed = 512;  // indices whose chance is computed

// The cells of an index: rows along the dim, starting with those of the rarest mismatches.
std::vector<std::uint64_t> cells_of(const SearchContext& context, const Along& place) {
  const std::uint64_t rows = context.elements / place.size;
  const std::uint64_t most = std::min<std::uint64_t>(kMaxCells, kMaxValues / place.size);
  std::vector<std::uint64_t> cells;
  if (rows <= most) {
    cells.resize(rows);
    std::iota(cells.begin(), cells.end(), 0U);
    return cells;
  }
  for (const std::size_t i : context.rarest) {
    const std::uint64_t row = place.row(context.mismatches[i].number);
    if (std::ranges::find(cells, row) == cells.end()) cells.push_back(row);
    if (cells.size() == most) break;
  }
  return cells;
}

// An index of actual that has a mismatch, and the indices of golden that match it so far.
struct Probe {
  std::uint64_t index = 0;
  std::vector<std::uint32_t> like{};
};

std::vector<Probe> probes_of(const SearchContext& context, const Along& place) {
  std::vector<Probe> probes;
  for (const std::size_t i : context.rarest) {
    const std::uint64_t index = place.index(context.mismatches[i].number);
    if (std::ranges::find(probes, index, &Probe::index) != probes.end()) continue;
    Probe& probe = probes.emplace_back(Probe{index});
    probe.like.resize(place.size);
    std::iota(probe.like.begin(), probe.like.end(), 0U);
    std::erase(probe.like, static_cast<std::uint32_t>(index));
    if (probes.size() == kProbes) break;
  }
  return probes;
}

struct Table {
  std::vector<std::uint64_t> cells;
  std::vector<Column> actual;
  std::vector<Column> golden;

  bool alike(std::size_t i, std::size_t j, const Agreement& agreement) const {
    for (std::size_t c = 0; c < golden.size(); ++c)
      if (!sampled_agree(actual[c][i], golden[c][j], agreement)) return false;
    return true;
  }
};

// Reads columns of golden while half of the probes have a match; most often one column decides.
Result<bool> read_golden(const SearchContext& context, std::size_t dim, Table& table) {
  const Along place = along(context.input.golden.dims(), dim);
  std::vector<Probe> probes = probes_of(context, place);
  BTF_ASSIGN(ColumnReader reader, ColumnReader::open(context.input.golden, dim));
  for (const std::uint64_t cell : table.cells) {
    BTF_ASSIGN(Column column, reader.read(cell));
    std::vector<std::uint64_t> numbers;
    for (const Probe& probe : probes) numbers.push_back(place.number(cell, probe.index));
    BTF_ASSIGN(const std::vector<long double> actual, context.actual->values(numbers));
    for (std::size_t p = 0; p < probes.size(); ++p)
      std::erase_if(probes[p].like, [&](std::uint32_t i) {
        return !sampled_agree(actual[p], column[i], context.agreement);
      });
    const auto lost =
        std::ranges::count_if(probes, [](const Probe& probe) { return probe.like.empty(); });
    if (2 * static_cast<std::size_t>(lost) > probes.size()) return false;
    table.golden.push_back(std::move(column));
  }
  return true;
}

class Matching {
 public:
  Matching(const SearchContext& context, const Table& table)
      : agreement_(context.agreement), table_(table), taken_(table.golden[0].size(), 0) {
    for (const Column& column : table.golden) sorted_.emplace_back(column, agreement_);
    order_.source.assign(taken_.size(), kNoIndex);
  }

  std::optional<IndexOrder> run() {
    const std::size_t size = taken_.size();
    for (std::size_t i = 0; i < size; ++i)
      if (table_.alike(i, i, agreement_))
        take(i, static_cast<std::uint32_t>(i));
      else
        others_.push_back(static_cast<std::uint32_t>(i));
    if (others_.size() < 2) return std::nullopt;
    // With a single cell, assign the smallest number first: each then takes the smallest that is
    // left.
    const Column& first = table_.actual[0];
    if (table_.actual.size() == 1)
      std::ranges::stable_sort(others_, [&](std::uint32_t a, std::uint32_t b) {
        return first[a] < first[b] || (std::isnan(first[b]) && !std::isnan(first[a]));
      });
    for (const std::uint32_t i : others_) {
      if (!match(i)) return std::nullopt;
      if (kMaxUnmatched * order_.unmatched > others_.size()) return std::nullopt;
    }
    for (const std::uint8_t times : taken_) {
      if (times == 0) ++order_.missing;
      if (times > 1) ++order_.repeated;
    }
    // A single number may occur elsewhere by chance, so nearly every number must occur exactly
    // once.
    const std::uint64_t allowed =
        table_.actual.size() == 1 ? others_.size() / kMaxMissing : others_.size() / 2;
    if (order_.missing > allowed) return std::nullopt;
    order_.bits = table_.actual.size() == 1 ? bits_of_numbers() : bits_of_rows();
    return order_.moved < 2 ? std::nullopt : std::optional(std::move(order_));
  }

 private:
  void take(std::size_t i, std::uint32_t j) {
    order_.source[i] = j;
    if (taken_[j] < 2) ++taken_[j];
    if (i != j) ++order_.moved;
  }

  // Returns false if it takes too long.
  bool match(std::uint32_t i) {
    const std::uint32_t next = last_ + 1;
    if (next < taken_.size() && taken_[next] == 0 && table_.alike(i, next, agreement_)) {
      last_ = next;
      take(i, next);
      return true;
    }
    SortedColumn::Window least{0, taken_.size()};
    const SortedColumn* column = &sorted_[0];
    for (const SortedColumn& one : sorted_) {
      const SortedColumn::Window window = one.agreeing(table_.actual[&one - sorted_.data()][i]);
      if (window.size() > least.size()) continue;
      least = window;
      column = &one;
    }
    std::uint32_t found = kNoIndex;
    for (std::size_t at = least.begin; at < least.end; ++at) {
      const std::uint32_t j = column->index(at);
      if (++looks_ > kMaxLooks) return false;
      if ((taken_[j] != 0 && found != kNoIndex) || !table_.alike(i, j, agreement_)) continue;
      found = j;
      if (taken_[j] == 0) break;
    }
    if (found == kNoIndex) {
      ++order_.unmatched;
      return true;
    }
    last_ = found;
    take(i, found);
    return true;
  }

  // Treats cells as independent: how many of golden's indices would match this one.
  double bits_of_rows() const {
    double bits = 0;
    std::size_t weighed = 0;
    std::uint32_t before = kNoIndex;
    const auto size = static_cast<double>(taken_.size());
    for (const std::uint32_t i : others_) {
      const std::uint32_t j = order_.source[i];
      if (j == kNoIndex || j == i) continue;
      // Repetitions of the same row are evidence only once.
      if (before != kNoIndex && table_.alike(before, j, agreement_)) continue;
      before = i;
      double like = std::log2(size);
      for (std::size_t c = 0; c < sorted_.size(); ++c)
        like +=
            std::log2(static_cast<double>(sorted_[c].agreeing(table_.actual[c][i]).size()) / size);
      bits += std::max(0.0, -like);
      if (++weighed == kMaxWeighed) break;
    }
    return bits;
  }

  // Nearly any single number may occur by chance. It is evidence if golden's numbers are far apart,
  // or if each occurs exactly as often as in golden.
  double bits_of_numbers() const { return std::max(bits_of_places(), bits_of_counts()); }

  double bits_of_places() const {
    std::vector<long double> numbers;
    for (const auto* column : {&table_.actual[0], &table_.golden[0]})
      for (const long double number : *column)
        if (std::isfinite(number)) numbers.push_back(number);
    const auto binary = BinaryGrid::of(numbers);
    if (!binary) return 0;
    const auto even = EvenGrid::of(numbers);
    double bits = 0;
    std::ranges::sort(numbers);
    const auto different = std::ranges::unique(numbers);
    numbers.erase(different.begin(), different.end());
    for (const std::uint32_t i : others_) {
      const long double number = table_.actual[0][i];
      if (order_.source[i] == kNoIndex || !std::isfinite(number)) continue;
      const auto at = std::ranges::lower_bound(numbers, number);
      if (at == numbers.begin() || at + 1 >= numbers.end()) continue;
      long double step = std::max(binary->step_at(number), even ? even->step() : 0);
      const Judge& judge = agreement_.close ? *agreement_.close : agreement_.judge;
      step = std::max({step, step_of(agreement_.grid, number),
                       2 * (judge.atol + judge.rtol * std::abs(number))});
      bits += std::max(0.0, std::log2(static_cast<double>((at[1] - at[-1]) / (2 * step))));
    }
    return bits;
  }

  double bits_of_counts() const {
    struct Place {
      long double number = 0;
      bool golden = false;
    };
    std::vector<Place> places;
    for (const std::uint32_t i : others_) {
      places.push_back({table_.actual[0][i], false});
      places.push_back({table_.golden[0][i], true});
    }
    const auto nan = std::ranges::partition(
        places, [](const Place& place) { return !std::isnan(place.number); });
    std::ranges::sort(places.begin(), nan.begin(), {}, &Place::number);
    const auto count = static_cast<double>(others_.size());
    constexpr double kTurn = 2 * std::numbers::pi;
    double bits = -0.5 * std::log2(kTurn * count);
    double too_many = 0;
    double actual = 0;
    double golden = 0;
    const auto close_group = [&] {
      if (golden > 0) bits += 0.5 * std::log2(kTurn * golden);
      too_many += std::max(0.0, actual - golden);
      actual = golden = 0;
    };
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (k > 0 && !sampled_agree(places[k - 1].number, places[k].number, agreement_))
        close_group();
      ++(places[k].golden ? golden : actual);
    }
    close_group();
    if (8 * too_many > count) return 0;
    return bits - 2 * log2_choices(count, too_many);
  }

  const Agreement& agreement_;
  const Table& table_;
  std::vector<SortedColumn> sorted_;
  std::vector<std::uint8_t> taken_;  // how often each was matched, at most 2
  std::vector<std::uint32_t> others_;
  IndexOrder order_;
  std::uint32_t last_ = kNoIndex;
  std::uint64_t looks_ = 0;
};

// 1 for ascending, -1 for descending numbers with enough distinct values, else 0.
int direction_of(const Column& column) {
  constexpr std::size_t kEnough = 8;
  DistinctNumbers<kEnough> distinct;
  bool up = true;
  bool down = true;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (std::isnan(column[i])) return 0;
    distinct.add(column[i]);
    if (i == 0) continue;
    up = up && column[i] >= column[i - 1];
    down = down && column[i] <= column[i - 1];
  }
  return !distinct.enough() ? 0 : up ? 1 : down ? -1 : 0;
}

// "[:, 4]"
std::string column_text(const Dims& dims, std::size_t dim, std::uint64_t number) {
  const Dims index = index_of(dims, number);
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d)
    text += (d == 0 ? "[" : ", ") + (d == dim ? ":" : std::to_string(index[d]));
  return text + "]";
}

std::string sorted_text(const Table& table, const Dims& dims, std::size_t dim) {
  const Along place = along(dims, dim);
  for (std::size_t c = 0; c < table.cells.size(); ++c) {
    const int direction = direction_of(table.actual[c]);
    if (direction == 0 || direction_of(table.golden[c]) != 0) continue;
    return std::string(direction > 0 ? "ascending" : "descending") + " order" +
           (dims.size() == 1 ? ""
                             : " of " + column_text(dims, dim, place.number(table.cells[c], 0)));
  }
  return "";
}

}  // namespace

Result<std::optional<IndexOrder>> find_index_order(const SearchContext& context, std::size_t dim) {
  const Dims& dims = context.input.golden.dims();
  Table table{.cells = cells_of(context, along(dims, dim)), .actual = {}, .golden = {}};
  BTF_ASSIGN(const bool worth, read_golden(context, dim, table));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(ColumnReader reader, ColumnReader::open(context.input.actual, dim));
  for (const std::uint64_t cell : table.cells) {
    BTF_ASSIGN(Column column, reader.read(cell));
    table.actual.push_back(std::move(column));
  }
  std::optional<IndexOrder> order = Matching(context, table).run();
  if (order) order->sorted = sorted_text(table, dims, dim);
  return order;
}

}  // namespace btf::hints

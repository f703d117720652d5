#include "diff/hints/models/columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "btf/try.h"
#include "diff/hints/models/flat_stream.h"
#include "elements/row_major.h"
#include "kernels/number/widen.h"

namespace btf::hints {

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

// Numbers that agree lie around the number, without gaps.
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

}  // namespace btf::hints

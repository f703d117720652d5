// Elements of every index of one dim, at some indices of the other dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "diff/hints/evidence/inquiry.h"
#include "diff/hints/models/placed_map.h"
#include "elements/slab_io.h"

namespace btf::hints {

using Column = std::vector<long double>;

// Reads columns of a dense side.
class ColumnReader {
 public:
  static Result<ColumnReader> open(const DiffSide& side, std::size_t dim);

  // At `row` of along(dims, dim).
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

// Golden's numbers of a column in order, to count and find those that agree with one of actual's.
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
  std::size_t numbers_ = 0;           // that are not NaN
};

}  // namespace btf::hints

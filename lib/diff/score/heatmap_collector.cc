#include <algorithm>
#include <utility>

#include "diff/score/collectors.h"

namespace btf {
namespace {

// One axis of the cells while row-major numbers ascend: where the cell changes is known by
// counting, since dividing costs more than all else that is done with an element. Without an axis
// there is one cell.
class AxisWalk {
 public:
  AxisWalk(const Dims& dims, const std::optional<Heatmap::Axis>& axis) {
    if (!axis) return;
    const std::uint64_t size = dims[axis->dim];
    step_ = axis->step;
    cells_ = (size - 1) / step_ + 1;
    for (std::size_t d = axis->dim + 1; d < dims.size(); ++d) stride_ *= dims[d];
    around_ = size * stride_;
    last_ = (size - (cells_ - 1) * step_) * stride_;
  }

  void go_to(std::uint64_t number) {
    if (cells_ == 0) return;
    const std::uint64_t place = number % around_;
    cell_ = place / stride_ / step_;
    left_ = cell_ * step_ * stride_ + length() - place;
  }

  // Numbers from here on that lie in one cell.
  std::uint64_t left() const { return left_; }
  std::uint64_t cell() const { return cell_; }

  // At most left().
  void advance(std::uint64_t numbers) {
    if (cells_ == 0 || (left_ -= numbers) > 0) return;
    if (++cell_ == cells_) cell_ = 0;
    left_ = length();
  }

 private:
  std::uint64_t length() const { return cell_ + 1 == cells_ ? last_ : step_ * stride_; }

  std::uint64_t stride_ = 1;
  std::uint64_t step_ = 1;
  std::uint64_t cells_ = 0;   // 0: there is no axis
  std::uint64_t around_ = 0;  // numbers of all cells
  std::uint64_t last_ = 0;    // of the last one, which may be shorter
  std::uint64_t cell_ = 0;
  std::uint64_t left_ = UINT64_MAX;
};

}  // namespace

void HeatmapCollector::prepare(unsigned workers) {
  cells_.assign(workers, std::vector<std::uint64_t>(map_.rows * map_.columns, 0));
}

template <typename Real>
void HeatmapCollector::count(std::vector<std::uint64_t>& cells, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  AxisWalk down(dims_, map_.down);
  AxisWalk across(dims_, map_.across);
  // count_in(begin, length): the refused among `length` elements of one cell.
  const auto count_from = [&](std::uint64_t number, std::uint64_t count, auto count_in) {
    down.go_to(number);
    across.go_to(number);
    for (std::uint64_t at = 0; at < count;) {
      const std::uint64_t length = std::min({count - at, down.left(), across.left()});
      cells[down.cell() * map_.columns + across.cell()] += count_in(at, length);
      down.advance(length);
      across.advance(length);
      at += length;
    }
  };
  const auto all = [](std::uint64_t, std::uint64_t length) { return length; };
  const std::uint64_t values = run.pairs.values();
  if (run.pairs.alike || run.pairs.numbers != nullptr) {
    // Elements that neither COO tensor stores may be many cells.
    for (std::uint64_t i = 0; i < values; ++i)
      if (run.refused[i] != 0)
        count_from(run.pairs.number(i), run.pairs.alike ? run.pairs.count : 1, all);
    return;
  }
  if (run.summary.refused == values) return count_from(run.pairs.first, values, all);
  count_from(run.pairs.first, values, [&](std::uint64_t begin, std::uint64_t length) {
    std::uint64_t refused = 0;
    for (std::uint64_t i = begin; i < begin + length; ++i) refused += run.refused[i] != 0 ? 1U : 0U;
    return refused;
  });
}

void HeatmapCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  count(cells_[worker], run);
}

void HeatmapCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  count(cells_[worker], run);
}

Heatmap HeatmapCollector::finish() {
  map_.mismatched.assign(map_.rows * map_.columns, 0);
  for (const std::vector<std::uint64_t>& cells : cells_)
    for (std::size_t i = 0; i < cells.size(); ++i) map_.mismatched[i] += cells[i];
  return std::move(map_);
}

}  // namespace btf

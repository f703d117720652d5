#include "elements/slabs.h"

#include <algorithm>
#include <numeric>

#include "core/checked_math.h"

namespace btf {
namespace {

struct IndexRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The part of a storage axis that the indices [lo, hi) of its dim take.
IndexRange axis_range(const StridedLayout& storage, const StorageAxis& axis, std::uint64_t lo,
                      std::uint64_t hi) {
  switch (axis.part) {
    case AxisPart::lanes:
      return {0, axis.extent};
    case AxisPart::blocks:
      return {lo / storage.split->lanes, ceil_div(hi, storage.split->lanes)};
    case AxisPart::whole:
      break;
  }
  return {lo, hi == storage.dims[axis.dim] ? axis.extent : hi};
}

// Elements of a storage axis that a box of `step` indices of its dim takes at most. The last box
// of a dim has fewer indices, but the padding.
std::uint64_t most_of_axis(const StridedLayout& storage, const StorageAxis& axis,
                           std::uint64_t step) {
  const IndexRange first = axis_range(storage, axis, 0, step);
  if (axis.part != AxisPart::whole || step == storage.dims[axis.dim]) return first.end;
  const std::uint64_t last = (storage.dims[axis.dim] - 1) / step * step;
  return std::max(first.end, axis.extent - last);
}

// Bytes that a box of `step` indices takes at most.
Checked step_bytes(const SlabSide& side, const Dims& step) {
  Checked bytes = side.element_bytes;
  for (const StorageAxis& axis : side.storage->axes)
    bytes = checked_mul(bytes, most_of_axis(*side.storage, axis, step[axis.dim]));
  return bytes;
}

class StepChooser {
 public:
  StepChooser(const SlabSide& source, const SlabSide& target, const SlabLimits& limits)
      : sides_{source, target},
        dims_(target.storage->dims),
        granule_(dims_.size(), 1),
        least_(dims_.size(), 1) {
    if (limits.second_source != nullptr) sides_.push_back(*limits.second_source);
    for (const SlabSide& side : sides_) {
      if (!side.storage->split) continue;
      std::uint64_t& granule = granule_[side.storage->split->dim];
      granule = std::lcm(granule, side.storage->split->lanes);
    }
    if (!limits.target_contiguous)
      least_ = granule_;
    else if (const auto& split = target.storage->split)
      least_[split->dim] = split->lanes;
    if (!dims_.empty()) {
      granule_.back() = std::lcm(granule_.back(), limits.last_granule);
      least_.back() = std::lcm(least_.back(), limits.last_granule);
    }
    if (limits.target_contiguous && limits.last_granule > 1) fill_inside_last_dim(*target.storage);
    reset();
  }

  void reset() {
    step_ = least_;
    for (std::size_t d = 0; d < dims_.size(); ++d) step_[d] = std::min(step_[d], dims_[d]);
  }

  // Lengthens the box along the side's storage, from the innermost axis outwards.
  void grow(const SlabSide& along, std::uint64_t limit) {
    const auto& storage = along.storage->axes;
    for (auto axis = storage.rbegin(); axis != storage.rend(); ++axis) {
      if (axis->part == AxisPart::lanes) continue;
      if (!grow_dim(axis->dim, limit)) return;
    }
  }

  Dims step() const { return step_; }

 private:
  // With more than one index of the last dim, a contiguous box has all that is stored inside it.
  void fill_inside_last_dim(const StridedLayout& storage) {
    for (auto axis = storage.axes.rbegin(); axis != storage.axes.rend(); ++axis) {
      if (axis->part == AxisPart::lanes) continue;
      if (axis->dim + 1 == dims_.size()) return;
      least_[axis->dim] = dims_[axis->dim];
    }
  }

  bool within(std::uint64_t limit) const {
    return std::ranges::all_of(sides_, [&](const SlabSide& side) {
      const Checked bytes = step_bytes(side, step_);
      return bytes && *bytes <= limit;
    });
  }

  // True when the box now spans the whole dim.
  bool grow_dim(std::uint32_t dim, std::uint64_t limit) {
    const std::uint64_t before = step_[dim];
    step_[dim] = dims_[dim];
    if (before == dims_[dim] || within(limit)) return true;
    std::uint64_t low = before / granule_[dim];  // granules that fit
    std::uint64_t high = ceil_div(dims_[dim], granule_[dim]);
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      step_[dim] = middle * granule_[dim];
      (within(limit) ? low : high) = middle;
    }
    step_[dim] = std::max(low * granule_[dim], before);
    return false;
  }

  std::vector<SlabSide> sides_;
  Dims dims_;
  Dims granule_;
  Dims least_;  // what a box begins with; less than a granule is a part of a block of a source
  Dims step_;
};

// Outside of the others; one with the outermost of them where it goes on as that does.
void add_loop(const Footprint::Loop& loop, std::vector<Footprint::Loop>& loops) {
  if (!loops.empty() && loop.stride == loops.front().stride * loops.front().count)
    loops.front().count *= loop.count;
  else
    loops.insert(loops.begin(), loop);
}

// Is all of it without gaps, and within the limit?
bool is_small_run(const SlabSide& side, std::uint64_t limit) {
  Checked bytes = side.element_bytes;
  std::uint64_t run = 1;
  const std::vector<StorageAxis>& axes = side.storage->axes;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->extent != 1 && axis->stride != run) return false;
    bytes = checked_mul(bytes, axis->extent);
    if (!bytes || *bytes > limit) return false;
    run *= axis->extent;
  }
  return true;
}

std::uint64_t run_bytes(const SlabSide& side, const Dims& step) {
  return run_bytes(side, Box{Dims(step.size(), 0), step});
}

}  // namespace

Dims Box::counts() const {
  Dims counts(lo.size());
  for (std::size_t d = 0; d < lo.size(); ++d) counts[d] = hi[d] - lo[d];
  return counts;
}

Footprint footprint(const StridedLayout& storage, const Box& box) {
  Footprint result;
  result.packed.strides.assign(storage.dims.size(), 0);
  std::uint64_t packed = 1;
  for (auto axis = storage.axes.rbegin(); axis != storage.axes.rend(); ++axis) {
    const IndexRange range = axis_range(storage, *axis, box.lo[axis->dim], box.hi[axis->dim]);
    const std::uint64_t count = range.end - range.begin;
    result.base += range.begin * axis->stride;
    if (axis->part == AxisPart::lanes) {
      result.packed.split = Split{axis->dim, axis->extent, packed};
      result.first = box.lo[axis->dim] % axis->extent * packed;
    } else {
      result.packed.strides[axis->dim] = packed;
    }
    if (result.loops.empty() && (axis->stride == result.run || count == 1))
      result.run *= count;
    else if (count != 1)
      add_loop({count, axis->stride}, result.loops);
    packed *= count;
  }
  result.elements = packed;
  return result;
}

SlabGrid::SlabGrid(const StridedLayout& target, Dims step)
    : dims_(target.dims), step_(std::move(step)), count_(1) {
  for (const StorageAxis& axis : target.axes)
    if (axis.part != AxisPart::lanes) order_.push_back(axis.dim);
  for (const std::uint32_t d : order_) count_ *= dims_[d] == 0 ? 0 : ceil_div(dims_[d], step_[d]);
}

Box SlabGrid::box(std::uint64_t slab) const {
  Box box{Dims(dims_.size()), Dims(dims_.size())};
  for (auto dim = order_.rbegin(); dim != order_.rend(); ++dim) {
    const std::uint64_t cells = ceil_div(dims_[*dim], step_[*dim]);
    box.lo[*dim] = slab % cells * step_[*dim];
    box.hi[*dim] = std::min(box.lo[*dim] + step_[*dim], dims_[*dim]);
    slab /= cells;
  }
  return box;
}

std::uint64_t run_bytes(const SlabSide& side, const Box& box) {
  const Footprint from = footprint(*side.storage, box);
  return from.contiguous() ? UINT64_MAX : from.run * side.element_bytes;
}

SlabGrid choose_slabs(const SlabSide& source, const SlabSide& target, const SlabLimits& limits) {
  const StridedLayout& storage = *target.storage;
  if (storage.elements() == 0) return SlabGrid(storage, Dims(storage.dims.size(), 1));
  // One box is best for a tensor that is small on all sides; there are many such tensors.
  if (is_small_run(source, limits.bytes) && is_small_run(target, limits.bytes) &&
      (limits.second_source == nullptr || is_small_run(*limits.second_source, limits.bytes)))
    return SlabGrid(storage, storage.dims);
  StepChooser chooser(source, target, limits);
  chooser.grow(target, limits.bytes);
  const std::uint64_t source_run = run_bytes(source, chooser.step());
  if (limits.target_contiguous || source_run >= limits.least_run)
    return SlabGrid(storage, chooser.step());

  const Dims contiguous = chooser.step();
  chooser.reset();
  // A granule of the last dim is not what makes the source's runs long.
  const Checked wide = checked_mul(Checked(limits.least_run), limits.last_granule);
  chooser.grow(source, std::min(wide.value_or(limits.bytes), limits.bytes));
  chooser.grow(target, limits.bytes);
  const Dims tile = chooser.step();
  const std::uint64_t worst = std::min(run_bytes(source, tile), run_bytes(target, tile));
  return SlabGrid(storage, worst > source_run ? tile : contiguous);
}

}  // namespace btf

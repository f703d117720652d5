#include "elements/records/edited_view.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/checked_math.h"

namespace btf {
namespace {

// The array of these dims without gaps. The product of those that are not 0 fits 64 bits.
StridedLayout row_major_array(const Dims& dims) {
  StridedLayout storage;
  storage.dims = dims;
  storage.strides.resize(dims.size());
  storage.axes.resize(dims.size());
  std::uint64_t stride = 1;
  for (auto d = static_cast<std::uint32_t>(dims.size()); d-- > 0;) {
    storage.strides[d] = stride;
    storage.axes[d] = {dims[d], stride, d, AxisPart::whole};
    stride *= std::max<std::uint64_t>(dims[d], 1);
  }
  storage.storage_elements = storage.elements();
  return storage;
}

EditedView whole(StridedLayout storage) {
  const std::size_t rank = storage.dims.size();
  return {std::move(storage), 0, 0, 1, std::vector<bool>(rank, false)};
}

bool is_split(const StridedLayout& storage, std::size_t dim) {
  return storage.split && storage.split->dim == dim;
}

void drop_axes(StridedLayout& storage, std::size_t dim, AxisPart part) {
  std::erase_if(storage.axes,
                [&](const StorageAxis& axis) { return axis.dim == dim && axis.part == part; });
}

void change_axis(StridedLayout& storage, std::size_t dim, AxisPart from, const StorageAxis& to) {
  for (StorageAxis& axis : storage.axes)
    if (axis.dim == dim && axis.part == from) axis = to;
}

// `place` has the new number of each dim; nothing: it has one index, and is dropped.
void renumber(StridedLayout& storage, const std::vector<std::optional<std::uint32_t>>& place) {
  std::erase_if(storage.axes,
                [&](const StorageAxis& axis) { return !place[axis.dim].has_value(); });
  for (StorageAxis& axis : storage.axes) axis.dim = *place[axis.dim];
  if (storage.split && !place[storage.split->dim])
    storage.split.reset();
  else if (storage.split)
    storage.split->dim = *place[storage.split->dim];
  // Vectors are of whole layouts.
  storage.components = 1;
  storage.vectorized_dim = -1;
}

// Indices of one dim: `count` from `first` on, `step` apart.
struct Pick {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;

  std::uint64_t last() const { return first + (count - 1) * step; }
};

void pick_plain(EditedView& view, std::size_t dim, const Pick& pick) {
  StridedLayout& storage = view.storage;
  view.base += pick.first * storage.strides[dim];
  if (pick.count > 1) storage.strides[dim] *= pick.step;
  change_axis(storage, dim, AxisPart::whole,
              {pick.count, storage.strides[dim], static_cast<std::uint32_t>(dim), AxisPart::whole});
}

// Picks from a split dim: all in one block, the same lane of every so many blocks, or every so many lanes
// of all blocks, from any on; or more closely than there are blocks. Anything else is left to
// another view.
bool pick_split(EditedView& view, std::size_t dim, Pick pick) {
  StridedLayout& storage = view.storage;
  pick.first = std::exchange(view.lead, 0) + pick.first * view.pace;
  pick.step *= std::exchange(view.pace, 1);
  const std::uint64_t lanes = storage.split->lanes;
  const auto from_lane = [&](std::uint64_t lane) {
    return view.base + pick.first / lanes * storage.strides[dim] +
           lane * storage.split->lane_stride;
  };
  std::uint64_t base = from_lane(pick.first % lanes);
  const auto plain = [&](AxisPart kept, std::uint64_t stride) {
    storage.strides[dim] = stride;
    change_axis(storage, dim, kept,
                {pick.count, stride, static_cast<std::uint32_t>(dim), AxisPart::whole});
    drop_axes(storage, dim, kept == AxisPart::lanes ? AxisPart::blocks : AxisPart::lanes);
    storage.split.reset();
  };
  if (pick.first / lanes == pick.last() / lanes) {
    plain(AxisPart::lanes, storage.split->lane_stride * pick.step);
  } else if (pick.step % lanes == 0) {
    plain(AxisPart::blocks, storage.strides[dim] * (pick.step / lanes));
  } else if (pick.step < lanes) {
    // Lanes of a block are as far apart as strides can say, and what is left goes over blocks.
    const std::uint64_t apart = lanes % pick.step == 0 ? pick.step : 1;
    base = from_lane(pick.first % apart);
    view.lead = pick.first % lanes / apart;
    view.pace = pick.step / apart;
    Split& split = *storage.split;
    split.lanes = lanes / apart;
    split.lane_stride *= apart;
    const auto number = static_cast<std::uint32_t>(dim);
    change_axis(storage, dim, AxisPart::lanes,
                {split.lanes, split.lane_stride, number, AxisPart::lanes});
    change_axis(storage, dim, AxisPart::blocks,
                {ceil_div(view.lead + (pick.count - 1) * view.pace + 1, split.lanes),
                 storage.strides[dim], number, AxisPart::blocks});
  } else {
    return false;
  }
  view.base = base;
  return true;
}

// Each of these returns false where strides cannot say it, and may leave anything in the view then.
bool apply(EditedView& view, const EditStep& step, const EditStep::Select& select) {
  std::vector<std::optional<std::uint32_t>> place(step.from.size());
  std::vector<bool> mirrored;
  for (std::size_t d = 0; d < step.from.size(); ++d) {
    const SlicedDim& dim = select.dims[d];
    if (dim.keep) {
      place[d] = static_cast<std::uint32_t>(mirrored.size());
      mirrored.push_back(false);
    }
    if (dim.step == 1 && dim.count == step.from[d]) {
      if (dim.keep) mirrored.back() = view.mirrored[d];
      continue;
    }
    bool backwards = dim.step < 0;
    const std::uint64_t apart =
        backwards ? 0 - static_cast<std::uint64_t>(dim.step) : static_cast<std::uint64_t>(dim.step);
    Pick pick{dim.start, apart, dim.count};
    if (backwards) pick.first -= (dim.count - 1) * apart;
    if (view.mirrored[d]) {
      pick.first = step.from[d] - 1 - pick.last();
      backwards = !backwards;
    }
    if (!is_split(view.storage, d))
      pick_plain(view, d, pick);
    else if (!pick_split(view, d, pick))
      return false;
    view.storage.dims[d] = dim.count;
    if (backwards && dim.count > 1 && is_split(view.storage, d)) return false;
    if (dim.keep) mirrored.back() = backwards && dim.count > 1;
  }
  renumber(view.storage, place);
  Dims strides;
  for (std::size_t d = 0; d < place.size(); ++d)
    if (place[d]) strides.push_back(view.storage.strides[d]);
  view.storage.strides = std::move(strides);
  view.storage.dims = step.to;
  view.mirrored = std::move(mirrored);
  return true;
}

bool apply(EditedView& view, const EditStep&, const EditStep::Order& order) {
  view.storage = permuted(view.storage, order.order);
  std::vector<bool> mirrored;
  for (const std::uint32_t dim : order.order) mirrored.push_back(view.mirrored[dim]);
  view.mirrored = std::move(mirrored);
  return true;
}

// As NumPy finds out whether a reshape needs a copy: dims fall into groups of the same product, and
// in a group that changes the old ones must lie one inside the other without gaps.
class Reshaper {
 public:
  Reshaper(EditedView& view, const EditStep& step)
      : view_(view),
        from_(step.from),
        to_(step.to),
        place_(from_.size()),
        strides_(to_.size(), 0),
        mirrored_(to_.size(), false) {}

  bool run() {
    std::size_t from = 0;
    std::size_t to = 0;
    for (;;) {
      while (from < from_.size() && from_[from] == 1) ++from;
      while (to < to_.size() && to_[to] == 1) ++to;
      // The products are the same, so both end at once.
      if (from == from_.size() || to == to_.size()) break;
      std::size_t from_end = from + 1;
      std::size_t to_end = to + 1;
      std::uint64_t from_count = from_[from];
      std::uint64_t to_count = to_[to];
      while (from_count != to_count) {
        if (from_count < to_count)
          from_count *= from_[from_end++];
        else
          to_count *= to_[to_end++];
      }
      if (!take_group(from, from_end, to, to_end)) return false;
      from = from_end;
      to = to_end;
    }
    finish();
    return true;
  }

 private:
  bool take_group(std::size_t from, std::size_t from_end, std::size_t to, std::size_t to_end) {
    if (from_end - from == 1 && to_end - to == 1) {
      place_[from] = static_cast<std::uint32_t>(to);
      strides_[to] = view_.storage.strides[from];
      mirrored_[to] = view_.mirrored[from];
      return true;
    }
    std::optional<std::uint64_t> run;  // what the next dim outwards must step by
    std::uint64_t stride = 1;          // of the innermost dim
    for (std::size_t d = from_end; d-- > from;) {
      if (from_[d] == 1) continue;
      if (is_split(view_.storage, d) || view_.mirrored[d]) return false;
      if (!run) run = stride = view_.storage.strides[d];
      if (view_.storage.strides[d] != *run) return false;
      run = *run * from_[d];
    }
    for (std::size_t d = to_end; d-- > to;) {
      if (to_[d] == 1) continue;
      strides_[d] = stride;
      added_.push_back({to_[d], stride, static_cast<std::uint32_t>(d), AxisPart::whole});
      stride *= to_[d];
    }
    return true;
  }

  void finish() {
    StridedLayout& storage = view_.storage;
    renumber(storage, place_);
    storage.axes.insert(storage.axes.end(), added_.begin(), added_.end());
    std::ranges::stable_sort(storage.axes, std::ranges::greater{}, &StorageAxis::stride);
    storage.strides = std::move(strides_);
    storage.dims = to_;
    view_.mirrored = std::move(mirrored_);
  }

  EditedView& view_;
  const Dims& from_;
  const Dims& to_;
  std::vector<std::optional<std::uint32_t>> place_;
  Dims strides_;
  std::vector<bool> mirrored_;
  std::vector<StorageAxis> added_;
};

bool apply(EditedView& view, const EditStep& step, const EditStep::Shape&) {
  return Reshaper(view, step).run();
}

bool apply(EditedView& view, const EditStep& step) {
  return std::visit([&](const auto& what) { return apply(view, step, what); }, step.what);
}

}  // namespace

bool EditedView::mirrors() const { return std::ranges::find(mirrored, true) != mirrored.end(); }

StridedLayout EditedView::whole_storage() const {
  StridedLayout all = storage;
  if (by_strides()) return all;
  std::uint64_t& dim = all.dims[all.split->dim];
  dim = lead + (dim - 1) * pace + 1;
  return all;
}

std::uint64_t buffers_of(std::span<const EditedView> views) {
  // Between two views boxes may take twice their elements, for blocks and padding around them.
  std::uint64_t buffers = 3 * views.size() - 2;
  for (const EditedView& view : views)
    buffers += (view.mirrors() ? 2U : 0U) + (view.by_strides() ? 0 : 2 * view.pace);
  return buffers;
}

std::vector<EditedView> edited_views(const StridedLayout& storage, const EditChain& edits) {
  const std::span<const EditStep> steps = edits.steps();
  if (!steps.empty() && element_count(steps.back().to) == 0)
    return {whole(row_major_array(steps.back().to))};
  std::vector<EditedView> views{whole(storage)};
  for (const EditStep& step : steps) {
    EditedView next = views.back();
    if (apply(next, step)) {
      views.back() = std::move(next);
    } else {
      views.push_back(whole(row_major_array(step.from)));
      apply(views.back(), step);
    }
  }
  return views;
}

}  // namespace btf

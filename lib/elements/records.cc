#include "elements/records.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/read.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

// A row-major array without gaps. The product of the dims that are not 0 must fit 64 bits.
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

// `place` has the new number of each dim; unset for a dim with one index that is dropped.
void renumber(StridedLayout& storage, const std::vector<std::optional<std::uint32_t>>& place) {
  std::erase_if(storage.axes,
                [&](const StorageAxis& axis) { return !place[axis.dim].has_value(); });
  for (StorageAxis& axis : storage.axes) axis.dim = *place[axis.dim];
  if (storage.split && !place[storage.split->dim])
    storage.split.reset();
  else if (storage.split)
    storage.split->dim = *place[storage.split->dim];
  // Only the layout of a whole record has vectors.
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

// Picks indices of a split dim that are all in one block, are the same lane of regularly spaced
// blocks, or are less than a block apart. Returns false for anything else, which takes another
// view.
bool pick_split(EditedView& view, std::size_t dim, Pick pick) {
  StridedLayout& storage = view.storage;
  pick.first = std::exchange(view.split_offset, 0) + pick.first * view.split_step;
  pick.step *= std::exchange(view.split_step, 1);
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
    // The lanes take the part of the step that divides them; split_step is the rest.
    const std::uint64_t apart = lanes % pick.step == 0 ? pick.step : 1;
    base = from_lane(pick.first % apart);
    view.split_offset = pick.first % lanes / apart;
    view.split_step = pick.step / apart;
    Split& split = *storage.split;
    split.lanes = lanes / apart;
    split.lane_stride *= apart;
    const auto number = static_cast<std::uint32_t>(dim);
    change_axis(storage, dim, AxisPart::lanes,
                {split.lanes, split.lane_stride, number, AxisPart::lanes});
    change_axis(storage, dim, AxisPart::blocks,
                {ceil_div(view.split_offset + (pick.count - 1) * view.split_step + 1, split.lanes),
                 storage.strides[dim], number, AxisPart::blocks});
  } else {
    return false;
  }
  view.base = base;
  return true;
}

// Each apply() returns false if strides cannot describe the result; the view is then unusable.
bool apply(EditedView& view, const EditStep& step, const EditStep::Select& select) {
  std::vector<std::optional<std::uint32_t>> place(step.from.size());
  std::vector<bool> reversed;
  for (std::size_t d = 0; d < step.from.size(); ++d) {
    const SlicedDim& dim = select.dims[d];
    if (dim.keep) {
      place[d] = static_cast<std::uint32_t>(reversed.size());
      reversed.push_back(false);
    }
    if (dim.step == 1 && dim.count == step.from[d]) {
      if (dim.keep) reversed.back() = view.reversed[d];
      continue;
    }
    bool backwards = dim.step < 0;
    const std::uint64_t apart =
        backwards ? 0 - static_cast<std::uint64_t>(dim.step) : static_cast<std::uint64_t>(dim.step);
    Pick pick{dim.start, apart, dim.count};
    if (backwards) pick.first -= (dim.count - 1) * apart;
    if (view.reversed[d]) {
      pick.first = step.from[d] - 1 - pick.last();
      backwards = !backwards;
    }
    if (!is_split(view.storage, d))
      pick_plain(view, d, pick);
    else if (!pick_split(view, d, pick))
      return false;
    view.storage.dims[d] = dim.count;
    if (backwards && dim.count > 1 && is_split(view.storage, d)) return false;
    if (dim.keep) reversed.back() = backwards && dim.count > 1;
  }
  renumber(view.storage, place);
  Dims strides;
  for (std::size_t d = 0; d < place.size(); ++d)
    if (place[d]) strides.push_back(view.storage.strides[d]);
  view.storage.strides = std::move(strides);
  view.storage.dims = step.to;
  view.reversed = std::move(reversed);
  return true;
}

bool apply(EditedView& view, const EditStep&, const EditStep::Order& order) {
  view.storage = permuted(view.storage, order.order);
  std::vector<bool> reversed;
  for (const std::uint32_t dim : order.order) reversed.push_back(view.reversed[dim]);
  view.reversed = std::move(reversed);
  return true;
}

// Finds out, by NumPy's method, whether a reshape needs a copy: dims are grouped so that the
// products are the same before and after, and the old dims of a group that changes must be
// contiguous.
class Reshaper {
 public:
  Reshaper(EditedView& view, const EditStep& step)
      : view_(view),
        from_(step.from),
        to_(step.to),
        place_(from_.size()),
        strides_(to_.size(), 0),
        reversed_(to_.size(), false) {}

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
      reversed_[to] = view_.reversed[from];
      return true;
    }
    std::optional<std::uint64_t> run;  // the stride that the next dim outwards must have
    std::uint64_t stride = 1;          // of the innermost dim
    for (std::size_t d = from_end; d-- > from;) {
      if (from_[d] == 1) continue;
      if (is_split(view_.storage, d) || view_.reversed[d]) return false;
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
    view_.reversed = std::move(reversed_);
  }

  EditedView& view_;
  const Dims& from_;
  const Dims& to_;
  std::vector<std::optional<std::uint32_t>> place_;
  Dims strides_;
  std::vector<bool> reversed_;
  std::vector<StorageAxis> added_;
};

bool apply(EditedView& view, const EditStep& step, const EditStep::Shape&) {
  return Reshaper(view, step).run();
}

bool apply(EditedView& view, const EditStep& step) {
  return std::visit([&](const auto& what) { return apply(view, step, what); }, step.what);
}

}  // namespace

bool EditedView::has_reversed_dims() const {
  return std::ranges::find(reversed, true) != reversed.end();
}

StridedLayout EditedView::whole_storage() const {
  StridedLayout all = storage;
  if (by_strides()) return all;
  std::uint64_t& dim = all.dims[all.split->dim];
  dim = split_offset + (dim - 1) * split_step + 1;
  return all;
}

std::uint64_t buffers_of(std::span<const EditedView> views) {
  // Between two views, a box may take twice its elements, including blocks and padding around them.
  std::uint64_t buffers = 3 * views.size() - 2;
  for (const EditedView& view : views)
    buffers += (view.has_reversed_dims() ? 2U : 0U) + (view.by_strides() ? 0 : 2 * view.split_step);
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

namespace {

// Reads COO entries whose keys are offsets in `storage`.
class CooReader final : public SlabReader {
 public:
  CooReader(std::unique_ptr<CooSource> entries, StridedLayout storage, DType dtype)
      : entries_(std::move(entries)),
        storage_(std::move(storage)),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Footprint from = footprint(storage_, box);
    std::byte* data = slab_.reserve(from.elements * bytes_);
    std::memset(data, 0, from.elements * bytes_);
    BTF_TRY(entries_.fill(from.base, from.elements, data));
    return SourceSlab{data, std::move(from.packed)};
  }

 private:
  CooFiller entries_;
  StridedLayout storage_;
  std::uint64_t bytes_;
  Buffer slab_;
};

}  // namespace

Result<std::unique_ptr<SlabReader>> open_slab_reader(
    const ByteSource& source, const TensorInfo& record, const EditChain& edits,
    const StridedLayout& storage, Duplicates duplicates, const Execution& execution) {
  if (!record.coo && edits.empty()) return record_reader(source, record, storage);
  if (!record.coo) return edited_reader(source, record, edited_views(*record.storage, edits));
  CooKey key = edited_key(edits, storage_key(storage));
  BTF_ASSIGN(auto entries, sorted_entries(source, record, std::move(key), execution));
  return std::make_unique<CooReader>(canonical_entries(std::move(entries), duplicates), storage,
                                     *record.dtype);
}

namespace {

constexpr std::uint64_t kBoxBytes = 4U << 20;

// If runs are shorter than this, larger boxes are worth their memory: the runs get longer, and the
// bytes between them are read less often.
constexpr std::uint64_t kLongRun = 2U << 10;

SlabGrid choose_grid(const StridedLayout& storage, const StridedLayout& linear, std::uint64_t bytes,
                     std::uint64_t most) {
  const SlabSide from{&storage, bytes};
  const auto grid = [&](std::uint64_t limit) {
    return choose_slabs(from, {&linear, bytes},
                        {.bytes = std::min(limit, most), .target_contiguous = true});
  };
  if (storage.strides == linear.strides && !storage.split) return grid(kLinearSlab);
  SlabGrid slabs = grid(kBoxBytes);
  const bool short_runs = slabs.count() > 0 && run_bytes(from, slabs.box(0)) < kLongRun;
  return short_runs ? grid(most) : slabs;
}

}  // namespace

struct LinearSlabs::State {
  struct Worker {
    std::unique_ptr<SlabReader> reader;
    Buffer codes;
  };
  const ByteSource& source;
  const TensorInfo& record;
  EditChain edits;
  Execution execution;
  StridedLayout linear;
  StridedLayout storage;
  SlabGrid grid;
  std::vector<Worker> workers;
};

Result<LinearSlabs> LinearSlabs::open(const ByteSource& source, const TensorInfo& record,
                                      const EditChain& edits, const Execution& execution,
                                      unsigned most_workers) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  BTF_ASSIGN(StridedLayout linear, resolve(Layout::linear, dims, *record.dtype));
  StridedLayout storage = linear;
  std::uint64_t buffers = 1;
  if (!record.coo) {
    std::vector<EditedView> views = edited_views(*record.storage, edits);
    buffers = buffers_of(views);
    storage = std::move(views.back().storage);
  }
  const std::uint64_t bytes = info(*record.dtype).buffer_bytes();
  const std::uint64_t all = linear.storage_elements * bytes;
  const unsigned most = record.coo ? 1 : std::min(most_workers, worker_count(execution, all, all));
  SlabGrid grid =
      choose_grid(storage, linear, bytes, max_slab_bytes(execution, most) * 2 / (buffers + 1));
  const auto workers = static_cast<unsigned>(std::clamp<std::uint64_t>(grid.count(), 1, most));
  auto state = std::make_shared<State>(State{.source = source,
                                             .record = record,
                                             .edits = edits,
                                             .execution = execution,
                                             .linear = std::move(linear),
                                             .storage = std::move(storage),
                                             .grid = std::move(grid),
                                             .workers = std::vector<State::Worker>(workers)});
  LinearSlabs slabs(std::move(state));
  BTF_TRY(slabs.open_readers());
  return slabs;
}

Status LinearSlabs::open_readers() {
  State& s = *state_;
  for (State::Worker& worker : s.workers) {
    BTF_ASSIGN(worker.reader, open_slab_reader(s.source, s.record, s.edits, s.storage,
                                               Duplicates::error, s.execution));
  }
  return {};
}

std::uint64_t LinearSlabs::count() const { return state_->grid.count(); }

unsigned LinearSlabs::workers() const { return static_cast<unsigned>(state_->workers.size()); }

Result<LinearSlab> LinearSlabs::read(unsigned worker, std::uint64_t slab) {
  State& s = *state_;
  State::Worker& mine = s.workers[worker];
  const Box box = s.grid.box(slab);
  BTF_ASSIGN(const SourceSlab read, mine.reader->read(box));
  const Footprint to = footprint(s.linear, box);
  const SourceSlab codes = in_row_major(read, box.counts(), *s.record.dtype, mine.codes);
  return LinearSlab{to.base, to.elements, codes.data};
}

Result<LinearWalk> LinearWalk::open(const ByteSource& source, const TensorInfo& record,
                                    const EditChain& edits, const Execution& execution) {
  BTF_ASSIGN(LinearSlabs slabs, LinearSlabs::open(source, record, edits, execution, 1));
  return LinearWalk(std::move(slabs));
}

Status LinearWalk::rewind() {
  slab_ = 0;
  // The entries of a COO record can only be read in order.
  return slabs_.state_->record.coo ? slabs_.open_readers() : Status{};
}

Result<std::optional<LinearSlab>> LinearWalk::next() {
  if (slab_ == slabs_.count()) return std::nullopt;
  BTF_ASSIGN(const LinearSlab slab, slabs_.read(0, slab_++));
  return slab;
}

namespace {

// The bytes that a read may take at least, for the run and the blocks and padding around it.
constexpr std::uint64_t kMinReadBytes = 256U << 10;

std::uint64_t product(std::span<const std::uint64_t> dims) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  return count;
}

// The elements of a view in row-major order. A run of them consists of a few boxes of the view.
class RowMajorRuns final : public ElementRuns {
 public:
  RowMajorRuns(std::unique_ptr<SlabReader> boxes, StridedLayout storage, DType dtype)
      : boxes_(std::move(boxes)),
        storage_(std::move(storage)),
        dtype_(dtype),
        bytes_(info(dtype).buffer_bytes()),
        index_(storage_.dims.size()),
        inner_(storage_.dims.size()) {
    for (std::size_t d = 0; d < inner_.size(); ++d)
      inner_[d] = product(std::span(storage_.dims).subspan(d + 1));
  }

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out) override {
    max_bytes_ = std::max(kMinReadBytes, 2 * count * bytes_);
    for (std::size_t d = 0; d < index_.size(); ++d) {
      index_[d] = first / inner_[d];
      first %= inner_[d];
    }
    while (count > 0) {
      const Box box = next_box(count);
      const Dims counts = box.counts();
      BTF_ASSIGN(const SourceSlab slab, boxes_->read(box));
      LossAccount none;
      cast_slab({dtype_, dtype_, {}}, counts, slab, TargetSlab{{out, row_major(counts)}}, none);
      const std::uint64_t taken = product(counts);
      out += taken * bytes_;
      count -= taken;
    }
    return {};
  }

 private:
  // The largest box that begins at index_ and is a run of at most `count` elements, within
  // max_bytes_. Moves index_ to its end.
  Box next_box(std::uint64_t count) {
    std::size_t d = 0;
    while (d < inner_.size() && (inner_[d] > count || !begins(d))) ++d;
    Box box{index_, index_};
    for (; d < inner_.size(); ++d) {
      std::uint64_t n = std::min(storage_.dims[d] - index_[d], count / inner_[d]);
      if (storage_.split && storage_.split->dim == d) {
        const std::uint64_t lanes = storage_.split->lanes;
        if (index_[d] % lanes != 0) n = std::min(n, lanes - index_[d] % lanes);
      }
      for (;; n /= 2) {
        for (std::size_t k = 0; k < inner_.size(); ++k)
          box.hi[k] = k < d ? index_[k] + 1 : k == d ? index_[k] + n : storage_.dims[k];
        if (n == 1 || footprint(storage_, box).elements * bytes_ <= max_bytes_) break;
      }
      if (n > 1 || d + 1 == inner_.size() ||
          footprint(storage_, box).elements * bytes_ <= max_bytes_) {
        advance(d, n);
        return box;
      }
    }
    return box;  // of rank 0
  }

  // Returns true if the indices of all dims inside dim d are 0.
  bool begins(std::size_t d) const {
    return std::all_of(index_.begin() + static_cast<std::ptrdiff_t>(d) + 1, index_.end(),
                       [](std::uint64_t i) { return i == 0; });
  }

  void advance(std::size_t d, std::uint64_t n) {
    index_[d] += n;
    for (; d > 0 && index_[d] == storage_.dims[d]; --d) {
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

  std::unique_ptr<SlabReader> boxes_;
  StridedLayout storage_;
  DType dtype_;
  std::uint64_t bytes_;
  Dims index_;
  Dims inner_;  // elements for one index of each dim
  std::uint64_t max_bytes_ = 0;
};

template <std::size_t kBytes, bool kBackwards>
void copy_elements(const std::byte* first, std::uint64_t stride, std::uint64_t n, std::byte* out) {
  for (std::uint64_t i = 0; i < n; ++i)
    std::memcpy(out + (kBackwards ? n - 1 - i : i) * kBytes, first + i * stride * kBytes, kBytes);
}

using CopyFn = void (*)(const std::byte* first, std::uint64_t stride, std::uint64_t n,
                        std::byte* out);

// By the binary logarithm of an element's bytes.
constexpr CopyFn kBackwards[] = {copy_elements<1, true>, copy_elements<2, true>,
                                 copy_elements<4, true>, copy_elements<8, true>};
constexpr CopyFn kForwards[] = {copy_elements<1, false>, copy_elements<2, false>,
                                copy_elements<4, false>, copy_elements<8, false>};

// Boxes with some dims reversed.
class ReversedDimsReader final : public SlabReader {
 public:
  ReversedDimsReader(std::unique_ptr<SlabReader> boxes, const EditedView& view, DType dtype)
      : boxes_(std::move(boxes)),
        dims_(view.storage.dims),
        reversed_(view.reversed),
        dtype_(dtype),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Box inner = box;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (!reversed_[d]) continue;
      inner.lo[d] = dims_[d] - box.hi[d];
      inner.hi[d] = dims_[d] - box.lo[d];
    }
    const Dims counts = box.counts();
    BTF_ASSIGN(SourceSlab slab, boxes_->read(inner));
    if (slab.mapping.split) slab = in_row_major(slab, counts, dtype_, plain_);
    std::byte* out = out_.reserve(product(counts) * bytes_);
    reverse(slab, counts, out);
    return SourceSlab{out, row_major(counts)};
  }

 private:
  void reverse(const SourceSlab& slab, const Dims& counts, std::byte* out) const {
    const Dims& strides = slab.mapping.strides;
    const std::size_t last = counts.size() - 1;
    const auto width = static_cast<std::size_t>(std::countr_zero(bytes_));
    const CopyFn copy = reversed_[last] ? kBackwards[width] : kForwards[width];
    Dims index(counts.size(), 0);
    for (;;) {
      std::uint64_t from = 0;
      for (std::size_t d = 0; d < last; ++d)
        from += (reversed_[d] ? counts[d] - 1 - index[d] : index[d]) * strides[d];
      copy(slab.data + from * bytes_, strides[last], counts[last], out);
      out += counts[last] * bytes_;
      std::size_t d = last;
      for (; d > 0; --d) {
        if (++index[d - 1] < counts[d - 1]) break;
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

  std::unique_ptr<SlabReader> boxes_;
  Dims dims_;
  std::vector<bool> reversed_;
  DType dtype_;
  std::uint64_t bytes_;
  Buffer plain_;
  Buffer out_;
};

// Boxes of a view with a split_offset or split_step.
class SplitOffsetReader final : public SlabReader {
 public:
  SplitOffsetReader(std::unique_ptr<SlabReader> boxes, const EditedView& view, DType dtype)
      : boxes_(std::move(boxes)),
        split_offset_(view.split_offset),
        split_step_(view.split_step),
        split_(*view.storage.split),
        dtype_(dtype) {}

  Result<SourceSlab> read(const Box& box) override {
    Box inner = box;
    std::uint64_t& lo = inner.lo[split_.dim];
    std::uint64_t& hi = inner.hi[split_.dim];
    lo = split_offset_ + lo * split_step_;
    hi = split_offset_ + (hi - 1) * split_step_ + 1;
    const std::uint64_t lane = lo % split_.lanes;
    if (split_step_ == 1 && (lane == 0 || lane + (hi - lo) <= split_.lanes))
      return boxes_->read(inner);
    // Strides only describe indices from the beginning of a block on.
    lo -= lane;
    BTF_ASSIGN(SourceSlab slab, boxes_->read(inner));
    slab = in_row_major(slab, inner.counts(), dtype_, plain_);
    std::uint64_t& stride = slab.mapping.strides[split_.dim];
    slab.data += lane * stride * info(dtype_).buffer_bytes();
    stride *= split_step_;
    return slab;
  }

 private:
  std::unique_ptr<SlabReader> boxes_;
  std::uint64_t split_offset_;
  std::uint64_t split_step_;
  Split split_;
  DType dtype_;
  Buffer plain_;
};

// The boxes of a view, from those that its strides describe.
std::unique_ptr<SlabReader> boxes_of(const EditedView& view, std::unique_ptr<SlabReader> boxes,
                                     DType dtype) {
  if (!view.by_strides())
    boxes = std::make_unique<SplitOffsetReader>(std::move(boxes), view, dtype);
  if (view.has_reversed_dims())
    boxes = std::make_unique<ReversedDimsReader>(std::move(boxes), view, dtype);
  return boxes;
}

}  // namespace

std::unique_ptr<SlabReader> edited_reader(const ByteSource& source, const TensorInfo& record,
                                          std::span<const EditedView> views) {
  const DType dtype = *record.dtype;
  const EditedView* below = &views.front();
  auto reader =
      boxes_of(*below, record_reader(source, record, below->whole_storage(), below->base), dtype);
  for (const EditedView& view : views.subspan(1)) {
    auto runs = std::make_unique<RowMajorRuns>(std::move(reader), below->storage, dtype);
    reader =
        boxes_of(view, runs_reader(std::move(runs), view.whole_storage(), view.base, dtype), dtype);
    below = &view;
  }
  return reader;
}

namespace {

constexpr std::uint64_t kPieceBytes = 4U << 20;  // between two checks for cancellation

Status read_blocks(const ByteSource& source, std::uint64_t offset, std::span<std::byte> out,
                   const Execution& execution) {
  for (std::uint64_t at = 0; at < out.size(); at += kPieceBytes) {
    BTF_TRY(check_cancelled(execution));
    const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, out.size() - at);
    BTF_TRY(source.read_at(offset + at, out.subspan(at, bytes)));
    if (execution.progress) execution.progress(bytes);
  }
  return {};
}

Status check_indices(const TensorInfo& tensor, std::span<std::uint64_t> indices) {
  const Dims& dims = tensor.dims;
  std::size_t d = 0;
  for (std::size_t i = 0; i < indices.size(); ++i, d = d + 1 == dims.size() ? 0 : d + 1) {
    // Little-endian in the file.
    indices[i] = load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(&indices[i]));
    if (indices[i] < dims[d]) continue;
    const std::uint64_t at = tensor.coo->indices_offset + i * sizeof(indices[i]);
    return malformed("coo-index-out-of-range", at, "COO entry ", i / dims.size(), " has index ",
                     indices[i], " in dim ", d, " of size ", dims[d]);
  }
  return {};
}

Status read_parts(const TensorFile& file, const TensorInfo& tensor,
                  std::span<std::uint64_t> indices, std::span<std::byte> values,
                  const Execution& execution) {
  if (!tensor.coo || !tensor.dtype)
    return fail(ErrorCode::invalid_argument, "the tensor is not sparse");
  const auto index_count = checked_mul(tensor.coo->nnz, std::uint64_t{tensor.dims.size()});
  const auto value_bytes = stream_bytes(tensor.coo->nnz, info(*tensor.dtype).bits);
  if (index_count != indices.size() || value_bytes != values.size())
    return fail(ErrorCode::invalid_argument, "the memory does not have the size of the entries");
  BTF_TRY(file.check_overlap(tensor));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  BTF_TRY(
      read_blocks(*source, tensor.coo->indices_offset, std::as_writable_bytes(indices), execution));
  BTF_TRY(check_indices(tensor, indices));
  BTF_TRY(read_blocks(*source, tensor.coo->values_offset, values, execution));
  return file.check_unchanged();
}

}  // namespace

Status read_coo(const TensorFile& file, const TensorInfo& tensor, std::span<std::uint64_t> indices,
                std::span<std::byte> values, const Execution& execution) {
  const Status status = read_parts(file, tensor, indices, values, execution);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  return {};
}

}  // namespace btf

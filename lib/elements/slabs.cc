#include "elements/slabs.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "btf/try.h"
#include "core/numbers.h"
#include "elements/elements.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

struct IndexRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The part of a storage axis that the indices [lo, hi) of its dim occupy.
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

// The most elements of a storage axis that a box of `step` indices of its dim occupies. The last
// box of a dim may have fewer indices, but it also has the padding.
std::uint64_t max_axis_elements(const StridedLayout& storage, const StorageAxis& axis,
                                std::uint64_t step) {
  const IndexRange first = axis_range(storage, axis, 0, step);
  if (axis.part != AxisPart::whole || step == storage.dims[axis.dim]) return first.end;
  const std::uint64_t last = (storage.dims[axis.dim] - 1) / step * step;
  return std::max(first.end, axis.extent - last);
}

// The most bytes that a box of `step` indices occupies.
Checked step_bytes(const SlabSide& side, const Dims& step) {
  Checked bytes = side.element_bytes;
  for (const StorageAxis& axis : side.storage->axes)
    bytes = checked_mul(bytes, max_axis_elements(*side.storage, axis, step[axis.dim]));
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

  // Returns true if the box now spans the whole dim.
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
  Dims least_;  // the smallest box; it may be less than a granule, inside a block of a source
  Dims step_;
};

// Adds an outermost loop, merged with the present outermost one if it continues that.
void add_loop(const Footprint::Loop& loop, std::vector<Footprint::Loop>& loops) {
  if (!loops.empty() && loop.stride == loops.front().stride * loops.front().count)
    loops.front().count *= loop.count;
  else
    loops.insert(loops.begin(), loop);
}

// Returns true if the whole storage is a single run within the limit.
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
  // A fast path for the many tensors that are small on all sides: a single box.
  if (is_small_run(source, limits.bytes) && is_small_run(target, limits.bytes) &&
      (limits.second_source == nullptr || is_small_run(*limits.second_source, limits.bytes)))
    return SlabGrid(storage, storage.dims);
  StepChooser chooser(source, target, limits);
  chooser.grow(target, limits.bytes);
  const std::uint64_t source_run = run_bytes(source, chooser.step());
  if (limits.target_contiguous || source_run >= limits.min_run)
    return SlabGrid(storage, chooser.step());

  const Dims contiguous = chooser.step();
  chooser.reset();
  // Granules of the last dim do not count for the length of the source's runs.
  const Checked wide = checked_mul(Checked(limits.min_run), limits.last_granule);
  chooser.grow(source, std::min(wide.value_or(limits.bytes), limits.bytes));
  chooser.grow(target, limits.bytes);
  const Dims tile = chooser.step();
  const std::uint64_t worst = std::min(run_bytes(source, tile), run_bytes(target, tile));
  return SlabGrid(storage, worst > source_run ? tile : contiguous);
}

namespace {

// Runs whose beginnings are not farther apart than this are read including the gaps between them,
// which is faster than a read for each.
constexpr std::uint64_t kCloseRuns = 8U << 10;
constexpr std::uint64_t kMaxSpan = 256U << 10;

// Calls visit(storage offset, packed offset) for every run, in storage order.
template <typename Visit>
Status for_each_run(const Footprint& footprint, std::size_t depth, Visit&& visit) {
  std::vector<std::uint64_t> index(depth, 0);
  std::uint64_t storage = footprint.base;
  std::uint64_t packed = 0;
  std::uint64_t step = footprint.run;  // elements of a visit
  for (std::size_t d = depth; d < footprint.loops.size(); ++d) step *= footprint.loops[d].count;
  for (;;) {
    BTF_TRY(visit(storage, packed));
    packed += step;
    std::size_t d = depth;
    for (; d > 0; --d) {
      const Footprint::Loop& loop = footprint.loops[d - 1];
      storage += loop.stride;
      if (++index[d - 1] < loop.count) break;
      storage -= loop.count * loop.stride;
      index[d - 1] = 0;
    }
    if (d == 0) return {};
  }
}

// The elements of a file by their index in the stored array.
class FileRuns final : public ElementRuns {
 public:
  FileRuns(const ByteSource& source, std::uint64_t data_offset, StoredElements elements,
           DType dtype)
      : source_(source),
        data_offset_(data_offset),
        elements_(std::move(elements)),
        bits_(info(dtype).bits) {}

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out) override {
    if (bits_ >= 8) return elements_.read(first, count, out);
    const std::uint64_t first_byte = first / 2;
    const std::uint64_t bytes = ceil_div(first + count, 2) - first_byte;
    const std::uint64_t begin = data_offset_ + first_byte;
    if (const auto held = source_.held(); fits(begin, bytes, held.size())) {
      unpack_nibbles(held.data() + begin, first % 2, count, out);
      return {};
    }
    std::byte* packed = nibbles_.reserve(bytes);
    BTF_TRY(source_.read_at(begin, std::span(packed, bytes)));
    unpack_nibbles(packed, first % 2, count, out);
    return {};
  }

  const std::byte* held(std::uint64_t first, std::uint64_t count) const override {
    return bits_ >= 8 ? elements_.held(first, count) : nullptr;
  }

 private:
  const ByteSource& source_;
  std::uint64_t data_offset_;
  StoredElements elements_;  // for 8 bits or more
  unsigned bits_;
  Buffer nibbles_;
};

// Gathers n runs of `bytes` at a distance of `stride` bytes.
using GatherFn = void (*)(const std::byte* from, std::uint64_t stride, std::uint64_t n,
                          std::uint64_t bytes, std::byte* out);

template <std::size_t kBytes>
void gather_runs(const std::byte* from, std::uint64_t stride, std::uint64_t n, std::uint64_t bytes,
                 std::byte* out) {
  const std::uint64_t run = kBytes != 0 ? kBytes : bytes;
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(out + i * run, from + i * stride, run);
}

GatherFn gather_fn(std::uint64_t bytes) {
  struct Row {
    std::uint64_t bytes;
    GatherFn gather;
  };
  static constexpr Row kRows[] = {{1, gather_runs<1>},   {2, gather_runs<2>},
                                  {4, gather_runs<4>},   {8, gather_runs<8>},
                                  {16, gather_runs<16>}, {32, gather_runs<32>}};
  for (const Row& row : kRows)
    if (row.bytes == bytes) return row.gather;
  return gather_runs<0>;
}

class RunReader final : public SlabReader {
 public:
  RunReader(std::unique_ptr<ElementRuns> runs, StridedLayout storage, std::uint64_t base,
            DType dtype)
      : runs_(std::move(runs)),
        storage_(std::move(storage)),
        base_(base),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Footprint from = footprint(storage_, box);
    if (from.contiguous())
      if (const std::byte* const held = runs_->held(base_ + from.base, from.elements))
        return SourceSlab{held + from.first * bytes_, std::move(from.packed)};
    std::byte* out = slab_.reserve(from.elements * bytes_);
    if (gathers(from)) {
      const Footprint::Loop loop = from.loops.back();
      BTF_TRY(for_each_run(from, from.loops.size() - 1,
                           [&](std::uint64_t storage, std::uint64_t packed) {
                             return gather(storage, loop, from.run, out + packed * bytes_);
                           }));
    } else {
      BTF_TRY(
          for_each_run(from, from.loops.size(), [&](std::uint64_t storage, std::uint64_t packed) {
            return read_run(storage, from.run, out + packed * bytes_);
          }));
    }
    return SourceSlab{out + from.first * bytes_, std::move(from.packed)};
  }

 private:
  // Returns true if the runs of the innermost loop are close together.
  bool gathers(const Footprint& from) const {
    if (from.contiguous()) return false;
    const Checked apart = checked_mul(Checked(from.loops.back().stride), bytes_);
    return apart && *apart > 0 && *apart <= kCloseRuns;
  }

  Status gather(std::uint64_t storage, const Footprint::Loop& loop, std::uint64_t run,
                std::byte* out) {
    const std::uint64_t most = std::max<std::uint64_t>(1, kMaxSpan / (loop.stride * bytes_));
    const GatherFn pick = gather_fn(run * bytes_);
    for (std::uint64_t i = 0; i < loop.count; i += most) {
      const std::uint64_t n = std::min(most, loop.count - i);
      const std::uint64_t span = (n - 1) * loop.stride + run;
      std::byte* wide = span_.reserve(span * bytes_);
      BTF_TRY(read_run(storage + i * loop.stride, span, wide));
      pick(wide, loop.stride * bytes_, n, run * bytes_, out + i * run * bytes_);
    }
    return {};
  }

  Status read_run(std::uint64_t storage, std::uint64_t count, std::byte* out) {
    return count == 0 ? Status{} : runs_->read(base_ + storage, count, out);
  }

  std::unique_ptr<ElementRuns> runs_;
  StridedLayout storage_;
  std::uint64_t base_;
  std::uint64_t bytes_;
  Buffer slab_;
  Buffer span_;
};

class FileWriter final : public SlabWriter {
 public:
  FileWriter(ByteSink& sink, std::uint64_t data_offset, StridedLayout storage, DType dtype)
      : sink_(sink),
        data_offset_(data_offset),
        storage_(std::move(storage)),
        padded_(storage_.padded()),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<TargetSlab> begin(const Box& box) override {
    to_ = footprint(storage_, box);
    std::byte* data = slab_.reserve(to_.elements * bytes_);
    if (padded_) std::memset(data, 0, to_.elements * bytes_);
    return TargetSlab{{data, to_.packed}};
  }

  Status finish() override { return write_runs(slab_.data()); }

  Result<bool> write(const Box& box, const SourceSlab& slab) override {
    to_ = footprint(storage_, box);
    if (padded_ || to_.first != 0 || slab.mapping != to_.packed) return false;
    BTF_TRY(write_runs(slab.data));
    return true;
  }

 private:
  Status write_runs(const std::byte* data) {
    return for_each_run(to_, to_.loops.size(), [&](std::uint64_t storage, std::uint64_t packed) {
      return sink_.write_at(data_offset_ + storage * bytes_,
                            std::span(data + packed * bytes_, to_.run * bytes_));
    });
  }

  ByteSink& sink_;
  std::uint64_t data_offset_;
  StridedLayout storage_;
  bool padded_;
  std::uint64_t bytes_;
  Footprint to_;
  Buffer slab_;
};

Mapping mapping_of(const StridedLayout& storage) { return {storage.strides, storage.split}; }

class MemoryReader final : public SlabReader {
 public:
  MemoryReader(const std::byte* data, StridedLayout storage, DType dtype)
      : data_(data), storage_(std::move(storage)), bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    return SourceSlab{data_ + offset(storage_, box.lo) * bytes_, mapping_of(storage_)};
  }

 private:
  const std::byte* data_;
  StridedLayout storage_;
  std::uint64_t bytes_;
};

// The padding of a layout with a single padded dim, directly after the dim's last index.
struct DimPadding {
  std::uint32_t dim = 0;
  std::uint64_t elements = 0;
};

std::optional<DimPadding> dim_padding(const StridedLayout& storage) {
  if (storage.axes.empty()) return std::nullopt;
  const StorageAxis& innermost = storage.axes.back();
  if (innermost.stride != 1 || innermost.part == AxisPart::blocks) return std::nullopt;
  const std::uint64_t dim = storage.dims[innermost.dim];
  if (dim == 0) return std::nullopt;
  const std::uint64_t stored = innermost.part == AxisPart::lanes
                                   ? ceil_div(dim, innermost.extent) * innermost.extent
                                   : innermost.extent;
  const Checked all = checked_mul(Checked(storage.elements() / dim), stored);
  if (!all || *all != storage.storage_elements) return std::nullopt;
  return DimPadding{innermost.dim, stored - dim};
}

class MemoryWriter final : public SlabWriter {
 public:
  MemoryWriter(std::byte* data, StridedLayout storage, DType dtype, bool stream)
      : data_(data),
        storage_(std::move(storage)),
        bytes_(info(dtype).buffer_bytes()),
        stream_(stream),
        padding_(stream ? dim_padding(storage_) : std::nullopt) {}

  Result<TargetSlab> begin(const Box& box) override {
    TargetSlab slab{{data_ + offset(storage_, box.lo) * bytes_, mapping_of(storage_)}, stream_};
    if (!storage_.padded()) return slab;
    if (padding_) {
      slab.padded_dim = padding_->dim;
      if (box.hi[padding_->dim] == storage_.dims[padding_->dim]) slab.padding = padding_->elements;
      return slab;
    }
    slab.stream = false;
    const Footprint to = footprint(storage_, box);
    BTF_TRY(for_each_run(to, to.loops.size(), [&](std::uint64_t storage, std::uint64_t) {
      std::memset(data_ + storage * bytes_, 0, to.run * bytes_);
      return Status{};
    }));
    return slab;
  }

  Status finish() override {
    if (stream_) stream_fence();
    return {};
  }

 private:
  std::byte* data_;
  StridedLayout storage_;
  std::uint64_t bytes_;
  bool stream_;
  std::optional<DimPadding> padding_;
};

}  // namespace

std::unique_ptr<SlabReader> file_reader(const ByteSource& source, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype) {
  return runs_reader(std::make_unique<FileRuns>(source, data_offset,
                                                StoredElements(source, data_offset, dtype), dtype),
                     storage, 0, dtype);
}

std::unique_ptr<SlabReader> record_reader(const ByteSource& source, const TensorInfo& record,
                                          const StridedLayout& storage, std::uint64_t base) {
  const DType dtype = *record.dtype;
  return runs_reader(
      std::make_unique<FileRuns>(source, record.data_offset, StoredElements(source, record), dtype),
      storage, base, dtype);
}

std::unique_ptr<SlabReader> runs_reader(std::unique_ptr<ElementRuns> runs,
                                        const StridedLayout& storage, std::uint64_t base,
                                        DType dtype) {
  return std::make_unique<RunReader>(std::move(runs), storage, base, dtype);
}

std::unique_ptr<SlabWriter> file_writer(ByteSink& sink, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype) {
  return std::make_unique<FileWriter>(sink, data_offset, storage, dtype);
}

std::unique_ptr<SlabReader> memory_reader(const std::byte* data, const StridedLayout& storage,
                                          DType dtype) {
  return std::make_unique<MemoryReader>(data, storage, dtype);
}

std::unique_ptr<SlabWriter> memory_writer(std::byte* data, const StridedLayout& storage,
                                          DType dtype, bool stream) {
  return std::make_unique<MemoryWriter>(data, storage, dtype, stream);
}

}  // namespace btf

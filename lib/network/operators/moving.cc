// Operators whose elements are elements of their inputs.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "btf/try.h"
#include "core/numbers.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

// An operator whose output elements are elements of one input.
class MoveOp : public Operator {
 public:
  MoveOp(Tensor& data, Dims dims) : Operator({std::move(dims), data.dtype()}), data_(data) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    return data_.at(source(output, number));
  }

 protected:
  MoveOp(Tensor& data, std::vector<Output> outputs) : Operator(std::move(outputs)), data_(data) {}
  virtual std::uint64_t source(std::size_t output, std::uint64_t number) const = 0;

  Tensor& data_;
};

// Determines the element by its index.
class IndexMoveOp : public MoveOp {
 public:
  using MoveOp::MoveOp;

 protected:
  std::uint64_t source(std::size_t output, std::uint64_t number) const override;
  // Changes the index of an output in place to that of the data, of the same rank.
  virtual void place(Dims& index) const = 0;
};

// These are defined further down in this file.
OperatorResult make_gather(const Call& call);
OperatorResult make_gather_elements(const Call& call);
OperatorResult make_gather_nd(const Call& call);
OperatorResult make_pad(const Call& call);
OperatorResult make_slice(const Call& call);
OperatorResult make_slice_by_attributes(const Call& call);
OperatorResult make_split(const Call& call);
OperatorResult make_concat(const Call& call);
OperatorResult make_depth_to_space(const Call& call);
OperatorResult make_space_to_depth(const Call& call);
OperatorResult make_reverse_sequence(const Call& call);
OperatorResult make_trilu(const Call& call);

class SameNumber final : public MoveOp {
 public:
  using MoveOp::MoveOp;

 private:
  std::uint64_t source(std::size_t, std::uint64_t number) const override { return number; }
};

class ExpandOp final : public MoveOp {
 public:
  ExpandOp(Tensor& data, const Dims& dims) : MoveOp(data, dims), place_(data.dims(), dims) {}

 private:
  std::uint64_t source(std::size_t, std::uint64_t number) const override {
    return place_.number(number);
  }
  Broadcast place_;
};

class TransposeOp final : public MoveOp {
 public:
  TransposeOp(Tensor& data, const Dims& dims, const std::vector<std::size_t>& order)
      : MoveOp(data, dims) {
    const Dims strides = row_major_strides(data.dims());
    for (const std::size_t d : order) strides_.push_back(strides[d]);
  }

 private:
  std::uint64_t source(std::size_t, std::uint64_t number) const override {
    const Dims index = index_of(number, outputs()[0].dims);
    return std::inner_product(index.begin(), index.end(), strides_.begin(), std::uint64_t{0});
  }
  Dims strides_;
};

class TileOp final : public IndexMoveOp {
 public:
  using IndexMoveOp::IndexMoveOp;

 private:
  void place(Dims& index) const override {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] %= data_.dims()[d];
  }
};

OperatorResult same(Tensor& data, Dims dims) {
  if (element_count(dims) != data.elements())
    return not_computed("its output " + dims_text(dims) + " does not have the elements of " +
                        dims_text(data.dims()));
  return std::make_unique<SameNumber>(data, std::move(dims));
}

OperatorResult make_identity(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return std::make_unique<SameNumber>(*x, x->dims());
}

OperatorResult make_reshape(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto shape, call.integers_of(1, "shape"));
  const bool zero_is_zero = call.integer("allowzero", 0) != 0;
  Dims dims;
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && !open) {
      open = d;
      dims.push_back(1);
    } else if (shape[d] == 0 && !zero_is_zero && d < x->rank()) {
      dims.push_back(x->dims()[d]);
    } else if (shape[d] >= 0) {
      dims.push_back(static_cast<std::uint64_t>(shape[d]));
    } else {
      return not_computed("its shape cannot be used");
    }
  }
  if (open) {
    const Checked others = element_count(dims);
    if (!others || *others == 0) return not_computed("its shape cannot be used");
    dims[*open] = x->elements() / *others;
  }
  return same(*x, std::move(dims));
}

OperatorResult make_flatten(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const auto rank = static_cast<std::int64_t>(x->rank());
  std::int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return not_computed("its axis is outside of its rank");
  Dims dims{1, 1};
  for (std::size_t d = 0; d < x->rank(); ++d)
    dims[static_cast<std::int64_t>(d) < axis ? 0 : 1] *= x->dims()[d];
  return same(*x, std::move(dims));
}

OperatorResult make_squeeze(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto axes, call.integers_of(1, "axes"));
  std::vector<bool> gone(x->rank(), false);
  for (const std::int64_t axis : axes) {
    BTF_ASSIGN(const std::size_t d, axis_of(axis, x->rank()));
    gone[d] = true;
  }
  Dims dims;
  for (std::size_t d = 0; d < x->rank(); ++d) {
    const bool out = axes.empty() ? x->dims()[d] == 1 : gone[d];
    if (!out) dims.push_back(x->dims()[d]);
  }
  return same(*x, std::move(dims));
}

OperatorResult make_unsqueeze(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto axes, call.integers_of(1, "axes"));
  const std::size_t rank = x->rank() + axes.size();
  std::vector<bool> made(rank, false);
  for (const std::int64_t axis : axes) {
    BTF_ASSIGN(const std::size_t d, axis_of(axis, rank));
    if (made[d]) return not_computed("its axes are not distinct");
    made[d] = true;
  }
  Dims dims;
  std::size_t from = 0;
  for (std::size_t d = 0; d < rank; ++d) dims.push_back(made[d] ? 1 : x->dims()[from++]);
  return same(*x, std::move(dims));
}

OperatorResult make_transpose(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const auto perm = call.integers("perm");
  std::vector<std::size_t> order(x->rank());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (!perm.empty()) {
    if (perm.size() != x->rank()) return not_computed("its perm does not fit its rank");
    std::vector<bool> seen(x->rank(), false);
    for (std::size_t d = 0; d < perm.size(); ++d) {
      BTF_ASSIGN(order[d], axis_of(perm[d], x->rank()));
      if (seen[order[d]]) return not_computed("its perm names a dim twice");
      seen[order[d]] = true;
    }
  }
  Dims dims;
  for (const std::size_t d : order) dims.push_back(x->dims()[d]);
  return std::make_unique<TransposeOp>(*x, dims, order);
}

OperatorResult make_expand(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto shape, call.whole_integers(1));
  Dims wanted;
  for (const std::int64_t size : shape) {
    if (size < 0) return not_computed("its shape cannot be used");
    wanted.push_back(static_cast<std::uint64_t>(size));
  }
  BTF_ASSIGN(const Dims dims, broadcast(x->dims(), wanted));
  return std::make_unique<ExpandOp>(*x, dims);
}

OperatorResult make_tile(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto times, call.whole_integers(1));
  if (times.size() != x->rank()) return not_computed("its repeats do not fit its rank");
  Dims dims;
  for (std::size_t d = 0; d < times.size(); ++d) {
    const Checked size =
        times[d] < 0 ? Checked() : checked_mul(x->dims()[d], static_cast<std::uint64_t>(times[d]));
    if (!size) return not_computed("its repeats cannot be used");
    dims.push_back(*size);
  }
  return std::make_unique<TileOp>(*x, dims);
}

constexpr auto kMovingRows = std::to_array<OperatorRow>({
    {"Identity", 1, make_identity, ErrorPropagation::moved},
    {"Dropout", 1, make_identity, ErrorPropagation::moved},
    {"Reshape", 1, make_reshape, ErrorPropagation::moved},
    {"Flatten", 1, make_flatten, ErrorPropagation::moved},
    {"Squeeze", 1, make_squeeze, ErrorPropagation::moved},
    {"Unsqueeze", 1, make_unsqueeze, ErrorPropagation::moved},
    {"Transpose", 1, make_transpose, ErrorPropagation::moved},
    {"Expand", 8, make_expand, ErrorPropagation::moved},
    {"Tile", 6, make_tile, ErrorPropagation::moved},
    {"Concat", 1, make_concat, ErrorPropagation::joined},
    {"Split", 2, make_split, ErrorPropagation::moved},
    {"Slice", 1, make_slice_by_attributes, ErrorPropagation::moved},
    {"Slice", 10, make_slice, ErrorPropagation::moved},
    {"Pad", 2, make_pad, ErrorPropagation::moved},
    {"Gather", 1, make_gather, ErrorPropagation::moved},
    {"GatherElements", 11, make_gather_elements, ErrorPropagation::moved},
    {"GatherND", 11, make_gather_nd, ErrorPropagation::moved},
    {"DepthToSpace", 1, make_depth_to_space, ErrorPropagation::moved},
    {"SpaceToDepth", 1, make_space_to_depth, ErrorPropagation::moved},
    {"ReverseSequence", 10, make_reverse_sequence, ErrorPropagation::moved},
    {"Trilu", 14, make_trilu, ErrorPropagation::moved},
});

std::uint64_t IndexMoveOp::source(std::size_t output, std::uint64_t number) const {
  Dims index = index_of(number, outputs()[output].dims);
  place(index);
  return number_of(index, data_.dims());
}

}  // namespace

std::span<const OperatorRow> moving_rows() { return kMovingRows; }

namespace {

// Parts of tensors: Concat, Split, Slice, Pad and blocks of images.

constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();

class ConcatOp final : public Operator {
 public:
  ConcatOp(std::vector<Tensor*> parts, std::size_t axis, Output output)
      : Operator(std::move(output)), parts_(std::move(parts)), axis_(axis) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, outputs()[0].dims);
    for (Tensor* const part : parts_) {
      const std::uint64_t size = part->dims()[axis_];
      if (index[axis_] < size) return part->at(number_of(index, part->dims()));
      index[axis_] -= size;
    }
    return {kNoPart, 0};
  }

 private:
  std::vector<Tensor*> parts_;
  std::size_t axis_;
};

class SplitOp final : public MoveOp {
 public:
  SplitOp(Tensor& data, std::vector<Output> outputs, std::size_t axis)
      : MoveOp(data, std::move(outputs)), axis_(axis) {}

 private:
  std::uint64_t source(std::size_t output, std::uint64_t number) const override {
    Dims index = index_of(number, outputs()[output].dims);
    for (std::size_t before = 0; before < output; ++before)
      index[axis_] += outputs()[before].dims[axis_];
    return number_of(index, data_.dims());
  }
  std::size_t axis_;
};

struct Cut {
  std::int64_t first = 0;
  std::int64_t step = 1;
};

class SliceOp final : public IndexMoveOp {
 public:
  SliceOp(Tensor& data, Dims dims, std::vector<Cut> cuts)
      : IndexMoveOp(data, std::move(dims)), cuts_(std::move(cuts)) {}

 private:
  void place(Dims& index) const override {
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = static_cast<std::uint64_t>(cuts_[d].first +
                                            static_cast<std::int64_t>(index[d]) * cuts_[d].step);
  }
  std::vector<Cut> cuts_;
};

OperatorResult sliced(Tensor& x, const std::vector<std::int64_t>& starts,
                      const std::vector<std::int64_t>& ends, std::vector<std::int64_t> axes,
                      std::vector<std::int64_t> steps) {
  if (axes.empty())
    for (std::size_t d = 0; d < starts.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return not_computed("its starts, ends, axes and steps do not fit together");
  std::vector<Cut> cuts(x.rank());
  Dims dims = x.dims();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    BTF_ASSIGN(const std::size_t d, axis_of(axes[i], x.rank()));
    const auto size = static_cast<std::int64_t>(x.dims()[d]);
    const std::int64_t step = steps[i];
    constexpr std::int64_t kMax = std::int64_t{1} << 40;
    if (step == 0 || size > kMax) return not_computed("its steps cannot be used");
    if (size == 0) continue;
    const auto from_end = [&](std::int64_t at) { return at < 0 ? at + size : at; };
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? size : size - 1;
    const std::int64_t first =
        std::clamp(from_end(starts[i]), std::int64_t{0}, step > 0 ? size : size - 1);
    const std::int64_t end = std::clamp(from_end(ends[i]), low, high);
    const std::int64_t reach = step > 0 ? end - first : first - end;
    const std::int64_t stride = std::min(step > 0 ? step : -std::max(step, -kMax), kMax);
    dims[d] = reach <= 0 ? 0 : static_cast<std::uint64_t>((reach + stride - 1) / stride);
    cuts[d] = {first, step > 0 ? stride : -stride};
  }
  return std::make_unique<SliceOp>(x, std::move(dims), std::move(cuts));
}

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };

class PadOp final : public Operator {
 public:
  PadOp(Tensor& data, Tensor* value, double constant, PadMode mode,
        std::vector<std::int64_t> begins, Dims dims)
      : Operator({std::move(dims), data.dtype()}),
        data_(data),
        value_(value),
        constant_(constant),
        mode_(mode),
        begins_(std::move(begins)) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, outputs()[0].dims);
    for (std::size_t d = 0; d < index.size(); ++d) {
      const auto size = static_cast<std::int64_t>(data_.dims()[d]);
      std::int64_t at = static_cast<std::int64_t>(index[d]) - begins_[d];
      if (at < 0 || at >= size) {
        if (mode_ == PadMode::constant || size == 0)
          return value_ != nullptr ? value_->at(0) : Estimate{constant_, 0};
        at = inside(at, size);
      }
      index[d] = static_cast<std::uint64_t>(at);
    }
    return data_.at(number_of(index, data_.dims()));
  }

 private:
  std::int64_t inside(std::int64_t at, std::int64_t size) const {
    if (mode_ == PadMode::edge) return std::clamp(at, std::int64_t{0}, size - 1);
    const std::int64_t turn =
        mode_ == PadMode::wrap ? size : std::max<std::int64_t>(1, 2 * size - 2);
    at %= turn;
    if (at < 0) at += turn;
    return at < size ? at : turn - at;
  }

  Tensor& data_;
  Tensor* value_;
  double constant_;
  PadMode mode_;
  std::vector<std::int64_t> begins_;
};

// DepthToSpace and SpaceToDepth. `depth_first`: the first dim of the channels is the depth, not the
// block.
class Blocks final : public IndexMoveOp {
 public:
  Blocks(Tensor& data, Dims dims, std::uint64_t block, bool to_depth, bool depth_first)
      : IndexMoveOp(data, std::move(dims)),
        block_(block),
        to_depth_(to_depth),
        depth_first_(depth_first) {}

 private:
  void place(Dims& index) const override {
    const std::uint64_t square = block_ * block_;
    if (to_depth_) {
      const std::uint64_t channels = data_.dims()[1];
      const std::uint64_t offset = index[1] / channels;
      index = {index[0], index[1] % channels, index[2] * block_ + offset / block_,
               index[3] * block_ + offset % block_};
      return;
    }
    const std::uint64_t offset = index[2] % block_ * block_ + index[3] % block_;
    const std::uint64_t depth = data_.dims()[1] / square;
    index = {index[0], depth_first_ ? offset * depth + index[1] : index[1] * square + offset,
             index[2] / block_, index[3] / block_};
  }
  std::uint64_t block_;
  bool to_depth_;
  bool depth_first_;
};

OperatorResult make_concat(const Call& call) {
  BTF_ASSIGN(Tensor* const first, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 1), first->rank()));
  Dims dims = first->dims();
  dims[axis] = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    BTF_ASSIGN(Tensor* const part, call.input(i));
    Dims own = part->dims();
    if (own.size() != dims.size()) return not_computed("its inputs have different ranks");
    const Checked size = checked_add(dims[axis], own[axis]);
    own[axis] = dims[axis];
    if (own != dims || !size) return not_computed("its inputs do not fit together");
    dims[axis] = *size;
  }
  return std::make_unique<ConcatOp>(call.inputs, axis, Operator::Output{dims, first->dtype()});
}

OperatorResult make_split(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), x->rank()));
  BTF_ASSIGN(std::vector<std::int64_t> sizes, call.integers_of(1, "split"));
  const auto size = static_cast<std::int64_t>(std::min<std::uint64_t>(x->dims()[axis], 1ULL << 40));
  if (sizes.empty()) {
    const auto parts = std::max<std::int64_t>(
        1, call.integer("num_outputs", static_cast<std::int64_t>(call.outputs)));
    if (parts > 1 << 16) return not_computed("it has too many outputs");
    const std::int64_t each = (size + parts - 1) / parts;
    for (std::int64_t left = size, i = 0; i < parts; ++i, left -= each)
      sizes.push_back(std::clamp(left, std::int64_t{0}, each));
  }
  std::vector<Operator::Output> outputs;
  std::int64_t all = 0;
  for (const std::int64_t part : sizes) {
    if (part < 0 || part > size - all) return not_computed("its parts do not fit its input");
    all += part;
    Dims dims = x->dims();
    dims[axis] = static_cast<std::uint64_t>(part);
    outputs.push_back({std::move(dims), x->dtype()});
  }
  return std::make_unique<SplitOp>(*x, std::move(outputs), axis);
}

OperatorResult make_slice_by_attributes(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return sliced(*x, call.integers("starts"), call.integers("ends"), call.integers("axes"), {});
}

OperatorResult make_slice(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto starts, call.whole_integers(1));
  BTF_ASSIGN(const auto ends, call.whole_integers(2));
  BTF_ASSIGN(auto axes, call.integers_of(3, ""));
  BTF_ASSIGN(auto steps, call.integers_of(4, ""));
  return sliced(*x, starts, ends, std::move(axes), std::move(steps));
}

OperatorResult make_pad(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(std::vector<std::int64_t> pads, call.integers_of(1, "pads"));
  BTF_ASSIGN(const auto axes, call.integers_of(3, ""));
  const std::size_t rank = x->rank();
  const std::size_t count = axes.empty() ? rank : axes.size();
  if (pads.size() != 2 * count) return not_computed("its pads do not fit its rank");
  std::vector<std::int64_t> begins(rank, 0);
  Dims dims = x->dims();
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < count; ++i) {
    BTF_ASSIGN(const std::size_t d,
               axis_of(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], rank));
    if (std::abs(pads[i]) > kMax || std::abs(pads[i + count]) > kMax || dims[d] > kMax)
      return not_computed("its pads cannot be used");
    begins[d] = pads[i];
    const std::int64_t size = static_cast<std::int64_t>(dims[d]) + pads[i] + pads[i + count];
    if (size < 0) return not_computed("its pads cannot be used");
    dims[d] = static_cast<std::uint64_t>(size);
  }
  const std::string mode = call.text("mode", "constant");
  const PadMode kind = mode == "reflect" ? PadMode::reflect
                       : mode == "edge"  ? PadMode::edge
                       : mode == "wrap"  ? PadMode::wrap
                                         : PadMode::constant;
  if (kind == PadMode::constant && mode != "constant")
    return not_computed("its mode '" + mode + "' is not computed here");
  Tensor* const value =
      call.has_input(2) && call.inputs[2]->elements() > 0 ? call.inputs[2] : nullptr;
  return std::make_unique<PadOp>(*x, value, call.real("value", 0), kind, std::move(begins),
                                 std::move(dims));
}

OperatorResult make_depth_to_space(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t block = call.integer("blocksize", 0);
  if (x->rank() != 4 || block < 1 || block > 1 << 15)
    return not_computed("its input is not an image");
  const auto size = static_cast<std::uint64_t>(block);
  const Dims& own = x->dims();
  const Checked high = checked_mul(own[2], size);
  const Checked wide = checked_mul(own[3], size);
  if (own[1] % (size * size) != 0 || !high || !wide)
    return not_computed("its channels cannot be divided into blocks");
  return std::make_unique<Blocks>(*x, Dims{own[0], own[1] / (size * size), *high, *wide}, size,
                                  false, call.text("mode", "DCR") == "DCR");
}

OperatorResult make_space_to_depth(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t block = call.integer("blocksize", 0);
  if (x->rank() != 4 || block < 1 || block > 1 << 15)
    return not_computed("its input is not an image");
  const auto size = static_cast<std::uint64_t>(block);
  const Dims& own = x->dims();
  const Checked channels = checked_mul(own[1], size * size);
  if (own[2] % size != 0 || own[3] % size != 0 || !channels)
    return not_computed("its image cannot be divided into blocks");
  return std::make_unique<Blocks>(*x, Dims{own[0], *channels, own[2] / size, own[3] / size}, size,
                                  true, true);
}

// Elements whose places are given by other tensors: Gather and similar operators.

constexpr double kNoIndex = std::numeric_limits<double>::quiet_NaN();

// An index from a tensor, counted from the end if negative; unset if it is out of range.
std::optional<std::uint64_t> index_in(double index, std::uint64_t size) {
  const auto all = static_cast<double>(size);
  const double at = index < 0 ? index + all : index;
  if (!(at >= 0 && at < all)) return std::nullopt;
  return static_cast<std::uint64_t>(at);
}

class GatherOp final : public Operator {
 public:
  GatherOp(Tensor& data, Tensor& indices, std::size_t axis, Output output)
      : Operator(std::move(output)), data_(data), indices_(indices), axis_(axis) {
    for (std::size_t d = axis + 1; d < data.rank(); ++d) inner_ *= data.dims()[d];
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t inner = number % inner_;
    const std::uint64_t which = number / inner_ % indices_.elements();
    const std::uint64_t outer = number / inner_ / indices_.elements();
    const std::uint64_t size = data_.dims()[axis_];
    const auto at = index_in(indices_.value(which), size);
    return at ? data_.at((outer * size + *at) * inner_ + inner) : Estimate{kNoIndex, 0};
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t axis_;
  std::uint64_t inner_ = 1;
};

class GatherElementsOp final : public Operator {
 public:
  GatherElementsOp(Tensor& data, Tensor& indices, std::size_t axis)
      : Operator({indices.dims(), data.dtype()}), data_(data), indices_(indices), axis_(axis) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, indices_.dims());
    const auto at = index_in(indices_.value(number), data_.dims()[axis_]);
    if (!at) return {kNoIndex, 0};
    index[axis_] = *at;
    return data_.at(number_of(index, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t axis_;
};

class GatherNdOp final : public Operator {
 public:
  GatherNdOp(Tensor& data, Tensor& indices, std::size_t batch, Output output)
      : Operator(std::move(output)),
        data_(data),
        indices_(indices),
        batch_(batch),
        depth_(indices.dims().back()) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    const std::size_t tuples = indices_.rank() - 1;
    Dims place(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch_));
    const std::uint64_t tuple = number_of(std::span(index).first(tuples),
                                          Dims(indices_.dims().begin(), indices_.dims().end() - 1));
    for (std::uint64_t k = 0; k < depth_; ++k) {
      const auto at = index_in(indices_.value(tuple * depth_ + k), data_.dims()[batch_ + k]);
      if (!at) return {kNoIndex, 0};
      place.push_back(*at);
    }
    place.insert(place.end(), index.begin() + static_cast<std::ptrdiff_t>(tuples), index.end());
    return data_.at(number_of(place, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& indices_;
  std::size_t batch_;
  std::uint64_t depth_;
};

class ReverseSequenceOp final : public Operator {
 public:
  ReverseSequenceOp(Tensor& data, Tensor& lengths, std::size_t batch, std::size_t time)
      : Operator({data.dims(), data.dtype()}),
        data_(data),
        lengths_(lengths),
        batch_(batch),
        time_(time) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, data_.dims());
    const double length = lengths_.value(index[batch_]);
    const auto at = static_cast<double>(index[time_]);
    if (std::isnan(length)) return {kNoIndex, 0};
    if (at < length && length <= static_cast<double>(data_.dims()[time_]))
      index[time_] = static_cast<std::uint64_t>(length - 1 - at);
    return data_.at(number_of(index, data_.dims()));
  }

 private:
  Tensor& data_;
  Tensor& lengths_;
  std::size_t batch_;
  std::size_t time_;
};

class Triangle final : public Operator {
 public:
  Triangle(Tensor& data, bool upper, double shift)
      : Operator({data.dims(), data.dtype()}), data_(data), upper_(upper), shift_(shift) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, data_.dims());
    const auto row = static_cast<double>(index[index.size() - 2]);
    const auto column = static_cast<double>(index.back());
    const bool kept = upper_ ? column - row >= shift_ : column - row <= shift_;
    return kept ? data_.at(number) : Estimate{};
  }

 private:
  Tensor& data_;
  bool upper_;
  double shift_;
};

OperatorResult make_gather(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), data->rank()));
  Dims dims(data->dims().begin(), data->dims().begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices->dims().begin(), indices->dims().end());
  dims.insert(dims.end(), data->dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              data->dims().end());
  return std::make_unique<GatherOp>(*data, *indices, axis,
                                    Operator::Output{std::move(dims), data->dtype()});
}

OperatorResult make_gather_elements(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), data->rank()));
  if (indices->rank() != data->rank()) return not_computed("its indices have another rank");
  for (std::size_t d = 0; d < data->rank(); ++d)
    if (d != axis && indices->dims()[d] > data->dims()[d])
      return not_computed("its indices reach beyond its data");
  return std::make_unique<GatherElementsOp>(*data, *indices, axis);
}

OperatorResult make_gather_nd(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const indices, call.input(1));
  const std::int64_t batch = call.integer("batch_dims", 0);
  if (indices->rank() == 0 || batch < 0 ||
      static_cast<std::uint64_t>(batch) >= std::min(data->rank(), indices->rank()))
    return not_computed("its indices do not fit its data");
  const auto lead = static_cast<std::size_t>(batch);
  const std::uint64_t depth = indices->dims().back();
  if (depth > data->rank() - lead) return not_computed("its indices do not fit its data");
  for (std::size_t d = 0; d < lead; ++d)
    if (data->dims()[d] != indices->dims()[d])
      return not_computed("its indices do not fit its data");
  Dims dims(indices->dims().begin(), indices->dims().end() - 1);
  dims.insert(dims.end(), data->dims().begin() + static_cast<std::ptrdiff_t>(lead + depth),
              data->dims().end());
  return std::make_unique<GatherNdOp>(*data, *indices, lead,
                                      Operator::Output{std::move(dims), data->dtype()});
}

OperatorResult make_reverse_sequence(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  BTF_ASSIGN(Tensor* const lengths, call.input(1));
  BTF_ASSIGN(const std::size_t batch, axis_of(call.integer("batch_axis", 1), data->rank()));
  BTF_ASSIGN(const std::size_t time, axis_of(call.integer("time_axis", 0), data->rank()));
  if (batch == time || lengths->elements() != data->dims()[batch])
    return not_computed("its lengths do not fit its data");
  return std::make_unique<ReverseSequenceOp>(*data, *lengths, batch, time);
}

OperatorResult make_trilu(const Call& call) {
  BTF_ASSIGN(Tensor* const data, call.input(0));
  if (data->rank() < 2) return not_computed("its input is not a matrix");
  const double shift =
      call.has_input(1) && call.inputs[1]->elements() == 1 ? call.inputs[1]->value(0) : 0;
  return std::make_unique<Triangle>(*data, call.integer("upper", 1) != 0, shift);
}

}  // namespace
}  // namespace btf::network

// Parts of tensors: Concat, Split, Slice, Pad and blocks of images.
#include <algorithm>
#include <limits>

#include "btf/try.h"
#include "core/checked_math.h"
#include "network/node/strides.h"
#include "network/operators/moving/moving.h"

namespace btf::network {
namespace {

constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();

class Joined final : public Operator {
 public:
  Joined(std::vector<Tensor*> parts, std::size_t axis, Output output)
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

class Divided final : public Moved {
 public:
  Divided(Tensor& data, std::vector<Output> outputs, std::size_t axis)
      : Moved(data, std::move(outputs)), axis_(axis) {}

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

class Sliced final : public MovedByIndex {
 public:
  Sliced(Tensor& data, Dims dims, std::vector<Cut> cuts)
      : MovedByIndex(data, std::move(dims)), cuts_(std::move(cuts)) {}

 private:
  void place(Dims& index) const override {
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = static_cast<std::uint64_t>(cuts_[d].first +
                                            static_cast<std::int64_t>(index[d]) * cuts_[d].step);
  }
  std::vector<Cut> cuts_;
};

MadeOperator sliced(Tensor& x, const std::vector<std::int64_t>& starts,
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
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (step == 0 || size > kMost) return not_computed("its steps cannot be used");
    if (size == 0) continue;
    const auto from_end = [&](std::int64_t at) { return at < 0 ? at + size : at; };
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? size : size - 1;
    const std::int64_t first =
        std::clamp(from_end(starts[i]), std::int64_t{0}, step > 0 ? size : size - 1);
    const std::int64_t end = std::clamp(from_end(ends[i]), low, high);
    const std::int64_t reach = step > 0 ? end - first : first - end;
    const std::int64_t stride = std::min(step > 0 ? step : -std::max(step, -kMost), kMost);
    dims[d] = reach <= 0 ? 0 : static_cast<std::uint64_t>((reach + stride - 1) / stride);
    cuts[d] = {first, step > 0 ? stride : -stride};
  }
  return std::make_unique<Sliced>(x, std::move(dims), std::move(cuts));
}

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };

class Padded final : public Operator {
 public:
  Padded(Tensor& data, Tensor* value, double constant, PadMode mode,
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

// A block of an image to channels, or back. `blocks_last`: the channels' first dim is that of the
// block.
class Blocks final : public MovedByIndex {
 public:
  Blocks(Tensor& data, Dims dims, std::uint64_t block, bool to_depth, bool depth_first)
      : MovedByIndex(data, std::move(dims)),
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

}  // namespace

MadeOperator make_concat(const Call& call) {
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
  return std::make_unique<Joined>(call.inputs, axis, Operator::Output{dims, first->dtype()});
}

MadeOperator make_split(const Call& call) {
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
  return std::make_unique<Divided>(*x, std::move(outputs), axis);
}

MadeOperator make_slice_by_attributes(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return sliced(*x, call.integers("starts"), call.integers("ends"), call.integers("axes"), {});
}

MadeOperator make_slice(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto starts, call.whole_integers(1));
  BTF_ASSIGN(const auto ends, call.whole_integers(2));
  BTF_ASSIGN(auto axes, call.integers_of(3, ""));
  BTF_ASSIGN(auto steps, call.integers_of(4, ""));
  return sliced(*x, starts, ends, std::move(axes), std::move(steps));
}

MadeOperator make_pad(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(std::vector<std::int64_t> pads, call.integers_of(1, "pads"));
  BTF_ASSIGN(const auto axes, call.integers_of(3, ""));
  const std::size_t rank = x->rank();
  const std::size_t count = axes.empty() ? rank : axes.size();
  if (pads.size() != 2 * count) return not_computed("its pads do not fit its rank");
  std::vector<std::int64_t> begins(rank, 0);
  Dims dims = x->dims();
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < count; ++i) {
    BTF_ASSIGN(const std::size_t d,
               axis_of(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], rank));
    if (std::abs(pads[i]) > kMost || std::abs(pads[i + count]) > kMost || dims[d] > kMost)
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
  return std::make_unique<Padded>(*x, value, call.real("value", 0), kind, std::move(begins),
                                  std::move(dims));
}

MadeOperator make_depth_to_space(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t block = call.integer("blocksize", 0);
  if (x->rank() != 4 || block < 1 || block > 1 << 15) return not_computed("it is no image");
  const auto size = static_cast<std::uint64_t>(block);
  const Dims& own = x->dims();
  const Checked high = checked_mul(own[2], size);
  const Checked wide = checked_mul(own[3], size);
  if (own[1] % (size * size) != 0 || !high || !wide)
    return not_computed("its channels are no blocks");
  return std::make_unique<Blocks>(*x, Dims{own[0], own[1] / (size * size), *high, *wide}, size,
                                  false, call.text("mode", "DCR") == "DCR");
}

MadeOperator make_space_to_depth(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t block = call.integer("blocksize", 0);
  if (x->rank() != 4 || block < 1 || block > 1 << 15) return not_computed("it is no image");
  const auto size = static_cast<std::uint64_t>(block);
  const Dims& own = x->dims();
  const Checked channels = checked_mul(own[1], size * size);
  if (own[2] % size != 0 || own[3] % size != 0 || !channels)
    return not_computed("its image is no whole blocks");
  return std::make_unique<Blocks>(*x, Dims{own[0], *channels, own[2] / size, own[3] / size}, size,
                                  true, true);
}

}  // namespace btf::network

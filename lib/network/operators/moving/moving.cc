#include "network/operators/moving/moving.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "btf/try.h"
#include "core/checked_math.h"
#include "network/node/strides.h"
#include "network/operators/families.h"

namespace btf::network {
namespace {

class SameNumber final : public Moved {
 public:
  using Moved::Moved;

 private:
  std::uint64_t source(std::size_t, std::uint64_t number) const override { return number; }
};

class Expanded final : public Moved {
 public:
  Expanded(Tensor& data, const Dims& dims) : Moved(data, dims), place_(data.dims(), dims) {}

 private:
  std::uint64_t source(std::size_t, std::uint64_t number) const override {
    return place_.number(number);
  }
  Broadcast place_;
};

class Transposed final : public Moved {
 public:
  Transposed(Tensor& data, const Dims& dims, const std::vector<std::size_t>& order)
      : Moved(data, dims) {
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

class Tiled final : public MovedByIndex {
 public:
  using MovedByIndex::MovedByIndex;

 private:
  void place(Dims& index) const override {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] %= data_.dims()[d];
  }
};

MadeOperator same(Tensor& data, Dims dims) {
  if (element_count(dims) != data.elements())
    return not_computed("its output " + dims_text(dims) + " has not the elements of " +
                        dims_text(data.dims()));
  return std::make_unique<SameNumber>(data, std::move(dims));
}

MadeOperator make_identity(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return std::make_unique<SameNumber>(*x, x->dims());
}

MadeOperator make_reshape(const Call& call) {
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

MadeOperator make_flatten(const Call& call) {
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

MadeOperator make_squeeze(const Call& call) {
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

MadeOperator make_unsqueeze(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto axes, call.integers_of(1, "axes"));
  const std::size_t rank = x->rank() + axes.size();
  std::vector<bool> made(rank, false);
  for (const std::int64_t axis : axes) {
    BTF_ASSIGN(const std::size_t d, axis_of(axis, rank));
    if (made[d]) return not_computed("its axes are not different");
    made[d] = true;
  }
  Dims dims;
  std::size_t from = 0;
  for (std::size_t d = 0; d < rank; ++d) dims.push_back(made[d] ? 1 : x->dims()[from++]);
  return same(*x, std::move(dims));
}

MadeOperator make_transpose(const Call& call) {
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
  return std::make_unique<Transposed>(*x, dims, order);
}

MadeOperator make_expand(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto shape, call.whole_integers(1));
  Dims wanted;
  for (const std::int64_t size : shape) {
    if (size < 0) return not_computed("its shape cannot be used");
    wanted.push_back(static_cast<std::uint64_t>(size));
  }
  BTF_ASSIGN(const Dims dims, broadcast(x->dims(), wanted));
  return std::make_unique<Expanded>(*x, dims);
}

MadeOperator make_tile(const Call& call) {
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
  return std::make_unique<Tiled>(*x, dims);
}

constexpr auto kMovingRows = std::to_array<OperatorRow>({
    {"Identity", 1, make_identity, Passing::moved},
    {"Dropout", 1, make_identity, Passing::moved},
    {"Reshape", 1, make_reshape, Passing::moved},
    {"Flatten", 1, make_flatten, Passing::moved},
    {"Squeeze", 1, make_squeeze, Passing::moved},
    {"Unsqueeze", 1, make_unsqueeze, Passing::moved},
    {"Transpose", 1, make_transpose, Passing::moved},
    {"Expand", 8, make_expand, Passing::moved},
    {"Tile", 6, make_tile, Passing::moved},
    {"Concat", 1, make_concat, Passing::joined},
    {"Split", 2, make_split, Passing::moved},
    {"Slice", 1, make_slice_by_attributes, Passing::moved},
    {"Slice", 10, make_slice, Passing::moved},
    {"Pad", 2, make_pad, Passing::moved},
    {"Gather", 1, make_gather, Passing::moved},
    {"GatherElements", 11, make_gather_elements, Passing::moved},
    {"GatherND", 11, make_gather_nd, Passing::moved},
    {"DepthToSpace", 1, make_depth_to_space, Passing::moved},
    {"SpaceToDepth", 1, make_space_to_depth, Passing::moved},
    {"ReverseSequence", 10, make_reverse_sequence, Passing::moved},
    {"Trilu", 14, make_trilu, Passing::moved},
});

}  // namespace

std::uint64_t MovedByIndex::source(std::size_t output, std::uint64_t number) const {
  Dims index = index_of(number, outputs()[output].dims);
  place(index);
  return number_of(index, data_.dims());
}

std::span<const OperatorRow> moving_rows() { return kMovingRows; }

}  // namespace btf::network

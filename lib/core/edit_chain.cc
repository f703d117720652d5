#include "core/edit_chain.h"

#include <algorithm>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"

namespace btf {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

std::uint64_t magnitude(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  return number < 0 ? 0 - bits : bits;
}

// As in Python, bounds are clamped to the dim and are never an error.
SlicedDim apply(const SliceRange& range, std::uint64_t size) {
  const bool forward = range.step > 0;
  // Backwards, bounds go from -1 to size - 1; counted from 1 they are unsigned as well.
  const std::uint64_t shift = forward ? 0 : 1;
  const auto clamp = [&](std::optional<std::int64_t> bound, std::uint64_t otherwise) {
    if (!bound) return otherwise;
    if (*bound >= 0) return std::min(magnitude(*bound) + shift, size);
    const std::uint64_t back = magnitude(*bound);
    return back > size ? 0 : size - back + shift;
  };
  const std::uint64_t start = clamp(range.start, forward ? 0 : size);
  const std::uint64_t stop = clamp(range.stop, forward ? size : 0);
  SlicedDim dim{
      .start = start > shift ? start - shift : 0, .step = range.step, .count = 0, .keep = true};
  const auto [low, high] = std::minmax(start, stop);
  const bool empty = forward ? start >= stop : stop >= start;
  if (!empty) dim.count = (high - low - 1) / magnitude(range.step) + 1;
  return dim;
}

Result<EditStep> step_of(const Permute& permute, const Dims& dims) {
  const std::vector<std::uint32_t>& order = permute.order;
  if (order.size() != dims.size())
    return refuse(
        concat("permute names ", order.size(), " dims, but the tensor has rank ", dims.size()));
  std::vector<bool> seen(dims.size());
  EditStep step{EditStep::Order{order}, dims, Dims(dims.size())};
  for (std::size_t d = 0; d < order.size(); ++d) {
    if (order[d] >= dims.size() || seen[order[d]])
      return refuse(concat("permute must name every dim from 0 to ", dims.size() - 1, " once"));
    seen[order[d]] = true;
    step.to[d] = dims[order[d]];
  }
  return step;
}

Result<EditStep> step_of(const Slice& slice, const Dims& dims) {
  BTF_ASSIGN(std::vector<SlicedDim> sliced, sliced_dims(slice, dims));
  EditStep step{EditStep::Shape{}, dims, {}};
  for (SlicedDim& dim : sliced) {
    if (dim.count <= 1) dim.step = 1;
    if (dim.keep) step.to.push_back(dim.count);
  }
  step.what = EditStep::Select{std::move(sliced)};
  return step;
}

Result<EditStep> step_of(const Squeeze& squeeze, const Dims& dims) {
  std::vector<bool> dropped(dims.size());
  for (const std::int64_t number : squeeze.dims) {
    const auto dim = resolve_index(number, dims.size());
    if (!dim)
      return refuse(
          concat("squeeze names dim ", number, ", but the tensor has rank ", dims.size()));
    if (dims[*dim] != 1)
      return refuse(
          concat("squeeze removes dims of size 1, but dim ", number, " has size ", dims[*dim]));
    if (dropped[*dim]) return refuse(concat("squeeze names dim ", number, " twice"));
    dropped[*dim] = true;
  }
  EditStep step{EditStep::Shape{}, dims, {}};
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (squeeze.dims.empty() ? dims[d] != 1 : !dropped[d]) step.to.push_back(dims[d]);
  return step;
}

Result<EditStep> step_of(const Unsqueeze& unsqueeze, const Dims& dims) {
  const auto dim = resolve_index(unsqueeze.dim, dims.size() + 1);
  if (!dim)
    return refuse(concat("unsqueeze names dim ", unsqueeze.dim, ", but the result has rank ",
                         dims.size() + 1));
  EditStep step{EditStep::Shape{}, dims, dims};
  step.to.insert(step.to.begin() + static_cast<std::ptrdiff_t>(*dim), 1);
  return step;
}

std::unexpected<Error> wrong_count(const Reshape& reshape, const Dims& dims) {
  std::string wanted;
  for (const std::int64_t dim : reshape.dims) wanted += concat(wanted.empty() ? "" : ", ", dim);
  return refuse("reshape to [" + wanted + "] does not keep the number of elements of " +
                dims_text(dims));
}

Result<EditStep> step_of(const Reshape& reshape, const Dims& dims) {
  EditStep step{EditStep::Shape{}, dims, Dims(reshape.dims.size(), 1)};
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < reshape.dims.size(); ++d) {
    if (reshape.dims[d] < -1)
      return refuse(concat("reshape takes sizes and one -1, not ", reshape.dims[d]));
    if (reshape.dims[d] >= 0) {
      step.to[d] = magnitude(reshape.dims[d]);
      continue;
    }
    if (open) return refuse("reshape infers one dim, but -1 occurs more than once");
    open = d;
  }
  const Checked all = element_count(dims);
  const Checked given = element_count(step.to);  // an open dim counts as 1
  if (!all || !given) return wrong_count(reshape, dims);
  if (open) {
    if (*given == 0 || *all % *given != 0) return wrong_count(reshape, dims);
    step.to[*open] = *all / *given;
  } else if (*all != *given) {
    return wrong_count(reshape, dims);
  }
  return step;
}

bool changes(const EditStep& step) {
  if (step.from != step.to) return true;
  if (const auto* order = std::get_if<EditStep::Order>(&step.what))
    return !std::ranges::is_sorted(order->order);
  if (const auto* select = std::get_if<EditStep::Select>(&step.what))
    return std::ranges::any_of(select->dims, [](const SlicedDim& dim) { return dim.step != 1; });
  return false;
}

constexpr std::string_view name_of(const Permute&) { return "permute"; }
constexpr std::string_view name_of(const Slice&) { return "slice"; }
constexpr std::string_view name_of(const Squeeze&) { return "squeeze"; }
constexpr std::string_view name_of(const Unsqueeze&) { return "unsqueeze"; }
constexpr std::string_view name_of(const Reshape&) { return "reshape"; }

bool take(const SlicedDim& dim, std::uint64_t& index) {
  const bool forward = dim.step > 0;
  if (forward ? index < dim.start : index > dim.start) return false;
  const std::uint64_t distance = forward ? index - dim.start : dim.start - index;
  if (distance % magnitude(dim.step) != 0) return false;
  index = distance / magnitude(dim.step);
  return index < dim.count;
}

}  // namespace

bool place(const EditStep& step, Dims& index, Dims& scratch) {
  scratch = index;
  index.resize(step.to.size());
  if (const auto* order = std::get_if<EditStep::Order>(&step.what)) {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] = scratch[order->order[d]];
    return true;
  }
  if (const auto* select = std::get_if<EditStep::Select>(&step.what)) {
    std::size_t to = 0;
    for (std::size_t d = 0; d < scratch.size(); ++d) {
      if (!take(select->dims[d], scratch[d])) return false;
      if (select->dims[d].keep) index[to++] = scratch[d];
    }
    return true;
  }
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < scratch.size(); ++d) number = number * step.from[d] + scratch[d];
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = number % step.to[d];
    number /= step.to[d];
  }
  return true;
}

Result<EditChain> EditChain::make(const Dims& dims, std::span<const Edit> edits) {
  EditChain chain;
  Dims at = dims;
  for (const Edit& edit : edits) {
    BTF_ASSIGN(EditStep step, std::visit([&](const auto& one) { return step_of(one, at); }, edit));
    const std::string_view name = std::visit([](const auto& one) { return name_of(one); }, edit);
    if (step.to.size() > kMaxRank)
      return refuse(concat(name, " would make ", step.to.size(), " dims, but a tensor has at most ",
                           kMaxRank));
    if (!element_count(step.to))
      return refuse("the product of the dims " + dims_text(step.to) + " does not fit 64 bits");
    if (!changes(step)) continue;
    if (chain.empty()) chain.first_name_ = name;
    at = step.to;
    chain.steps_.push_back(std::move(step));
  }
  return chain;
}

bool EditChain::keeps_all() const {
  return std::ranges::none_of(steps_, [](const EditStep& step) {
    return element_count(step.from) != element_count(step.to);
  });
}

bool EditChain::place(Dims& index, Dims& scratch) const {
  return std::ranges::all_of(
      steps_, [&](const EditStep& step) { return btf::place(step, index, scratch); });
}

Result<Dims> edited_dims(const Dims& dims, std::span<const Edit> edits) {
  if (edits.empty()) return dims;
  BTF_ASSIGN(const EditChain chain, EditChain::make(dims, edits));
  return chain.empty() ? dims : chain.steps().back().to;
}

Result<std::vector<SlicedDim>> sliced_dims(const Slice& slice, const Dims& dims) {
  if (slice.parts.size() > dims.size())
    return refuse(concat("the slice has ", slice.parts.size(), " parts, but the tensor has rank ",
                         dims.size()));
  std::vector<SlicedDim> sliced;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const SlicePart part = d < slice.parts.size() ? slice.parts[d] : SliceRange{};
    if (const auto* range = std::get_if<SliceRange>(&part)) {
      if (range->step == 0) return refuse("the step of a slice is 0");
      sliced.push_back(apply(*range, dims[d]));
      continue;
    }
    const std::int64_t number = std::get<std::int64_t>(part);
    const auto index = resolve_index(number, dims[d]);
    if (!index)
      return refuse(concat("'", number, "' is not an index into dim ", d, " of size ", dims[d]));
    sliced.push_back({.start = *index, .step = 1, .count = 1, .keep = false});
  }
  return sliced;
}

StridedLayout permuted(const StridedLayout& storage, std::span<const std::uint32_t> order) {
  if (order.empty()) return storage;
  StridedLayout result = storage;
  std::vector<std::uint32_t> place(order.size());  // the new position of each dim
  for (std::uint32_t d = 0; d < order.size(); ++d) {
    result.dims[d] = storage.dims[order[d]];
    result.strides[d] = storage.strides[order[d]];
    place[order[d]] = d;
  }
  for (StorageAxis& axis : result.axes) axis.dim = place[axis.dim];
  if (result.split) result.split->dim = place[result.split->dim];
  if (result.vectorized_dim >= 0)
    result.vectorized_dim =
        static_cast<int>(place[static_cast<std::size_t>(result.vectorized_dim)]);
  return result;
}

}  // namespace btf

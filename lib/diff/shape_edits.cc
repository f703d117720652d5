#include "diff/shape_edits.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/strided.h"
#include "diff/hints/padding.h"
#include "diff/pairs/sparse.h"
#include "diff/score/compare_walk.h"
#include "elements/coo.h"
#include "elements/element_access.h"
#include "kernels/compare/criteria.h"

namespace btf {
namespace {

constexpr std::size_t kMostRank = 8;     // of dims whose orders are tried
constexpr std::size_t kMostOrders = 64;  // that are looked at by a sample
constexpr std::size_t kMostPasses = 3;   // over whole tensors, for orders
constexpr std::uint64_t kSample = 64;    // elements

Reshape reshape_to(const Dims& dims) {
  Reshape shape;
  for (const std::uint64_t dim : dims) shape.dims.push_back(static_cast<std::int64_t>(dim));
  return shape;
}

Dims squeezed(const Dims& dims) {
  Dims kept = dims;
  std::erase(kept, std::uint64_t{1});
  return kept;
}

// As dims of open tensors they do not overflow.
std::uint64_t elements_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies{});
}

bool may_be_reshaped(const Dims& from, const Dims& to) {
  return elements_of(from) == elements_of(to) &&
         std::ranges::all_of(to, [](std::uint64_t dim) { return dim <= INT64_MAX; });
}

using Order = std::vector<std::uint32_t>;

// Orders of dims that make `to` of `from`, none twice but for dims of 1, which matter to no
// element.
std::vector<Order> orders_between(const Dims& from, const Dims& to) {
  std::vector<Order> orders;
  if (from.size() != to.size() || from.size() > kMostRank) return orders;
  Order order(from.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Order> known;
  do {
    bool fits = true;
    Order moved;
    for (std::size_t d = 0; d < order.size(); ++d) {
      fits = fits && from[order[d]] == to[d];
      if (from[order[d]] != 1) moved.push_back(order[d]);
    }
    if (!fits || std::ranges::find(known, moved) != known.end()) continue;
    known.push_back(std::move(moved));
    orders.push_back(order);
  } while (orders.size() < kMostOrders && std::ranges::next_permutation(order).found);
  return orders;
}

std::string order_text(const Order& order) {
  std::string text;
  for (const std::uint32_t dim : order) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text;
}

// Numbers from all over a tensor, ascending.
std::vector<Dims> sample_places(const Dims& dims) {
  const std::uint64_t count = elements_of(dims);
  const std::uint64_t step = std::max<std::uint64_t>(1, count / kSample);
  std::vector<Dims> places;
  // Not the same place of every row.
  for (std::uint64_t i = 0; i < count && places.size() < kSample; i += step)
    places.push_back(index_of(dims, std::min(count - 1, i + i / step * 7 % step)));
  return places;
}

class ShapeSearch {
 public:
  ShapeSearch(const MakeSide& actual, const MakeSide& golden, const ShapeEdits& edits,
              const Tolerance& asked, const TensorDiff& diff, const Execution& execution)
      : actual_(actual),
        edits_(edits),
        diff_(diff),
        asked_(asked),
        execution_{.jobs = execution.jobs,
                   .memory = execution.memory,
                   .cancel = execution.cancel,
                   .progress = {}},
        make_golden_(golden) {}

  Result<std::vector<Hint>> run() {
    const Dims& from = diff_.actual->dims;
    const Dims& to = diff_.golden->dims;
    if (elements_of(from) != elements_of(to)) return padding();
    if (!may_be_reshaped(from, to) || elements_of(to) == 0) return {};
    BTF_ASSIGN(golden_, make_golden_(edits_.golden));
    places_ = sample_places(to);
    BTF_ASSIGN(sample_, golden_->elements(places_));
    const bool only_ones = squeezed(from) == squeezed(to);
    const Reshape reshape = reshape_to(to);
    BTF_ASSIGN(const bool in_order_likely, agrees(reshape));
    if (in_order_likely) {
      BTF_ASSIGN(const bool in_order, equal(reshape));
      if (in_order) return said(only_ones ? "squeeze" : "reshape");
    }
    std::size_t passes = 0;
    for (const Order& order : orders_between(from, to)) {
      const Permute permute{order};
      BTF_ASSIGN(const bool likely, agrees(permute));
      if (!likely) continue;
      BTF_ASSIGN(const bool all, equal(permute));
      if (all) return said("permute " + order_text(order));
      if (++passes == kMostPasses) break;
    }
    return {};
  }

 private:
  Result<std::vector<Hint>> padding() const {
    BTF_ASSIGN(const auto actual, actual_(edits_.actual));
    BTF_ASSIGN(const auto golden, make_golden_(edits_.golden));
    return find_padding(*actual, *golden, judge_of_sides(*actual, *golden), execution_);
  }

  static std::vector<Hint> said(const std::string& edit) {
    return {{.cause = Cause::shape, .evidence = std::string(kEqualAfter) + edit}};
  }

  Result<std::unique_ptr<DiffSide>> actual_as(const Edit& last) const {
    std::vector<Edit> edits = edits_.actual;
    edits.push_back(last);
    return actual_(edits);
  }

  Judge judge_of_sides(const DiffSide& actual, const DiffSide& golden) const {
    return judge_of(effective(asked_, actual.grid(), golden.grid()), actual, golden);
  }

  Result<bool> agrees(const Edit& last) const {
    BTF_ASSIGN(const auto side, actual_as(last));
    BTF_ASSIGN(const std::vector<Element> found, side->elements(places_));
    const Judge judge = judge_of_sides(*side, *golden_);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!accepts(widen_code<long double>(side->dtype(), found[i].code),
                   widen_code<long double>(golden_->dtype(), sample_[i].code), judge,
                   linear_key(golden_->dims(), places_[i])))
        return false;
    return true;
  }

  Result<bool> equal(const Edit& last) const {
    BTF_ASSIGN(const auto side, actual_as(last));
    BTF_ASSIGN(const CompareScore score,
               score_pairs(*side, *golden_, judge_of_sides(*side, *golden_), execution_));
    return score.mismatched == 0;
  }

  const MakeSide& actual_;
  const ShapeEdits& edits_;
  const TensorDiff& diff_;
  const Tolerance& asked_;
  Execution execution_;
  const MakeSide& make_golden_;
  std::unique_ptr<DiffSide> golden_;
  std::vector<Dims> places_;
  std::vector<Element> sample_;
};

}  // namespace

Result<ShapeEdits> shape_edits(const Dims& actual, const Dims& golden, const DiffOptions& options) {
  ShapeEdits edits;
  if (options.permute && options.permute->order.size() == actual.size())
    edits.actual.push_back(*options.permute);
  if (options.squeeze) {
    edits.actual.push_back(Squeeze{});
    edits.golden.push_back(Squeeze{});
  }
  if (!options.reshape_actual) return edits;
  BTF_ASSIGN(const Dims from, edited_dims(actual, edits.actual));
  BTF_ASSIGN(const Dims to, edited_dims(golden, edits.golden));
  if (from != to && may_be_reshaped(from, to)) edits.actual.push_back(reshape_to(to));
  return edits;
}

Result<std::vector<Hint>> find_shape_hints(const MakeSide& actual, const MakeSide& golden,
                                           const ShapeEdits& edits, const Tolerance& asked,
                                           const TensorDiff& diff, const Execution& execution) {
  return ShapeSearch(actual, golden, edits, asked, diff, execution).run();
}

}  // namespace btf

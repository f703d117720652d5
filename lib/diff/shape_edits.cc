#include "diff/shape_edits.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/strided.h"
#include "diff/hints/evidence/lookup.h"
#include "diff/hints/hints.h"
#include "diff/hints/models/viewed_side.h"
#include "diff/hints/padding.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/rows.h"
#include "diff/pairs/sparse.h"
#include "diff/score/collectors.h"
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

// Orders of dims that make `to` of `from`, but for dims of 1 where the ranks differ; none twice.
// Where dims of 1 stand matters to no element.
std::vector<Order> orders_between(const Dims& from, const Dims& to) {
  std::vector<Order> orders;
  if (from.size() > kMostRank || to.size() > kMostRank) return orders;
  const bool same_rank = from.size() == to.size();
  const Dims wanted = squeezed(to);
  Order order(from.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Order> known;
  do {
    bool fits = true;
    Order moved;
    for (std::size_t d = 0; d < order.size(); ++d) {
      if (same_rank) fits = fits && from[order[d]] == to[d];
      if (from[order[d]] == 1) continue;
      fits = fits && moved.size() < wanted.size() && from[order[d]] == wanted[moved.size()];
      moved.push_back(order[d]);
    }
    if (!fits || moved.size() != wanted.size()) continue;
    // In the order that they have it is a squeeze.
    if (!same_rank && std::ranges::is_sorted(moved)) continue;
    if (std::ranges::find(known, moved) != known.end()) continue;
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

// One way in which actual may be golden with other dims.
struct Candidate {
  Cause cause = Cause::shape;
  std::string words;                     // "equal after permute 0,3,1,2"
  std::vector<Edit> edits{};             // of actual, behind those that were asked for
  std::optional<StridedLayout> array{};  // or its stored array, read like this
};

class ShapeSearch {
 public:
  ShapeSearch(const MakeSide& actual, const MakeSide& golden, const ShapeEdits& edits,
              const Tolerance& asked, const TensorDiff& diff, const Execution& execution)
      : make_actual_(actual),
        edits_(edits),
        diff_(diff),
        asked_(asked),
        execution_{.jobs = execution.jobs,
                   .memory = execution.memory,
                   .cancel = execution.cancel,
                   .progress = {}},
        make_golden_(golden) {}

  Result<std::vector<Hint>> run() {
    BTF_ASSIGN(actual_, make_actual_(edits_.actual));
    BTF_ASSIGN(golden_, make_golden_(edits_.golden));
    const Dims& from = diff_.actual->dims;
    const Dims& to = diff_.golden->dims;
    const bool as_many = elements_of(from) == elements_of(to);
    if (!as_many) {
      BTF_ASSIGN(std::vector<Hint> found, padding());
      if (!found.empty()) return found;
    } else if (!may_be_reshaped(from, to)) {
      return {};
    }
    if (elements_of(to) == 0) return {};
    places_ = sample_places(to);
    BTF_ASSIGN(sample_, golden_->elements(places_));
    if (as_many) add_edits(from, to);
    if (!as_many) add_layouts(to);
    BTF_ASSIGN(std::vector<Hint> found, try_all());
    if (!found.empty() || !as_many) return found;
    return given_goldens_dims();
  }

 private:
  void add_edits(const Dims& from, const Dims& to) {
    const Edit reshape = reshape_to(to);
    const bool only_ones = squeezed(from) == squeezed(to);
    const std::string after(kEqualAfter);
    candidates_.push_back({.words = after + (only_ones ? "squeeze" : "reshape"),
                           .edits = {reshape}});
    for (Order& order : orders_between(from, to)) {
      std::string words = after + "permute " + order_text(order);
      Dims moved;
      for (const std::uint32_t dim : order) moved.push_back(from[dim]);
      std::vector<Edit> edits{Permute{std::move(order)}};
      if (moved != to) {
        words += " and squeeze";
        edits.push_back(reshape);
      }
      candidates_.push_back({.words = std::move(words), .edits = std::move(edits)});
    }
  }

  // A device's buffer that was taken for a plain array of as many elements, padding and all.
  void add_layouts(const Dims& to) {
    const StridedLayout* own = actual_->storage();
    if (own == nullptr || actual_->rearranged()) return;
    for (const LayoutSpec& row : layouts()) {
      if (!row.dense() || row.shuffled()) continue;
      auto array = resolve(row.layout, to, actual_->dtype());
      if (!array || array->storage_elements != own->storage_elements) continue;
      candidates_.push_back({.cause = Cause::layout,
                             .words = "actual's array is golden's in " + std::string(row.name),
                             .array = *std::move(array)});
    }
  }

  Result<std::vector<Hint>> padding() const {
    return find_padding(*actual_, *golden_, judge_of_sides(*actual_, *golden_), execution_);
  }

  static std::vector<Hint> said(const Candidate& candidate, const std::string& more = {}) {
    return {{.cause = candidate.cause, .evidence = candidate.words + more}};
  }

  Result<std::unique_ptr<DiffSide>> side_of(const Candidate& candidate) const {
    if (candidate.array)
      return std::make_unique<hints::ViewedSide>(*actual_, *candidate.array);
    std::vector<Edit> edits = edits_.actual;
    edits.insert(edits.end(), candidate.edits.begin(), candidate.edits.end());
    return make_actual_(edits);
  }

  Judge judge_of_sides(const DiffSide& actual, const DiffSide& golden) const {
    return judge_of(effective(asked_, actual.grid(), golden.grid()), actual, golden);
  }

  Result<std::vector<long double>> sample_of(const Candidate& candidate) const {
    std::vector<std::uint64_t> numbers;
    std::vector<long double> values;
    if (candidate.array) {
      for (const Dims& place : places_) numbers.push_back(linear_key(golden_->dims(), place));
      BTF_ASSIGN(hints::Lookup lookup, hints::Lookup::open(*actual_, *candidate.array));
      return lookup.values(numbers);
    }
    BTF_ASSIGN(const auto side, side_of(candidate));
    BTF_ASSIGN(const std::vector<Element> found, side->elements(places_));
    for (const Element& element : found)
      values.push_back(widen_code<long double>(side->dtype(), element.code));
    return values;
  }

  // Exact ones first, by their order; of those among noise the plainest that leaves the least.
  Result<std::vector<Hint>> try_all() const {
    const Judge judge = judge_of_sides(*actual_, *golden_);
    std::vector<long double> golden;
    for (const Element& element : sample_)
      golden.push_back(widen_code<long double>(golden_->dtype(), element.code));
    struct Likely {
      const Candidate* candidate = nullptr;
      double left = 0;
    };
    std::vector<Likely> likely;
    std::size_t passes = 0;
    for (const Candidate& candidate : candidates_) {
      BTF_ASSIGN(const std::vector<long double> actual, sample_of(candidate));
      bool agree = passes < kMostPasses;
      for (std::size_t i = 0; agree && i < actual.size(); ++i)
        agree = accepts(actual[i], golden[i], judge, linear_key(golden_->dims(), places_[i]));
      if (agree) {
        BTF_ASSIGN(const bool all, equal(candidate));
        if (all) return said(candidate);
        passes += candidate.cause == Cause::shape && candidate.edits.size() == 1 &&
                          std::holds_alternative<Reshape>(candidate.edits.front())
                      ? 0
                      : 1;
      }
      if (const auto left = hints::share_left(actual, golden)) likely.push_back({&candidate, *left});
    }
    if (golden_->storage() == nullptr || golden_->rearranged() || actual_->storage() == nullptr)
      return {};
    // Ways that leave nearly as much are the same to these numbers.
    constexpr double kAsGood = 1.5;
    for (std::size_t walks = 0; walks < kMostPasses && !likely.empty(); ++walks) {
      const double least = std::ranges::min(likely, {}, &Likely::left).left;
      const auto plainest = std::ranges::find_if(
          likely, [&](const Likely& one) { return one.left <= kAsGood * least; });
      BTF_ASSIGN(const auto side, side_of(*plainest->candidate));
      BTF_ASSIGN(const auto found,
                 hints::all_but_noise(*side, *golden_, static_cast<double>(candidates_.size()),
                                      execution_));
      if (found) return said(*plainest->candidate, found->text);
      likely.erase(plainest);
    }
    return {};
  }

  Result<bool> equal(const Candidate& candidate) const {
    BTF_ASSIGN(const auto side, side_of(candidate));
    BTF_ASSIGN(const CompareScore score,
               score_pairs(*side, *golden_, judge_of_sides(*side, *golden_), execution_));
    return score.mismatched == 0;
  }

  // Element by element with the dims of golden: then all causes are asked for.
  Result<std::vector<Hint>> given_goldens_dims() const {
    const Candidate reshaped{.words = {}, .edits = {reshape_to(golden_->dims())}};
    BTF_ASSIGN(const auto side, side_of(reshaped));
    if (side->rearranged() || golden_->rearranged()) return {};
    const Judge judge = judge_of_sides(*side, *golden_);
    BTF_ASSIGN(const CompareScore score, score_pairs(*side, *golden_, judge, execution_));
    if (score.mismatched == 0) return {};
    MismatchCollector mismatches(0, kHintSample);
    PairCollector* const collectors[] = {&mismatches};
    BTF_TRY(collect(PairRows(*side, *golden_, execution_), judge, collectors));
    const std::vector<std::uint64_t> numbers = mismatches.sample();
    BTF_ASSIGN(std::vector<Hint> found, find_hints({.actual = *side,
                                                    .golden = *golden_,
                                                    .judge = judge,
                                                    .mismatched = score.mismatched,
                                                    .sample = numbers,
                                                    .execution = execution_}));
    for (Hint& hint : found) hint.evidence = std::string(kGivenGoldensDims) + hint.evidence;
    return found;
  }

  const MakeSide& make_actual_;
  const ShapeEdits& edits_;
  const TensorDiff& diff_;
  const Tolerance& asked_;
  Execution execution_;
  const MakeSide& make_golden_;
  std::unique_ptr<DiffSide> actual_;
  std::unique_ptr<DiffSide> golden_;
  std::vector<Candidate> candidates_;
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

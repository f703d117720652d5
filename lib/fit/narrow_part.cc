#include "fit/narrow_part.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <map>
#include <optional>

#include "btf/try.h"
#include "fit/node_effects.h"
#include "fit/node_measure.h"
#include "network/evaluation.h"
#include "network/node.h"

namespace btf {

using network::ErrorPropagation;
using network::kNoNode;
using network::kNoValue;

namespace {

constexpr auto kEdges = std::to_array<double>({0, 1, -1});
constexpr double kProbe = 0x1p-4;  // distance from an edge at which the function is evaluated
constexpr double kAlike = 0x1p-4;  // ratio of smallest to largest from which numbers are alike
constexpr std::size_t kEachDistance = 2;  // numbers for each power of two
constexpr std::size_t kAtEdge = 8;        // numbers that are exactly on an edge
constexpr std::size_t kMaxDistances = 32;
constexpr std::uint64_t kEachNumber = 2;  // results of a number that is broadcast

// A pseudo-random sample of the numbers at one distance, the same in each run.
struct Distance {
  struct Pick {
    std::uint64_t order = 0;
    std::uint64_t element = 0;
  };
  std::uint64_t count = 0;
  std::vector<Pick> picks{};

  void take(std::uint64_t element, std::size_t most) {
    ++count;
    const Pick pick{mix_bits(element), element};
    if (picks.size() < most) {
      picks.push_back(pick);
      return;
    }
    const auto last = std::ranges::max_element(picks, {}, &Pick::order);
    if (pick.order < last->order) *last = pick;
  }
};

class Edges {
 public:
  Edges(const NodeContext& context, std::uint32_t node, bool alike)
      : context_(context),
        values_(context, node, false),
        evaluation_(context.network, stored_in(context.dump), kMaxTerms),
        number_(node),
        alike_(alike) {}

  Result<std::vector<EdgeResult>> find() {
    BTF_ASSIGN(op_, evaluation_.made_operator(number_));
    placed_ = op_->places();
    std::vector<EdgeResult> found;
    if (!info(op_->outputs()[0].dtype).floating()) return found;
    const auto& names = values_.node().inputs;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const network::Value& value = context_.network.values()[names[i]];
      if (!values_.is_float(i) || value.weight || value.node == kNoNode) continue;
      for (const double edge : kEdges) {
        // If all have about the same magnitude, root mean squares show what rounding does to each.
        const TensorMeasure& measure = values_.input(i).measure;
        if (!alike_ && edge == 0 && measure.smallest >= kAlike * measure.largest) continue;
        BTF_ASSIGN(const bool ends, ends_at(i, edge));
        if (ends) BTF_TRY(take(i, edge, found));
      }
    }
    return found;
  }

 private:
  // Returns true if the function has results on one side of the edge, and none on the other side or
  // at the edge.
  Result<bool> ends_at(std::size_t input, double edge) {
    std::vector<std::vector<double>> numbers(placed_.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      numbers[i] = {edge - kProbe, edge, edge + kProbe};
      if (i == input) continue;
      BTF_ASSIGN(Numbers* const other, values_.numbers(i));
      if (other->elements() == 0) return false;
      double first = 0;
      BTF_TRY(other->read(0, std::span(&first, 1)));
      // 0 is no use as a dividend: 0 / 0 differs from x / 0.
      std::ranges::fill(numbers[i], first == 0 || !std::isfinite(first) ? 1 : first);
    }
    const std::vector<std::span<const double>> given(numbers.begin(), numbers.end());
    std::array<double, 3> results{};
    op_->at_places(given, results);
    const bool right = std::isfinite(results[0]) || std::isfinite(results[2]);
    return right && !std::ranges::all_of(results, [](double x) { return std::isfinite(x); });
  }

  Status take(std::size_t input, double edge, std::vector<EdgeResult>& found) {
    BTF_ASSIGN(Numbers* const numbers, values_.numbers(input));
    std::map<int, Distance> distances;
    BTF_TRY(numbers->each_run(kFitRun, [&](std::uint64_t first, std::span<const double> some) {
      for (std::size_t i = 0; i < some.size(); ++i)
        if (std::isfinite(some[i]))
          some[i] == edge ? distances[INT_MIN].take(first + i, kAtEdge)
                          : distances[std::ilogb(some[i] - edge)].take(first + i, kEachDistance);
      return Status();
    }));
    const Dims& dims = op_->outputs()[0].dims;
    const std::uint64_t all = element_count(dims).value_or(0);
    const std::uint64_t each = all / std::max<std::uint64_t>(1, numbers->elements());
    const std::uint64_t some = std::min(each, kEachNumber);
    std::size_t taken = 0;
    for (const auto& [power, distance] : distances) {
      if (++taken > kMaxDistances) break;
      const double weight = static_cast<double>(distance.count * each) /
                            static_cast<double>(distance.picks.size() * some);
      for (const Distance::Pick& pick : distance.picks)
        for (std::uint64_t which = 0; which < some; ++which)
          found.push_back({.value = values_.node().inputs[input],
                           .result = result_of(pick.element, placed_[input], dims, which),
                           .weight = weight});
    }
    return {};
  }

  // The index of a result that the element of an input is broadcast to.
  static std::uint64_t result_of(std::uint64_t element, const Dims& from, const Dims& to,
                                 std::uint64_t which) {
    const Dims own = network::index_of(element, from);
    Dims index(to.size());
    const std::size_t more = to.size() - from.size();
    for (std::size_t d = 0; d < to.size(); ++d)
      index[d] = d >= more && from[d - more] == to[d]
                     ? own[d - more]
                     : mix_bits(element * 31 + which * 7 + d) % to[d];
    return network::number_of(index, to);
  }

  const NodeContext& context_;
  NodeValues values_;
  network::Evaluation evaluation_;
  std::uint32_t number_;
  bool alike_;
  const network::Operator* op_ = nullptr;
  std::vector<Dims> placed_;
};

}  // namespace

Result<std::vector<EdgeResult>> results_at_edges(const NodeContext& context, std::uint32_t node,
                                                 bool alike) {
  return Edges(context, node, alike).find();
}

constexpr double kMaxProductsOfNode = 512;           // in a sum of a node that is computed
constexpr std::uint64_t kMaxTermsOfPart = 1U << 19;  // for all results together

bool NarrowPart::is_constant(std::uint32_t node) const {
  const NodeMeasure& measure = measures_.nodes[node];
  return measure.trouble.empty() && measure.passing == ErrorPropagation::none;
}

bool NarrowPart::can_be_within(std::uint32_t maker) const {
  const NodeMeasure& measure = measures_.nodes[maker];
  if (!measure.trouble.empty()) return false;
  switch (measure.passing) {
    case ErrorPropagation::unknown:
    case ErrorPropagation::none:
      return false;
    case ErrorPropagation::products:
      return measure.terms <= kMaxProductsOfNode;
    default:
      return true;
  }
}

NarrowPart::NarrowPart(const NodeContext& context, const DumpMeasures& measures, std::uint32_t node,
                       std::size_t most, std::uint64_t& terms)
    : context_(context), measures_(measures), terms_(&terms) {
  find_nodes(node, most);
}

void NarrowPart::find_nodes(std::uint32_t node, std::size_t most) {
  const auto& values = context_.network.values();
  std::vector<std::uint32_t> makers;
  nearest_.push_back(node);
  for (std::size_t at = 0; at < nearest_.size(); ++at)
    for (const std::uint32_t input : context_.network.nodes()[nearest_[at]].inputs) {
      if (input == kNoValue || values[input].weight || !context_.values[input].floating) continue;
      const std::uint32_t maker = values[input].node;
      if (maker == kNoNode || is_constant(maker)) continue;
      const bool within = nearest_.size() < most && can_be_within(maker);
      std::vector<std::uint32_t>& list = within ? nearest_ : makers;
      if (std::ranges::find(nearest_, maker) == nearest_.end() &&
          std::ranges::find(list, maker) == list.end())
        list.push_back(maker);
    }
  nodes_ = nearest_;
  std::ranges::sort(nodes_);
  for (const std::uint32_t maker : makers)
    if (!std::ranges::binary_search(nodes_, maker)) nearest_.push_back(maker);
}

std::vector<std::uint32_t> NarrowPart::read_values() const {
  const auto& values = context_.network.values();
  std::vector<std::uint32_t> read;
  for (const std::uint32_t node : nodes_)
    for (const std::uint32_t input : context_.network.nodes()[node].inputs) {
      if (input == kNoValue || values[input].weight || !context_.values[input].floating) continue;
      const std::uint32_t maker = values[input].node;
      if (maker != kNoNode && (is_constant(maker) || std::ranges::binary_search(nodes_, maker)))
        continue;
      if (std::ranges::find(read, input) == read.end()) read.push_back(input);
    }
  return read;
}

// Returns true if the value is rounded by the node that reads it or by the one that makes it.
bool NarrowPart::is_rounded(std::uint32_t node, std::uint32_t value,
                            const std::vector<bool>& wide) const {
  const std::uint32_t maker = context_.network.values()[value].node;
  return !wide[node] || (maker != kNoNode && !is_constant(maker) && !wide[maker]);
}

// One evaluation of the part. Its effort is taken from the terms that may still be computed.
class NarrowPart::Computing {
 public:
  explicit Computing(const NarrowPart& part)
      : part_(part),
        evaluation_(part.context_.network, stored_in(part.context_.dump),
                    std::min(kMaxTermsOfPart, *part.terms_)) {
    for (const std::uint32_t node : part.nodes_)
      for (const std::uint32_t output : part.context_.network.nodes()[node].outputs)
        if (output != kNoValue) evaluation_.leave_out(output);
    if (part.zero_) evaluation_.change(*part.zero_, [](std::uint64_t, double) { return 0.0; });
    evaluation_.set({.operand = 0, .result = 0, .accumulator = 0});
  }

  void round(const std::vector<bool>& wide) {
    evaluation_.change_readings([this, &wide](std::uint32_t node, std::uint32_t value) {
      const auto& nodes = part_.nodes_;
      const ValueNoise& own = part_.context_.values[value];
      if (!own.floating || !std::ranges::binary_search(nodes, node) ||
          !part_.is_rounded(node, value, wide))
        return network::ChangeNumber();
      const std::uint32_t maker = part_.context_.network.values()[value].node;
      const NarrowType& type = part_.context_.type;
      if (!own.exact_by_chance || std::ranges::binary_search(nodes, maker))
        return network::ChangeNumber([&type](std::uint64_t, double x) { return type.round(x); });
      const Reading reading(own, type, false);
      return network::ChangeNumber([&type, reading](std::uint64_t number, double x) {
        const double read = reading.one(number, x);
        return std::isinf(read) ? type.round(x) : read;
      });
    });
  }

  ~Computing() { *part_.terms_ -= std::min(*part_.terms_, evaluation_.effort().terms); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  std::optional<std::vector<double>> results(std::span<const std::uint64_t> results) {
    const auto made = evaluation_.made_operator(part_.nodes_.back());
    if (!made) return std::nullopt;
    const std::uint64_t all = element_count((*made)->outputs()[0].dims).value_or(0);
    std::vector<double> found;
    for (const std::uint64_t number : results) {
      if (number >= all) return std::nullopt;
      found.push_back((*made)->element(0, number).value);
      if (!evaluation_.effort().trouble.empty()) return std::nullopt;
    }
    return found;
  }

 private:
  const NarrowPart& part_;
  network::Evaluation evaluation_;
};

std::optional<std::vector<double>> NarrowPart::right(std::span<const std::uint64_t> results) const {
  return Computing(*this).results(results);
}

std::optional<std::vector<double>> NarrowPart::narrow(std::span<const std::uint64_t> results,
                                                      const std::vector<bool>& wide) const {
  Computing computing(*this);
  computing.round(wide);
  auto found = computing.results(results);
  if (found && !wide[nodes_.back()])
    for (double& number : *found) number = context_.type.round(number);
  return found;
}

std::vector<std::uint32_t> widen_nearest(const NarrowPart& part, std::vector<bool>& wide,
                                         const std::function<bool(std::uint32_t)>& is_candidate,
                                         const std::function<bool()>& tolerated) {
  std::vector<std::uint32_t> added;
  bool enough = false;
  for (const std::uint32_t one : part.nearest()) {
    if (wide[one] || !is_candidate(one)) continue;
    wide[one] = true;
    added.push_back(one);
    enough = tolerated();
    if (enough) break;
  }
  if (!enough) {
    for (const std::uint32_t one : added) wide[one] = false;
    return {};
  }
  std::ranges::sort(added);
  std::erase_if(added, [&](std::uint32_t one) {
    wide[one] = false;
    wide[one] = !tolerated();
    return !wide[one];
  });
  return added;
}

constexpr std::array<std::size_t, 2> kJointNodes{8, 4};  // the second if the first takes too long
constexpr std::uint64_t kJointResults = 64;

const std::optional<JointRounding::Run>& JointRounding::run_of(std::uint32_t node) {
  const auto [at, added] = runs_.try_emplace(node);
  if (!added) return at->second;
  for (const std::size_t nodes : kJointNodes)
    if (auto run = at->second ? std::nullopt : make_run(node, nodes))
      at->second.emplace(*std::move(run));
  return at->second;
}

std::optional<JointRounding::Run> JointRounding::make_run(std::uint32_t node, std::size_t nodes) {
  NarrowPart part(context_, measures_, node, nodes, terms_);
  if (part.size() == 1) return std::nullopt;
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  const std::uint64_t all = context_.values[output].measure.elements;
  const std::uint64_t some = std::min(all, kJointResults);
  std::vector<std::uint64_t> results;
  for (std::uint64_t i = 0; i < some; ++i) results.push_back(sample_index(i, some, all));
  auto right = part.right(results);
  if (!right || right->empty()) return std::nullopt;
  return Run{std::move(part), std::move(results), *std::move(right)};
}

std::optional<double> JointRounding::error(std::uint32_t node, const std::vector<bool>& wide) {
  const std::optional<Run>& run = run_of(node);
  if (!run) return std::nullopt;
  const auto off = run->part.narrow(run->results, wide);
  if (!off) return std::nullopt;
  double squares = 0;
  for (std::size_t i = 0; i < off->size(); ++i) {
    const double error = (*off)[i] - run->right[i];
    squares += error * error;
  }
  if (!std::isfinite(squares)) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(off->size()));
}

std::vector<std::uint32_t> JointRounding::widened(
    std::uint32_t node, std::vector<bool> wide, double most,
    const std::function<bool(std::uint32_t)>& is_candidate) {
  const std::optional<Run>& run = run_of(node);
  if (!run) return {};
  return widen_nearest(run->part, wide, is_candidate, [&] {
    const auto left = error(node, wide);
    return left && *left <= most;
  });
}

}  // namespace btf

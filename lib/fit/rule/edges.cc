#include "fit/rule/edges.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <map>
#include <optional>

#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/node_values.h"
#include "network/evaluation.h"
#include "network/node/strides.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

constexpr auto kEdges = std::to_array<double>({0, 1, -1});
constexpr double kBeside = 0x1p-4;         // so near an edge the function is asked
constexpr double kAlike = 0x1p-4;
constexpr std::size_t kEachDistance = 2;   // numbers of one power of two
constexpr std::size_t kAtEdge = 8;          // numbers that are on it
constexpr std::size_t kMostDistances = 32;
constexpr std::uint64_t kEachNumber = 2;  // results, where it is broadcast

// Of numbers that are alike some without a pattern, the same ones each time.
struct Distance {
  struct Pick {
    std::uint64_t order = 0;
    std::uint64_t element = 0;
  };
  std::uint64_t count = 0;
  std::vector<Pick> picks{};

  void take(std::uint64_t element, std::size_t most) {
    ++count;
    const Pick pick{mixed(element), element};
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
        evaluation_(context.network, stored_in(context.dump), kMostTerms),
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
        // Where all are about as large root mean squares tell what rounding does to each.
        const TensorMeasure& measure = values_.input(i).measure;
        if (!alike_ && edge == 0 && measure.smallest >= kAlike * measure.largest) continue;
        BTF_ASSIGN(const bool ends, ends_at(i, edge));
        if (ends) BTF_TRY(take(i, edge, found));
      }
    }
    return found;
  }

 private:
  // Is there a result on one side of it, and on the other side or at it none?
  Result<bool> ends_at(std::size_t input, double edge) {
    std::vector<std::vector<double>> numbers(placed_.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      numbers[i] = {edge - kBeside, edge, edge + kBeside};
      if (i == input) continue;
      BTF_ASSIGN(Numbers* const other, values_.numbers(i));
      if (other->elements() == 0) return false;
      double first = 0;
      BTF_TRY(other->read(0, std::span(&first, 1)));
      // What is divided is no number beside 0.
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
    std::vector<double> run(std::min<std::uint64_t>(kFitRun, numbers->elements()));
    for (std::uint64_t first = 0; first < numbers->elements(); first += run.size()) {
      const auto some = std::span(run).first(static_cast<std::size_t>(
          std::min<std::uint64_t>(run.size(), numbers->elements() - first)));
      BTF_TRY(numbers->read(first, some));
      for (std::size_t i = 0; i < some.size(); ++i)
        if (std::isfinite(some[i]))
          some[i] == edge ? distances[INT_MIN].take(first + i, kAtEdge)
                          : distances[std::ilogb(some[i] - edge)].take(first + i, kEachDistance);
    }
    const Dims& dims = op_->outputs()[0].dims;
    const std::uint64_t all = element_count(dims).value_or(0);
    const std::uint64_t each = all / std::max<std::uint64_t>(1, numbers->elements());
    const std::uint64_t some = std::min(each, kEachNumber);
    std::size_t taken = 0;
    for (const auto& [power, distance] : distances) {
      if (++taken > kMostDistances) break;
      const double stands_for = static_cast<double>(distance.count * each) /
                                static_cast<double>(distance.picks.size() * some);
      for (const Distance::Pick& pick : distance.picks)
        for (std::uint64_t which = 0; which < some; ++which)
          found.push_back({.value = values_.node().inputs[input],
                           .result = result_of(pick.element, placed_[input], dims, which),
                           .weight = stands_for});
    }
    return {};
  }

  // A result that the element of an input is broadcast to.
  static std::uint64_t result_of(std::uint64_t element, const Dims& from, const Dims& to,
                                 std::uint64_t which) {
    const Dims own = network::index_of(element, from);
    Dims index(to.size());
    const std::size_t more = to.size() - from.size();
    for (std::size_t d = 0; d < to.size(); ++d)
      index[d] = d >= more && from[d - more] == to[d]
                     ? own[d - more]
                     : mixed(element * 31 + which * 7 + d) % to[d];
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

}  // namespace btf

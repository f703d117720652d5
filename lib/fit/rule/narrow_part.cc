#include "fit/rule/narrow_part.h"

#include <algorithm>
#include <cmath>

#include "fit/measure/effect.h"
#include "network/evaluation.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;
using network::Passing;

namespace {

constexpr double kMostProductsAnew = 512;        // in a sum, of a node that is computed anew
constexpr std::uint64_t kMostTermsOfPart = 1U << 19;  // of all results together

}  // namespace

bool NarrowPart::is_constant(std::uint32_t node) const {
  const NodeMeasure& measure = measures_.nodes[node];
  return measure.trouble.empty() && measure.passing == Passing::none;
}

bool NarrowPart::can_be_within(std::uint32_t maker) const {
  const NodeMeasure& measure = measures_.nodes[maker];
  if (!measure.trouble.empty()) return false;
  switch (measure.passing) {
    case Passing::unknown:
    case Passing::none:
      return false;
    case Passing::products:
      return measure.terms <= kMostProductsAnew;
    default:
      return true;
  }
}

NarrowPart::NarrowPart(const NodeContext& context, const DumpMeasures& measures,
                       std::uint32_t node, std::size_t most, std::uint64_t& terms)
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

// By the node as it is stored, or by what makes it.
bool NarrowPart::is_rounded(std::uint32_t node, std::uint32_t value,
                            const std::vector<bool>& wide) const {
  const std::uint32_t maker = context_.network.values()[value].node;
  return !wide[node] || (maker != kNoNode && !is_constant(maker) && !wide[maker]);
}

// One evaluation, and what goes wrong in it.
class NarrowPart::Computing {
 public:
  explicit Computing(const NarrowPart& part)
      : part_(part),
        evaluation_(part.context_.network, stored_in(part.context_.dump),
                    std::min(kMostTermsOfPart, *part.terms_)) {
    for (const std::uint32_t node : part.nodes_)
      for (const std::uint32_t output : part.context_.network.nodes()[node].outputs)
        if (output != kNoValue) evaluation_.leave_out(output);
    if (part.zero_)
      evaluation_.change(*part.zero_, [](std::uint64_t, double) { return 0.0; });
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
      if (!own.by_luck || std::ranges::binary_search(nodes, maker))
        return network::ChangeNumber([&type](std::uint64_t, double x) { return type.round(x); });
      const Reading reading(own, type, false);
      return network::ChangeNumber([&type, reading](std::uint64_t number, double x) {
        double read = 0;
        reading.apply(number, std::span(&x, 1), std::span(&read, 1));
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

}  // namespace btf

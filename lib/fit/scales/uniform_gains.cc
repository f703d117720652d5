#include "fit/scales/uniform_gains.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "btf/try.h"
#include "fit/measure/pieces.h"
#include "network/evaluation.h"
#include "network/operators/operator.h"

namespace btf {
namespace {

using network::kNoValue;
using network::Passing;

constexpr std::uint64_t kMostSampledResults = 1U << 18;  // of more every second run, and so on

// Plus or minus one, by the number of an element.
double sign_at(std::uint64_t number) {
  return ((number + 1) * 0x9e3779b97f4a7c15 >> 37 & 1) != 0 ? 1 : -1;
}

class Places {
 public:
  Places(const NodeContext& context, const std::vector<double>& relative, std::uint32_t node,
         const NodeMeasure& measure)
      : context_(context),
        relative_(relative),
        measure_(measure),
        node_(node),
        evaluation_(context.network, stored_in(context.dump), kMostTerms) {}

  Result<UniformGains> run() {
    UniformGains gains(measure_.inputs.size());
    BTF_ASSIGN(network::Operator* const op, evaluation_.made_operator(node_));
    if (!info(op->outputs()[0].dtype).floating()) return gains;
    BTF_TRY(open(*op));
    std::vector<double> exact(kFitRun);
    std::vector<double> off(kFitRun);
    const std::uint64_t all = element_count(op->outputs()[0].dims).value_or(0);
    const std::uint64_t pace =
        std::max<std::uint64_t>(1, (all + kMostSampledResults - 1) / kMostSampledResults);
    for (std::uint64_t first = 0; first < all; first += pace * kFitRun) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, all - first));
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto run = std::span(inputs_[i].exact).first(count);
        BTF_TRY(inputs_[i].numbers->read(first, run));
        given_[i] = run;
      }
      op->at_places(given_, std::span(exact).first(count));
      for (const InputEffect& effect : measure_.inputs)
        if (step(effect) > 0)
          compare(*op, effect, first, std::span(exact).first(count), std::span(off).first(count));
    }
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const InputEffect& effect = measure_.inputs[i];
      const auto& [squares, number] = sums_[effect.input];
      if (number > 0) gains[i] = std::sqrt(squares / static_cast<double>(number)) / step(effect);
    }
    return gains;
  }

 private:
  struct Input {
    std::unique_ptr<PlacedNumbers> numbers;
    std::vector<double> exact = std::vector<double>(kFitRun);
    std::vector<double> off = std::vector<double>(kFitRun);
  };

  std::uint32_t value(std::size_t input) const {
    return context_.network.nodes()[node_].inputs[input];
  }

  double step(const InputEffect& effect) const {
    const std::uint32_t which = value(effect.input);
    return relative_[which] * context_.values[which].measure.rms();
  }

  Status open(const network::Operator& op) {
    const std::vector<Dims> placed = op.places();
    inputs_.resize(placed.size());
    given_.resize(placed.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const std::uint32_t which = value(i);
      if (!opened_.contains(which)) {
        BTF_ASSIGN(std::optional<Numbers> found,
                   open_numbers(context_.network, context_.dump, which));
        if (!found) return fail(ErrorCode::refused, "not there");
        opened_.emplace(which, *std::move(found));
      }
      inputs_[i].numbers =
          std::make_unique<PlacedNumbers>(opened_.at(which), placed[i], op.outputs()[0].dims);
    }
    return {};
  }

  // All inputs of the same value are off by the same.
  void compare(const network::Operator& op, const InputEffect& effect, std::uint64_t first,
               std::span<const double> exact, std::span<double> off) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (value(i) != value(effect.input)) continue;
      for (std::size_t k = 0; k < exact.size(); ++k)
        inputs_[i].off[k] = inputs_[i].exact[k] + step(effect) * sign_at(first + k);
      given_[i] = std::span<const double>(inputs_[i].off).first(exact.size());
    }
    op.at_places(given_, off);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      given_[i] = std::span<const double>(inputs_[i].exact).first(exact.size());
    auto& [squares, number] = sums_[effect.input];
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double error = off[k] - exact[k];
      if (!std::isfinite(error)) continue;
      squares += error * error;
      ++number;
    }
  }

  const NodeContext& context_;
  const std::vector<double>& relative_;
  const NodeMeasure& measure_;
  std::uint32_t node_;
  network::Evaluation evaluation_;
  std::vector<Input> inputs_;
  std::vector<std::span<const double>> given_;
  std::map<std::uint32_t, Numbers> opened_;
  std::map<std::size_t, std::pair<double, std::uint64_t>> sums_;  // of squares, and how many
};

}  // namespace

UniformGains uniform_gains(const NodeContext& context, const std::vector<double>& relative,
                           std::uint32_t node, const NodeMeasure& measure) {
  const UniformGains none(measure.inputs.size());
  if (measure.passing != Passing::places || !measure.trouble.empty()) return none;
  // What could be measured can be opened again; if not, its gains stay as they are. An error of
  // reading is noted where it arose.
  const auto found = Places(context, relative, node, measure).run();
  return found ? *found : none;
}

Result<std::vector<UniformGains>> uniform_gains(const network::Network& network, const Dump& dump,
                                                const NarrowType& type,
                                                const std::vector<double>& relative,
                                                const DumpMeasures& measures,
                                                const Execution& execution) {
  const NodeContext context{network, dump, type, measures.values};
  std::vector<UniformGains> gains(measures.nodes.size());
  BTF_TRY(for_each_piece(execution, gains.size(), [&](std::uint64_t node) -> Status {
    gains[node] =
        uniform_gains(context, relative, static_cast<std::uint32_t>(node), measures.nodes[node]);
    return {};
  }));
  return gains;
}

}  // namespace btf

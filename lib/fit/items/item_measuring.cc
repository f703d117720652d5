#include "fit/items/item_measuring.h"

#include <algorithm>
#include <set>

#include "btf/try.h"
#include "fit/measure/pieces.h"
#include "network/operators/operator.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

ItemMeasuring::ItemMeasuring(const FitPlan& plan, const Execution& execution)
    : plan_(plan),
      execution_(execution),
      scales_(plan.wanted().size()),
      scaled_(plan.wanted().size()) {
  for (const DType dtype : plan.narrow()) types_.emplace_back(dtype);
  if (plan.network() == nullptr) return;
  const std::size_t values = plan.network()->values().size();
  const Values none{.plain = std::vector<ValueNoise>(values),
                    .lucky = std::vector<ValueNoise>(values)};
  values_.assign(plan.dumps().size(), std::vector<Values>(types_.size(), none));
  measured_.resize(values);
  relative_.assign(plan.scaled().size(), std::vector<double>(values));
}

Result<std::vector<FitMeasures>> ItemMeasuring::run(std::span<const FitItem* const> items) {
  if (plan_.network() != nullptr) BTF_TRY(measure_values(items));
  if (!plan_.scaled().empty()) BTF_TRY(measure_scales(items));
  std::vector<FitMeasures> found(items.size());
  BTF_TRY(for_each_piece(execution_, items.size(), [&](std::uint64_t i) -> Status {
    found[i] = plan_.network() != nullptr ? of_network(*items[i]) : of_name(*items[i]);
    return {};
  }));
  return found;
}

// Those of the items, and what their layers read.
Status ItemMeasuring::measure_values(std::span<const FitItem* const> items) {
  const network::Network& network = *plan_.network();
  std::vector<std::uint32_t> asked;
  const auto ask = [&](std::uint32_t value) {
    if (value == kNoValue || measured_[value]) return;
    measured_[value] = true;
    asked.push_back(value);
  };
  for (const FitItem* const item : items) {
    std::ranges::for_each(item->values, ask);
    if (item->node != kNoNode) std::ranges::for_each(network.nodes()[item->node].inputs, ask);
  }
  return for_each_piece(execution_, asked.size(), [&](std::uint64_t i) -> Status {
    const std::uint32_t value = asked[i];
    for (std::size_t d = 0; d < values_.size(); ++d)
      for (std::size_t t = 0; t < types_.size(); ++t) {
        Values& own = values_[d][t];
        const bool again = d > 0 && network.values()[value].weight;
        own.plain[value] =
            again ? values_[0][t].plain[value]
                  : measure_value(network, plan_.dumps()[d], types_[t], value, execution_);
        own.lucky[value] = lucky_if_it_may(network, value, own.plain[value], types_[t]);
      }
    return {};
  });
}

// Do errors of its inputs' codes decide what is measured of it?
bool ItemMeasuring::reads_scales(const FitItem& item) const {
  if (item.node == kNoNode || std::ranges::none_of(plan_.scaled(), has_uniform_errors))
    return false;
  const network::Node& node = plan_.network()->nodes()[item.node];
  const auto* const row =
      network::find_operator(node.op, node.domain, plan_.network()->version(node.domain));
  return row != nullptr && row->passing == network::Passing::places;
}

Status ItemMeasuring::measure_scales(std::span<const FitItem* const> items) {
  std::vector<std::size_t> asked;
  const auto ask = [&](std::size_t wanted) {
    if (wanted == kNotWanted || scaled_[wanted]) return;
    scaled_[wanted] = true;
    asked.push_back(wanted);
  };
  for (const FitItem* const item : items) {
    std::ranges::for_each(item->wanted, ask);
    if (!reads_scales(*item)) continue;
    for (const std::uint32_t input : plan_.network()->nodes()[item->node].inputs)
      if (input != kNoValue) ask(plan_.wanted_of(input));
  }
  BTF_TRY(for_each_piece(execution_, asked.size(), [&](std::uint64_t i) -> Status {
    const ScaledWanted& wanted = plan_.wanted()[asked[i]];
    BTF_ASSIGN(scales_[asked[i]],
               measure_wanted(wanted, plan_.network(), plan_.scaled(), execution_));
    return {};
  }));
  if (plan_.network() == nullptr) return {};
  for (const std::size_t wanted : asked)
    for (std::size_t type = 0; type < scales_[wanted].types.size(); ++type)
      relative_[type][plan_.wanted()[wanted].value] = relative_error(scales_[wanted].types[type]);
  return {};
}

FitMeasures ItemMeasuring::of_network(const FitItem& item) const {
  const network::Network& network = *plan_.network();
  FitMeasures measures;
  for (std::size_t d = 0; d < values_.size(); ++d) {
    FitMeasures::OfRun& run = measures.runs.emplace_back();
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Values& known = values_[d][t];
      FitMeasures::OfType& own = run.types.emplace_back();
      for (const std::uint32_t value : item.values) own.values.push_back(known.plain[value]);
      if (item.node == kNoNode) continue;
      const NodeContext context{network, plan_.dumps()[d], types_[t], known.plain};
      own.node = measure_variants(context, known.lucky, item.node);
    }
    if (item.node == kNoNode || plan_.scaled().empty()) continue;
    const std::size_t by = plan_.ranked_by();
    const NodeContext context{network, plan_.dumps()[d], types_[by], values_[d][by].plain};
    for (std::size_t i = 0; i < plan_.scaled().size(); ++i)
      run.gains.push_back(
          has_uniform_errors(plan_.scaled()[i])
              ? uniform_gains(context, relative_[i], item.node, run.types[by].node->plain)
              : UniformGains());
  }
  if (plan_.scaled().empty()) return measures;
  for (const std::size_t wanted : item.wanted)
    measures.scales.push_back(wanted == kNotWanted ? ScaledMeasure() : scales_[wanted]);
  return measures;
}

FitMeasures ItemMeasuring::of_name(const FitItem& item) const {
  FitMeasures measures;
  for (const auto& [dump, tensor] : plan_.wanted()[item.wanted[0]].places) {
    FitMeasures::OfRun& run = measures.runs.emplace_back();
    for (const NarrowType& type : types_) {
      FitMeasures::OfType& own = run.types.emplace_back();
      const auto found = measure_dumped(*dump, *tensor, type);
      if (!found)
        own.trouble = found.error().text();
      else if (*found)
        own.values.push_back({.measure = **found, .known = true, .floating = true});
    }
  }
  if (!plan_.scaled().empty()) measures.scales.push_back(scales_[item.wanted[0]]);
  return measures;
}

}  // namespace btf

#include "fit/measure/node_variants.h"

#include <algorithm>

#include "fit/measure/dump_measures.h"
#include "fit/measure/effect.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

double typical(const NarrowType& type) { return kTypicalNoise * type.unit_roundoff(); }

}  // namespace

bool may_be_lucky(const ValueNoise& value, const NarrowType& type) {
  return value.floating && value.relative() < typical(type);
}

void make_lucky(ValueNoise& value, const NarrowType& type, double largest) {
  const double rms = value.measure.rms();
  value.noise = typical(type) * (rms > 0 ? rms : largest);
  value.by_luck = value.noise > 0;
}

ValueNoise lucky_if_it_may(const network::Network& network, std::uint32_t which,
                           const ValueNoise& value, const NarrowType& type) {
  ValueNoise lucky = value;
  if (network.values()[which].node != kNoNode && may_be_lucky(value, type))
    make_lucky(lucky, type, 0);
  return lucky;
}

NodeVariants measure_variants(const NodeContext& context, const std::vector<ValueNoise>& lucky,
                              std::uint32_t node) {
  NodeVariants variants{.plain = measure_node(context, node)};
  const auto& inputs = context.network.nodes()[node].inputs;
  if (std::ranges::any_of(
          inputs, [&](std::uint32_t input) { return input != kNoValue && lucky[input].by_luck; }))
    variants.lucky = measure_node({context.network, context.dump, context.type, lucky}, node);
  return variants;
}

// Each effect is of one input that is rounded while the others are as they are, so that it is the
// same whatever the others' errors are.
NodeMeasure chosen(const NodeContext& context, std::uint32_t node, const NodeVariants& variants) {
  const auto& inputs = context.network.nodes()[node].inputs;
  NodeMeasure measure = variants.plain;
  bool changed = false;
  for (std::size_t i = 0; i < measure.inputs.size(); ++i) {
    const ValueNoise& value = context.values[inputs[measure.inputs[i].input]];
    if (!value.by_luck) continue;
    if (value.measure.rms() == 0 || !variants.lucky) return measure_node(context, node);
    measure.inputs[i] = variants.lucky->inputs[i];
    changed = true;
  }
  if (!changed) return measure;
  if (measure.passing == network::Passing::places)
    measure.rms = std::ranges::max(measure.inputs, {}, &InputEffect::rms).rms;
  else
    measure.rms = variants.lucky->rms;
  finish_effects(context, node, measure);
  return measure;
}

}  // namespace btf

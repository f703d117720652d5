#include "fit/dump_measures.h"

#include <algorithm>

#include "btf/try.h"
#include "fit/node_effects.h"
#include "network/operators/table.h"

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
  if (measure.passing == network::ErrorPropagation::places)
    measure.rms = std::ranges::max(measure.inputs, {}, &InputEffect::rms).rms;
  else
    measure.rms = variants.lucky->rms;
  finish_effects(context, node, measure);
  return measure;
}

namespace {

using network::ErrorPropagation;
using network::kNoValue;

Result<ValueNoise> read_value(const network::Network& network, const Dump& dump,
                              const NarrowType& type, std::uint32_t which,
                              const Execution& execution) {
  ValueNoise value;
  BTF_ASSIGN(std::optional<Numbers> numbers, open_numbers(network, dump, which));
  if (!numbers) return value;
  value.known = true;
  value.floating = numbers->floating();
  BTF_ASSIGN(const TensorMeasure measure, measure_tensor(*numbers, type, value.lossy));
  // Integers are read to the end as well: where bytes are damaged it shows there.
  if (!value.floating) return value;
  value.measure = measure;
  value.noise = value.measure.noise();
  if (execution.progress && dump.find(which) != nullptr)
    execution.progress(numbers->elements() * info(numbers->dtype()).bits / 8);
  return value;
}

// Where a value's numbers are of the type by chance, what it is computed from tells.
void find_luck(const network::Network& network, const NarrowType& type,
               std::vector<ValueNoise>& values) {
  for (const network::Node& node : network.nodes()) {
    const auto* const row =
        network::find_operator(node.op, node.domain, network.version(node.domain));
    const bool moved = row != nullptr && row->passing == ErrorPropagation::moved;
    double most = 0;     // error of an input, relative
    double largest = 0;  // rms of an input that has one
    bool luck = false;
    for (std::size_t i = 0;
         i < (moved ? std::min<std::size_t>(1, node.inputs.size()) : node.inputs.size()); ++i) {
      if (node.inputs[i] == kNoValue || !values[node.inputs[i]].floating) continue;
      const ValueNoise& input = values[node.inputs[i]];
      most = std::max(most, input.relative());
      if (input.noise > 0) largest = std::max(largest, input.measure.rms());
      luck |= input.by_luck;
    }
    for (const std::uint32_t output : node.outputs) {
      if (output == kNoValue || !values[output].floating) continue;
      ValueNoise& value = values[output];
      if (!may_be_lucky(value, type) || most <= value.relative() || (moved && !luck)) continue;
      make_lucky(value, type, largest);
    }
  }
}

// What becomes Inf within the type's range, since it is computed from such as is above it: what the
// nodes behind make of that.
void follow_infinite(const network::Network& network, const Dump& dump, const NarrowType& type,
                     DumpMeasures& measures) {
  const NodeContext context{network, dump, type, measures.values};
  for (std::uint32_t number = 0; number < network.nodes().size(); ++number) {
    const network::Node& node = network.nodes()[number];
    NodeMeasure& measure = measures.nodes[number];
    double from = HUGE_VAL;  // of inputs
    for (const InputEffect& effect : measure.inputs)
      from = std::min(from, measures.values[node.inputs[effect.input]].infinite_from);
    if (from < HUGE_VAL && (measure.passing == ErrorPropagation::places ||
                            measure.passing == ErrorPropagation::groups))
      measure.with_infinite = measure_node(context, number, true).inputs;
    double least = HUGE_VAL;
    for (const InputEffect& effect :
         measure.with_infinite.empty() ? measure.inputs : measure.with_infinite)
      if (effect.nan == 0) least = std::min(least, effect.infinite_from);
    if (measure.passing == ErrorPropagation::moved || measure.passing == ErrorPropagation::joined)
      least = from;
    for (const std::uint32_t output : node.outputs)
      if (output != kNoValue && measures.values[output].floating)
        measures.values[output].infinite_from = least;
  }
}

}  // namespace

ValueNoise measure_value(const network::Network& network, const Dump& dump, const NarrowType& type,
                         std::uint32_t which, const Execution& execution) {
  Result<ValueNoise> read = read_value(network, dump, type, which, execution);
  if (read) return *std::move(read);
  ValueNoise none;
  if (!is_read_error(read.error())) return none;
  none.trouble = read.error().text();
  dump.note(read.error());
  return none;
}

Result<DumpMeasures> measure_dump(const network::Network& network, const Dump& dump,
                                  const NarrowType& type, const DumpMeasures* known,
                                  const Execution& execution) {
  DumpMeasures measures;
  measures.values.resize(network.values().size());
  measures.nodes.resize(network.nodes().size());
  BTF_TRY(for_each_piece(execution, measures.values.size(), [&](std::uint64_t i) -> Status {
    const auto which = static_cast<std::uint32_t>(i);
    if (known != nullptr && network.values()[which].weight) {
      measures.values[which] = known->values[which];
      return {};
    }
    measures.values[which] = measure_value(network, dump, type, which, execution);
    return {};
  }));
  find_luck(network, type, measures.values);
  const NodeContext context{network, dump, type, measures.values};
  BTF_TRY(for_each_piece(execution, measures.nodes.size(), [&](std::uint64_t i) -> Status {
    measures.nodes[i] = measure_node(context, static_cast<std::uint32_t>(i));
    return {};
  }));
  follow_infinite(network, dump, type, measures);
  return measures;
}

DumpMeasures measures_of(const network::Network& network, const Dump& dump, const NarrowType& type,
                         const DumpPieces& pieces) {
  DumpMeasures measures{.values = pieces.values, .nodes = {}};
  for (const ValueNoise& value : measures.values)
    if (!value.trouble.empty()) dump.note({ErrorCode::io, value.trouble});
  find_luck(network, type, measures.values);
  const NodeContext context{network, dump, type, measures.values};
  for (std::uint32_t node = 0; node < pieces.nodes.size(); ++node)
    measures.nodes.push_back(chosen(context, node, pieces.nodes[node]));
  follow_infinite(network, dump, type, measures);
  return measures;
}

Result<std::optional<TensorMeasure>> measure_dumped(const Dump& dump, const DumpedTensor& tensor,
                                                    const NarrowType& type) {
  BTF_ASSIGN(network::StoredNumbers stored, dump.open(tensor));
  Numbers numbers(std::move(stored));
  if (!numbers.floating()) return std::nullopt;
  LossyRuns lossy;
  BTF_ASSIGN(const TensorMeasure measure, measure_tensor(numbers, type, lossy));
  return std::optional(measure);
}

}  // namespace btf

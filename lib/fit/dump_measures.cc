#include "fit/dump_measures.h"

#include <algorithm>
#include <span>

#include "btf/try.h"
#include "core/numbers.h"
#include "fit/node_effects.h"
#include "network/operators/table.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

double typical_error(const NarrowType& type) { return kTypicalNoise * type.unit_roundoff(); }

}  // namespace

bool may_be_exact_by_chance(const ValueNoise& value, const NarrowType& type) {
  return value.floating && value.relative() < typical_error(type);
}

void assume_typical_noise(ValueNoise& value, const NarrowType& type, double largest) {
  const double rms = value.measure.rms();
  value.noise = typical_error(type) * (rms > 0 ? rms : largest);
  value.exact_by_chance = value.noise > 0;
}

ValueNoise with_typical_noise(const network::Network& network, std::uint32_t which,
                              const ValueNoise& value, const NarrowType& type) {
  ValueNoise typical = value;
  if (network.values()[which].node != kNoNode && may_be_exact_by_chance(value, type))
    assume_typical_noise(typical, type, 0);
  return typical;
}

NodeVariants measure_variants(const NodeContext& context, const std::vector<ValueNoise>& typical,
                              std::uint32_t node) {
  NodeVariants variants{.plain = measure_node(context, node)};
  const auto& inputs = context.network.nodes()[node].inputs;
  if (std::ranges::any_of(inputs, [&](std::uint32_t input) {
        return input != kNoValue && typical[input].exact_by_chance;
      }))
    variants.typical = measure_node({context.network, context.dump, context.type, typical}, node);
  return variants;
}

// Each effect is measured with one input rounded and the others exact, so it does not depend on the
// errors of the others.
NodeMeasure resolve_variants(const NodeContext& context, std::uint32_t node,
                             const NodeVariants& variants) {
  const auto& inputs = context.network.nodes()[node].inputs;
  NodeMeasure measure = variants.plain;
  bool changed = false;
  for (std::size_t i = 0; i < measure.inputs.size(); ++i) {
    const ValueNoise& value = context.values[inputs[measure.inputs[i].input]];
    if (!value.exact_by_chance) continue;
    if (value.measure.rms() == 0 || !variants.typical) return measure_node(context, node);
    measure.inputs[i] = variants.typical->inputs[i];
    changed = true;
  }
  if (!changed) return measure;
  if (measure.passing == network::ErrorPropagation::places)
    measure.rms = std::ranges::max(measure.inputs, {}, &InputEffect::rms).rms;
  else
    measure.rms = variants.typical->rms;
  finish_effects(context, node, measure);
  return measure;
}

namespace {

using network::ErrorPropagation;

Result<ValueNoise> read_value(const network::Network& network, const Dump& dump,
                              const NarrowType& type, std::uint32_t which,
                              const Execution& execution) {
  ValueNoise value;
  BTF_ASSIGN(std::optional<Numbers> numbers, open_numbers(network, dump, which));
  if (!numbers) return value;
  value.known = true;
  value.floating = numbers->floating();
  BTF_ASSIGN(const TensorMeasure measure, measure_tensor(*numbers, type, value.lossy));
  // Integers have been read to the end as well, so damaged bytes are noticed.
  if (!value.floating) return value;
  value.measure = measure;
  value.noise = value.measure.noise();
  if (execution.progress && dump.find(which) != nullptr)
    execution.progress(numbers->elements() * info(numbers->dtype()).bits / 8);
  return value;
}

// Finds the values that are exact by chance: their inputs have larger errors than they have.
void find_exact_by_chance(const network::Network& network, const NarrowType& type,
                          std::vector<ValueNoise>& values) {
  for (const network::Node& node : network.nodes()) {
    const bool moved = propagation_of(network, node) == ErrorPropagation::moved;
    double most = 0;     // relative error of an input
    double largest = 0;  // root mean square of an input that has an error
    bool chance = false;
    for (std::size_t i = 0;
         i < (moved ? std::min<std::size_t>(1, node.inputs.size()) : node.inputs.size()); ++i) {
      if (node.inputs[i] == kNoValue || !values[node.inputs[i]].floating) continue;
      const ValueNoise& input = values[node.inputs[i]];
      most = std::max(most, input.relative());
      if (input.noise > 0) largest = std::max(largest, input.measure.rms());
      chance |= input.exact_by_chance;
    }
    for (const std::uint32_t output : node.outputs) {
      if (output == kNoValue || !values[output].floating) continue;
      ValueNoise& value = values[output];
      if (!may_be_exact_by_chance(value, type) || most <= value.relative() || (moved && !chance))
        continue;
      assume_typical_noise(value, type, largest);
    }
  }
}

constexpr std::size_t kNodesTogether = 16;  // on threads

// Results within the type's range may become Inf because their inputs do. Measures what the nodes
// that follow make of that.
void follow_infinite(const network::Network& network, const Dump& dump, const NarrowType& type,
                     DumpMeasures& measures) {
  const NodeContext context{network, dump, type, measures.values};
  for (std::uint32_t number = 0; number < network.nodes().size(); ++number) {
    const network::Node& node = network.nodes()[number];
    NodeMeasure& measure = measures.nodes[number];
    double from = HUGE_VAL;  // the least `infinite_from` of the inputs
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

NodeWork::NodeWork(const Dump& dump) {
  const Checked more = checked_mul(dump.bytes() / sizeof(float), kWorkPerDumped);
  left_ = checked_add(kWorkOfNodes, more.value_or(UINT64_MAX)).value_or(UINT64_MAX);
}

bool NodeWork::take(std::uint64_t work) {
  used_up_ = used_up_ || work > left_;
  left_ -= std::min(left_, work);
  return !used_up_;
}

NodeMeasure left_out(const network::Network& network, std::uint32_t node) {
  const network::Node& own = network.nodes()[node];
  const auto* const row = network::find_operator(own.op, own.domain, network.version(own.domain));
  return {.passing = row != nullptr ? row->passing : ErrorPropagation::unknown,
          .trouble = kWorkUsedUp,
          .inputs = {},
          .with_infinite = {}};
}

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
  find_exact_by_chance(network, type, measures.values);
  const NodeContext context{network, dump, type, measures.values};
  NodeWork work(dump);
  for (std::size_t first = 0; first < measures.nodes.size(); first += kNodesTogether) {
    const std::span<NodeMeasure> some =
        std::span(measures.nodes)
            .subspan(first, std::min(kNodesTogether, measures.nodes.size() - first));
    if (!work.used_up())
      BTF_TRY(for_each_piece(execution, some.size(), [&](std::uint64_t i) -> Status {
        some[i] = measure_node(context, static_cast<std::uint32_t>(first + i));
        return {};
      }));
    for (std::size_t i = 0; i < some.size(); ++i)
      if (!work.take(some[i].work))
        some[i] = left_out(network, static_cast<std::uint32_t>(first + i));
  }
  follow_infinite(network, dump, type, measures);
  return measures;
}

DumpMeasures assemble_measures(const network::Network& network, const Dump& dump,
                               const NarrowType& type, const DumpPieces& pieces) {
  DumpMeasures measures{.values = pieces.values, .nodes = {}};
  for (const ValueNoise& value : measures.values)
    if (!value.trouble.empty()) dump.note({ErrorCode::io, value.trouble});
  find_exact_by_chance(network, type, measures.values);
  const NodeContext context{network, dump, type, measures.values};
  NodeWork work(dump);
  for (std::uint32_t node = 0; node < pieces.nodes.size(); ++node) {
    const bool taken = work.take(pieces.nodes[node].plain.work);
    measures.nodes.push_back(taken ? resolve_variants(context, node, pieces.nodes[node])
                                   : left_out(network, node));
  }
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

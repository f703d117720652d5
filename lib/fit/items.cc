#include "fit/items.h"

#include <algorithm>
#include <set>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"
#include "fit/dump_measures.h"
#include "fit/scaled_layers.h"
#include "network/operators/table.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

bool is_given(const network::Node& node, std::size_t input) {
  return input < node.inputs.size() && node.inputs[input] != kNoValue;
}

// Returns true if the judgement can use the measure: its inputs exist, and it suits the operator.
bool is_of_node(const network::Network& network, std::uint32_t number, const NodeMeasure& measure) {
  const network::Node& node = network.nodes()[number];
  if (measure.terms != 0 && propagation_of(network, node) != network::ErrorPropagation::products)
    return false;
  if (!network.is_sound(number) && (measure.trouble.empty() || !measure.inputs.empty()))
    return false;
  return std::ranges::all_of(
      measure.inputs, [&](const InputEffect& effect) { return is_given(node, effect.input); });
}

bool are_of_node(const network::Network& network, std::uint32_t node,
                 const NodeVariants& variants) {
  return is_of_node(network, node, variants.plain) &&
         (!variants.typical || is_of_node(network, node, *variants.typical)) &&
         (!variants.typical || std::ranges::equal(variants.plain.inputs, variants.typical->inputs,
                                                  {}, &InputEffect::input, &InputEffect::input));
}

// Returns true if the measures have the numbers of dumps, types and values that the plan has.
bool is_of_item(const FitPlan& plan, const FitItem& item, const FitMeasures& measures) {
  if (measures.runs.size() != plan.runs(item)) return false;
  const bool scaled = !plan.scaled().empty();
  if (measures.scales.size() != (scaled ? item.candidates.size() : 0)) return false;
  for (const ScaledMeasure& scales : measures.scales)
    if (!scales.types.empty() && scales.types.size() != plan.scaled().size()) return false;
  const bool layer = item.node != kNoNode;
  for (const FitMeasures::RunMeasures& run : measures.runs) {
    if (run.types.size() != plan.narrow().size()) return false;
    if (run.gains.size() != (layer && scaled ? plan.scaled().size() : 0)) return false;
    for (const FitMeasures::TypeMeasures& type : run.types) {
      if (plan.network() == nullptr ? type.values.size() > 1
                                    : type.values.size() != item.values.size())
        return false;
      if (type.node.has_value() != layer) return false;
      if (layer && !are_of_node(*plan.network(), item.node, *type.node)) return false;
    }
    for (const UniformGains& gains : run.gains)
      if (gains.size() > run.types[plan.ranked_by()].node->plain.inputs.size()) return false;
  }
  return true;
}

// Sets the error propagation from the operator: files of parts do not contain it.
NodeVariants with_passing(const network::Network& network, std::uint32_t node,
                          NodeVariants variants) {
  const network::ErrorPropagation passing = propagation_of(network, network.nodes()[node]);
  variants.plain.passing = passing;
  if (variants.typical) variants.typical->passing = passing;
  return variants;
}

}  // namespace

ItemPieces::ItemPieces(const FitPlan& plan) {
  scaled_.candidates.resize(plan.candidates().size());
  if (plan.network() == nullptr) return;
  const std::size_t nodes = plan.network()->nodes().size();
  DumpPieces none;
  none.values.resize(plan.network()->values().size());
  none.nodes.resize(nodes);
  dumps_.assign(plan.narrow().size(), std::vector<DumpPieces>(plan.dumps().size(), none));
  if (plan.scaled().empty()) return;
  for (std::size_t d = 0; d < plan.dumps().size(); ++d)
    scaled_.dumps.push_back(
        {.nodes = &dumps_[plan.ranked_by()][d],
         .gains = std::vector(plan.scaled().size(), std::vector<UniformGains>(nodes))});
}

Result<ItemPieces> ItemPieces::gather(const FitPlan& plan, const FitShare& share) {
  ItemPieces pieces(plan);
  for (std::uint64_t number = 0; number < plan.items().size(); ++number) {
    const FitItem& item = plan.items()[number];
    const MeasuredFit* const known = share.known(number);
    if (known == nullptr || known->measures == nullptr || !is_of_item(plan, item, *known->measures))
      return fail(ErrorCode::malformed,
                  "the measures of item " + std::to_string(number) + " do not belong to that item");
    plan.network() != nullptr ? pieces.take(plan, item, *known->measures)
                              : pieces.take_by_name(plan, item, *known->measures);
  }
  return pieces;
}

void ItemPieces::take(const FitPlan& plan, const FitItem& item, const FitMeasures& measures) {
  for (std::size_t d = 0; d < measures.runs.size(); ++d) {
    const FitMeasures::RunMeasures& run = measures.runs[d];
    for (std::size_t t = 0; t < run.types.size(); ++t) {
      DumpPieces& pieces = dumps_[t][d];
      for (std::size_t i = 0; i < item.values.size(); ++i)
        pieces.values[item.values[i]] = run.types[t].values[i];
      if (item.node != kNoNode)
        pieces.nodes[item.node] = with_passing(*plan.network(), item.node, *run.types[t].node);
    }
    for (std::size_t i = 0; i < run.gains.size(); ++i)
      scaled_.dumps[d].gains[i][item.node] = run.gains[i];
  }
  for (std::size_t i = 0; i < measures.scales.size(); ++i)
    if (item.candidates[i] != kNoCandidate)
      scaled_.candidates[item.candidates[i]] = measures.scales[i];
}

void ItemPieces::take_by_name(const FitPlan& plan, const FitItem& item,
                              const FitMeasures& measures) {
  const ScaleCandidate& candidate = plan.candidates()[item.candidates[0]];
  for (std::size_t i = 0; i < measures.runs.size(); ++i)
    tensors_[candidate.places[i].second] = measures.runs[i];
  if (!measures.scales.empty()) scaled_.candidates[item.candidates[0]] = measures.scales[0];
}

Result<std::optional<TensorMeasure>> ItemPieces::tensor(std::size_t type,
                                                        const DumpedTensor& tensor) const {
  const FitMeasures::TypeMeasures& own = tensors_.at(&tensor).types[type];
  if (!own.trouble.empty()) return std::unexpected(Error{ErrorCode::io, own.trouble});
  if (own.values.empty()) return std::nullopt;
  return own.values[0].measure;
}

ItemMeasuring::ItemMeasuring(const FitPlan& plan, const Execution& execution)
    : plan_(plan),
      execution_(execution),
      scales_(plan.candidates().size()),
      scaled_(plan.candidates().size()) {
  for (const DType dtype : plan.narrow()) types_.emplace_back(dtype);
  if (plan.network() == nullptr) return;
  const std::size_t values = plan.network()->values().size();
  const Values none{.plain = std::vector<ValueNoise>(values),
                    .typical = std::vector<ValueNoise>(values)};
  values_.assign(plan.dumps().size(), std::vector<Values>(types_.size(), none));
  for (const Dump& dump : plan.dumps()) work_.emplace_back(types_.size(), NodeWork(dump));
  measured_.resize(values);
  relative_.assign(plan.scaled().size(), std::vector<double>(values));
}

Result<std::vector<FitMeasures>> ItemMeasuring::run(std::span<const FitItem* const> items) {
  if (plan_.network() != nullptr) BTF_TRY(measure_values(items));
  if (!plan_.scaled().empty()) BTF_TRY(measure_scales(items));
  std::vector<FitMeasures> found(items.size());
  BTF_TRY(for_each_piece(execution_, items.size(), [&](std::uint64_t i) -> Status {
    found[i] =
        plan_.network() != nullptr ? measures_by_graph(*items[i]) : measures_by_name(*items[i]);
    return {};
  }));
  for (const FitMeasures& item : found)
    for (std::size_t d = 0; d < work_.size(); ++d)
      for (std::size_t t = 0; t < types_.size(); ++t)
        if (const auto& node = item.runs[d].types[t].node) work_[d][t].take(node->plain.work);
  return found;
}

// Measures the values of the items and those that their layers read.
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
        own.typical[value] = with_typical_noise(network, value, own.plain[value], types_[t]);
      }
    return {};
  });
}

// Returns true if the item's gains depend on the errors of its inputs' codes.
bool ItemMeasuring::reads_scales(const FitItem& item) const {
  if (item.node == kNoNode || std::ranges::none_of(plan_.scaled(), has_uniform_errors))
    return false;
  return propagation_of(*plan_.network(), plan_.network()->nodes()[item.node]) ==
         network::ErrorPropagation::places;
}

Status ItemMeasuring::measure_scales(std::span<const FitItem* const> items) {
  std::vector<std::size_t> asked;
  const auto ask = [&](std::size_t candidate) {
    if (candidate == kNoCandidate || scaled_[candidate]) return;
    scaled_[candidate] = true;
    asked.push_back(candidate);
  };
  for (const FitItem* const item : items) {
    std::ranges::for_each(item->candidates, ask);
    if (!reads_scales(*item)) continue;
    for (const std::uint32_t input : plan_.network()->nodes()[item->node].inputs)
      if (input != kNoValue) ask(plan_.candidate_of(input));
  }
  BTF_TRY(for_each_piece(execution_, asked.size(), [&](std::uint64_t i) -> Status {
    const ScaleCandidate& candidate = plan_.candidates()[asked[i]];
    BTF_ASSIGN(scales_[asked[i]],
               measure_candidate(candidate, plan_.network(), plan_.scaled(), execution_));
    return {};
  }));
  if (plan_.network() == nullptr) return {};
  for (const std::size_t candidate : asked)
    for (std::size_t type = 0; type < scales_[candidate].types.size(); ++type)
      relative_[type][plan_.candidates()[candidate].value] =
          relative_error(scales_[candidate].types[type]);
  return {};
}

FitMeasures ItemMeasuring::measures_by_graph(const FitItem& item) const {
  const network::Network& network = *plan_.network();
  FitMeasures measures;
  for (std::size_t d = 0; d < values_.size(); ++d) {
    FitMeasures::RunMeasures& run = measures.runs.emplace_back();
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Values& known = values_[d][t];
      FitMeasures::TypeMeasures& own = run.types.emplace_back();
      for (const std::uint32_t value : item.values) own.values.push_back(known.plain[value]);
      if (item.node == kNoNode) continue;
      const NodeContext context{network, plan_.dumps()[d], types_[t], known.plain};
      own.node = work_[d][t].used_up() ? NodeVariants{.plain = left_out(network, item.node)}
                                       : measure_variants(context, known.typical, item.node);
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
  for (const std::size_t candidate : item.candidates)
    measures.scales.push_back(candidate == kNoCandidate ? ScaledMeasure() : scales_[candidate]);
  return measures;
}

FitMeasures ItemMeasuring::measures_by_name(const FitItem& item) const {
  FitMeasures measures;
  for (const auto& [dump, tensor] : plan_.candidates()[item.candidates[0]].places) {
    FitMeasures::RunMeasures& run = measures.runs.emplace_back();
    for (const NarrowType& type : types_) {
      FitMeasures::TypeMeasures& own = run.types.emplace_back();
      const auto found = measure_dumped(*dump, *tensor, type);
      if (!found)
        own.trouble = found.error().text();
      else if (*found)
        own.values.push_back({.measure = **found, .known = true, .floating = true});
    }
  }
  if (!plan_.scaled().empty()) measures.scales.push_back(scales_[item.candidates[0]]);
  return measures;
}

namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return checked_add(a, b).value_or(UINT64_MAX);
}

using SharedMembers = std::shared_ptr<const std::set<std::uint64_t>>;

SharedMembers joined(const SharedMembers& a, const SharedMembers& b) {
  if (a == nullptr || b == nullptr || a == b) return a == nullptr ? b : a;
  if (std::ranges::includes(*a, *b)) return a;
  if (std::ranges::includes(*b, *a)) return b;
  std::set<std::uint64_t> both = *a;
  both.insert(b->begin(), b->end());
  return std::make_shared<const std::set<std::uint64_t>>(std::move(both));
}

SharedMembers member_of(const std::vector<SharedMembers>& members, std::uint32_t value) {
  return value == kNoValue ? nullptr : members[value];
}

}  // namespace

FitPlan::FitPlan(const network::Network* network, const std::vector<Dump>& dumps,
                 std::span<const DType> dtypes)
    : network_(network), dumps_(dumps) {
  for (const DType dtype : dtypes) (needs_scale(dtype) ? scaled_ : narrow_).push_back(dtype);
  if (network_ != nullptr && !scaled_.empty() &&
      std::ranges::find(narrow_, kGainDType) == narrow_.end())
    narrow_.push_back(kGainDType);
  candidates_ = scale_candidates(network_, dumps_);
  if (network_ != nullptr)
    take_network();
  else
    for (std::size_t i = 0; i < candidates_.size(); ++i) items_.push_back({.candidates = {i}});
}

std::size_t FitPlan::ranked_by() const {
  return static_cast<std::size_t>(std::ranges::find(narrow_, kGainDType) - narrow_.begin());
}

void FitPlan::take_network() {
  candidate_of_.assign(network_->values().size(), kNoCandidate);
  for (std::size_t i = 0; i < candidates_.size(); ++i) candidate_of_[candidates_[i].value] = i;
  for (std::uint32_t node = 0; node < network_->nodes().size(); ++node) {
    FitItem& item = items_.emplace_back(FitItem{.node = node});
    for (const std::uint32_t made : network_->nodes()[node].outputs)
      if (made != kNoValue) item.values.push_back(made);
  }
  for (const ScaleCandidate& candidate : candidates_)
    if (network_->values()[candidate.value].node == kNoNode)
      items_.push_back({.values = {candidate.value}});
  for (FitItem& item : items_)
    for (const std::uint32_t value : item.values) item.candidates.push_back(candidate_of_[value]);
  find_members();
}

std::size_t FitPlan::runs(const FitItem& item) const {
  return network_ != nullptr ? dumps_.size() : candidates_[item.candidates[0]].places.size();
}

std::uint64_t FitPlan::bytes_of(std::uint32_t value) const {
  const std::size_t which = candidate_of_[value];
  if (which == kNoCandidate) return 0;
  if (candidates_[which].weight) {
    const auto stored = network_->weight(network_->values()[value]);
    return stored ? stored->tensor().data_bytes : 0;
  }
  std::uint64_t bytes = 0;
  for (const auto& [dump, tensor] : candidates_[which].places)
    bytes = sum(bytes, dump->bytes(*tensor));
  return bytes;
}

std::vector<PlannedFit> FitPlan::planned() const {
  std::vector<PlannedFit> planned;
  if (network_ == nullptr) {
    for (const ScaleCandidate& candidate : candidates_) {
      PlannedFit& item =
          planned.emplace_back(PlannedFit{.name = candidate.name, .signature = candidate.name});
      for (const auto& [dump, tensor] : candidate.places)
        item.bytes = sum(item.bytes, dump->bytes(*tensor));
    }
    return planned;
  }
  std::vector<std::uint64_t> bytes(network_->values().size());
  for (std::uint32_t value = 0; value < bytes.size(); ++value) bytes[value] = bytes_of(value);
  for (const FitItem& item : items_) {
    PlannedFit& plan = planned.emplace_back();
    for (const std::uint32_t value : item.values) plan.bytes = sum(plan.bytes, bytes[value]);
    if (item.node == kNoNode) {
      plan.name = plan.signature = network_->values()[item.values[0]].name;
      continue;
    }
    const network::Node& node = network_->nodes()[item.node];
    plan.name = layer_name(*network_, item.node);
    plan.signature = plan.name + "\n" + node.op;
    for (const std::uint32_t input : node.inputs) {
      plan.signature += "\n";
      if (input == kNoValue) continue;
      plan.signature += network_->values()[input].name;
      plan.read_bytes = sum(plan.read_bytes, bytes[input]);
    }
  }
  return planned;
}

// A value that was not dumped is computed from its node's inputs, so it has their members. Nodes
// are in topological order, and a chain of them shares one set.
void FitPlan::find_members() {
  for (const Dump& dump : dumps_) {
    std::vector<SharedMembers>& members = members_.emplace_back(network_->values().size());
    for (std::uint32_t value = 0; value < members.size(); ++value)
      if (const DumpedTensor* const tensor = dump.find(value);
          tensor != nullptr && !network_->values()[value].weight)
        members[value] =
            std::make_shared<const std::set<std::uint64_t>>(std::set{tensor->place.member});
    for (const network::Node& node : network_->nodes()) {
      SharedMembers all;
      for (const std::uint32_t input : node.inputs) all = joined(all, member_of(members, input));
      for (const std::uint32_t output : node.outputs)
        if (output != kNoValue && !members[output] && !network_->values()[output].weight)
          members[output] = all;
    }
  }
}

std::set<std::pair<std::size_t, std::uint64_t>> FitPlan::members(const FitItem& item) const {
  std::set<std::pair<std::size_t, std::uint64_t>> found;
  if (network_ == nullptr) {
    for (const auto& [dump, tensor] : candidates_[item.candidates[0]].places)
      found.emplace(static_cast<std::size_t>(dump - dumps_.data()), tensor->place.member);
    return found;
  }
  std::vector<std::uint32_t> asked = item.values;
  if (item.node != kNoNode)
    for (const std::uint32_t input : network_->nodes()[item.node].inputs) asked.push_back(input);
  for (std::size_t d = 0; d < dumps_.size(); ++d)
    for (const std::uint32_t value : asked)
      if (const SharedMembers of_value = member_of(members_[d], value))
        for (const std::uint64_t member : *of_value) found.emplace(d, member);
  return found;
}

}  // namespace btf

#include "fit/items/item_pieces.h"

#include <algorithm>

#include "btf/try.h"
#include "network/operators/operator.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

network::Passing passing_of(const network::Network& network, const network::Node& node) {
  const auto* const row =
      network::find_operator(node.op, node.domain, network.version(node.domain));
  return row == nullptr ? network::Passing::unknown : row->passing;
}

bool is_given(const network::Node& node, std::size_t input) {
  return input < node.inputs.size() && node.inputs[input] != kNoValue;
}

// Whether all is there that the rule looks up by it.
bool is_of_node(const network::Network& network, std::uint32_t number, const NodeMeasure& measure) {
  const network::Node& node = network.nodes()[number];
  const bool sums_products = passing_of(network, node) == network::Passing::products;
  if (measure.terms != 0 && !sums_products) return false;
  if (!network.is_sound(number) && (measure.trouble.empty() || !measure.inputs.empty()))
    return false;
  return std::ranges::all_of(
      measure.inputs, [&](const InputEffect& effect) { return is_given(node, effect.input); });
}

bool are_of_node(const network::Network& network, std::uint32_t node,
                 const NodeVariants& variants) {
  return is_of_node(network, node, variants.plain) &&
         (!variants.lucky || is_of_node(network, node, *variants.lucky)) &&
         (!variants.lucky || std::ranges::equal(variants.plain.inputs, variants.lucky->inputs, {},
                                                &InputEffect::input, &InputEffect::input));
}

// Whether the measures are those of the item: as many of everything as the plan has.
bool is_of_item(const FitPlan& plan, const FitItem& item, const FitMeasures& measures) {
  if (measures.runs.size() != plan.runs(item)) return false;
  const bool scaled = !plan.scaled().empty();
  if (measures.scales.size() != (scaled ? item.wanted.size() : 0)) return false;
  for (const ScaledMeasure& scales : measures.scales)
    if (!scales.types.empty() && scales.types.size() != plan.scaled().size()) return false;
  const bool layer = item.node != kNoNode;
  for (const FitMeasures::OfRun& run : measures.runs) {
    if (run.types.size() != plan.narrow().size()) return false;
    if (run.gains.size() != (layer && scaled ? plan.scaled().size() : 0)) return false;
    for (const FitMeasures::OfType& type : run.types) {
      if (plan.network() == nullptr ? type.values.size() > 1
                                    : type.values.size() != item.values.size())
        return false;
      if (type.node.has_value() != layer) return false;
      if (layer && !are_of_node(*plan.network(), item.node, *type.node))
        return false;
    }
    for (const UniformGains& gains : run.gains)
      if (gains.size() > run.types[plan.ranked_by()].node->plain.inputs.size()) return false;
  }
  return true;
}

// An operator's passing is known here, and not asked of a part.
NodeVariants with_passing(const network::Network& network, std::uint32_t node,
                          NodeVariants variants) {
  const network::Passing passing = passing_of(network, network.nodes()[node]);
  variants.plain.passing = passing;
  if (variants.lucky) variants.lucky->passing = passing;
  return variants;
}

}  // namespace

ItemPieces::ItemPieces(const FitPlan& plan) {
  scaled_.wanted.resize(plan.wanted().size());
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
                  "what was measured of item " + std::to_string(number) + " is not of that item");
    plan.network() != nullptr ? pieces.take(plan, item, *known->measures)
                              : pieces.take_by_name(plan, item, *known->measures);
  }
  return pieces;
}

void ItemPieces::take(const FitPlan& plan, const FitItem& item, const FitMeasures& measures) {
  for (std::size_t d = 0; d < measures.runs.size(); ++d) {
    const FitMeasures::OfRun& run = measures.runs[d];
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
    if (item.wanted[i] != kNotWanted) scaled_.wanted[item.wanted[i]] = measures.scales[i];
}

void ItemPieces::take_by_name(const FitPlan& plan, const FitItem& item,
                              const FitMeasures& measures) {
  const ScaledWanted& wanted = plan.wanted()[item.wanted[0]];
  for (std::size_t i = 0; i < measures.runs.size(); ++i)
    tensors_[wanted.places[i].second] = measures.runs[i];
  if (!measures.scales.empty()) scaled_.wanted[item.wanted[0]] = measures.scales[0];
}

Result<std::optional<TensorMeasure>> ItemPieces::tensor(std::size_t type,
                                                        const DumpedTensor& tensor) const {
  const FitMeasures::OfType& own = tensors_.at(&tensor).types[type];
  if (!own.trouble.empty()) return std::unexpected(Error{ErrorCode::io, own.trouble});
  if (own.values.empty()) return std::nullopt;
  return own.values[0].measure;
}

}  // namespace btf

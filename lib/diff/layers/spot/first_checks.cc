#include "diff/layers/spot/first_checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "btf/shards/file_state.h"
#include "btf/try.h"
#include "diff/layers/spot/sample.h"
#include "sets/names/names.h"

namespace btf {
namespace {

using network::kNoValue;
using network::Network;

std::vector<std::uint64_t> places_of(const LayerReport& report, std::size_t numbers) {
  std::vector<std::uint64_t> places(numbers, SpotDumps::kNowhere);
  for (std::uint64_t i = 0; i < report.layers.size(); ++i) places[report.layers[i].number] = i;
  return places;
}

// Is one side a run of a quantised model, and which?
struct QuantisedSide {
  bool actual = false;
  bool golden = false;
  std::string name;  // of a tensor that only the quantised model has
};

QuantisedSide quantised_side(const LayerReport& report) {
  QuantisedSide side;
  for (const Layer& layer : report.layers) {
    if (layer.tier != PairTier::qdq || qdq_name(layer.name()).form == QdqForm::codes) continue;
    const bool actual = qdq_name(layer.actual).form != QdqForm::plain;
    (actual ? side.actual : side.golden) = true;
    side.name = actual ? layer.actual : layer.golden;
  }
  return side;
}

}  // namespace

Result<SpotGraphs> SpotGraphs::read(const LayerOptions& options, const LayerReport& report) {
  BTF_ASSIGN(Network golden, Network::read(*options.graph));
  SpotGraphs graphs{std::move(golden)};
  const auto file = FileState::of(options.actual_graph.value_or(*options.graph));
  graphs.actual_bytes = file ? file->bytes : 0;
  const QuantisedSide side = quantised_side(report);
  graphs.actual_is_quantised = side.actual && !side.golden;
  if (options.actual_graph) {
    BTF_ASSIGN(graphs.own, Network::read(*options.actual_graph));
  } else if (side.actual != side.golden) {
    const bool is_quantised = graphs.golden.find(side.name) != kNoValue;
    graphs.golden_is_other = is_quantised == side.actual;
    graphs.actual_is_other = is_quantised && side.golden;
    if (is_quantised && side.actual) {
      BTF_ASSIGN(graphs.own, Network::read(*options.graph));
    }
  }
  return graphs;
}

FirstChecks::FirstChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
                         const PairedLayers& paired, const LayerOptions& options,
                         const LayerReport& report)
    : graphs_(graphs),
      report_(report),
      isolated_(options.judge.isolated),
      levels_(spot_levels(options.accumulate)),
      places_(places_of(report, paired.actual.size())),
      actual_dumps_(graphs.actual(), actual, paired, options, true, places_, report, !graphs.own),
      golden_dumps_(graphs.golden, golden, paired, options, false, places_, report, true),
      golden_as_inputs_(graphs.actual(), golden, paired, options, false, places_, report, true) {}

SpotSide FirstChecks::actual_side(std::size_t least_level) const {
  return {graphs_.actual(), actual_dumps_, isolated_ ? golden_as_inputs_ : actual_dumps_, levels_,
          least_level};
}

SpotSide FirstChecks::golden_side() const {
  return {graphs_.golden, golden_dumps_, golden_dumps_, levels_};
}

std::string FirstChecks::why_not(std::uint64_t i) const {
  if (graphs_.actual_is_other) return "the graph is the quantised model, and only golden is its run";
  const std::uint32_t value = actual_dumps_.value_of(i);
  if (value == kNoValue) return "the graph has no tensor of that name";
  if (graphs_.actual().values()[value].node == network::kNoNode)
    return "it is an input of the network";
  return {};
}

// The elements that are furthest from golden's, out of each run with large errors: each is a place
// of its own, whose inputs are to be read.
std::vector<std::uint64_t> FirstChecks::worst(std::uint64_t i, const LayerFigures& figures) const {
  constexpr std::size_t kMost = 8;
  const DumpedValue* const actual = actual_dumps_.find(actual_dumps_.value_of(i));
  const std::uint32_t golden_value = golden_dumps_.value_of(i);
  if (actual == nullptr || golden_value == kNoValue) return {};
  auto left = actual_dumps_.open(*actual);
  auto right = golden_dumps_.open(*golden_dumps_.find(golden_value));
  if (!left || !right || left->elements() != right->elements()) return {};
  std::vector<std::pair<double, std::uint64_t>> found;
  for (const ElementRun& run : figures.worst_runs) {
    std::vector<std::pair<double, std::uint64_t>> own;
    for (std::uint64_t number = run.first;
         number < std::min(run.first + run.count, left->elements()); ++number) {
      const auto a = left->at(number);
      const auto g = right->at(number);
      if (!a || !g || *a == *g || (std::isnan(*a) && std::isnan(*g))) continue;
      const double distance = std::abs(*a - *g);
      own.emplace_back(std::isnan(distance) ? -HUGE_VAL : -distance, number);
    }
    const std::size_t some = std::min(kMost / figures.worst_runs.size(), own.size());
    std::ranges::partial_sort(own, own.begin() + static_cast<std::ptrdiff_t>(some));
    found.insert(found.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(some));
  }
  std::ranges::sort(found);
  std::vector<std::uint64_t> numbers;
  for (const auto& [distance, number] : found)
    if (numbers.size() < kMost) numbers.push_back(number);
  return numbers;
}

std::vector<std::uint64_t> FirstChecks::sample(std::uint64_t i, const LayerFigures& figures) const {
  const Layer& layer = report_.layers[i];
  return spot_sample(dims(i), layer.name(), worst(i, figures));
}

SideCheck FirstChecks::check(std::uint64_t i, const LayerFigures& figures,
                             std::span<const std::uint64_t> sample, std::size_t least_level,
                             std::uint64_t most_terms) const {
  SpotSide side = actual_side(least_level);
  side.most_terms = most_terms;
  SideCheck found = check_layer(side, actual_dumps_.value_of(i), sample, scale_of(figures));
  found.model_bytes = graphs_.actual_bytes;
  return found;
}

std::vector<std::string> FirstChecks::read_troubles() const {
  std::vector<std::string> all = graphs_.golden.read_troubles();
  const auto add = [&](const std::vector<std::string>& troubles) {
    for (const std::string& trouble : troubles)
      if (std::ranges::find(all, trouble) == all.end()) all.push_back(trouble);
  };
  if (graphs_.own) add(graphs_.own->read_troubles());
  for (const SpotDumps* const dumps : {&actual_dumps_, &golden_dumps_, &golden_as_inputs_})
    add(dumps->read_troubles());
  return all;
}

}  // namespace btf

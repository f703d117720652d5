#include "diff/layers/first_checks.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>
#include <utility>

#include "btf/share.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "diff/layers/noise_model.h"
#include "elements/cast.h"
#include "network/node.h"
#include "sets/names/name_keys.h"

namespace btf {
namespace {

// Each place costs reading the inputs of its elements, which channels at the place share.
constexpr std::size_t kWorstPlaces = 8;  // places of the worst elements
constexpr std::size_t kMinPlaces = 8;    // places in total, where there are that many
constexpr std::size_t kOtherPlaces = 4;  // at least this many besides the worst
constexpr std::size_t kAtPlaces = 168;   // elements at the places, of the same channels everywhere
constexpr std::size_t kEvery = 64;       // channels that are checked together

// Pseudo-random numbers seeded by a name (splitmix64 over its FNV hash).
class Chance {
 public:
  explicit Chance(std::string_view name) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t below(std::uint64_t end) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % end;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// The dim of channels: the second of three or more, otherwise the last.
std::size_t channel_dim(const Dims& dims) { return dims.size() >= 3 ? 1 : dims.size() - 1; }

// Indices without their channel: of the worst elements, whose inputs are read anyway, and of
// others.
std::vector<Dims> places_of(const Dims& dims, std::size_t channel_dim,
                            const std::vector<std::uint64_t>& worst, Chance& chance) {
  std::vector<Dims> places;
  for (const std::uint64_t number : worst) {
    Dims place = network::index_of(number, dims);
    place[channel_dim] = 0;
    if (places.size() < kWorstPlaces && std::ranges::find(places, place) == places.end())
      places.push_back(std::move(place));
  }
  const std::size_t count = std::max(places.size() + kOtherPlaces, kMinPlaces);
  std::vector<Dims> others;
  while (places.size() + others.size() < count) {
    Dims& place = others.emplace_back();
    for (const std::uint64_t size : dims) place.push_back(chance.below(size));
  }
  std::ranges::sort(others);
  places.insert(places.end(), others.begin(), others.end());
  return places;
}

}  // namespace

std::vector<std::uint64_t> spot_sample(const Dims& dims, std::string_view name,
                                       const std::vector<std::uint64_t>& worst) {
  const std::uint64_t elements = element_count(dims).value_or(0);
  std::vector<std::uint64_t> sample;
  std::unordered_set<std::uint64_t> seen;
  const auto take = [&](std::uint64_t number) {
    if (sample.size() < kSpotElements && seen.insert(number).second) sample.push_back(number);
  };
  for (const std::uint64_t number : worst) take(number);
  if (elements <= kSpotElements) {
    for (std::uint64_t number = 0; number < elements; ++number) take(number);
    return sample;
  }
  Chance chance(name);
  const std::size_t dim = channel_dim(dims);
  const std::uint64_t channels = dims[dim];
  const std::vector<Dims> places = places_of(dims, dim, worst, chance);
  std::vector<std::uint64_t> chosen;
  for (std::size_t c = 0; c < kAtPlaces / places.size(); ++c)
    chosen.push_back(chance.below(channels));
  std::ranges::sort(chosen);
  const auto take_at = [&](Dims place, std::uint64_t channel) {
    place[dim] = channel;
    take(network::number_of(place, dims));
  };
  for (const Dims& place : places)
    for (const std::uint64_t channel : chosen) take_at(place, channel);
  for (std::size_t c = 0; c < std::min<std::uint64_t>(channels, kEvery); ++c)
    take_at(places[c % places.size()],
            channels <= kEvery ? c : c * channels / kEvery + chance.below(channels / kEvery));
  constexpr std::size_t kTries = 2 * kSpotElements;
  for (std::size_t i = 0; i < kTries && sample.size() < kSpotElements; ++i)
    take_at(places[i % places.size()], chance.below(channels));
  for (std::size_t i = 0; i < kTries && sample.size() < kSpotElements; ++i)
    take(chance.below(elements));
  // Ordered by place, so that what is read for one channel is available for the next.
  const auto place_of = [&](std::uint64_t number) {
    Dims index = network::index_of(number, dims);
    index[dim] = 0;
    return network::number_of(index, dims);
  };
  std::ranges::stable_sort(
      sample.begin() + static_cast<std::ptrdiff_t>(std::min(worst.size(), sample.size())),
      sample.end(), {}, place_of);
  return sample;
}

std::vector<std::uint64_t> spot_around(std::uint64_t number, const Dims& dims,
                                       std::string_view name) {
  constexpr std::size_t kOfEach = 24;
  Chance chance(name);
  const Dims index = network::index_of(number, dims);
  std::vector<std::uint64_t> found;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 2) continue;
    for (std::size_t i = 0; i < kOfEach; ++i) {
      Dims place = index;
      for (std::size_t other = 0; other < dims.size(); ++other)
        if (other != d) place[other] = chance.below(dims[other]);
      found.push_back(network::number_of(place, dims));
    }
  }
  std::ranges::sort(found);
  const auto [first, last] = std::ranges::unique(found);
  found.erase(first, last);
  return found;
}

std::vector<std::uint64_t> spot_shadow(std::uint64_t number, const Dims& from, const Dims& to) {
  const std::uint64_t elements = element_count(to).value_or(0);
  const std::uint64_t own = element_count(from).value_or(0);
  if (elements == 0 || own == 0) return {};
  if (from == to) return {number};
  std::vector<std::uint64_t> found;
  // By the position in row-major order, which a reshape keeps.
  const auto part = static_cast<long double>(number) / static_cast<long double>(own);
  found.push_back(std::min(elements - 1,
                           static_cast<std::uint64_t>(part * static_cast<long double>(elements))));
  if (from.size() != to.size()) return found;
  const Dims index = network::index_of(number, from);
  Dims at(to.size());
  for (std::size_t d = 0; d < to.size(); ++d) at[d] = index[d] * to[d] / from[d];
  const std::size_t dim = channel_dim(to);
  for (const std::uint64_t channel : {std::uint64_t{0}, to[dim] / 3, to[dim] - 1, at[dim]}) {
    at[dim] = channel;
    found.push_back(network::number_of(at, to));
  }
  return found;
}

namespace {

using network::kNoValue;
using network::Network;

std::vector<std::uint64_t> places_of(const LayerReport& report, std::size_t numbers) {
  std::vector<std::uint64_t> places(numbers, SpotDumps::kNowhere);
  for (std::uint64_t i = 0; i < report.layers.size(); ++i) places[report.layers[i].number] = i;
  return places;
}

// Whether one side is a run of a quantised model, and which.
struct QuantisedSide {
  bool actual = false;
  bool golden = false;
  std::string name;  // a tensor that only the quantised model has
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
  BTF_ASSIGN(const auto file, FileState::of(options.actual_graph.value_or(*options.graph)));
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

Status SpotGraphs::check_unchanged() const {
  BTF_TRY(golden.check_unchanged());
  return own ? own->check_unchanged() : Status();
}

InitialSpotChecks::InitialSpotChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
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

SpotSide InitialSpotChecks::actual_side(std::size_t least_level) const {
  return {graphs_.actual(), actual_dumps_, isolated_ ? golden_as_inputs_ : actual_dumps_, levels_,
          least_level};
}

SpotSide InitialSpotChecks::golden_side() const {
  return {graphs_.golden, golden_dumps_, golden_dumps_, levels_};
}

std::string InitialSpotChecks::obstacle(std::uint64_t i) const {
  if (graphs_.actual_is_other)
    return "the graph is the quantised model, and only golden is its run";
  const std::uint32_t value = actual_dumps_.value_of(i);
  if (value == kNoValue) return "the graph has no tensor of that name";
  if (graphs_.actual().values()[value].node == network::kNoNode)
    return "it is an input of the network";
  return {};
}

// The elements that are furthest from golden's, at most one from each run with large errors, since
// each is a separate place whose inputs must be read.
std::vector<std::uint64_t> InitialSpotChecks::worst(std::uint64_t i,
                                                    const LayerFigures& figures) const {
  constexpr std::size_t kMax = 8;
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
    const std::size_t some = std::min(kMax / figures.worst_runs.size(), own.size());
    std::ranges::partial_sort(own, own.begin() + static_cast<std::ptrdiff_t>(some));
    found.insert(found.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(some));
  }
  std::ranges::sort(found);
  std::vector<std::uint64_t> numbers;
  for (const auto& [distance, number] : found)
    if (numbers.size() < kMax) numbers.push_back(number);
  return numbers;
}

std::vector<std::uint64_t> InitialSpotChecks::sample(std::uint64_t i,
                                                     const LayerFigures& figures) const {
  const Layer& layer = report_.layers[i];
  return spot_sample(dims(i), layer.name(), worst(i, figures));
}

SideCheck InitialSpotChecks::check(std::uint64_t i, const LayerFigures& figures,
                                   std::span<const std::uint64_t> sample, std::size_t least_level,
                                   std::uint64_t most_terms) const {
  SpotSide side = actual_side(least_level);
  side.most_terms = most_terms;
  SideCheck found = check_layer(side, actual_dumps_.value_of(i), sample, scale_of(figures));
  found.model_bytes = graphs_.actual_bytes;
  return found;
}

std::vector<std::string> InitialSpotChecks::read_troubles() const {
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

namespace {

// Layers checked together, and at most this many are lost if the process ends.
constexpr std::size_t kTogether = 16;

// The precision that the layer's own bits show. The precision of most layers is known only when all
// are measured; if it differs, the layer is checked again.
std::size_t level_shown_by(const Layer& planned, const LayerFigures& figures) {
  LayerReport alone;
  alone.layers.push_back(planned);
  alone.layers.front().figures = figures;
  return level_at(run_precision(alone, {}).unit_roundoff);
}

}  // namespace

SpotCheckingPartition::SpotCheckingPartition(const InitialSpotChecks& checks,
                                             const LayerReport& planned,
                                             const LayerOptions& options, LayerShare& share)
    : checks_(checks), planned_(planned), options_(options), share_(share) {
  for (std::uint64_t i = 0; i < planned.layers.size(); ++i) places_[planned.layers[i].number] = i;
}

Status SpotCheckingPartition::plan(std::span<const PlannedLayer> layers) {
  BTF_TRY(share_.plan(layers));
  for (std::uint64_t number = 0; number < layers.size(); ++number)
    to_come_ += share_.is_own(number) ? 1U : 0U;
  return {};
}

void SpotCheckingPartition::take(std::uint64_t number, const MeasuredLayer& layer) {
  if (!status_) return;
  pending_.push_back({number, layer});
  if (pending_.size() == kTogether) status_ = give();
}

Status SpotCheckingPartition::finish() {
  if (status_) status_ = give();
  return status_;
}

void SpotCheckingPartition::check(PendingLayer& pending, std::uint64_t most_terms) const {
  if (!pending.layer.figures) return;
  const std::uint64_t i = places_.at(pending.number);
  if (!checks_.obstacle(i).empty()) return;
  const LayerFigures& figures = *pending.layer.figures;
  pending.layer.check = std::make_shared<SideCheck>(
      checks_.check(i, figures, checks_.sample(i, figures),
                    level_shown_by(planned_.layers[i], figures), most_terms));
}

// Reads the states of files first: if they are still the same afterwards, they are those of what
// was read.
Status SpotCheckingPartition::add_inputs(PendingLayer& pending) const {
  MeasuredLayer& layer = pending.layer;
  if (layer.check == nullptr) return {};
  const SpotDumps& dumps =
      options_.judge.isolated ? checks_.golden_as_inputs() : checks_.actual_dumps();
  std::vector<std::uint64_t> seen;  // members
  const std::uint32_t own = checks_.actual_dumps().value_of(places_.at(pending.number));
  if (const DumpedValue* const dumped = dumps.find(own)) seen.push_back(dumped->tensor.member);
  for (const std::uint32_t value : layer.check->read) {
    const std::uint64_t member = dumps.find(value)->tensor.member;
    if (std::ranges::find(seen, member) != seen.end()) continue;
    seen.push_back(member);
    const std::string path = dumps.set().member(member).path;
    BTF_ASSIGN(const auto state, FileState::of(path));
    layer.inputs.emplace_back(path, state);
    BTF_TRY(dumps.set().check_unchanged(member));
  }
  return {};
}

Status SpotCheckingPartition::give() {
  const unsigned workers =
      worker_count(options_.execution, pending_.size(), kSpotWorkPerLayer * pending_.size());
  const std::uint64_t most_terms =
      std::clamp(left_ / std::max<std::uint64_t>(1, to_come_), kMinSpotTerms, kSpotTerms);
  BTF_TRY(
      for_each_slab(options_.execution, workers, pending_.size(), [&](unsigned, std::uint64_t k) {
        check(pending_[k], most_terms);
        return Status();
      }));
  for (PendingLayer& pending : pending_) {
    to_come_ -= std::min<std::uint64_t>(to_come_, 1);
    if (pending.layer.check == nullptr) continue;
    left_ -= std::min(left_, pending.layer.check->terms);
    // merge decides whether there is more budget for it.
    if (pending.layer.check->ran_out && most_terms < kSpotTerms) pending.layer.check = nullptr;
  }
  // If something could not be read, no checks are recorded: merge does them again and reports the
  // error if it persists.
  if (!checks_.read_troubles().empty())
    for (PendingLayer& pending : pending_) pending.layer.check = nullptr;
  BTF_TRY(checks_.check_graphs_unchanged());
  for (PendingLayer& pending : pending_) {
    BTF_TRY(add_inputs(pending));
    share_.take(pending.number, pending.layer);
  }
  pending_.clear();
  return {};
}

}  // namespace btf

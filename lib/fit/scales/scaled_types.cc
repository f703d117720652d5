#include "fit/scales/scaled_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "btf/quantize.h"
#include "btf/try.h"
#include "fit/measure/pieces.h"
#include "fit/rule/flow.h"
#include "fit/scales/scaled_layers.h"
#include "fit/scales/scaled_tensor.h"

namespace btf {
namespace {

using network::kNoValue;

std::vector<ScaledWanted> wanted_by_name(const std::vector<Dump>& dumps) {
  std::vector<ScaledWanted> all;
  std::map<std::string, std::size_t> known;
  for (const Dump& dump : dumps)
    for (const DumpedTensor& tensor : dump.tensors()) {
      const auto [at, added] = known.emplace(tensor.name, all.size());
      if (added) all.push_back({.name = tensor.name});
      all[at->second].places.emplace_back(&dump, &tensor);
    }
  return all;
}

std::vector<ScaledWanted> wanted_by_graph(const network::Network& network,
                                          const std::vector<Dump>& dumps) {
  const Flow flow(network);
  std::vector<ScaledWanted> all;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    const network::Value& own = network.values()[value];
    ScaledWanted wanted{.name = own.name,
                        .value = value,
                        .weight = own.weight.has_value(),
                        .axis = channel_axis(network, flow, value)};
    for (const Dump& dump : dumps)
      if (const DumpedTensor* const tensor = dump.find(value))
        wanted.places.emplace_back(&dump, tensor);
    if (wanted.weight || !wanted.places.empty()) all.push_back(std::move(wanted));
  }
  return all;
}

ScaledSource source_of(const ScaledWanted& wanted, const network::Network* network) {
  ScaledSource source{
      .dumps = wanted.weight ? 1 : wanted.places.size(), .open = {}, .axis = wanted.axis};
  source.open = [&wanted, network](std::size_t dump) -> Result<Numbers> {
    if (wanted.weight) {
      BTF_ASSIGN(network::StoredNumbers stored, network->weight(network->values()[wanted.value]));
      return Numbers(std::move(stored));
    }
    const auto& [from, tensor] = wanted.places[dump];
    BTF_ASSIGN(network::StoredNumbers stored, from->open(*tensor));
    return Numbers(std::move(stored));
  };
  return source;
}

void take_gains(const std::vector<UniformGains>& gains, DumpMeasures& measures) {
  for (std::size_t node = 0; node < gains.size(); ++node) {
    std::vector<InputEffect>& effects = measures.nodes[node].inputs;
    for (std::size_t i = 0; i < std::min(gains[node].size(), effects.size()); ++i)
      if (gains[node][i]) effects[i].gain = *gains[node][i];
  }
}

Status rank_layers(const network::Network& network, const std::vector<Dump>& dumps,
                   const std::vector<std::vector<double>>& relative, const Execution& execution,
                   const ScaledPieces* pieces, std::vector<FitOfScales>& types) {
  std::vector<ScaledLayers> layers;
  for (const std::vector<double>& errors : relative) layers.emplace_back(network, errors);
  Execution quiet = execution;
  quiet.progress = {};
  const NarrowType type(kGainsBy);
  std::optional<DumpMeasures> last;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    const Dump& dump = dumps[d];
    DumpMeasures measures;
    if (pieces != nullptr) {
      measures = measures_of(network, dump, type, *pieces->dumps[d].nodes);
    } else {
      BTF_ASSIGN(measures, measure_dump(network, dump, type, last ? &*last : nullptr, quiet));
    }
    std::vector<double> terms;
    for (const NodeMeasure& measure : measures.nodes) terms.push_back(measure.terms);
    for (std::size_t i = 0; i < types.size(); ++i) {
      DumpMeasures own = measures;
      if (has_uniform_errors(types[i].dtype)) {
        std::vector<UniformGains> gains;
        if (pieces != nullptr) {
          gains = pieces->dumps[d].gains[i];
        } else {
          BTF_ASSIGN(gains,
                     uniform_gains(network, dump, type, layers[i].relative(), measures, quiet));
        }
        take_gains(gains, own);
      }
      layers[i].take(own, terms);
    }
    last = std::move(measures);
  }
  for (std::size_t i = 0; i < types.size(); ++i) layers[i].write(types[i]);
  return {};
}

constexpr auto kScalingNames = std::to_array<Named<FitScaling>>({
    {FitScaling::held, "held"},
    {FitScaling::poor, "poor"},
    {FitScaling::nonfinite, "nonfinite"},
    {FitScaling::nothing, "nothing"},
});

}  // namespace

std::vector<ScaledWanted> wanted_scales(const network::Network* network,
                                        const std::vector<Dump>& dumps) {
  return network != nullptr ? wanted_by_graph(*network, dumps) : wanted_by_name(dumps);
}

Result<ScaledMeasure> measure_wanted(const ScaledWanted& wanted, const network::Network* network,
                                     std::span<const DType> dtypes, const Execution& execution) {
  auto found = measure_scales(source_of(wanted, network), dtypes, execution);
  if (!found) {
    if (found.error().code == ErrorCode::cancelled) return std::unexpected(found.error());
    return ScaledMeasure{.types = {},
                         .trouble = found.error().text(),
                         .unread = is_of_reading(found.error())};
  }
  if (execution.progress && !wanted.weight && !found->empty())
    execution.progress((*found)[0].elements * sizeof(float) * dtypes.size());
  return ScaledMeasure{.types = *std::move(found)};
}

double relative_error(const FitScaledTensor& tensor) {
  if (tensor.scales.empty()) return 0;
  const double best = tensor.scales[tensor.best].snr;
  const double snr = tensor.weight && tensor.channels ? std::max(best, tensor.channels->snr) : best;
  return std::pow(10, -snr / 20);
}

bool has_uniform_errors(DType dtype) { return !info(dtype).floating(); }

Result<ScalesFound> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                               std::span<const DType> dtypes, const Execution& execution,
                               const ScaledPieces* pieces) {
  const std::vector<ScaledWanted> wanted = wanted_scales(network, dumps);
  std::vector<ScaledMeasure> measured(wanted.size());
  if (pieces != nullptr)
    measured = pieces->wanted;
  else
    BTF_TRY(for_each_piece(execution, wanted.size(), [&](std::uint64_t i) -> Status {
      BTF_ASSIGN(measured[i], measure_wanted(wanted[i], network, dtypes, execution));
      return {};
    }));
  ScalesFound found;
  for (const DType dtype : dtypes)
    found.types.push_back({.dtype = dtype, .tensors = {}, .layers = {}, .outputs = {}});
  std::vector<std::vector<double>> relative(
      dtypes.size(), std::vector<double>(network != nullptr ? network->values().size() : 0, 0));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!measured[i].trouble.empty())
      (wanted[i].weight && !measured[i].unread ? found.warnings : found.troubles)
          .push_back(measured[i].trouble);
    for (std::size_t type = 0; type < measured[i].types.size(); ++type) {
      FitScaledTensor& tensor = measured[i].types[type];
      tensor.name = wanted[i].name;
      tensor.weight = wanted[i].weight;
      if (network != nullptr) relative[type][wanted[i].value] = relative_error(tensor);
      found.types[type].tensors.push_back(std::move(tensor));
    }
  }
  if (network != nullptr)
    BTF_TRY(rank_layers(*network, dumps, relative, execution, pieces, found.types));
  return found;
}

bool fits_by_scale(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return can_scale(dtype) && row.bits <= 8 && row.kind != NumberKind::unsigned_integer;
}

std::span<const Named<FitScaling>> fit_scalings() { return kScalingNames; }

std::string_view fit_scaling_name(FitScaling state) {
  return std::ranges::find(kScalingNames, state, &Named<FitScaling>::value)->name;
}

}  // namespace btf

#include "fit/scales/scaled_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "btf/quantize.h"
#include "btf/try.h"
#include "elements/parallel.h"
#include "fit/measure/dump_measures.h"
#include "fit/scales/scaled_layers.h"
#include "fit/scales/scaled_tensor.h"
#include "fit/scales/uniform_gains.h"

namespace btf {
namespace {

using network::kNoValue;

// Pieces of work that are worth a thread.
constexpr std::uint64_t kBytesPerPiece = 1U << 20;

// A tensor with the dumps that have it, or a weight.
struct Wanted {
  std::string name;
  std::vector<std::pair<const Dump*, const DumpedTensor*>> places{};
  std::uint32_t value = kNoValue;  // of the network
  bool weight = false;
  ChannelAxis axis = kUsualChannels;
};

std::vector<Wanted> wanted_by_name(const std::vector<Dump>& dumps) {
  std::vector<Wanted> all;
  std::map<std::string, std::size_t> known;
  for (const Dump& dump : dumps)
    for (const DumpedTensor& tensor : dump.tensors()) {
      const auto [at, added] = known.emplace(tensor.name, all.size());
      if (added) all.push_back({.name = tensor.name});
      all[at->second].places.emplace_back(&dump, &tensor);
    }
  return all;
}

std::vector<Wanted> wanted_by_graph(const network::Network& network,
                                    const std::vector<Dump>& dumps) {
  const Flow flow(network);
  std::vector<Wanted> all;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    const network::Value& own = network.values()[value];
    Wanted wanted{.name = own.name,
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

ScaledSource source_of(const Wanted& wanted, const network::Network* network) {
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

// What is measured of one of them, by type; none: it holds no floats.
struct Measured {
  std::vector<FitScaledTensor> types{};
  std::optional<Error> error{};
};

Status measure_all(const std::vector<Wanted>& wanted, const network::Network* network,
                   std::span<const DType> dtypes, const Execution& execution,
                   std::vector<Measured>& measured) {
  const unsigned workers = worker_count(execution, wanted.size(), wanted.size() * kBytesPerPiece);
  return for_each_slab(execution, workers, wanted.size(), [&](unsigned, std::uint64_t i) -> Status {
    BTF_TRY(check_cancelled(execution));
    auto found = measure_scales(source_of(wanted[i], network), dtypes, execution);
    if (found)
      measured[i].types = *std::move(found);
    else if (found.error().code == ErrorCode::cancelled)
      return std::unexpected(found.error());
    else
      measured[i].error = found.error();
    if (execution.progress && found && !wanted[i].weight && !measured[i].types.empty())
      execution.progress(measured[i].types[0].elements * sizeof(float) * dtypes.size());
    return {};
  });
}

// The error over the value, as most devices have it: weights with a scale for each channel.
double relative_error(const FitScaledTensor& tensor) {
  if (tensor.scales.empty()) return 0;
  const double best = tensor.scales[tensor.best].snr;
  const double snr = tensor.weight && tensor.channels ? std::max(best, tensor.channels->snr) : best;
  return std::pow(10, -snr / 20);
}

// Gains of a type with the range of float32: its rounding breaks nothing, and shows how errors
// grow.
constexpr DType kGainsBy = DType::bfloat16;

Status rank_layers(const network::Network& network, const std::vector<Dump>& dumps,
                   const std::vector<std::vector<double>>& relative, const Execution& execution,
                   std::vector<FitOfScales>& types) {
  std::vector<ScaledLayers> layers;
  for (const std::vector<double>& errors : relative) layers.emplace_back(network, errors);
  Execution quiet = execution;
  quiet.progress = {};
  std::optional<DumpMeasures> last;
  for (const Dump& dump : dumps) {
    BTF_ASSIGN(DumpMeasures measures,
               measure_dump(network, dump, NarrowType(kGainsBy), last ? &*last : nullptr, quiet));
    std::vector<double> terms;
    for (const NodeMeasure& measure : measures.nodes) terms.push_back(measure.terms);
    for (std::size_t i = 0; i < types.size(); ++i) {
      DumpMeasures own = measures;
      if (!info(types[i].dtype).floating())
        BTF_TRY(take_uniform_gains(network, dump, layers[i].relative(), quiet, own));
      layers[i].take(own, terms);
    }
    last = std::move(measures);
  }
  for (std::size_t i = 0; i < types.size(); ++i) layers[i].write(types[i]);
  return {};
}

constexpr auto kStateNames = std::to_array<Named<FitScaling>>({
    {FitScaling::held, "held"},
    {FitScaling::poor, "poor"},
    {FitScaling::nonfinite, "nonfinite"},
    {FitScaling::nothing, "nothing"},
});

}  // namespace

Result<ScalesFound> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                               std::span<const DType> dtypes, const Execution& execution) {
  const std::vector<Wanted> wanted =
      network != nullptr ? wanted_by_graph(*network, dumps) : wanted_by_name(dumps);
  std::vector<Measured> measured(wanted.size());
  BTF_TRY(measure_all(wanted, network, dtypes, execution, measured));
  ScalesFound found;
  for (const DType dtype : dtypes)
    found.types.push_back({.dtype = dtype, .tensors = {}, .layers = {}, .outputs = {}});
  std::vector<std::vector<double>> relative(
      dtypes.size(), std::vector<double>(network != nullptr ? network->values().size() : 0, 0));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (measured[i].error)
      (wanted[i].weight ? found.warnings : found.troubles)
          .push_back("'" + wanted[i].name + "': " + measured[i].error->text());
    for (std::size_t type = 0; type < measured[i].types.size(); ++type) {
      FitScaledTensor& tensor = measured[i].types[type];
      tensor.name = wanted[i].name;
      tensor.weight = wanted[i].weight;
      if (network != nullptr) relative[type][wanted[i].value] = relative_error(tensor);
      found.types[type].tensors.push_back(std::move(tensor));
    }
  }
  if (network != nullptr) BTF_TRY(rank_layers(*network, dumps, relative, execution, found.types));
  return found;
}

bool fits_by_scale(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return can_scale(dtype) && row.bits <= 8 && row.kind != NumberKind::unsigned_integer;
}

std::string_view fit_scaling_name(FitScaling state) {
  return std::ranges::find(kStateNames, state, &Named<FitScaling>::value)->name;
}

}  // namespace btf

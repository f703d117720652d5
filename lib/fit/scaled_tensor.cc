// A tensor's scales in types of few codes, and what each costs: two passes over its numbers.
#include "fit/scaled_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit.h"
#include "btf/quantize.h"
#include "btf/try.h"
#include "elements/cast.h"
#include "fit/dump_measures.h"
#include "fit/node_measure.h"
#include "fit/scale_search.h"
#include "fit/scaled_layers.h"
#include "fit/sensitivity.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace {

// One tensor as it is in all dumps together.
struct ScaledSource {
  std::size_t dumps = 1;
  std::function<Result<Numbers>(std::size_t dump)> open;
  ChannelAxis axis{};
};

// Gains of less are not worth a word; an outlier is to blame for half of one or more.
constexpr double kMinGain = 3;
constexpr double kBlame = .5;

// Without a channel as much larger than all others there is no such gain by it.
constexpr double kMinRatio = 1.4;

double decibels(double signal, double error) {
  // Squares of doubles far beyond what floats hold, or below it.
  if (signal == 0 || !std::isfinite(error)) return -HUGE_VAL;
  if (error == 0) return HUGE_VAL;
  return 10 * std::log10(signal / error);
}

// Scales to be tried: one for all numbers, or one for each channel.
struct Attempt {
  std::vector<double> scales;
  ScalingErrors errors{};
};

// Those of a type.
struct Attempts {
  Narrowing codes;
  std::vector<Attempt> tensor;                                  // different scales, one each
  std::vector<std::pair<FitScaleMethod, std::size_t>> methods;  // and which of these is theirs
  std::optional<Attempt> channels{};
  std::optional<Attempt> outlier{};
};

class ScaledTensor {
 public:
  ScaledTensor(const ScaledSource& source, std::span<const DType> dtypes,
               const Execution& execution)
      : source_(source), dtypes_(dtypes), execution_(execution) {}

  Result<std::vector<FitScaledTensor>> run() {
    BTF_TRY(each_run([&](const Dims& dims, std::uint64_t first, std::span<const double> some) {
      first == 0 ? channels_.begin(dims, source_.axis) : void();
      look(first, some);
    }));
    if (!floating_) return std::vector<FitScaledTensor>{};
    magnitudes_.sort();
    if (magnitudes_.largest() > 0) {
      for (const DType dtype : dtypes_) attempts_.push_back(choose(dtype));
      BTF_TRY(each_run([&](const Dims& dims, std::uint64_t first, std::span<const double> some) {
        attempt(channels_.known() ? channels_.place(dims, first) : AxisPosition{}, some);
      }));
    }
    std::vector<FitScaledTensor> found;
    for (std::size_t i = 0; i < dtypes_.size(); ++i)
      found.push_back(attempts_.empty() ? facts() : result(attempts_[i]));
    return found;
  }

 private:
  template <typename Take>
  Status each_run(Take&& take) {
    for (std::size_t dump = 0; dump < source_.dumps; ++dump) {
      BTF_ASSIGN(Numbers numbers, source_.open(dump));
      if (!numbers.floating()) continue;
      floating_ = true;
      std::array<double, kFitRun> run;
      for (std::uint64_t first = 0; first < numbers.elements(); first += kFitRun) {
        BTF_TRY(check_cancelled(execution_));
        const auto some = std::span(run).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, numbers.elements() - first)));
        BTF_TRY(numbers.read(first, some));
        take(numbers.dims(), first, std::span<const double>(some));
      }
    }
    return {};
  }

  void look(std::uint64_t first, std::span<const double> some) {
    magnitudes_.take(some);
    channels_.take(first, some);
  }

  Attempts choose(DType dtype) const {
    const CodeGrid grid(dtype);
    Attempts attempts{.codes = scaled_codes(dtype), .tensor = {}, .methods = {}};
    for (const ScaleMethod& method : scale_methods()) {
      const auto scale = method.find(magnitudes_, grid, dtype, method.part);
      if (!scale) continue;
      const auto same = std::ranges::find_if(
          attempts.tensor, [&](const Attempt& attempt) { return attempt.scales[0] == *scale; });
      attempts.methods.emplace_back(method.name.value,
                                    static_cast<std::size_t>(same - attempts.tensor.begin()));
      if (same == attempts.tensor.end()) attempts.tensor.push_back({{*scale}});
    }
    if (!channels_.known()) return attempts;
    attempts.channels.emplace();
    for (const double largest : channels_.maxima())
      attempts.channels->scales.push_back(static_cast<double>(symmetric_scale(largest, dtype)));
    const std::uint64_t highest = channels_.highest();
    const double next = channels_.largest_but(highest);
    if (next == 0 || channels_.maxima()[highest] < kMinRatio * next) return attempts;
    attempts.outlier.emplace();
    attempts.outlier->scales.assign(channels_.count(),
                                    static_cast<double>(symmetric_scale(next, dtype)));
    attempts.outlier->scales[highest] = attempts.channels->scales[highest];
    return attempts;
  }

  void attempt(const AxisPosition& at, std::span<const double> some) {
    for (Attempts& attempts : attempts_) {
      for (Attempt& one : attempts.tensor)
        one.errors.add(scaling_errors(attempts.codes, some.data(), some.size(), one.scales[0]));
      for (auto* const each : {&attempts.channels, &attempts.outlier})
        if (*each) by_channels(attempts.codes, at, some, **each);
    }
  }

  static void by_channels(const Narrowing& codes, const AxisPosition& at,
                          std::span<const double> some, Attempt& attempt) {
    by_indices(
        some.data(), some.size(), at,
        [&](std::uint64_t channel, const double* run, std::uint64_t count) {
          attempt.errors.add(scaling_errors(codes, run, count, attempt.scales[channel]));
        },
        [&](std::uint64_t channel, const double* run, std::uint64_t count) {
          attempt.errors.add(scaling_errors_each(codes, run, count, &attempt.scales[channel]));
        });
  }

  FitScaledTensor facts() const {
    const std::uint64_t odd = magnitudes_.nan() + magnitudes_.infinite();
    const std::uint64_t finite = magnitudes_.count();
    return {.name = {},
            .elements = finite + odd,
            .nan = magnitudes_.nan(),
            .infinite = magnitudes_.infinite(),
            .zeros = magnitudes_.zeros(),
            .largest = magnitudes_.largest(),
            .rms = finite == 0 ? 0 : std::sqrt(magnitudes_.squares() / static_cast<double>(finite)),
            .state = odd > 0 ? FitScaling::nonfinite : FitScaling::nothing,
            .scales = {}};
  }

  double snr(const Attempt& attempt) const {
    return decibels(magnitudes_.squares(), attempt.errors.squares);
  }

  FitScaledTensor result(const Attempts& attempts) const {
    FitScaledTensor tensor = facts();
    for (const auto& [method, which] : attempts.methods) {
      const Attempt& own = attempts.tensor[which];
      tensor.scales.push_back({.method = method,
                               .scale = own.scales[0],
                               .snr = snr(own),
                               .clipped = own.errors.clipped,
                               .lost = own.errors.lost});
    }
    tensor.best = static_cast<std::size_t>(
        std::ranges::max_element(tensor.scales, {}, &FitScale::snr) - tensor.scales.begin());
    const FitScale& best = tensor.scales[tensor.best];
    const auto nonzero = static_cast<double>(magnitudes_.count() - magnitudes_.zeros());
    const bool poor =
        best.snr < kFitLeastSnr || static_cast<double>(best.lost) > kFitMostLost * nonzero;
    if (tensor.state != FitScaling::nonfinite)
      tensor.state = poor ? FitScaling::poor : FitScaling::held;
    if (attempts.channels) tensor.channels = channels(attempts, tensor.scales[0].snr);
    return tensor;
  }

  // `one`: with one scale by the maximum.
  FitChannels channels(const Attempts& attempts, double one) const {
    FitChannels found{
        .axis = channels_.axis(), .count = channels_.count(), .snr = snr(*attempts.channels)};
    found.gain = found.snr == one ? 0 : found.snr - one;
    if (!attempts.outlier || found.gain < kMinGain) return found;
    const double apart = snr(*attempts.outlier);
    if (apart - one < kBlame * found.gain) return found;
    const std::uint64_t highest = channels_.highest();
    found.outlier = {.channel = highest,
                     .largest = channels_.maxima()[highest],
                     .median = channels_.median(),
                     .snr = apart};
    return found;
  }

  const ScaledSource& source_;
  std::span<const DType> dtypes_;
  const Execution& execution_;
  bool floating_ = false;
  Magnitudes magnitudes_;
  ChannelMaxima channels_;
  std::vector<Attempts> attempts_;
};

// For each type, without names. An error: a dump's numbers cannot be read. None: they are no
// floats.
Result<std::vector<FitScaledTensor>> measure_scales(const ScaledSource& source,
                                                    std::span<const DType> dtypes,
                                                    const Execution& execution) {
  return ScaledTensor(source, dtypes, execution).run();
}

using network::kNoNode;

// An operator of ONNX's own by the channels of what it reads and makes.
struct ChannelRow {
  std::string_view op;
  std::int64_t activations = 0;
  ChannelAxis weights{};            // of its second input: the results' channels
  std::string_view turned_by = {};  // an attribute: if it is not 0,
  std::int64_t turned_weights = 0;  // they stand here
};

constexpr auto kRows = std::to_array<ChannelRow>({
    {"Conv", 1, 0},
    {"ConvTranspose", 1, 1},
    {"Gemm", -1, -1, "transB", -2},
    {"LayerNormalization", -1},
    {"MatMul", -1, -1},
    {"RMSNormalization", -1},
    {"SimplifiedLayerNormalization", -1},
});

const ChannelRow* find_row(const network::Node& node) {
  const auto* const found = std::ranges::find(kRows, std::string_view(node.op), &ChannelRow::op);
  return found == kRows.end() || !node.domain.empty() ? nullptr : found;
}

std::int64_t weights_of(const network::Network& network, const network::Node& node,
                        const ChannelRow& row) {
  if (row.turned_by.empty()) return *row.weights;
  const auto attributes = network.attributes(node);
  if (!attributes) return *row.weights;
  const auto found = attributes->find(row.turned_by);
  const bool turned = found != attributes->end() && found->second.integer.value_or(0) != 0;
  return turned ? row.turned_weights : *row.weights;
}

}  // namespace

ChannelAxis channel_axis(const network::Network& network, const Flow& flow, std::uint32_t value) {
  const network::Value& own = network.values()[value];
  for (const FlowReader& reader : flow.readers(value)) {
    const network::Node& node = network.nodes()[reader.node];
    const ChannelRow* const row = find_row(node);
    if (row == nullptr) continue;
    if (own.weight && reader.input == 1 && row->weights) return weights_of(network, node, *row);
    if (!own.weight && reader.input == 0) return row->activations;
  }
  if (own.weight) return std::nullopt;
  const ChannelRow* const made =
      own.node == kNoNode ? nullptr : find_row(network.nodes()[own.node]);
  return made != nullptr ? made->activations : kUsualChannels;
}

std::optional<std::uint32_t> channel_dim(const ChannelAxis& axis, std::size_t rank) {
  if (!axis || rank < 2) return std::nullopt;
  const std::int64_t dim = *axis < 0 ? static_cast<std::int64_t>(rank) + *axis : *axis;
  if (dim < 0 || dim >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::uint32_t>(dim);
}

namespace {

constexpr std::uint64_t kMaxChannels = 1U << 16;

// A channel with fewer numbers has a scale that tells the numbers, not the channel.
constexpr std::uint64_t kMinNumbers = 8;

}  // namespace

AxisPosition ChannelMaxima::place(const Dims& dims, std::uint64_t first) const {
  std::uint64_t inner = 1;
  for (std::size_t d = axis_ + 1; d < dims.size(); ++d) inner *= dims[d];
  return {.first = first, .inner = inner, .indices = maxima_.size()};
}

void ChannelMaxima::begin(const Dims& dims, const ChannelAxis& axis) {
  const auto dim = channel_dim(axis, dims.size());
  std::uint64_t elements = 1;
  for (const std::uint64_t size : dims) elements *= size;
  const std::uint64_t channels = dim ? dims[*dim] : 0;
  const bool none = channels < 2 || channels > kMaxChannels || elements / channels < kMinNumbers;
  mixed_ |= none || (begun_ && (*dim != axis_ || channels != maxima_.size()));
  begun_ = true;
  if (mixed_) return;
  axis_ = *dim;
  maxima_.resize(channels);
  now_ = place(dims, 0);
}

void ChannelMaxima::take(std::uint64_t first, std::span<const double> numbers) {
  if (mixed_) return;
  now_.first = first;
  by_indices(
      numbers.data(), numbers.size(), now_,
      [&](std::uint64_t channel, const double* some, std::uint64_t count) {
        keep_largest_magnitude(some, count, maxima_[channel]);
      },
      [&](std::uint64_t channel, const double* some, std::uint64_t count) {
        keep_largest_magnitudes(some, count, &maxima_[channel]);
      });
}

std::uint64_t ChannelMaxima::highest() const {
  return static_cast<std::uint64_t>(std::ranges::max_element(maxima_) - maxima_.begin());
}

double ChannelMaxima::largest_but(std::uint64_t channel) const {
  double largest = 0;
  for (std::size_t i = 0; i < maxima_.size(); ++i)
    if (i != channel) largest = std::max(largest, maxima_[i]);
  return largest;
}

double ChannelMaxima::median() const {
  std::vector<double> sorted = maxima_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

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
    return ScaledMeasure{
        .types = {}, .trouble = found.error().text(), .unread = is_read_error(found.error())};
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

bool needs_scale(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return can_scale(dtype) && row.bits <= 8 && row.kind != NumberKind::unsigned_integer;
}

std::span<const Named<FitScaling>> fit_scalings() { return kScalingNames; }

std::string_view fit_scaling_name(FitScaling state) {
  return std::ranges::find(kScalingNames, state, &Named<FitScaling>::value)->name;
}

}  // namespace btf

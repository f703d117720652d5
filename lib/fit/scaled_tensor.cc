// Finds a tensor's scales in types of few codes, and the error of each, in two passes.
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

// One tensor, in all dumps together.
struct ScaledSource {
  std::size_t dumps = 1;
  std::function<Result<Numbers>(std::size_t dump)> open;
  ChannelAxis axis{};
};

constexpr double kMinGain = 3;           // in dB, of a scale for each channel; less is not reported
constexpr double kOutlierFraction = .5;  // of the gain, that an outlier must be the reason for
constexpr double kMinOutlierRatio = 1.4;  // of its magnitude to the next; less cannot gain that

double decibels(double signal, double error) {
  // Squares of doubles outside the range of floats may overflow or vanish.
  if (signal == 0 || !std::isfinite(error)) return -HUGE_VAL;
  if (error == 0) return HUGE_VAL;
  return 10 * std::log10(signal / error);
}

// Scales to try: one for all numbers, or one for each channel.
struct Attempt {
  std::vector<double> scales;
  ScalingErrors errors{};
};

// The attempts for one type.
struct Attempts {
  Narrowing codes;
  std::vector<Attempt> tensor;                                  // one for each different scale
  std::vector<std::pair<FitScaleMethod, std::size_t>> methods;  // their indices in `tensor`
  std::optional<Attempt> channels{};
  std::optional<Attempt> outlier{};
};

class ScaledTensor {
 public:
  ScaledTensor(const ScaledSource& source, std::span<const DType> dtypes,
               const Execution& execution)
      : source_(source), dtypes_(dtypes), execution_(execution) {}

  // The result for each type, without names; empty if the tensor does not hold floats. Fails if a
  // dump's numbers cannot be read.
  Result<std::vector<FitScaledTensor>> run() {
    BTF_TRY(each_run([&](const Dims& dims, std::uint64_t first, std::span<const double> some) {
      if (first == 0) channels_.begin(dims, source_.axis);
      magnitudes_.take(some);
      channels_.take(first, some);
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
      found.push_back(attempts_.empty() ? unscaled() : result(attempts_[i]));
    return found;
  }

 private:
  template <typename Take>
  Status each_run(Take&& take) {
    for (std::size_t dump = 0; dump < source_.dumps; ++dump) {
      BTF_ASSIGN(Numbers numbers, source_.open(dump));
      if (!numbers.floating()) continue;
      floating_ = true;
      BTF_TRY(numbers.each_run(kFitRun, [&](std::uint64_t first, std::span<const double> some) {
        take(numbers.dims(), first, some);
        return check_cancelled(execution_);
      }));
    }
    return {};
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
    if (next == 0 || channels_.maxima()[highest] < kMinOutlierRatio * next) return attempts;
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

  // The result without scales.
  FitScaledTensor unscaled() const {
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
    FitScaledTensor tensor = unscaled();
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

  // `one`: the SNR with one scale by the maximum.
  FitChannels channels(const Attempts& attempts, double one) const {
    FitChannels found{
        .axis = channels_.axis(), .count = channels_.count(), .snr = snr(*attempts.channels)};
    found.gain = found.snr == one ? 0 : found.snr - one;
    if (!attempts.outlier || found.gain < kMinGain) return found;
    const double apart = snr(*attempts.outlier);
    if (apart - one < kOutlierFraction * found.gain) return found;
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

using network::kNoNode;

// The axes of the channels of an operator in ONNX's own domain.
struct ChannelRow {
  std::string_view op;
  std::int64_t activations = 0;
  ChannelAxis weights{};                // the channels of the results, in the second input
  std::string_view transposed_by = {};  // an attribute; if it is not 0, the axis is the next member
  std::int64_t transposed_weights = 0;
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
  if (row.transposed_by.empty()) return *row.weights;
  const auto attributes = network.attributes(node);
  if (!attributes) return *row.weights;
  const auto found = attributes->find(row.transposed_by);
  const bool transposed = found != attributes->end() && found->second.integer.value_or(0) != 0;
  return transposed ? row.transposed_weights : *row.weights;
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

constexpr std::uint64_t kMaxChannels = 1U << 16;

// With fewer numbers in a channel, its scale describes these numbers, not the channel.
constexpr std::uint64_t kMinNumbers = 8;

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

std::vector<ScaleCandidate> candidates_by_name(const std::vector<Dump>& dumps) {
  std::vector<ScaleCandidate> all;
  std::map<std::string, std::size_t> known;
  for (const Dump& dump : dumps)
    for (const DumpedTensor& tensor : dump.tensors()) {
      const auto [at, added] = known.emplace(tensor.name, all.size());
      if (added) all.push_back({.name = tensor.name});
      all[at->second].places.emplace_back(&dump, &tensor);
    }
  return all;
}

std::vector<ScaleCandidate> candidates_by_graph(const network::Network& network,
                                                const std::vector<Dump>& dumps) {
  const Flow flow(network);
  std::vector<ScaleCandidate> all;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    const network::Value& own = network.values()[value];
    ScaleCandidate candidate{.name = own.name,
                             .value = value,
                             .weight = own.weight.has_value(),
                             .axis = channel_axis(network, flow, value)};
    for (const Dump& dump : dumps)
      if (const DumpedTensor* const tensor = dump.find(value))
        candidate.places.emplace_back(&dump, tensor);
    if (candidate.weight || !candidate.places.empty()) all.push_back(std::move(candidate));
  }
  return all;
}

ScaledSource source_of(const ScaleCandidate& candidate, const network::Network* network) {
  ScaledSource source{
      .dumps = candidate.weight ? 1 : candidate.places.size(), .open = {}, .axis = candidate.axis};
  source.open = [&candidate, network](std::size_t dump) -> Result<Numbers> {
    if (candidate.weight) {
      BTF_ASSIGN(network::StoredNumbers stored,
                 network->weight(network->values()[candidate.value]));
      return Numbers(std::move(stored));
    }
    const auto& [from, tensor] = candidate.places[dump];
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
  const NarrowType type(kGainDType);
  std::optional<DumpMeasures> last;  // its weights are used again
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    const Dump& dump = dumps[d];
    DumpMeasures measures;
    if (pieces != nullptr) {
      measures = assemble_measures(network, dump, type, *pieces->dumps[d].nodes);
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

std::vector<ScaleCandidate> scale_candidates(const network::Network* network,
                                             const std::vector<Dump>& dumps) {
  return network != nullptr ? candidates_by_graph(*network, dumps) : candidates_by_name(dumps);
}

Result<ScaledMeasure> measure_candidate(const ScaleCandidate& candidate,
                                        const network::Network* network,
                                        std::span<const DType> dtypes, const Execution& execution) {
  auto found = ScaledTensor(source_of(candidate, network), dtypes, execution).run();
  if (!found) {
    if (found.error().code == ErrorCode::cancelled) return std::unexpected(found.error());
    return ScaledMeasure{
        .types = {}, .trouble = found.error().text(), .unread = is_read_error(found.error())};
  }
  if (execution.progress && !candidate.weight && !found->empty())
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

Result<ScaleResults> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                                std::span<const DType> dtypes, const Execution& execution,
                                const ScaledPieces* pieces) {
  const std::vector<ScaleCandidate> candidates = scale_candidates(network, dumps);
  std::vector<ScaledMeasure> measured(candidates.size());
  if (pieces != nullptr)
    measured = pieces->candidates;
  else
    BTF_TRY(for_each_piece(execution, candidates.size(), [&](std::uint64_t i) -> Status {
      BTF_ASSIGN(measured[i], measure_candidate(candidates[i], network, dtypes, execution));
      return {};
    }));
  ScaleResults found;
  for (const DType dtype : dtypes)
    found.types.push_back({.dtype = dtype, .tensors = {}, .layers = {}, .outputs = {}});
  std::vector<std::vector<double>> relative(
      dtypes.size(), std::vector<double>(network != nullptr ? network->values().size() : 0, 0));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!measured[i].trouble.empty())
      (candidates[i].weight && !measured[i].unread ? found.warnings : found.troubles)
          .push_back(measured[i].trouble);
    for (std::size_t type = 0; type < measured[i].types.size(); ++type) {
      FitScaledTensor& tensor = measured[i].types[type];
      tensor.name = candidates[i].name;
      tensor.weight = candidates[i].weight;
      if (network != nullptr) relative[type][candidates[i].value] = relative_error(tensor);
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

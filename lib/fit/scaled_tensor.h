// A tensor in a type of few codes: the dim of its channels, and the error with one scale and with a
// scale for each channel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit.h"
#include "btf/layout.h"
#include "convert/quantize/scales.h"
#include "fit/dump_measures.h"
#include "fit/node_measure.h"
#include "fit/scaled_layers.h"
#include "fit/sensitivity.h"
#include "network/network.h"

namespace btf {

// The dim of a tensor's channels. Negative axes count from the end; -1 is the last dim.
using ChannelAxis = std::optional<std::int64_t>;

inline constexpr std::int64_t kUsualChannels = 1;  // if no operator determines the axis

// Weights have the axis of the results of the operator that multiplies by them; unset for other
// weights. Activations have that of the operator that reads or makes them.
ChannelAxis channel_axis(const network::Network& network, const Flow& flow, std::uint32_t value);

// The dim in a tensor of this rank; unset if it has no channels.
std::optional<std::uint32_t> channel_dim(const ChannelAxis& axis, std::size_t rank);

// The largest magnitude of each channel of a tensor.
class ChannelMaxima {
 public:
  // Must be called for the tensor of each dump, before its numbers. If the dumps differ in their
  // channels, there are no maxima.
  void begin(const Dims& dims, const ChannelAxis& axis);
  // Takes numbers from the element with the row-major index `first` on.
  void take(std::uint64_t first, std::span<const double> numbers);

  // Returns true if there are enough channels to judge whether scales for each are worth it.
  bool known() const { return !mixed_ && maxima_.size() > 1; }
  std::uint32_t axis() const { return axis_; }
  std::uint64_t count() const { return maxima_.size(); }
  std::span<const double> maxima() const { return maxima_; }
  AxisPosition place(const Dims& dims, std::uint64_t first) const;

  std::uint64_t highest() const;                    // the channel with the largest magnitude
  double largest_but(std::uint64_t channel) const;  // the largest magnitude of all others
  double median() const;

 private:
  std::vector<double> maxima_;
  std::uint32_t axis_ = 0;
  AxisPosition now_{};
  bool begun_ = false;
  bool mixed_ = false;
};

struct ScaleResults {
  std::vector<FitOfScales> types;
  std::vector<std::string> troubles;  // of dumped tensors that cannot be read
  std::vector<std::string> warnings;  // of weights that cannot be used
};

// A tensor with the dumps that have it, or a weight of the network.
struct ScaleCandidate {
  std::string name;
  std::vector<std::pair<const Dump*, const DumpedTensor*>> places{};
  std::uint32_t value = network::kNoValue;  // of the network
  bool weight = false;
  ChannelAxis axis = kUsualChannels;
};

// `network`: nullptr without a graph.
std::vector<ScaleCandidate> scale_candidates(const network::Network* network,
                                             const std::vector<Dump>& dumps);

struct ScaledMeasure {
  std::vector<FitScaledTensor> types{};  // empty if the tensor does not hold floats
  std::string trouble{};                 // why it cannot be used
  bool unread = false;                   // `trouble` is an error of reading
};

// Fails only if the caller cancels.
Result<ScaledMeasure> measure_candidate(const ScaleCandidate& candidate,
                                        const network::Network* network,
                                        std::span<const DType> dtypes, const Execution& execution);

// The relative error on most devices, where weights have a scale for each channel.
double relative_error(const FitScaledTensor& tensor);

// The gains of nodes are measured with a type that has the range of float32: nothing overflows, and
// its rounding errors show how errors grow.
inline constexpr DType kGainDType = DType::bfloat16;

// Returns true if the errors of the type's codes have the same size in every element.
bool has_uniform_errors(DType dtype);

// The measures of several processes.
struct ScaledPieces {
  std::vector<ScaledMeasure> candidates;  // in the order of scale_candidates()
  struct DumpGains {
    const DumpPieces* nodes = nullptr;             // measured with kGainDType
    std::vector<std::vector<UniformGains>> gains;  // by type and node
  };
  std::vector<DumpGains> dumps;  // with a network
};

// `pieces`: nullptr if everything is measured here.
Result<ScaleResults> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                                std::span<const DType> dtypes, const Execution& execution,
                                const ScaledPieces* pieces = nullptr);

}  // namespace btf

// A tensor in a type of few codes: the types, which dim its channels are, and what a scale costs
// for all and for each channel.
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

// Which dim of a tensor its channels are.

// Below zero: from the last dim on, which is -1.
using ChannelAxis = std::optional<std::int64_t>;

// Where no operator says otherwise: the second dim.
inline constexpr std::int64_t kUsualChannels = 1;

// The axis of weights is that of the results of what multiplies by them; of others none is known.
// Activations have that of what reads or makes them.
ChannelAxis channel_axis(const network::Network& network, const Flow& flow, std::uint32_t value);

// The dim of a tensor of this rank. Nothing: it has no channels.
std::optional<std::uint32_t> channel_dim(const ChannelAxis& axis, std::size_t rank);

// The largest magnitude of each channel of a tensor, and what stands out among them.

class ChannelMaxima {
 public:
  // Begins a dump's tensor, before its numbers. Dumps whose channels differ have none.
  void begin(const Dims& dims, const ChannelAxis& axis);
  // From the row-major number `first` on.
  void take(std::uint64_t first, std::span<const double> numbers);

  // Channels enough for it to be told whether scales of their own are worth it?
  bool known() const { return !mixed_ && maxima_.size() > 1; }
  std::uint32_t axis() const { return axis_; }
  std::uint64_t count() const { return maxima_.size(); }
  std::span<const double> maxima() const { return maxima_; }
  AxisPosition place(const Dims& dims, std::uint64_t first) const;

  // The channel with the largest magnitude; the largest of the others.
  std::uint64_t highest() const;
  double largest_but(std::uint64_t channel) const;
  double median() const;

 private:
  std::vector<double> maxima_;
  std::uint32_t axis_ = 0;
  AxisPosition now_{};
  bool begun_ = false;
  bool mixed_ = false;
};

// All tensors of the dumps, and the network's weights, in types of few codes.

struct ScalesFound {
  std::vector<FitOfScales> types;
  std::vector<std::string> troubles;  // dumped tensors that cannot be read
  std::vector<std::string> warnings;  // weights that cannot
};

// A tensor with the dumps that have it, or a weight.
struct ScaledWanted {
  std::string name;
  std::vector<std::pair<const Dump*, const DumpedTensor*>> places{};
  std::uint32_t value = network::kNoValue;  // of the network
  bool weight = false;
  ChannelAxis axis = kUsualChannels;
};

// `network`: nullptr, where there is none.
std::vector<ScaledWanted> wanted_scales(const network::Network* network,
                                        const std::vector<Dump>& dumps);

// The measures of one of them, by type; none: it holds no floats.
struct ScaledMeasure {
  std::vector<FitScaledTensor> types{};
  std::string trouble{};  // why it cannot be used
  bool unread = false;    // that is an error of reading it
};

// An error: the caller has asked to stop.
Result<ScaledMeasure> measure_wanted(const ScaledWanted& wanted, const network::Network* network,
                                     std::span<const DType> dtypes, const Execution& execution);

// The error over the value, as most devices have it: weights with a scale for each channel.
double relative_error(const FitScaledTensor& tensor);

// Gains of nodes are measured by a type with the range of float32: its rounding breaks nothing, and
// shows how errors grow.
inline constexpr DType kGainsBy = DType::bfloat16;

// Do codes of a type have errors as large in every element?
bool has_uniform_errors(DType dtype);

// The same by several processes.
struct ScaledPieces {
  std::vector<ScaledMeasure> wanted;  // by wanted_scales()
  struct OfDump {
    const DumpPieces* nodes = nullptr;             // by kGainsBy
    std::vector<std::vector<UniformGains>> gains;  // by type, those with uniform errors; by node
  };
  std::vector<OfDump> dumps;  // with a network
};

// `pieces`: nullptr, where all is measured here.
Result<ScalesFound> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                               std::span<const DType> dtypes, const Execution& execution,
                               const ScaledPieces* pieces = nullptr);

}  // namespace btf

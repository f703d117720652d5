// All tensors of the dumps, and the network's weights, in types of few codes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit/scales.h"
#include "fit/measure/dump.h"
#include "fit/measure/dump_measures.h"
#include "fit/scales/channel_axis.h"
#include "fit/scales/uniform_gains.h"
#include "network/network.h"

namespace btf {

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

// Details of one tensor beyond its header, as requested from inspect.
#pragma once

#include <optional>

#include "btf/file.h"
#include "btf/inspect/channels.h"
#include "btf/inspect/distribution.h"
#include "btf/read.h"
#include "btf/stats.h"
#include "cli/options.h"
#include "inspect/values.h"

namespace btftool {

struct InspectDetails {
  std::optional<btf::DType> dtype;  // of the numbers that were read, where any were
  std::optional<btf::TensorStats> stats;
  std::optional<btf::Distribution> distribution;
  btf::DistributionOptions asked{};  // of the distribution
  std::optional<btf::Channels> channels;
  std::optional<btf::Error> no_channels;  // why, where they were asked for
  std::optional<ValueView> values;
  std::optional<btf::Dims> at;
  btf::Element element;
};

btf::Result<InspectDetails> read_details(const btf::TensorFile& file, const btf::TensorInfo& listed,
                                         const InspectOptions& options,
                                         const btf::Execution& execution);

bool is_extension(const btf::TensorInfo& tensor);

// Why TensorRT or a DLA would not take its dims in its layout.
std::optional<std::string> tensorrt_limits(const btf::TensorInfo& tensor);

// Strides in bytes of the stored array, innermost first, as NvMedia counts them.
btf::Dims byte_strides(const btf::TensorInfo& tensor);

}  // namespace btftool

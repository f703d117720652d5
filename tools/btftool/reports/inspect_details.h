// Details that inspect shows: values, and a TensorRT engine's layer list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "cli/arguments.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

// inspect of a TensorRT engine's layer list: its tensors as a manifest would have them, without
// data.

btf::Status inspect_engine(const Context& context, const InspectOptions& options,
                           const std::string& path);

// The values of a tensor, or of a part of it, arranged as NumPy prints an array.

class ValueView {
 public:
  // An error if that is more than a million. Reads what will be shown: everything of the slice if
  // that is at most `threshold` elements, otherwise three at both ends of every dim.
  static btf::Result<ValueView> read(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                     const std::vector<btf::SlicedDim>& slice,
                                     std::uint64_t threshold);

  // Several lines, without a last newline; `width`: of each, but for brackets at its end.
  std::string text(std::size_t width) const;
  Json json() const;  // nested arrays; "..." for what is left out

 private:
  // Positions shown of a dim that is kept; kGap marks omitted ones.
  using Positions = std::vector<std::uint64_t>;
  static constexpr std::uint64_t kGap = UINT64_MAX;

  struct Place {
    std::size_t dim = 0;
    std::size_t indent = 1;
    std::size_t width = 0;  // of lines
  };

  void print(Place at, std::size_t& next, std::string& out) const;
  Json nest(std::size_t dim, std::size_t& next) const;

  btf::DType dtype_{};
  std::vector<Positions> shown_;      // per kept dim, outermost first
  std::vector<std::uint64_t> codes_;  // of what is shown, row-major
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
};

// Details of one tensor beyond its header, as requested from inspect.

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

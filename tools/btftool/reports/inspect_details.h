// Details that inspect prints: values, statistics, and the layer list of a TensorRT engine.
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

// Prints the tensors of a TensorRT engine's layer list, which has no data.
btf::Status inspect_engine(const Context& context, const InspectOptions& options,
                           const std::string& path);

// The values of a slice of a tensor, arranged as NumPy prints an array.
class ValueView {
 public:
  // Reads the whole slice if it has at most `threshold` elements, otherwise three elements at both
  // ends of every dim. Fails if these are more than a million.
  static btf::Result<ValueView> read(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                     const std::vector<btf::SlicedDim>& slice,
                                     std::uint64_t threshold);

  // Returns lines of at most `width` characters, not counting brackets at their ends, without a
  // newline after the last.
  std::string text(std::size_t width) const;
  Json json() const;  // nested arrays; "..." stands for values that are left out

 private:
  // The positions of a dim that are shown; kGap marks a gap.
  using Positions = std::vector<std::uint64_t>;
  static constexpr std::uint64_t kGap = UINT64_MAX;

  struct Place {
    std::size_t dim = 0;
    std::size_t indent = 1;
    std::size_t width = 0;  // width of lines
  };

  void print(Place at, std::size_t& next, std::string& out) const;
  Json nest(std::size_t dim, std::size_t& next) const;

  btf::DType dtype_{};
  std::vector<Positions> shown_;      // for each dim that the slice keeps, outermost first
  std::vector<std::uint64_t> codes_;  // codes of the elements that are shown, row-major
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
};

// Details of one tensor beyond its header, as far as they were requested.
struct InspectDetails {
  std::optional<btf::DType> dtype;  // dtype of the values that were read, if any were
  std::optional<btf::TensorStats> stats;
  std::optional<btf::Distribution> distribution;
  btf::DistributionOptions asked{};  // the options for `distribution`
  std::optional<btf::Channels> channels;
  std::optional<btf::Error> no_channels;  // why `channels` is unset although it was requested
  std::optional<ValueView> values;
  std::optional<btf::Dims> at;
  btf::Element element;
};

btf::Result<InspectDetails> read_details(const btf::TensorFile& file, const btf::TensorInfo& listed,
                                         const InspectOptions& options,
                                         const btf::Execution& execution);

bool is_extension(const btf::TensorInfo& tensor);

// Returns why TensorRT or a DLA would not accept the dims of the tensor in its layout, if so.
std::optional<std::string> tensorrt_limits(const btf::TensorInfo& tensor);

// Returns the strides of the stored array in bytes, innermost first, as in NvMedia.
btf::Dims byte_strides(const btf::TensorInfo& tensor);

}  // namespace btftool

// Layout, dtype, dims and sparsity of tensors, from file to file and in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/edit.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/quantize.h"
#include "btf/tensor_spec.h"
#include "btf/tensor_view.h"

namespace btf {

class TensorSet;

// A number of elements of a tensor, or a percentage of them.
struct LossLimit {
  double most = 0;
  bool percent = false;
};

// The most that a tensor may lose. A conversion that loses more is refused: nothing is written.
struct LossLimits {
  std::optional<LossLimit> zero{};      // elements that became zero
  std::optional<LossLimit> overflow{};  // elements beyond the target's range
  // Least 10 log10(sum x^2 / sum (y - x)^2) in dB, of elements x written as codes of the values y.
  std::optional<double> snr{};
};

// As `snr_sample`, a fraction of a millisecond.
inline constexpr std::uint64_t kSnrSample = 4096;

struct ConvertOptions {
  std::optional<DType> dtype{};    // nothing: each tensor keeps its own
  std::optional<Layout> layout{};  // likewise; Layout::coo makes tensors sparse
  // In this order, by their numbers in the set or file; nothing: all.
  std::optional<std::vector<std::uint64_t>> tensors{};
  // From the name that a tensor has to another.
  std::map<std::string, std::string> rename{};
  // Names of the output's tensors, in order; an empty one is none. Nothing: each keeps its own, and
  // where several files go into one, a tensor without any gets the one made of its file's.
  std::optional<std::vector<std::string>> names{};
  bool drop_names = false;    // write none
  std::vector<Edit> edits{};  // of the dims, in this order, before anything else
  CastPolicy policy{};
  LossLimits limits{};
  // Elements of a dense cast of which the signal-to-noise ratio is measured where no limit asks for
  // that of all: evenly spread, the same ones whatever the threads. 0: none.
  std::uint64_t snr_sample = 0;
  Quantization quantization{};
  Duplicates duplicates = Duplicates::error;
  bool prune_zeros = false;     // COO to COO: leave out explicit zeros
  bool where_possible = false;  // a tensor that cannot take the layout keeps its own
  // True: Layout::shuffled for every dense tensor whose elements have several bytes. False: for
  // none, those become kLINEAR. Nothing: as `layout` says, or as the tensor is.
  std::optional<bool> shuffle{};
  bool plain = false;  // write the stored array as an ordinary dense record
  std::optional<TensorSpec>
      spec{};            // raw output: dtype, layout or strides, and the dims it must have
  std::string format{};  // of the output: "btf", "npy", ...; empty: see output_format()
  bool as_uint = false;  // .npy: dtypes without a NumPy name as unsigned integers, not as void
  std::optional<std::uint8_t> coo_code{};  // nothing: the recipient's, else kCooCodeSpec
  std::optional<Recipient> recipient{};    // tensors it cannot read are refused
  // Compress into the seekable zstd format at this level (kMinCompression to
  // kGreatestCompression); nothing: as it is.
  std::optional<int> compression{};
  bool sync = false;  // survive a power cut
  // Paths of files besides the input that the caller reads or writes: outputs in a directory, whose
  // names only show once the input is open, take the place of none of them.
  std::vector<std::string> reserved{};
  Execution execution{};
};

// Levels of compression, as the zstd tool counts them.
inline constexpr int kMinCompression = 1;
inline constexpr int kDefaultCompression = 3;
inline constexpr int kGreatestCompression = 22;

// The conversion of one tensor. The target's members describe the record: a plain one is kLINEAR
// with the shape of the stored array.
struct TensorReport {
  std::uint64_t source = 0;  // number in the input
  std::uint64_t target = 0;  // index in the output
  std::string name;
  std::string output;  // of files in a directory: the path
  DType source_dtype{};
  DType target_dtype{};
  Layout source_layout{};
  Layout target_layout{};
  Dims source_dims;
  Dims target_dims;
  std::uint64_t data_bytes = 0;  // of the result
  std::optional<std::uint64_t> nnz;
  LossAccount loss;
  std::optional<double> snr;              // in dB, where a limit asks for it: see LossLimits
  std::optional<double> snr_about;        // else, of up to ConvertOptions::snr_sample elements
  std::vector<double> scales;             // of the tensor or of each index of the axis; empty: none
  std::vector<std::int64_t> zero_points;  // found or read, one for each of the scales; else empty
  std::vector<std::uint64_t> scale_targets;  // indices of the records of scales and zero points
  std::optional<std::string> kept;           // why the tensor kept its layout (where_possible)
  bool unlinked = false;  // its scales or zero points are left out, and with them the link to them
  std::vector<std::string> objections;  // why TensorRT would not take dtype, layout and dims
};

// Called for every tensor, in the order of the output, when it has been written. A report is final
// only when convert() has returned without an error.
using TensorReportSink = std::function<void(const TensorReport&)>;

// options.format, else "raw" with a spec, else as the end of the name says: ".npy", ...; "btf"
// for all others.
BTF_API Result<std::string_view> output_format(const std::string& output,
                                               const ConvertOptions& options);

// Options that do not go together, or not with a format ("btf", "npy", ...; empty: not known
// yet). convert() asks too. Errors name members of the options in backticks: `quantization.axis`.
BTF_API Status check_options(const ConvertOptions& options, std::string_view format = {});

// Writes a canonical file of that format, compressed if the options say so or its name is
// .zst, and returns its size in bytes. `output` is "-" for stdout and may be a file of the input;
// it holds the old file or the whole new one whatever happens.
//
// In a directory a single file keeps its name. With a format or new names in the options, and of
// several files or a directory, each becomes a file of its own with its name and the format's
// ending, or, in a format that holds one tensor, a file for each tensor under the tensor's name; a
// directory with a slash at its end is made then. Everything is decided and measured before the
// first is written; then each is old or whole new. Returned are all their bytes.
BTF_API Result<std::uint64_t> convert(const TensorSet& input, const std::string& output,
                                      const ConvertOptions& options,
                                      const TensorReportSink& report = {});
BTF_API Result<std::uint64_t> convert(const TensorFile& input, const std::string& output,
                                      const ConvertOptions& options,
                                      const TensorReportSink& report = {});

// Both layouts must have the same dims, and source and target no memory in common. Padding of the
// target becomes zero.
BTF_API Result<LossAccount> convert(const TensorView& source, const MutableTensorView& target,
                                    const CastPolicy& policy = {}, const Execution& execution = {});

}  // namespace btf

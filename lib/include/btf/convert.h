// Converts tensors to another layout, dtype, dims, sparsity or file format, from file to file and
// in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
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
#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"

namespace btf {

// A number of elements of a tensor, or a percentage of them.
struct LossLimit {
  double most = 0;
  bool percent = false;
};

// The most that a tensor may lose. A conversion that loses more is refused: nothing is written.
struct LossLimits {
  std::optional<LossLimit> zero{};      // elements that became zero
  std::optional<LossLimit> overflow{};  // elements beyond the target's range
  // Least 10 log10(sum x^2 / sum (y - x)^2) in dB, where y is the value of the code written for x.
  std::optional<double> snr{};
};

// A good value for `snr_sample`: it costs a fraction of a millisecond per tensor.
inline constexpr std::uint64_t kSnrSample = 4096;

// The defaults copy every tensor with its dtype, layout and name into the format that the output's
// name says.
struct ConvertOptions {
  std::optional<DType> dtype{};    // unset: each tensor keeps its own
  std::optional<Layout> layout{};  // unset: each tensor keeps its own. Layout::coo makes it sparse
  // Numbers of tensors in the set or file, in the order to write them. Unset: all.
  std::optional<std::vector<std::uint64_t>> tensors{};
  // New names by old names.
  std::map<std::string, std::string> rename{};
  // Names of the output's tensors, in order; empty for no name. Unset: each keeps its own, and if
  // several files go into one, a tensor without a name gets one made from that of its file.
  std::optional<std::vector<std::string>> names{};
  // Writes no names.
  bool drop_names = false;
  // Applied to the dims in this order, before everything else.
  std::vector<Edit> edits{};
  CastPolicy policy{};
  LossLimits limits{};
  // How many elements of each dense cast the signal-to-noise ratio is estimated from, if no limit
  // asks for that of all elements. They are evenly spread. 0: none.
  std::uint64_t snr_sample = 0;
  Quantization quantization{};
  // How entries with the same index are combined if a COO tensor becomes dense.
  Duplicates duplicates = Duplicates::error;
  // COO to COO: drops entries that are zero.
  bool prune_zeros = false;
  // A tensor that cannot have the layout keeps its own, and the report says why. By default it is
  // an error.
  bool where_possible = false;
  // True: Layout::shuffled for every dense tensor whose elements have several bytes, which
  // compresses better. False: kLINEAR for shuffled tensors. Unset: as `layout` says, or as the
  // tensor is.
  std::optional<bool> shuffle{};
  // Writes the stored array, padding and all, as an ordinary dense tensor.
  bool plain = false;
  // For raw output: dtype, layout or strides, and the dims that the tensor must have.
  std::optional<TensorSpec> spec{};
  // Format of the output: "btf", "npy", ... Empty: see output_format().
  std::string format{};
  // .npy: writes dtypes that NumPy lacks as unsigned integers of the same size.
  bool as_uint = false;
  // The layout code of COO tensors. Unset: the recipient's, else kCooCodeSpec.
  std::optional<std::uint8_t> coo_code{};
  // Refuses tensors that this program cannot read.
  std::optional<Recipient> recipient{};
  // Compresses with seekable zstd at this level (kMinCompression to kGreatestCompression). Unset:
  // only if the output's name ends in .zst.
  std::optional<int> compression{};
  // Waits until the output is on the disk, so that it survives a power cut. Slow; off by default.
  bool sync = false;
  // Files besides the input that the caller reads or writes. Outputs in a directory, whose names
  // are not known in advance, never replace them.
  std::vector<std::string> reserved{};
  Execution execution{};
};

// Levels of compression, as the zstd tool counts them.
inline constexpr int kMinCompression = 1;
inline constexpr int kDefaultCompression = 3;
inline constexpr int kGreatestCompression = 22;

// What was done to one tensor. The target members describe what was written: with
// ConvertOptions::plain it is kLINEAR with the shape of the stored array.
struct TensorReport {
  std::uint64_t source = 0;  // number in the input
  std::uint64_t target = 0;  // index in the output
  std::string name;
  std::string output;  // path of the file, if the output is a directory
  DType source_dtype{};
  DType target_dtype{};
  Layout source_layout{};
  Layout target_layout{};
  Dims source_dims;
  Dims target_dims;
  std::uint64_t data_bytes = 0;  // of the result
  std::optional<std::uint64_t> nnz;
  LossAccount loss;
  std::optional<double> snr;        // in dB, if a limit asks for it (LossLimits)
  std::optional<double> snr_about;  // else an estimate from ConvertOptions::snr_sample elements
  std::vector<double> scales;       // one, or one for each index of the axis; may be empty
  std::vector<std::int64_t> zero_points;     // found or read, one for each scale; may be empty
  std::vector<std::uint64_t> scale_targets;  // indices in the output of scales and zero points
  std::optional<std::string> kept;           // why the tensor kept its layout (where_possible)
  bool unlinked = false;  // its scales or zero points were not selected, so the link is dropped
  std::vector<std::string> objections;  // why TensorRT does not support dtype, layout and dims
};

// Called for every tensor, in the order of the output, after it was written. Reports only hold if
// convert() returns without an error.
using TensorReportSink = std::function<void(const TensorReport&)>;

// The format that is written: options.format, else "raw" if there is a spec, else by the extension
// of the name, and "btf" for all other names.
BTF_API Result<std::string_view> output_format(const std::string& output,
                                               const ConvertOptions& options);

// An error if options contradict each other, or cannot be used with a format ("btf", "npy", ...;
// empty if it is not known yet). convert() checks this too. Errors name members of the options in
// backticks: `quantization.axis`.
BTF_API Status check_options(const ConvertOptions& options, std::string_view format = {});

// Writes a canonical file, compressed if the options say so or its name ends in .zst, and returns
// its size in bytes. `output` is "-" for stdout, and may be a file of the input: it is replaced in
// one step, so that it holds the old or the whole new content whatever happens.
//
// If `output` is a directory, a single file keeps its name. With a format or new names in the
// options, or with several input files, each input becomes a file with its name and the format's
// extension or, in a format that holds one tensor, each tensor becomes a file with its name. The
// directory is created if the path ends in a slash. Everything is checked and measured before the
// first file is written, and each file is replaced in one step. Returns the total size in bytes.
BTF_API Result<std::uint64_t> convert(const TensorSet& input, const std::string& output,
                                      const ConvertOptions& options,
                                      const TensorReportSink& report = {});
BTF_API Result<std::uint64_t> convert(const TensorFile& input, const std::string& output,
                                      const ConvertOptions& options,
                                      const TensorReportSink& report = {});

// Converts a tensor in memory. Both must have the same dims and must not overlap. Padding of the
// target becomes zero.
BTF_API Result<LossAccount> convert(const TensorView& source, const MutableTensorView& target,
                                    const CastPolicy& policy = {}, const Execution& execution = {});

// --- Several processes that convert the files of one directory (docs/scaling.md) ---

// A file of the input before it is converted.
struct PlannedFile {
  std::string name;  // path below the input's directory
  std::string path;
  std::uint64_t bytes = 0;
};

// Decides which files this process converts. Files are numbered as they are passed to pick(). All
// members are called on the caller's thread.
class BTF_API ConvertShare {
 public:
  virtual ~ConvertShare();
  // Called once with all files. Returns the numbers of those to be converted here, ascending.
  virtual Result<std::vector<std::uint64_t>> pick(std::span<const PlannedFile> files) = 0;
  virtual void begin(std::uint64_t number) = 0;
  // Called when a file has been converted to `outputs`, which have `bytes` together.
  virtual void end(std::uint64_t number, std::span<const std::string> outputs,
                   std::uint64_t bytes) = 0;
};

// Converts this process's share of the files into a directory. An error if the output would be one
// file. If a file of the share cannot be converted, nothing of the share is written.
BTF_API Status convert(const TensorSet& input, const std::string& directory,
                       const ConvertOptions& options, ConvertShare& share,
                       const TensorReportSink& report = {});

}  // namespace btf

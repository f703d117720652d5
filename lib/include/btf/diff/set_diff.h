// The comparison of two sets: files, directories, archives, indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/diff/file_differences.h"
#include "btf/diff/tensor_diff.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layers/pair_names.h"
#include "btf/tensor_set.h"

namespace btf {

// Tolerances of single tensors. `*` in globs matches slashes too.
struct TensorTolerance {
  std::int64_t tensor = 0;            // of actual; negative: from the end
  std::optional<std::string> glob{};  // in its place: all whose name it matches, on either side
  Tolerance tolerance{};
  std::string source{};  // for messages: "--rtol 2=1e-2", "rules.json: rules[1]"
  std::string text{};    // for reports: "rtol 1e-2"
};

// A spec (btf/tensor_spec.h) of the files that a glob matches. Dims that it leaves out are those of
// the other side. A dtype alone is also of tensors whose file does not say theirs.
struct SpecRule {
  std::string glob;
  std::string spec;
  std::string source;  // for messages: "--actual-spec 'fc*=fp16'"
};

struct SetDiffSide {
  OpenOptions open{};             // of the set's files
  std::vector<SpecRule> specs{};  // the last that matches counts
};

// A pair before it is compared. `name` holds while it is planned.
struct PlannedPair {
  std::string_view name;           // as FilePair's; empty: the sets are two files
  std::uint64_t actual_bytes = 0;  // of the file; 0: there is none
  std::uint64_t golden_bytes = 0;
  std::uint64_t bytes = 0;  // to read of both: those of a tensor, where tensors are pairs
};

// Chooses among all pairs by their numbers; these ascend.
using PickPairs =
    std::function<Result<std::vector<std::uint64_t>>(std::span<const PlannedPair> pairs)>;

struct SetDiffOptions {
  // Options for every pair of files. Its selections and pairs stay empty: those of sets are here.
  DiffOptions each{};
  SetDiffSide actual{};
  SetDiffSide golden{};
  // "0,2-5,conv*,!fc" (docs/cli.md, section 5): numbers are of each file, names of the sets.
  std::optional<std::string> tensors{};
  // "0:3", "conv1:fc": which tensor of actual with which of golden; empty: all that are pairs.
  std::vector<std::string> pairs{};
  std::vector<TensorTolerance> tensor_tolerances{};  // of globs that match, the last counts
  // Globs of files by path or name, of sets of several.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::string map_path{};  // of `each.map`, for messages
  // Figures of tensors that are the same, if several are compared.
  bool figures_of_several = false;
  std::vector<std::int32_t> heatmap_axes{};  // a tensor that is compared alone must have these
  // Called once, when all else is checked: the other pairs are left out, and comparing nothing is
  // no error.
  PickPairs pick{};
  // What it chooses among are the pairs of tensors of these files, each reported by itself.
  bool pick_tensors = false;
};

// Files of two sets that are compared with each other, or a file that only one set has.
struct FilePair {
  std::string name;    // actual's path, or the path below both directories
  std::string actual;  // paths; empty: there is no such file
  std::string golden;
  // Tensors of several files may have one name, so that reports show the file with it.
  bool tells_file = true;
  std::string actual_name{};  // of tensors that are a pair, actual's name where it differs
  std::uint64_t number = 0;   // among all pairs of the sets, in the order of reports
  // With `pick_tensors`: the pair of tensors, among those of the files.
  std::optional<std::uint64_t> tensor{};

  // "0/xs against xs"
  BTF_API std::string both_names() const;
};

enum class PairResult : std::uint8_t {
  same,
  different,
  missing,
  bytes,  // different too: files beside the tensors
  trouble,
};

struct PairOutcome {
  PairResult result = PairResult::same;
  std::string error{};           // of trouble, and how bytes differ
  std::optional<Error> cause{};  // of trouble of the pair as a whole
  FileDifferences files{};       // beside the tensors
};

// The error of an outcome: that of the first of `count` tensors that could not be compared.
BTF_API std::string trouble_of_tensors(const std::string& first, std::uint64_t count);

// The difference of two files whose tensors are all empty: they are not the same.
BTF_API Error no_element_compared(const std::string& actual_path);

// The pairs of two sets, before the first is compared.
struct PairsFound {
  bool several = false;     // false: they are two files
  std::uint64_t whole = 0;  // pairs of which both sides are there
  std::uint64_t bytes = 0;  // to be compared, if `several` and progress is wanted; else 0
};

// The files of a pair, and the options by which its tensors are compared.
struct ComparedFiles {
  std::shared_ptr<const TensorFile> actual;
  std::shared_ptr<const TensorFile> golden;
  DiffOptions options{};
};

// All on the caller's thread: found(), then for each pair begin(), take() for each of its tensors,
// end(); at last again() and, if that names a pair, files().
class BTF_API SetDiffSink {
 public:
  virtual ~SetDiffSink();
  virtual void warn(const std::string& /*text*/) {}
  // An error ends the comparison.
  virtual Status found(const PairsFound&) { return {}; }
  virtual void begin(const FilePair& pair) = 0;
  virtual void take(const TensorDiff& diff) = 0;
  // True if missing() is to be called for the tensors of a file on one side only.
  virtual bool lists_missing() const { return false; }
  virtual void missing(const TensorDiff&) {}
  virtual void end(const FilePair& pair, const PairOutcome& outcome) = 0;
  // The number of a pair whose files are wanted once more, to draw one of its tensors. Not asked if
  // `pick` is set, nor after an error.
  virtual std::optional<std::uint64_t> again() { return std::nullopt; }
  virtual void files(Result<ComparedFiles>) {}
};

// Two paths as sets whose files have these specs.
BTF_API Result<TwoSets> open_sets(const std::string& actual, const std::string& golden,
                                  const SetDiffOptions& options);

// Reports every pair, in order, and returns whether all were the same; trouble counts as not the
// same. Trouble of a pair is part of the report, and the others are compared; of two files it is
// the error that diff() returns. Comparing nothing is an error, as is a name, glob or tolerance of
// the options that no tensor or file has. Small pairs are compared at the same time.
BTF_API Result<bool> diff(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options,
                          SetDiffSink& sink);

// Is it given for the tensor, by glob or number?
BTF_API bool is_for(const TensorTolerance& given, const TensorDiff& diff);

// The tolerance that the options' globs give for a tensor.
BTF_API Tolerance tolerance_by_name(const std::vector<TensorTolerance>& given,
                                    const TensorDiff& diff);

}  // namespace btf

// Comparison of two sets of tensors: files, directories, archives, indexes of shards.
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
#include "btf/error.h"
#include "btf/file.h"
#include "btf/pair_names.h"
#include "btf/share.h"
#include "btf/tensor_set.h"

namespace btf {

// A difference of two files outside of their tensors: in their metadata, or in their graphs.
struct FileDifference {
  std::string part{};     // "metadata", "node", "input", "output", "opset", ...
  std::string subject{};  // "Conv_3"
  std::string what{};     // "dilations"; empty if the subject as a whole differs
  std::string actual{};   // as text; empty if actual has none
  std::string golden{};

  // "node 'Conv_3': dilations [1, 1] against [2, 2]"
  BTF_API std::string text() const;
};

struct FileDifferences {
  bool graphs = false;  // both are models whose graphs were compared
  std::vector<FileDifference> all{};
  // For two models of which only tensors were to be compared: in which nodes their graphs differ,
  // or why the graphs could not be compared.
  std::string uncompared{};
};

// With `strict` (see DiffOptions) all differences, otherwise only what was left uncompared. An
// error if something that is to be compared cannot be read.
BTF_API Result<FileDifferences> file_differences(const TensorFile& actual, const TensorFile& golden,
                                                 bool strict);

// Tolerances of single tensors. `*` in globs matches slashes too.
struct TensorTolerance {
  std::int64_t tensor = 0;            // number in actual; negative numbers count from the end
  std::optional<std::string> glob{};  // if set, replaces `tensor`: a name of either side matches it
  Tolerance tolerance{};
  std::string source{};  // for messages: "--rtol 2=1e-2", "rules.json: rules[1]"
  std::string text{};    // for reports: "rtol 1e-2"
};

// A spec (btf/tensor_spec.h) for the files whose names a glob matches. Dims that it leaves out are
// taken from the other side. A spec that is a dtype alone also applies to tensors whose file does
// not hold a dtype.
struct SpecRule {
  std::string glob;
  std::string spec;
  std::string source;  // for messages: "--actual-spec 'fc*=fp16'"
};

struct SetDiffSide {
  OpenOptions open{};             // for every file of the set
  std::vector<SpecRule> specs{};  // if several match, the last one applies
};

// A pair before it is compared.
struct PlannedPair {
  // See FilePair; empty if the sets are two files. Refers to a text that is valid only while the
  // function that receives the pair runs.
  std::string_view name;
  std::uint64_t actual_bytes = 0;  // size of the file; 0 if there is none
  std::uint64_t golden_bytes = 0;
  std::uint64_t bytes = 0;  // to be read from both sides
};

// Returns the numbers of the pairs to be compared, ascending.
using PickPairs =
    std::function<Result<std::vector<std::uint64_t>>(std::span<const PlannedPair> pairs)>;

struct SetDiffOptions {
  // Options for every pair of files. Its `actual_tensors`, `golden_tensors`, `pairs` and `pick`
  // must be unset: members below take their place.
  DiffOptions each{};
  SetDiffSide actual{};
  SetDiffSide golden{};
  // A selection such as "0,2-5,conv*,!fc" (docs/cli.md, section 5). Numbers count within each file,
  // names are those of the sets. Unset: all tensors.
  std::optional<std::string> tensors{};
  // Which tensor of actual is compared with which of golden, as in "0:3" or "conv1:fc". Empty:
  // pairs are found as DiffOptions::pair_by says.
  std::vector<std::string> pairs{};
  std::vector<TensorTolerance> tensor_tolerances{};  // if several globs match, the last one applies
  // Globs for paths or names of files, in sets of several files.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::string map_path{};  // path of `each.map`, for messages
  // Figures of tensors that are the same, if several are compared.
  bool figures_of_several = false;
  // Axes that a tensor must have if it is the only one compared.
  std::vector<std::int32_t> heatmap_axes{};
  // Chooses among the pairs of files. Called once, after everything else was checked; comparing
  // nothing is then no error.
  PickPairs pick{};
  // Lets `pick` choose among pairs of tensors, each of which is reported as a pair of its own.
  bool pick_tensors = false;
};

// Files of two sets that are compared with each other, or a file that only one set has.
struct FilePair {
  std::string name;    // actual's path, or the path below both directories
  std::string actual;  // paths; empty if there is no such file
  std::string golden;
  // Tensors of several files may have the same name, so reports show the file with it.
  bool tells_file = true;
  std::string actual_name{};  // actual's name of the tensors, if it differs from golden's
  std::uint64_t number = 0;   // among all pairs of the sets, in the order of reports
  // States of the files when they were opened; unset where a file was not.
  std::optional<FileState> actual_state{};
  std::optional<FileState> golden_state{};
  // With `pick_tensors`: the number of the pair of tensors within the files.
  std::optional<std::uint64_t> tensor{};

  // "0/xs against xs"
  BTF_API std::string both_names() const;
};

enum class PairResult : std::uint8_t {
  same,
  different,
  missing,
  bytes,  // different: files that hold no tensors
  trouble,
};

struct PairOutcome {
  PairResult result = PairResult::same;
  std::string error{};           // message of trouble, or how the bytes differ
  std::optional<Error> cause{};  // error of the pair as a whole
  FileDifferences files{};       // outside of the tensors
};

// The message of an outcome with `count` tensors that could not be compared; `first` is the message
// of the first.
BTF_API std::string trouble_of_tensors(const std::string& first, std::uint64_t count);

// The error of two files whose tensors have no elements: nothing was compared, so they do not count
// as the same.
BTF_API Error no_element_compared(const std::string& actual_path);

// Totals of the pairs of two sets, before the first is compared.
struct PairsFound {
  bool several = false;     // false if the sets are two files
  std::uint64_t whole = 0;  // pairs with both sides
  std::uint64_t bytes = 0;  // to be compared, if `several` and progress is wanted; else 0
};

// The files of a pair, and the options with which its tensors are compared.
struct ComparedFiles {
  std::shared_ptr<const TensorFile> actual;
  std::shared_ptr<const TensorFile> golden;
  DiffOptions options{};
};

// Receives the results of a comparison. All members are called on the caller's thread, in this
// order:
//   found()                           once
//   begin(), take()..., end()         for each pair of files; take() for each pair of its tensors
//   again()                           once, after the last pair
//   files()                           if again() returned a pair: its files, opened once more
// SetDiffResult in btf/report.h is a sink that keeps everything in memory.
class BTF_API SetDiffSink {
 public:
  virtual ~SetDiffSink();
  virtual void warn(const std::string& /*text*/) {}
  // An error that it returns ends the comparison.
  virtual Status found(const PairsFound&) { return {}; }
  virtual void begin(const FilePair& pair) = 0;
  virtual void take(const TensorDiff& diff) = 0;
  // Return true to have missing() called for the tensors of a file that only one side has.
  virtual bool lists_missing() const { return false; }
  virtual void missing(const TensorDiff&) {}
  virtual void end(const FilePair& pair, const PairOutcome& outcome) = 0;
  // Returns the number of a pair whose files are needed again, to draw one of its tensors. Not
  // called if `pick` is set, nor after an error.
  virtual std::optional<std::uint64_t> again() { return std::nullopt; }
  virtual void files(Result<ComparedFiles>) {}
};

// Opens two paths as sets with the specs of the options.
BTF_API Result<TwoSets> open_sets(const std::string& actual, const std::string& golden,
                                  const SetDiffOptions& options);

// Compares two sets pair by pair and returns true if all pairs were the same; trouble counts as not
// the same. A pair that cannot be compared is reported as trouble and the others are compared; if
// the sets are two files, it is the error that diff() returns. An error if nothing is compared, and
// if a name, glob or tolerance of the options matches no tensor or file. Small pairs are compared
// in parallel.
BTF_API Result<bool> diff(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options,
                          SetDiffSink& sink);

// Returns true if the tolerance applies to the tensor, by glob or by number.
BTF_API bool is_for(const TensorTolerance& given, const TensorDiff& diff);

// The tolerance that globs give a tensor.
BTF_API Tolerance tolerance_by_name(const std::vector<TensorTolerance>& given,
                                    const TensorDiff& diff);

}  // namespace btf

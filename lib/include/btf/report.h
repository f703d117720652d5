// Reports of comparisons, layers and fit as text, JSON, JUnit and HTML, byte for byte those of
// btftool; and saved JSON reports, read back and judged again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
#include "btf/fit.h"
#include "btf/inspect.h"
#include "btf/layers.h"
#include "btf/set_diff.h"
#include "btf/share.h"
#include "btf/tensor_set.h"

namespace btf {

// How a report was made, as the head of an HTML page shows it. Members that are not set are left
// out.
struct PageOrigin {
  std::string program{};  // "btftool 1.0.0"
  std::string command{};  // makes the report again
  // Time of the last change of the newest file that was read, in seconds since 1970.
  std::optional<std::int64_t> newest_input{};

  BTF_API void add(const FileState& input);
  // After the comparison: the states are those of what was read.
  BTF_API Status add_inputs(const TensorSet& set);
  // Replaces that time by `seconds`, the value of $SOURCE_DATE_EPOCH, for pages that must be
  // reproducible. Ignored unless it is a number of seconds before the year 10000.
  BTF_API void take_date(std::string_view seconds);
};

// Receives a report piece by piece; JUnit and HTML come as one piece. An error that it returns is
// returned by finish().
using TextSink = std::function<Status(std::string_view)>;

// Translates a text that names members of options in backticks ("`tolerance.atol` 0.01") into the
// words of a program with options of its own ("--atol 0.01"). If empty, texts are left as they are.
using MemberNames = std::function<std::string(std::string)>;

enum class ReportFormat : std::uint8_t {
  text,     // one pair of tensors in full; of several one line each, and the first that differs
  summary,  // as text, one line for each pair of files
  json,
  junit,
  html
};

// Versions of diff's JSON. The numbers are those of the schemas.
enum class JsonSchema : std::uint8_t { files = 1, sets = 2 };

// Order of the tensors in text: as compared, or the worst first by error or by cosine.
enum class DiffSort : std::uint8_t { order, error, cosine };

struct TextOptions {
  bool all = false;      // every tensor in full, every layer
  bool figures = false;  // also figures that say little, as steps between numbers of opposite sign
  std::size_t columns = 80;
  // Never breaks the line of a pair, nor an argument of a printed command: for scripts. Switch it
  // off for people in front of a terminal.
  bool whole_lines = true;
  bool color = false;
};

struct ReportOptions {
  std::string actual{};  // operands, as reports name them
  std::string golden{};
  bool directories = false;                    // the operands are sets of several files
  DiffOptions criteria{};                      // the options that apply to all tensors
  std::vector<std::string> tensor_criteria{};  // those for single tensors: "rtol 0.01 for conv*"
  JsonSchema schema = JsonSchema::sets;
  DiffSort sort = DiffSort::order;
  TextOptions text{};
  MemberNames member_names{};
  PageOrigin origin{};
  // Returns the command that shows more of a tensor that differs or is missing; may return an empty
  // text.
  std::function<std::string(const FilePair&, const TensorDiff&)> next_command{};
};

// How many tensors were paired, and by which rule.
struct PairingCounts {
  std::map<PairTier, std::uint64_t> tiers{};  // pairs of different names
  std::uint64_t equal = 0;                    // all other pairs
  std::uint64_t actual_only = 0;
  std::uint64_t golden_only = 0;
};

// Totals of a comparison. Call begin(), take() and end() as those of a SetDiffSink.
struct DiffTotals {
  std::uint64_t files = 0;
  std::uint64_t different_files = 0;  // including files on one side only
  std::uint64_t troubled_files = 0;   // including files with a tensor that could not be compared
  std::uint64_t tensors = 0;          // not counting those that could not be compared
  std::uint64_t troubled_tensors = 0;
  std::uint64_t different_tensors = 0;
  std::uint64_t compared = 0;          // elements
  std::uint64_t file_differences = 0;  // outside of the tensors
  bool directories = false;
  std::optional<std::string> first_different{};  // name of the first tensor, or of a file
  std::vector<std::string> others{};             // paths of files that hold no tensors
  bool unwritten = false;                        // a report could not be written
  // Replaces ReportOptions::origin.newest_input if that is only known after the comparison.
  std::optional<std::int64_t> newest_input{};
  std::vector<Tolerance> close{};  // distinct tolerances that `close` gave, only the first few
  PairingCounts pairing{};
  // For the current pair of files:
  std::uint64_t pair_troubled = 0;  // tensors that could not be compared
  std::string pair_trouble{};       // message of the first of them

  BTF_API void begin();
  BTF_API void take(const TensorDiff& diff);
  BTF_API void end(const FilePair& pair, const PairOutcome& outcome);
  // The message about tensors of the current pair that could not be compared.
  BTF_API std::string trouble_text() const;

  // Returns true for two files of which only some tensors could be compared.
  bool partly() const { return !directories && tensors > 0 && troubled_tensors > 0; }
  // Returns true if everything that was compared is the same, including tensors of a troubled file.
  bool same() const { return different_files == 0 && different_tensors == 0; }
  // Returns true if nothing was compared in directories. For two files that is an error of the
  // pair.
  bool nothing() const { return directories && same() && troubled_files == 0 && compared == 0; }
  bool trouble() const { return troubled_files > 0 || unwritten || nothing(); }
  // Trouble takes precedence over a difference.
  PairResult result() const {
    if (trouble()) return PairResult::trouble;
    return same() ? PairResult::same : PairResult::different;
  }
};

// A report that is written while sets are compared. Call finish() after the comparison.
class BTF_API DiffReport : public SetDiffSink {
 public:
  virtual Status finish(const DiffTotals& totals) = 0;
};

// Text and JSON need bounded memory for any number of tensors: JSON is kept in a temporary file
// until finish(). JUnit and HTML keep their text in memory until then.
BTF_API std::unique_ptr<DiffReport> make_report(ReportFormat format, ReportOptions options,
                                                TextSink sink);

// Sets the options of the comparison that a report of this format needs.
BTF_API void ask_for(ReportFormat format, DiffOptions& options);

// Keeps a whole comparison in memory.
struct BTF_API SetDiffResult final : SetDiffSink {
  struct Pair {
    FilePair files{};
    PairOutcome outcome{};
    std::vector<TensorDiff> tensors{};
    std::vector<TensorDiff> missing{};  // tensors of a file that only one side has
  };
  std::string actual{};
  std::string golden{};
  bool directories = false;
  std::vector<std::string> others{};
  std::vector<Pair> pairs{};

  void begin(const FilePair& pair) override;
  void take(const TensorDiff& diff) override;
  bool lists_missing() const override { return true; }
  void missing(const TensorDiff& diff) override;
  void end(const FilePair& pair, const PairOutcome& outcome) override;
};

// The report of a comparison. `actual`, `golden` and `directories` are taken from the result and
// not from the options.
BTF_API std::string report_text(ReportFormat format, const SetDiffResult& result,
                                ReportOptions options = {});
inline std::string text(const SetDiffResult& result, const ReportOptions& options = {}) {
  return report_text(ReportFormat::text, result, options);
}
inline std::string json(const SetDiffResult& result, const ReportOptions& options = {}) {
  return report_text(ReportFormat::json, result, options);
}
inline std::string junit(const SetDiffResult& result, const ReportOptions& options = {}) {
  return report_text(ReportFormat::junit, result, options);
}
inline std::string html(const SetDiffResult& result, const ReportOptions& options = {}) {
  return report_text(ReportFormat::html, result, options);
}

// Reads a report in JSON of any schema version, which rejudge() can then judge by other limits. The
// error names the member that is wrong.
BTF_API Result<SetDiffResult> read_diff_report(const std::string& json);

// "tensor 3", "tensor 3 against 0", "tensor 3 of golden"
BTF_API std::string pair_name(const TensorDiff& diff);

// The report with all of its texts translated.
BTF_API LayerReport with_names(LayerReport report, const MemberNames& names);

// A comparison of layers and its operands.
struct LayerRun {
  std::string actual{};  // paths
  std::string golden{};
  LayerLimits judge{};
  bool searched = false;              // causes were looked for
  std::vector<std::string> scales{};  // options that give scales, as they were written
  std::vector<std::string> others{};  // files of both sides that hold no tensors
  LayerReport report{};
  MemberNames member_names{};
  PageOrigin origin{};
};

BTF_API std::string text(const LayerRun& run, const TextOptions& options = {});
BTF_API std::string json(const LayerRun& run);
BTF_API Status write_json(const LayerRun& run, const TextSink& sink);  // layer by layer
BTF_API std::string junit(const LayerRun& run);
BTF_API std::string html(const LayerRun& run);

// Reads a saved layers report, which judge_layers() can then judge by other limits.
BTF_API Result<LayerRun> read_layer_report(const std::string& json);

struct RejudgeOptions {
  Tolerance tolerance{};
  Gates gates{};
  // Tolerances of single tensors. They override `tolerance`. Numbers must not be negative.
  std::vector<TensorTolerance> tensor_tolerances{};
};

// Error::finding of a pair that cannot be judged because the report lacks a figure that decides.
inline constexpr std::string_view kUndecided = "undecided";

// Judges a report again by other criteria, without the tensors, and passes every pair to `sink`;
// found() is not called. A tensor that cannot be judged is left out, and its pair becomes trouble
// with the finding kUndecided. Mismatches of tensors whose tolerance has changed are dropped. An
// error if a tolerance of a single tensor applies to none.
BTF_API Status rejudge(const SetDiffResult& report, const RejudgeOptions& options,
                       SetDiffSink& sink);

// Reports of fit(). With TextOptions::all the text has every layer and tensor.
BTF_API std::string text(const FitReport& report, const TextOptions& options = {});
BTF_API std::string json(const FitReport& report);
BTF_API std::string html(const FitReport& report, const PageOrigin& origin = {});

// The tool for which a list of layers is written.
enum class FitListForm : std::uint8_t {
  autocast,       // Model Optimizer's AutoCast: one regular expression per line (nodes_to_exclude)
  onnxconverter,  // onnxconverter-common: a JSON array (node_block_list)
  trtexec,        // options of trtexec 8 to 10
  polygraphy,     // options of `polygraphy convert` and `run`
  names,          // one name per line
  scales,         // a JSON object with the best scale of each tensor
};

BTF_API std::span<const Named<FitListForm>> fit_list_forms();

// The list of the layers that must stay in float32. An error if a name cannot be written in that
// form, or if no layer was judged.
BTF_API Result<std::string> fit_list(const FitOfType& type, FitListForm form);

// Returns true if the form is a list of scales and not of layers.
BTF_API bool lists_scales(FitListForm form);
// The list of the tensors that have a scale.
BTF_API Result<std::string> fit_list(const FitOfScales& type, FitListForm form);

// What a page shows of a tensor. Members that are not set are left out.
struct InspectedTensor {
  std::optional<std::uint64_t> number{};  // in its set; otherwise the page shows that in its file
  std::optional<TensorStats> stats{};
  std::optional<Distribution> distribution{};
  std::optional<Channels> channels{};
  std::string trouble{};  // why something is not known
};

// A self-contained HTML page of the tensors of a set: a table that can be sorted and searched, with
// a histogram of each tensor and a strip of its channels. Memory: about 1 KB per tensor.
class BTF_API InspectPage {
 public:
  InspectPage();
  ~InspectPage();
  InspectPage(InspectPage&&) noexcept;
  InspectPage& operator=(InspectPage&&) noexcept;

  // Starts a file; the tensors that follow belong to it.
  void begin(const TensorFile& file);
  void take(const TensorInfo& tensor, const InspectedTensor& known);
  // Adds the message about a tensor or a file that could not be read.
  void trouble(const std::string& message);

  // Returns the page. `title` is a path or whatever names the set.
  std::string finish(const std::string& title, const PageOrigin& origin = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace btf

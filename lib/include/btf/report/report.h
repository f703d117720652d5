// Reports of comparisons: text, JSON, JUnit and HTML, the same as btftool's to the byte; and saved
// JSON reports read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/diff/set_diff.h"
#include "btf/error.h"
#include "btf/layers/layers.h"
#include "btf/report/page_origin.h"

namespace btf {

// Takes a report piece by piece; JUnit and HTML come as one piece. An error is what finish() gives.
using TextSink = std::function<Status(std::string_view)>;

// A text with members of options in backticks ("`tolerance.atol` 0.01") in the words of a program
// that has options of its own for them ("--atol 0.01"). Empty: the text stays.
using MemberNames = std::function<std::string(std::string)>;

enum class ReportFormat : std::uint8_t {
  text,     // one pair of tensors in full; of several a line each, and the first that differs
  summary,  // text: a line for each pair of files
  json,
  junit,
  html
};

// The shapes of diff's JSON. The numbers are those of their schemas.
enum class JsonSchema : std::uint8_t { files = 1, sets = 2 };

// The order of the tensors' lines: as they come, or the worst first.
enum class DiffSort : std::uint8_t { order, error, cosine };

struct TextOptions {
  bool all = false;      // every tensor in full, every layer
  bool figures = false;  // also those that hardly say anything, as steps between opposite signs
  std::size_t columns = 80;
  // What is said of one pair of tensors, or of files, stays on a line of its own however long that
  // is, and so does a word of the next command: for scripts.
  bool whole_lines = true;
  bool color = false;
};

struct ReportOptions {
  std::string actual{};  // operand, as reports name it
  std::string golden{};
  bool directories = false;                    // sets of several files
  DiffOptions criteria{};                      // as they were given for all tensors
  std::vector<std::string> tensor_criteria{};  // of single tensors: "rtol 0.01 for conv*"
  JsonSchema schema = JsonSchema::sets;
  DiffSort sort = DiffSort::order;
  TextOptions text{};
  MemberNames member_names{};
  PageOrigin origin{};
  // Shows more of a tensor that differs, or of one that is missing; empty: there is none.
  std::function<std::string(const FilePair&, const TensorDiff&)> next_command{};
};

// How tensors whose names are not equal became pairs.
struct PairingCounts {
  std::map<PairTier, std::uint64_t> tiers{};
  std::uint64_t equal = 0;  // other pairs
  std::uint64_t actual_only = 0;
  std::uint64_t golden_only = 0;
};

// Totals of a comparison. begin(), take() and end() are those of a SetDiffSink.
struct DiffTotals {
  std::uint64_t files = 0;
  std::uint64_t different_files = 0;  // with those on one side only
  std::uint64_t troubled_files = 0;   // with those of which a tensor could not be compared
  std::uint64_t tensors = 0;          // without those that could not be compared
  std::uint64_t troubled_tensors = 0;
  std::uint64_t different_tensors = 0;
  std::uint64_t compared = 0;  // elements
  std::uint64_t file_differences = 0;  // beside the tensors
  bool directories = false;
  std::optional<std::string> first_different{};  // name of the first tensor, or of a file
  std::vector<std::string> others{};             // paths of files beside the tensors of directories
  bool unwritten = false;                        // a report could not be written
  // In place of that of ReportOptions::origin, where it shows only as files are compared.
  std::optional<std::int64_t> newest_input{};
  std::vector<Tolerance> close{};  // the tolerances of `close`: different ones, up to a few
  PairingCounts pairing{};
  // Counts of the pair of files that began last.
  std::uint64_t pair_troubled = 0;  // tensors
  std::string pair_trouble{};       // of the first of these

  BTF_API void begin();
  BTF_API void take(const TensorDiff& diff);
  BTF_API void end(const FilePair& pair, const PairOutcome& outcome);
  // A message on tensors of the current pair that could not be compared.
  BTF_API std::string trouble_text() const;

  // Two files of which only some tensors could be compared: there is a report.
  bool partly() const { return !directories && tensors > 0 && troubled_tensors > 0; }
  // Everything that was compared is the same, including the tensors of a troubled file.
  bool same() const { return different_files == 0 && different_tensors == 0; }
  // For two files this is trouble of the pair.
  bool nothing() const { return directories && same() && troubled_files == 0 && compared == 0; }
  bool trouble() const { return troubled_files > 0 || unwritten || nothing(); }
  // Trouble takes precedence over a difference.
  PairResult result() const {
    if (trouble()) return PairResult::trouble;
    return same() ? PairResult::same : PairResult::different;
  }
};

class BTF_API DiffReport : public SetDiffSink {
 public:
  virtual Status finish(const DiffTotals& totals) = 0;
};

// Memory is bounded in the text formats and JSON, whatever the number of tensors: JSON waits in a
// temporary file for finish(). JUnit and HTML keep their own text until then.
BTF_API std::unique_ptr<DiffReport> make_report(ReportFormat format, ReportOptions options,
                                                TextSink sink);

// Sets the options that a report needs.
BTF_API void ask_for(ReportFormat format, DiffOptions& options);

// A comparison of two sets, kept whole.
struct BTF_API SetDiffResult final : SetDiffSink {
  struct Pair {
    FilePair files{};
    PairOutcome outcome{};
    std::vector<TensorDiff> tensors{};
    std::vector<TensorDiff> missing{};  // of a file on one side only
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

// `options` without `actual`, `golden` and `directories`, which the result says.
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

// A report in JSON of any schema, which rejudge() can judge by other limits. The error names the
// member that is wrong.
BTF_API Result<SetDiffResult> read_diff_report(const std::string& json);

// "tensor 3", "tensor 3 against 0", "tensor 3 of golden"
BTF_API std::string pair_name(const TensorDiff& diff);

// The report with the members of options in all of its texts named so.
BTF_API LayerReport with_names(LayerReport report, const MemberNames& names);

// A comparison of layers and its operands.
struct LayerRun {
  std::string actual{};  // paths
  std::string golden{};
  JudgeLayers judge{};
  bool searched = false;              // causes were looked for
  std::vector<std::string> scales{};  // options for scales of codes, as they were written
  std::vector<std::string> others{};  // files beside the tensors of both
  LayerReport report{};
  MemberNames member_names{};
  PageOrigin origin{};
};

BTF_API std::string text(const LayerRun& run, const TextOptions& options = {});
BTF_API std::string json(const LayerRun& run);
BTF_API Status write_json(const LayerRun& run, const TextSink& sink);  // layer by layer
BTF_API std::string junit(const LayerRun& run);
BTF_API std::string html(const LayerRun& run);

// A saved layers report, which judge_layers() can judge by other limits.
BTF_API Result<LayerRun> read_layer_report(const std::string& json);

}  // namespace btf

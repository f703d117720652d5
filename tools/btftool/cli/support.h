// The parsed command line, and helpers for the files that have the tables of options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/fit.h"
#include "btf/inspect.h"
#include "btf/layers.h"
#include "btf/part.h"
#include "btf/picture.h"
#include "btf/repair.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "btf/validate.h"
#include "help/options.h"

namespace btftool {

// Returns the lines of a file, or of stdin ("-"). Throws OptionError.
std::vector<std::string> read_lines(const std::string& option, const std::string& path);

// Checks the paths of report files. Throws OptionError.
void check_reports(const std::optional<std::string>& junit, const std::optional<std::string>& html);

// Sets `actual` and `golden`, of which one may be "-". With --from-json there must be no operands.
// Throws OptionError.
void set_operands(bool from_json, const std::vector<std::string>& operands, std::string& actual,
                  std::string& golden);

// Replaces `output` by the path of the file to write: if it is a directory, a file there with the
// name of `input`. Sets `compression` to the default if it is unset and the extension asks for it.
void resolve_output(std::string& output, const std::string& input, std::optional<int>& compression);

// Replaces names of the library's options by those of the command line. The library's messages have
// them in backticks: "`quantization.axis` goes with `quantization.automatic`".
class OptionNames {
 public:
  // The members that options set, by the tables. A member that none of a command's own options sets
  // has the name of another command's.
  OptionNames() = default;
  void add(const CommandTable& table);

  // Leaves names in backticks that are not in the tables as they are.
  std::string translate(std::string text) const;
  btf::Error translate(btf::Error error) const;
  btf::Finding translate(btf::Finding finding) const;
  btf::TensorDiff translate(btf::TensorDiff diff) const;
  btf::LayerReport translate(btf::LayerReport report) const;

 private:
  std::map<std::string, std::string, std::less<>> options_;  // by member
};

enum class When : std::uint8_t { automatic, always, never };

struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
  When progress = When::automatic;
  unsigned jobs = 0;
  std::uint64_t max_memory = 256U << 20;  // bytes of the whole process

  // A command has several buffers at once: for both sides, and for sorting and merging COO entries.
  // Each may have an eighth of the memory.
  btf::Execution execution() const { return {.jobs = jobs, .memory = max_memory / 8}; }
};

// What --values, --histogram and --percentiles mean without a value.
inline constexpr std::uint64_t kValuesShown = 1000;
inline constexpr std::uint64_t kBinsShown = 16;
inline constexpr char kPercentilesShown[] = "0.1,1,5,25,50,75,95,99,99.9";

// --stats prints percentiles and a histogram of tensors with at most this many elements. For larger
// ones the further passes would take long, so they must be asked for.
inline constexpr std::uint64_t kMaxDistributed = 1U << 22;

using btf::SpecRule;
using btf::TensorTolerance;

struct PictureCommand {
  std::optional<std::string> path;  // "-" is the terminal or stdout; no picture if unset
  btf::PictureOptions draw;
  std::optional<btf::PictureForm> form;  // in the terminal; if unset, the best that it supports
};

struct InspectOptions {
  std::vector<std::string> files;
  std::optional<std::string> tensors;  // a selection; all if unset
  bool json = false;
  bool manifest = false;
  btf::OpenOptions open;
  bool stats = false;
  btf::DistributionOptions distribution;
  std::optional<std::string> by_axis;  // a letter or a number
  std::optional<std::string> html;
  std::vector<std::string> result_options;  // options that the page depends on, as given
  PictureCommand image;
  bool strides = false;
  std::optional<std::uint64_t> values;  // values beyond this number are summarised
  std::optional<std::string> slice;
  std::optional<std::string> at;
};

// One shard of a command, and the file that gets its results.
struct PartOptions {
  btf::Shard shard;
  std::string path;
  bool resume = false;
  bool by_tensor = false;            // diff: items are pairs of tensors, not of files
  std::vector<std::string> options;  // options that the results depend on, as given
};

struct ConvertCommand {
  std::vector<std::string> inputs;
  std::string output;
  bool many_outputs = false;           // `output` is a directory that gets several files
  bool output_by_option = false;       // --output and not the last operand
  bool force = false;                  // overwrite a last operand that holds tensors
  std::string new_folder{};            // must be created for `output`, if not empty
  std::optional<std::string> tensors;  // a selection; all if unset
  std::vector<std::string> exclude;    // selections of tensors to leave out
  bool json = false;
  btf::OpenOptions open;
  btf::ConvertOptions convert;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; all if unset
  std::optional<PartOptions> part;
};

// A list of layers or of scales in the form that another tool reads, and the file to write it to.
struct FitListFile {
  btf::FitListForm form{};
  std::string path;
};

// The reports of diff, layers and fit, each of which has some of these; merge makes all of them.
struct ReportWords {
  bool json = false;
  btf::JsonSchema json_schema = btf::JsonSchema::sets;
  bool summary = false;
  btf::DiffSort sort = btf::DiffSort::order;
  bool all = false;
  std::optional<std::string> junit;
  std::optional<std::string> html;
  std::vector<FitListFile> emit;
};

struct DiffCommand : ReportWords {
  std::string actual;
  std::string golden;
  btf::OpenOptions open_actual;
  btf::OpenOptions open_golden;
  // In the order of the command line: the last rule that matches a file applies.
  std::vector<SpecRule> actual_specs;
  std::vector<SpecRule> golden_specs;
  std::optional<std::string> rules;      // a file with more rules; those above override them
  std::optional<std::string> from_json;  // a report to judge again, instead of operands
  std::optional<std::string> tensors;
  std::vector<std::string> pairs;                  // "0:3", "conv1:fc"; if empty, pairs are found
  std::optional<std::string> map;                  // the path of a map of names
  std::vector<TensorTolerance> tensor_tolerances;  // the last one that matches a tensor applies
  std::vector<std::string> include;                // globs for files in directories
  std::vector<std::string> exclude;
  PictureCommand image;
  btf::DiffOptions diff;                        // applies to every pair of files
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; all if unset
  std::optional<PartOptions> part;
  // When merging: the criteria for single tensors as the merged reports have them ("rtol 0.01 for
  // conv*"). Used instead of `tensor_tolerances`.
  std::vector<std::string> tensor_criteria;

  // Options as they were given:
  std::vector<std::string> pair_options;  // how two tensors are compared, apart from tolerances
  std::vector<std::string> file_options;  // which files of directories are compared
  std::vector<std::string> comparison_options;  // everything that the result depends on
};

struct MergeCommand : ReportWords {
  std::vector<std::string> parts;
  std::optional<std::uint64_t> expected;    // number of shards
  std::vector<std::string> report_options;  // names of those for reports that were given
};

struct ValidateOptions {
  std::vector<std::string> files;
  btf::OpenOptions open;
  bool json = false;
  bool strict = false;
  bool all = false;
  btf::ValidateChecks checks;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; all if unset
  std::optional<PartOptions> part;
};

struct RepairCommand {
  std::string input;
  std::string output;
  bool json = false;
  bool all = false;
  btf::RepairOptions repair;
};

struct LayersCommand : ReportWords {
  std::string actual;
  std::string golden;
  btf::OpenOptions open_actual;
  btf::OpenOptions open_golden;
  std::optional<std::string> from_json;  // a report to judge again, instead of operands
  std::optional<std::string> map;        // these four are paths
  std::optional<std::string> order;
  std::optional<std::string> baseline;
  std::optional<std::string> expected;
  bool pairs = false;                        // print the pairs of names instead of a report
  std::vector<std::string> reading_options;  // how files are read, as given; values are words apart
  std::vector<std::string> result_options;   // all that the result depends on, as given
  btf::LayerOptions layers;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; all if unset
  std::optional<PartOptions> part;
};

struct FitCommand : ReportWords {
  std::vector<std::string> dumps;
  btf::OpenOptions open;
  btf::FitOptions fit;
  std::vector<std::string> result_options;  // options that the result depends on, as given
  std::optional<PartOptions> part;
};

struct TypesOptions {
  std::optional<std::string> what;  // a dtype, a layout or a format of TensorRT; all if unset
  std::optional<std::string> shape;
  bool json = false;
};

struct ExplainOptions {
  std::optional<std::string> word;  // lists all words if unset
  bool json = false;
};

struct CompletionOptions {
  std::optional<std::string> script;  // if unset, names of the tensors in `files` are printed
  std::vector<std::string> files;
};

using Command = std::variant<InspectOptions, ConvertCommand, DiffCommand, ValidateOptions,
                             RepairCommand, LayersCommand, FitCommand, MergeCommand, TypesOptions,
                             ExplainOptions, CompletionOptions>;

struct Invocation {
  GlobalOptions global;
  Command command;
  OptionNames names;
  std::vector<NamedFile> files;             // that options name
  std::vector<std::string> report_options;  // names of those that the command has, given or not
};

}  // namespace btftool

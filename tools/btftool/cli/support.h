// Helpers of the files that declare options. Only this folder includes it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "btf/convert.h"
#include "btf/diff/set_diff.h"
#include "btf/diff/tensor_diff.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/finding.h"
#include "btf/fit.h"
#include "btf/inspect/distribution.h"
#include "btf/inspect/picture.h"
#include "btf/layers/layers.h"
#include "btf/repair.h"
#include "btf/report/fit.h"
#include "btf/report/report.h"
#include "btf/shards/plan.h"
#include "btf/validate.h"

namespace btftool {

// Thrown by the checks of options and caught where the command line has been parsed; the parser's
// own style.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T value_or_throw(btf::Result<T> result) {
  if (!result) throw Wrong(result.error().message);
  return *std::move(result);
}

// `parse` is given the words of the option as soon as they are read. Twice is wrong.
CLI::Option* add_words(CLI::App& app, const std::string& name, const std::string& type,
                       std::function<void(const std::string&)> parse, const std::string& help);

// The same for an option that may be given more than once: its words in the order of the line, once
// the whole line has been read.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, const std::string& type,
                          const std::function<void(const std::string&)>& parse,
                          const std::string& help);

// One of `words`, of which `store` is given the number.
CLI::Option* add_word_of(CLI::App& app, const std::string& name,
                         const std::vector<std::string>& words,
                         const std::function<void(std::size_t)>& store, const std::string& help);

template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        const std::vector<std::pair<std::string, T>>& choices,
                        const std::string& help) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    values.push_back(value);
  }
  return add_word_of(
      app, name, words, [&target, values](std::size_t number) { target = values[number]; }, help);
}

// By the library's names.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        std::span<const btf::Named<T>> names, const std::string& help) {
  std::vector<std::pair<std::string, T>> choices;
  for (const btf::Named<T>& row : names) choices.emplace_back(row.name, row.value);
  return add_choice(app, name, target, choices, help);
}

// --for
CLI::Option* add_recipient(CLI::App& app, std::optional<btf::Recipient>& target,
                           const std::string& help);

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t least,
                       std::uint64_t most, const std::function<void(std::uint64_t)>& store,
                       const std::string& help);

// An empty text is one, and not an option that was left out.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      const std::string& type, const std::string& help);

// The lines of a file, or of stdin ("-"). Throws Wrong.
std::vector<std::string> read_lines(const std::string& option, const std::string& path);

// --files-from
CLI::Option* add_files_from(CLI::App& app, std::shared_ptr<const btf::FileList>& files,
                            const std::string& help);

bool given(const CLI::App& app, const char* option);

// An option of the command line and its word; "true" or "false" of a flag.
struct GivenOption {
  const CLI::Option* option = nullptr;
  std::string value;
};

// All that were given, each repetition, in the order of the line.
std::vector<GivenOption> options_given(const CLI::App& app);

// The group of options that apply in the order in which they are written, whatever their names.
inline constexpr const char* kInOrderOfLine = "Dims, edited in the order of these options";

// The options that were given as words that say the same, "--rtol=1e-3": the words of each option
// in the order of the line, and options in that of their declaration, so that lines that mean one
// thing give one list.
std::vector<std::string> words_given(const CLI::App& app,
                                     const std::function<bool(const std::string& name)>& which);

// All that were given but these.
std::vector<std::string> words_given_but(const CLI::App& app,
                                         std::initializer_list<std::string_view> others);

// Throws Wrong if the option and one of the others are given.
void exclude(const CLI::App& app, const char* option, std::initializer_list<const char*> others);

// Checks the paths of reports in files. Throws Wrong.
void check_reports(const std::optional<std::string>& junit, const std::optional<std::string>& html);

// Two operands, of which one may be -; none with --from-json. Throws Wrong.
void take_operands(bool from_json, const std::vector<std::string>& operands, std::string& actual,
                   std::string& golden);

// The file that OUT names, in a directory that with the name of IN. A name that asks for
// compression gets it, unless a level is said.
void place_output(std::string& output, const std::string& input, std::optional<int>& compression);

// Bytes of "256M", "1GiB", "67108864".
std::uint64_t parse_memory(const std::string& text);

std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

// The library's texts name members of its options in backticks: "`quantization.axis` goes with
// `quantization.automatic`". The user reads the options of the command line in their place.

class OptionNames {
 public:
  // As `command` ("diff") calls them.
  explicit OptionNames(std::string_view command) : command_(command) {}

  // A name in backticks that the table lacks stays as it is.
  std::string in(std::string text) const;
  btf::Error in(btf::Error error) const;
  btf::Finding in(btf::Finding finding) const;
  btf::TensorDiff in(btf::TensorDiff diff) const;
  btf::LayerReport in(btf::LayerReport report) const;

 private:
  std::string_view option(std::string_view member) const;

  std::string command_;
};

// The parsed command line, as the commands take it.

enum class When : std::uint8_t { automatic, always, never };

struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
  When progress = When::automatic;
  unsigned jobs = 0;
  std::uint64_t max_memory = 256U << 20;  // bytes, of the whole process

  // Buffers are several: of both sides, while entries are sorted and again while they are merged.
  btf::Execution execution() const { return {.jobs = jobs, .memory = max_memory / 8}; }
};

// The number of --values without one, of --histogram, and the list of --percentiles.
inline constexpr std::uint64_t kValuesShown = 1000;
inline constexpr std::uint64_t kBinsShown = 16;

// The most elements of which --stats has percentiles and a histogram without being asked for them:
// each takes further passes.
inline constexpr std::uint64_t kMaxDistributed = 1U << 22;
inline constexpr char kPercentilesShown[] = "0.1,1,5,25,50,75,95,99,99.9";

using btf::SpecRule;
using btf::TensorTolerance;

// A picture, and where it goes.
struct PictureCommand {
  std::optional<std::string> path;  // "-": the terminal, or standard output; nothing: none
  btf::PictureOptions draw;
  std::optional<btf::PictureForm> form;  // in the terminal; nothing: what it is known to show
};

struct InspectOptions {
  std::vector<std::string> files;
  std::optional<std::string> tensors;  // a selection; nothing: all
  bool json = false;
  bool manifest = false;
  btf::OpenOptions open;
  bool stats = false;
  btf::DistributionOptions distribution;  // of the statistics
  std::optional<std::string> by_axis;     // a letter or a number
  std::optional<std::string> html;
  std::vector<std::string> deciding;  // options that decide what is on the page, as they were given
  PictureCommand image;
  bool strides = false;
  std::optional<std::uint64_t> values;  // how many before they are summarised
  std::optional<std::string> slice;
  std::optional<std::string> at;
};

// One shard of a command, and the file of its results.
struct PartOptions {
  btf::Shard shard;
  std::string path;
  bool resume = false;
  bool by_tensor = false;            // diff: items are the tensors of pairs of files
  std::vector<std::string> options;  // all that decide, as the command takes them
};

struct ConvertCommand {
  std::vector<std::string> inputs;
  std::string output;
  bool many_outputs = false;           // `output` is a directory that gets several files
  bool output_said = false;            // by --output
  bool force = false;                  // a last operand that holds tensors is the output
  std::string new_folder{};            // is to be made for `output`; empty: none
  std::optional<std::string> tensors;  // a selection; nothing: all
  std::vector<std::string> exclude;    // selections of what is left out
  std::optional<std::string> rename_file;
  std::optional<std::string> names_file;
  bool json = false;
  btf::OpenOptions open;
  btf::ConvertOptions convert;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; nothing: all
  std::optional<PartOptions> part;
};

struct DiffCommand {
  std::string actual;
  std::string golden;
  btf::OpenOptions open_actual;
  btf::OpenOptions open_golden;
  // In the order of the command line: of what matches, the last counts.
  std::vector<SpecRule> actual_specs;
  std::vector<SpecRule> golden_specs;
  std::optional<std::string> rules;      // a file of such rules, which go before those here
  std::optional<std::string> from_json;  // a report to judge again; there are no operands then
  std::optional<std::string> tensors;
  std::vector<std::string> pairs;  // "0:3", "conv1:fc": what belongs together; empty: all
  std::optional<std::string> map;  // the path of a map of names
  std::vector<TensorTolerance> tensor_tolerances;  // of globs that match, the last counts
  std::vector<std::string> include;                // of directories: globs
  std::vector<std::string> exclude;
  bool json = false;
  btf::JsonSchema json_schema = btf::JsonSchema::sets;
  bool summary = false;
  btf::DiffSort sort = btf::DiffSort::order;
  bool all = false;
  std::optional<std::string> junit;
  std::optional<std::string> html;
  PictureCommand image;
  btf::DiffOptions diff;                        // what holds for every pair of files
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; nothing: all
  std::optional<PartOptions> part;
  // The criteria of reports that are merged, in place of `tensor_tolerances`: "rtol 0.01 for
  // conv*".
  std::vector<std::string> tensor_criteria;
  // Options that say how any two tensors are compared, but for tolerances, as they were given.
  std::vector<std::string> of_pair;
  // Those that say which files of two directories are compared, likewise.
  std::vector<std::string> of_files;
  // All that decide what is compared and how, likewise.
  std::vector<std::string> comparing;
};

// A list of what must stay wide, or of scales, as another tool takes it, and where it goes.
struct FitListFile {
  btf::FitListForm form{};
  std::string path;
};

struct MergeCommand {
  std::vector<std::string> parts;
  std::optional<std::uint64_t> expected;  // shards
  DiffCommand reports;                    // which, and nothing else
  std::vector<FitListFile> emit;          // likewise, of fit
};

struct ValidateOptions {
  std::vector<std::string> files;
  btf::OpenOptions open;
  bool json = false;
  bool strict = false;
  bool all = false;
  btf::ValidateChecks checks;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; nothing: all
  std::optional<PartOptions> part;
};

struct RepairCommand {
  std::string input;
  std::string output;
  bool json = false;
  bool all = false;
  btf::RepairOptions repair;
};

struct LayersCommand {
  std::string actual;
  std::string golden;
  btf::OpenOptions open_actual;
  btf::OpenOptions open_golden;
  std::optional<std::string> from_json;  // a report that stands for both
  std::optional<std::string> map;        // paths
  std::optional<std::string> order;
  std::optional<std::string> baseline;
  std::optional<std::string> expected;
  bool pairs = false;  // print the map instead
  bool all = false;
  bool json = false;
  std::optional<std::string> junit;
  std::optional<std::string> html;
  std::vector<std::string> scales;    // options and their words, as they were written
  std::vector<std::string> deciding;  // options that decide what comes out, likewise
  btf::LayerOptions layers;
  std::shared_ptr<const btf::FileList> listed;  // files of the directories; nothing: all
  std::optional<PartOptions> part;
};

struct FitCommand {
  std::vector<std::string> dumps;
  btf::OpenOptions open;
  btf::FitOptions fit;
  bool all = false;
  bool json = false;
  std::optional<std::string> html;
  std::vector<std::string> deciding;  // options that decide what comes out, as they were given
  std::vector<FitListFile> emit;
  std::optional<PartOptions> part;
};

struct TypesOptions {
  std::optional<std::string> what;  // a dtype, a layout, a format of TensorRT; nothing: all
  std::optional<std::string> shape;
  bool json = false;
};

struct ExplainOptions {
  std::optional<std::string> word;  // a finding, cause, verdict, reason, state; nothing: all
  bool json = false;
};

struct CompletionOptions {
  std::optional<std::string> script;  // nothing: names of tensors
  std::vector<std::string> files;
};

using Command = std::variant<InspectOptions, ConvertCommand, DiffCommand, ValidateOptions,
                             RepairCommand, LayersCommand, FitCommand, MergeCommand, TypesOptions,
                             ExplainOptions, CompletionOptions>;

struct Invocation {
  GlobalOptions global;
  Command command;
  OptionNames names;
};

}  // namespace btftool

// The parsed command line, as the commands take it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "btf/convert.h"
#include "btf/diff/set_diff.h"
#include "btf/file.h"
#include "btf/fit.h"
#include "btf/inspect/distribution.h"
#include "btf/inspect/picture.h"
#include "btf/layers/layers.h"
#include "btf/repair.h"
#include "btf/report/fit.h"
#include "btf/report/report.h"
#include "btf/shards/plan.h"
#include "btf/validate.h"
#include "cli/option_names.h"

namespace btftool {

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
inline constexpr std::uint64_t kMostDistributed = 1U << 22;
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

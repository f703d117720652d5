// The commands. Each returns its exit code, or the error that ended it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/layers.h"
#include "btf/pair_names.h"
#include "btf/part.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

btf::Result<int> run_inspect(const Context& context, const InspectOptions& options);
btf::Result<int> run_convert(const Context& context, const ConvertCommand& command);
btf::Result<int> run_diff(const Context& context, const DiffCommand& command);
btf::Result<int> run_validate(const Context& context, const ValidateOptions& options);
btf::Result<int> run_layers(const Context& context, const LayersCommand& command);
btf::Result<int> run_fit(const Context& context, const FitCommand& command);
// `command` is the command that made the parts, with the options for reports that merge was given.
btf::Result<int> merge_layers(const Context& context, const btf::Parts& parts,
                              const LayersCommand& command);
btf::Result<int> merge_fit(const Context& context, const btf::Parts& parts,
                           const FitCommand& command);
btf::Result<int> run_merge(const Context& context, const MergeCommand& command);
btf::Result<int> run_repair(const Context& context, const RepairCommand& command);
btf::Result<int> run_types(const Context& context, const TypesOptions& options);
btf::Result<int> run_explain(const Context& context, const ExplainOptions& options);
btf::Result<int> run_completion(const Context& context, const CompletionOptions& options);

// Checks that no output overwrites a file that the command reads, nor another output.

// Compares every output of a command with all files that it will read, by device and inode:
// operands, files in directories, files that options name (`named`), external data of models. Must
// be called before anything is read; an error names both files. Only OUT of convert and repair may
// be one of the operands, which is replaced once OUT is complete. `out` is abandoned if standard
// output is a file that is read. `merged` is the command whose parts are merged, if there is one.
btf::Status check_files_apart(const Command& command, std::span<const NamedFile> named, Output& out,
                              const Invocation* merged = nullptr);

// Returns the files that outputs of a conversion to a directory must not overwrite. Their names are
// only known later.
std::vector<std::string> reserved_files(const ConvertCommand& convert,
                                        std::span<const NamedFile> named);

// Reading the map of names of --map.

// Logs a warning if the map is empty.
btf::Result<btf::NameMap> read_name_map(const Context& context, const std::string& path);

// Dumps of msprobe of which at least one has only statistics and no elements.
struct StatisticsPair {
  btf::StatisticsDump actual;
  btf::StatisticsDump golden;
};

// Returns std::nullopt unless one of the operands is such a dump. Fails if the other one is not a
// dump of msprobe.
btf::Result<std::optional<StatisticsPair>> read_statistics_pair(const std::string& actual_path,
                                                                const std::string& golden_path);

// Logs a warning for each line that pairs nothing. Fails if no line pairs anything.
btf::Status check_map_use(const Context& context, const std::string& path, const btf::MapUse& use);

// Specs that apply to files and tensors by name.

// Fails if a spec matches nothing in any of the operands. Checks nothing if one of them is stdin,
// which can be read only once.
btf::Status check_named_specs(std::span<const std::string> operands, const btf::OpenOptions& open);

}  // namespace btftool

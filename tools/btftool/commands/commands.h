// The commands. Each returns its exit code, or the error that ended it.
#pragma once

#include "btf/error.h"
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

}  // namespace btftool

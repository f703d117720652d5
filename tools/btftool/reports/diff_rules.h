// btftool diff --from-json: a saved report judged by other limits.
#pragma once

#include <string>
#include <vector>

#include "btf/error.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

btf::Result<int> run_rejudge(const Context& context, const DiffCommand& command);

// Tolerances and specs by names of tensors, out of a file (docs/diff.md, section 9).

// The command with the rules of its --rules before those of the command line.
btf::Result<DiffCommand> with_rules(const DiffCommand& command);

struct Rules {
  std::vector<TensorTolerance> tolerances;
  std::vector<SpecRule> actual_specs;
  std::vector<SpecRule> golden_specs;
};

// `name` is the file's name in messages.
btf::Result<Rules> parse_rules(const std::string& text, const std::string& name);

}  // namespace btftool

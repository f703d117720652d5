// diff --from-json, which judges a saved report again, and diff --rules (docs/diff.md, section 9).
#pragma once

#include <string>
#include <vector>

#include "btf/error.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

btf::Result<int> run_rejudge(const Context& context, const DiffCommand& command);

// Returns the command with the rules of its --rules file before those of the command line.
btf::Result<DiffCommand> with_rules(const DiffCommand& command);

struct Rules {
  std::vector<TensorTolerance> tolerances;
  std::vector<SpecRule> actual_specs;
  std::vector<SpecRule> golden_specs;
};

// `name` is the name of the file in messages.
btf::Result<Rules> parse_rules(const std::string& text, const std::string& name);

}  // namespace btftool

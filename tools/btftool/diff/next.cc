#include "diff/next.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "btf/value.h"
#include "io/page_origin.h"
#include "report/text/text.h"

namespace btftool {
namespace {

using btf::DiffTensor;
using btf::report::shell_path;
using btf::report::shell_word;

// Limits of single tensors go by a number or name that another set of tensors lacks: they are
// resolved. Those of a file of rules stay there.
btf::Tolerance tolerance_of(const DiffCommand& command, const btf::TensorDiff& diff) {
  btf::Tolerance own;
  for (const TensorTolerance& given : command.tensor_tolerances) {
    if (!given.source.starts_with("--") || !btf::is_for(given, diff)) continue;
    if (given.tolerance.rtol) own.rtol = given.tolerance.rtol;
    if (given.tolerance.atol) own.atol = given.tolerance.atol;
    if (given.tolerance.ulp) own.ulp = given.tolerance.ulp;
  }
  const btf::Tolerance& general = command.diff.tolerance;
  if (!own.rtol) own.rtol = general.rtol;
  if (!own.atol) own.atol = general.atol;
  if (!own.ulp) own.ulp = general.ulp;
  return own;
}

// Will --tensor take it for this name alone?
bool is_plain(std::string_view name) {
  return !name.empty() && name.find_first_of("*?[],!@\\") == name.npos &&
         name.find_first_not_of("0123456789-") != name.npos;
}

bool by_globs(const std::vector<SpecRule>& rules) {
  return std::ranges::any_of(rules, [](const SpecRule& rule) { return !rule.glob.empty(); });
}

}  // namespace

std::string next_command(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                         const btf::TensorDiff& diff) {
  if (command.diff.heatmap || command.from_json || diff.mismatched == 0) return {};
  if (pair.actual.empty() || pair.golden.empty() || pair.actual == "-" || pair.golden == "-")
    return {};
  std::vector<std::string> words{"btftool", "diff", "--heatmap"};
  for (const std::string& option : command.of_pair) words.push_back(option);
  const btf::Tolerance tolerance = tolerance_of(command, diff);
  if (tolerance.rtol) words.push_back("--rtol=" + btf::number_text(*tolerance.rtol));
  if (tolerance.atol) words.push_back("--atol=" + btf::number_text(*tolerance.atol));
  if (tolerance.ulp) words.push_back(fmt::format("--ulp={}", *tolerance.ulp));
  // Scales may be in other files, and specs go by paths: then it takes the directories.
  const bool whole =
      directories && (command.diff.dequantize || command.rules || by_globs(command.actual_specs) ||
                      by_globs(command.golden_specs));
  std::string actual = pair.actual;
  std::string golden = pair.golden;
  if (whole) {
    if (!is_plain(diff.golden->name) || diff.actual->name != diff.golden->name) return {};
    if (command.rules) words.push_back("--rules=" + *command.rules);
    words.push_back("--tensor=" + diff.golden->name);
    actual = command.actual;
    golden = command.golden;
  } else {
    words.push_back(fmt::format("--pair={}:{}", diff.actual->index, diff.golden->index));
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text + " " + shell_path(actual) + " " + shell_path(golden);
}

std::string same_command(const DiffCommand& command) {
  const std::vector<std::string> operands{command.actual, command.golden};
  return command_line("diff", command.comparing,
                      std::span(operands).first(command.from_json ? 0 : 2));
}

}  // namespace btftool

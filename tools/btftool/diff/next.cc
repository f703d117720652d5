#include "diff/next.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/value.h"
#include "io/page_origin.h"

namespace btftool {
namespace {

// Limits of single tensors go by a number or name that another set of tensors lacks: they are
// resolved. So are those of a file of rules.
btf::Tolerance tolerance_of(const DiffCommand& command, const btf::TensorDiff& diff) {
  btf::Tolerance own;
  for (const TensorTolerance& given : command.tensor_tolerances) {
    if (!btf::is_for(given, diff)) continue;
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

// The option that takes this pair out of two sets by its names; empty: it cannot be typed so.
std::string by_name(const btf::DiffTensor& actual, const btf::DiffTensor& golden) {
  if (is_plain(golden.name) && actual.name == golden.name) return "--tensor=" + golden.name;
  if (actual.name.empty() || golden.name.empty() ||
      (actual.name + golden.name).find_first_of(",:") != std::string::npos)
    return {};
  const auto named = [](const std::string& name) {
    const bool number = name.find_first_not_of("0123456789-") == name.npos;
    return (number || name.starts_with('@') ? "@" : "") + name;
  };
  return "--pair=" + named(actual.name) + ":" + named(golden.name);
}

bool by_globs(const std::vector<SpecRule>& rules) {
  return std::ranges::any_of(rules, [](const SpecRule& rule) { return !rule.glob.empty(); });
}

// A file of rules may have some for other tensors than this pair, which would be trouble: what it
// says of files goes in front of what the command line does.
void add_ruled_specs(const std::string& option, const std::vector<SpecRule>& specs,
                     std::vector<std::string>& words) {
  for (const SpecRule& rule : specs)
    if (!rule.source.starts_with("--")) words.push_back(option + "=" + rule.glob + "=" + rule.spec);
}

// Files whose specs take their dims from the other side have no tensors by themselves that names
// could choose among: it is the pair of files that is chosen, by what both are called up to their
// endings. Empty: there are none such.
std::string by_file(const DiffCommand& command, const btf::FilePair& pair) {
  const auto lacks_dims = [](const SpecRule& rule) {
    return btf::spec_without_dims(rule.spec).has_value();
  };
  if (std::ranges::none_of(command.actual_specs, lacks_dims) &&
      std::ranges::none_of(command.golden_specs, lacks_dims))
    return {};
  const auto below = [](const std::string& directory, const std::string& path) {
    const std::string begin = directory + (directory.ends_with('/') ? "" : "/");
    return path.starts_with(begin) ? path.substr(begin.size()) : std::string();
  };
  const auto stem = [](const std::string& path) {
    const std::size_t dot = path.rfind('.');
    const std::size_t slash = path.rfind('/');
    return dot == path.npos || (slash != path.npos && dot < slash) ? path : path.substr(0, dot);
  };
  const std::string actual = below(command.actual, pair.actual);
  const std::string golden = below(command.golden, pair.golden);
  if (actual.empty() || golden.empty() || stem(actual) != stem(golden)) return {};
  std::string glob;
  for (const char c : stem(golden))
    glob += std::string(std::string_view("*?[]\\").find(c) == std::string_view::npos ? "" : "\\") + c;
  return "--include=" + glob + (stem(golden) == golden ? "" : ".*");
}

// A permutation is for tensors that have as many dims, and a scale for codes: without such a tensor
// they are trouble.
bool is_about(const std::string& given, const DiffCommand& command, const btf::TensorDiff& diff) {
  if (given.starts_with("--permute="))
    return command.diff.permute->order.size() == diff.actual->dims.size();
  if (given.starts_with("--actual-scale=")) return diff.actual->codes.has_value();
  if (given.starts_with("--golden-scale=")) return diff.golden->codes.has_value();
  return true;
}

// This pair alone, judged as it was.
std::string compare_again(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                          const btf::TensorDiff& diff, std::vector<std::string> words) {
  add_ruled_specs("--actual-spec", command.actual_specs, words);
  add_ruled_specs("--golden-spec", command.golden_specs, words);
  for (const std::string& given : command.of_pair)
    if (is_about(given, command, diff)) words.push_back(given);
  const btf::Tolerance tolerance = tolerance_of(command, diff);
  if (tolerance.rtol) words.push_back("--rtol=" + btf::number_text(*tolerance.rtol));
  if (tolerance.atol) words.push_back("--atol=" + btf::number_text(*tolerance.atol));
  if (tolerance.ulp) words.push_back(fmt::format("--ulp={}", *tolerance.ulp));
  // Scales may be in other files, and specs go by paths: then it takes the directories.
  const bool whole = directories && (command.diff.dequantize || by_globs(command.actual_specs) ||
                                     by_globs(command.golden_specs));
  if (!whole) {
    words.push_back(fmt::format("--pair={}:{}", diff.actual->index, diff.golden->index));
    return command_line("diff", words, std::vector{pair.actual, pair.golden});
  }
  std::string file = by_file(command, pair);
  for (const std::string& given : command.of_files)
    if (file.empty() || !given.starts_with("--include=")) words.push_back(given);
  if (!file.empty()) words.push_back(std::move(file));
  std::string tensor = by_name(*diff.actual, *diff.golden);
  if (tensor.empty()) return {};
  words.push_back(std::move(tensor));
  return command_line("diff", words, std::vector{command.actual, command.golden});
}

// The options that make the dims of the two equal, and their numbers, perhaps but for noise.
std::vector<std::string> equalising(const DiffCommand& command, const btf::TensorDiff& diff) {
  if (diff.result != btf::DiffResult::shape || diff.hints.empty()) return {};
  if (command.diff.permute || command.diff.squeeze || command.diff.reshape_actual) return {};
  std::string_view edit = diff.hints.front().evidence;
  if (edit.starts_with(btf::kGivenGoldensDims)) return {"--reshape=actual"};
  if (!edit.starts_with(btf::kEqualAfter)) return {};
  edit.remove_prefix(btf::kEqualAfter.size());
  edit = edit.substr(0, edit.find(", but for noise"));
  edit = edit.substr(0, edit.find(", then actual"));
  if (edit == "squeeze") return {"--squeeze"};
  if (edit == "reshape") return {"--reshape=actual"};
  constexpr std::string_view kSqueezed = " and squeeze";
  const bool squeezed = edit.ends_with(kSqueezed);
  if (squeezed) edit.remove_suffix(kSqueezed.size());
  std::string option = "--" + std::string(edit);
  std::ranges::replace(option, ' ', '=');
  std::vector<std::string> options{std::move(option)};
  if (squeezed) options.emplace_back("--squeeze");
  return options;
}

// What each file has, in place of a comparison that there cannot be. Files that had to be described
// would have to be so again.
std::string list_both(const DiffCommand& command, const btf::FilePair& pair,
                      const btf::TensorDiff& diff) {
  const auto described = [](const btf::OpenOptions& open, const std::vector<SpecRule>& specs) {
    return open.spec || !open.named_specs.empty() || open.layout_in || !specs.empty();
  };
  if (command.rules || described(command.open_actual, command.actual_specs) ||
      described(command.open_golden, command.golden_specs))
    return {};
  std::vector<std::string> words;
  if (diff.actual && diff.golden && diff.actual->index == diff.golden->index)
    words.push_back(fmt::format("--tensor={}", diff.actual->index));
  std::vector<std::string> files{pair.actual};
  if (pair.golden != pair.actual) files.push_back(pair.golden);
  return command_line("inspect", words, files);
}

}  // namespace

std::string next_command(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                         const btf::TensorDiff& diff) {
  if (command.from_json) return {};
  if (pair.actual.empty() || pair.golden.empty() || pair.actual == "-" || pair.golden == "-")
    return {};
  if (diff.result == btf::DiffResult::different)
    return command.diff.heatmap || diff.mismatched == 0
               ? std::string()
               : compare_again(command, directories, pair, diff, {"--heatmap"});
  const std::vector<std::string> edits = equalising(command, diff);
  return edits.empty() ? list_both(command, pair, diff)
                       : compare_again(command, directories, pair, diff, edits);
}

std::string same_command(const DiffCommand& command) {
  const std::vector<std::string> operands{command.actual, command.golden};
  return command_line("diff", command.comparing,
                      std::span(operands).first(command.from_json ? 0 : 2));
}

}  // namespace btftool

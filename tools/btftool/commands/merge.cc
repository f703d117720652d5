// btftool merge: makes one report of the parts that shards have written.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "btf/part.h"
#include "btf/try.h"
#include "cli/cli.h"
#include "commands/commands.h"
#include "reports/convert_part.h"
#include "reports/diff_part.h"
#include "reports/validate_part.h"

namespace btftool {
namespace {

using btf::ErrorCode;

// Returns the command that made the parts. The parts have the items, so options that choose files
// are left out, except for layers, which opens the files again.
btf::Result<Invocation> command_of(const btf::PartHead& head) {
  std::vector<std::string> words{"btftool", head.command};
  for (const std::string& option : head.options)
    if ((head.command == "layers" || !option.starts_with("--files-from=")) &&
        !option.starts_with("--shard-by="))
      words.push_back(option);
  words.push_back("--");
  words.insert(words.end(), head.operands.begin(), head.operands.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  auto parsed = parse_command_line(static_cast<int>(argv.size()), argv.data());
  if (auto* invocation = std::get_if<Invocation>(&parsed)) return std::move(*invocation);
  const auto* error = std::get_if<UsageError>(&parsed);
  return btf::fail(ErrorCode::malformed, "the options in the parts cannot be used: " +
                                             (error != nullptr ? error->message : head.command));
}

// Fails if an option for a report was given that the merged command does not have.
btf::Status check_reports_of(std::string_view command, const MergeCommand& merge,
                             std::initializer_list<std::string_view> known) {
  const DiffCommand& asked = merge.reports;
  const std::pair<bool, std::string_view> given[] = {
      {asked.summary, "--summary"},
      {asked.sort != btf::DiffSort::order, "--sort"},
      {asked.json_schema != btf::JsonSchema::sets, "--json-schema"},
      {asked.all, "--all"},
      {asked.junit.has_value(), "--junit"},
      {asked.html.has_value(), "--html"},
      {!merge.emit.empty(), "--emit"}};
  for (const auto& [is_given, option] : given)
    if (is_given && std::ranges::find(known, option) == known.end())
      return btf::fail(
          ErrorCode::invalid_argument,
          std::string(option) + " does not apply: the parts are of " + std::string(command));
  return {};
}

class Merge {
 public:
  Merge(const Context& context, const btf::Parts& parts, const MergeCommand& command)
      : context_(context), parts_(parts), command_(command), asked_(command.reports) {}

  btf::Result<int> operator()(DiffCommand& diff) const {
    BTF_TRY(check_reports_of(
        "diff", command_, {"--summary", "--sort", "--json-schema", "--all", "--junit", "--html"}));
    diff.json = asked_.json;
    diff.json_schema = asked_.json_schema;
    diff.summary = asked_.summary;
    diff.sort = asked_.sort;
    diff.all = asked_.all;
    diff.junit = asked_.junit;
    diff.html = asked_.html;
    return merge_diff(context_, parts_, diff);
  }

  btf::Result<int> operator()(ValidateOptions& validate) const {
    BTF_TRY(check_reports_of("validate", command_, {}));
    validate.json = asked_.json;
    return merge_validated(context_, parts_, validate);
  }

  btf::Result<int> operator()(ConvertCommand& convert) const {
    BTF_TRY(check_reports_of("convert", command_, {}));
    convert.json = asked_.json;
    return merge_converted(context_, parts_, convert);
  }

  btf::Result<int> operator()(LayersCommand& layers) const {
    BTF_TRY(check_reports_of("layers", command_, {"--all", "--junit", "--html"}));
    layers.json = asked_.json;
    layers.all = asked_.all;
    layers.junit = asked_.junit;
    layers.html = asked_.html;
    return merge_layers(context_, parts_, layers);
  }

  btf::Result<int> operator()(FitCommand& fit) const {
    BTF_TRY(check_reports_of("fit", command_, {"--all", "--html", "--emit"}));
    fit.json = asked_.json;
    fit.all = asked_.all;
    fit.html = asked_.html;
    fit.emit = command_.emit;
    if (const std::string error = emit_error(fit); !error.empty())
      return btf::fail(ErrorCode::invalid_argument, error);
    return merge_fit(context_, parts_, fit);
  }

  btf::Result<int> operator()(const auto&) const {
    return btf::fail(ErrorCode::malformed,
                     "the parts are of '" + parts_.head().command + "', which has no shards");
  }

 private:
  const Context& context_;
  const btf::Parts& parts_;
  const MergeCommand& command_;
  const DiffCommand& asked_;  // command_.reports
};

}  // namespace

btf::Result<int> run_merge(const Context& context, const MergeCommand& command) {
  BTF_ASSIGN(const btf::Parts parts, btf::Parts::open(command.parts, command.expected));
  BTF_ASSIGN(Invocation merged, command_of(parts.head()));
  BTF_TRY(check_files_apart(command, context.files, context.out, &merged));
  const Context as{context.global, context.out, context.log, merged.names, merged.files};
  return std::visit(Merge(as, parts, command), merged.command);
}

}  // namespace btftool

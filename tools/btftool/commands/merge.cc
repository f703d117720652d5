// btftool merge: makes one report of the parts that shards have written.
#include <algorithm>
#include <string>
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

class Merge {
 public:
  Merge(const Context& context, const btf::Parts& parts, const ReportWords& asked)
      : context_(context), parts_(parts), asked_(asked) {}

  btf::Result<int> operator()(DiffCommand& diff) const {
    static_cast<ReportWords&>(diff) = asked_;
    return merge_diff(context_, parts_, diff);
  }
  btf::Result<int> operator()(ValidateOptions& validate) const {
    validate.json = asked_.json;
    return merge_validated(context_, parts_, validate);
  }
  btf::Result<int> operator()(ConvertCommand& convert) const {
    convert.json = asked_.json;
    return merge_converted(context_, parts_, convert);
  }
  btf::Result<int> operator()(LayersCommand& layers) const {
    static_cast<ReportWords&>(layers) = asked_;
    return merge_layers(context_, parts_, layers);
  }
  btf::Result<int> operator()(FitCommand& fit) const {
    static_cast<ReportWords&>(fit) = asked_;
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
  const ReportWords& asked_;
};

}  // namespace

btf::Result<int> run_merge(const Context& context, const MergeCommand& command) {
  BTF_ASSIGN(const btf::Parts parts, btf::Parts::open(command.parts, command.expected));
  BTF_ASSIGN(Invocation merged, command_of(parts.head()));
  for (const std::string& report : command.report_options)
    if (std::ranges::find(merged.report_options, report) == merged.report_options.end())
      return btf::fail(ErrorCode::invalid_argument,
                       report + " does not apply: the parts are of " + parts.head().command);
  BTF_TRY(check_files_apart(command, context.files, context.out, &merged));
  const Context as{context.global, context.out, context.log, merged.names, merged.files};
  return std::visit(Merge(as, parts, command), merged.command);
}

}  // namespace btftool

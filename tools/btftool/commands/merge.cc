// btftool merge: the report of one run, out of the parts that its shards have made.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "btf/shards/part.h"
#include "btf/try.h"
#include "cli/cli.h"
#include "commands/commands.h"
#include "commands/other_files.h"
#include "diff/reports.h"
#include "io/text.h"

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::SetDiffResult;

// The command that made the parts, with the reports that are asked for now.
btf::Result<Invocation> command_of(const btf::PartHead& head, const DiffCommand& reports) {
  std::vector<std::string> words{"btftool", head.command};
  words.insert(words.end(), head.options.begin(), head.options.end());
  words.insert(words.end(), {"--", head.actual, head.golden});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  auto parsed = parse_command_line(static_cast<int>(argv.size()), argv.data());
  auto* invocation = std::get_if<Invocation>(&parsed);
  auto* command = invocation != nullptr ? std::get_if<DiffCommand>(&invocation->command) : nullptr;
  if (command == nullptr) {
    const auto* wrong = std::get_if<UsageError>(&parsed);
    return btf::fail(ErrorCode::malformed, "the options of the parts cannot be used: " +
                                               (wrong != nullptr ? wrong->message : head.command));
  }
  command->json = reports.json;
  command->json_schema = reports.json_schema;
  command->summary = reports.summary;
  command->sort = reports.sort;
  command->all = reports.all;
  command->junit = reports.junit;
  command->html = reports.html;
  command->tensor_criteria = head.tensor_criteria;
  return *std::move(invocation);
}

class Merging {
 public:
  Merging(const Context& context, const DiffCommand& command, const btf::Parts& parts)
      : context_(context),
        command_(command),
        parts_(parts),
        directories_(parts.head().directories),
        reports_(context, command, directories_) {}

  btf::Result<int> run() {
    BTF_TRY(reports_.check_files());
    const std::vector<std::string>& others = parts_.head().others;
    note_others(context_, command_.actual, others);
    note_others(context_, command_.golden, others);
    reports_.tell_others(others);
    BTF_TRY(parts_.each(
        [this](const btf::PartItem& item) -> btf::Status {
          take(item.pair);
          return {};
        },
        context_.global.execution()));
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (reports_.compared_nothing())
      context_.log.error("nothing was compared: no tensor in " + command_.actual + " and " +
                         command_.golden + " has an element");
    return reports_.finish();
  }

 private:
  void take(const SetDiffResult::Pair& pair) {
    reports_.begin(pair.files);
    for (const btf::TensorDiff& diff : pair.tensors) take(diff);
    if (reports_.lists_missing())
      for (const btf::TensorDiff& diff : pair.missing) reports_.missing(diff);
    reports_.end(pair.outcome);
    const bool whole = pair.outcome.result == btf::PairResult::trouble &&
                       std::ranges::none_of(pair.tensors, [](const btf::TensorDiff& diff) {
                         return diff.error.has_value();
                       });
    if (whole && errors_.pass()) context_.log.error(pair.outcome.error);
  }

  void take(const btf::TensorDiff& found) {
    if (found.error && errors_.pass()) context_.log.error(*found.error);
    btf::TensorDiff diff = found;
    // A part has it for the page, whatever the command asked for.
    if (!command_.diff.heatmap && !command_.html) diff.heatmap.reset();
    reports_.take(diff);
  }

  const Context& context_;
  const DiffCommand& command_;
  const btf::Parts& parts_;
  bool directories_;
  DiffReports reports_;
  Limited errors_;
};

}  // namespace

btf::Result<int> run_merge(const Context& context, const MergeCommand& command) {
  BTF_ASSIGN(const btf::Parts parts, btf::Parts::open(command.parts, command.expected));
  BTF_ASSIGN(const Invocation merged, command_of(parts.head(), command.reports));
  const Context as{context.global, context.out, context.log, merged.names};
  const DiffCommand& diff = std::get<DiffCommand>(merged.command);
  for (const std::string& part : command.parts) BTF_TRY(check_reports_beside(diff, part));
  return Merging(as, diff, parts).run();
}

}  // namespace btftool

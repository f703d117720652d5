// btftool repair: what can be saved of it?
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "btf/output.h"
#include "commands/commands.h"
#include "io/exit_code.h"
#include "io/finding_tally.h"
#include "io/interrupt.h"
#include "io/json.h"
#include "io/progress.h"
#include "io/text.h"
#include "report/text/json_document.h"

namespace btftool {
namespace {

class Repair {
 public:
  Repair(const Context& context, const RepairCommand& command)
      : context_(context), command_(command), tally_(command.all) {}

  btf::Result<int> run() {
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(command_.input, unknown);
    Progress progress(context_.global, unknown ? 0 : size);
    btf::RepairOptions options = command_.repair;
    options.execution = context_.global.execution();
    progress.attach(options.execution);
    options.execution.cancel = &watch_interrupts();
    const btf::RepairReport report{.file =
                                       [&](const btf::Finding& finding) {
                                         progress.clear();
                                         damage(finding);
                                       },
                                   .tensor =
                                       [&](const btf::RepairedTensor& tensor) {
                                         progress.clear();
                                         take(tensor);
                                       }};
    const auto summary = btf::repair(command_.input, command_.output, options, report);
    progress.clear();
    if (!summary) return std::unexpected(summary.error());
    if (tally_.counts().hidden() > 0)
      line(fmt::format("not shown: {}; --all shows them", tally_.counts().hidden_text()));
    command_.json ? print_json(*summary) : verdict(*summary);
    if (summary->bytes == 0) {
      context_.log.error(fmt::format("{}: nothing can be saved; {} was not written", command_.input,
                                     command_.output));
      return kTrouble;
    }
    return summary->lost() + summary->in_doubt > 0 ? kDifferent : kSame;
  }

 private:
  // With an output on stdout, the report goes to stderr.
  void line(const std::string& text) {
    if (command_.json || context_.global.quiet) return;
    const std::string whole = printable(command_.input) + ": " + text;
    btf::is_standard_output(command_.output) ? context_.log.note(whole) : context_.out.line(whole);
  }

  void keep(const btf::Finding& finding, const char* outcome, const Json& target) {
    if (!command_.json) return;
    Json json = json_finding(finding);
    json["outcome"] = outcome;
    json["target"] = target;
    findings_.item(json);
  }

  void damage(const btf::Finding& finding) {
    if (!tally_.take(finding)) return;
    keep(finding, "damage", nullptr);
    line(fmt::format("{}: byte {}: {} [{}]", context_.out.red("damaged"), finding.offset,
                     finding.message, finding.code));
  }

  void take(const btf::RepairedTensor& tensor) {
    const btf::Finding& finding = tensor.finding;
    if (!tally_.take(finding)) return;
    const bool followed = finding.code == "offset-wrong";
    const char* outcome = !tensor.target ? "lost" : followed ? "followed" : "in-doubt";
    keep(finding, outcome, tensor.target ? json_number(*tensor.target) : Json(nullptr));
    const std::string what = !tensor.target ? context_.out.red("lost")
                             : followed     ? context_.out.green("saved")
                                            : context_.out.yellow("in doubt");
    line(fmt::format("tensor {}: {}: byte {}: {} [{}]", tensor.source, what, finding.offset,
                     finding.message, finding.code));
  }

  static const char* result(const btf::RepairSummary& summary) {
    if (summary.bytes == 0) return "nothing";
    return summary.lost() > 0 ? "partial" : summary.in_doubt > 0 ? "in-doubt" : "whole";
  }

  void verdict(const btf::RepairSummary& summary) {
    if (summary.bytes == 0) return;
    std::string text =
        fmt::format("{} of {} saved", summary.saved, counted(summary.tensors, "tensor"));
    if (summary.lost() > 0) text += fmt::format(", {} lost", summary.lost());
    if (summary.in_doubt > 0) text += fmt::format(", {} in doubt", summary.in_doubt);
    const bool whole = summary.lost() + summary.in_doubt == 0;
    line(whole ? context_.out.green(text) : context_.out.yellow(text));
  }

  void print_json(const btf::RepairSummary& summary) {
    JsonDocument document;
    document.begin_object().members({{"schema", "btftool/repair/1"},
                                     {"input", command_.input},
                                     {"output", command_.output},
                                     {"result", result(summary)},
                                     {"tensors", json_number(summary.tensors)},
                                     {"saved", json_number(summary.saved)},
                                     {"lost", json_number(summary.lost())},
                                     {"in_doubt", json_number(summary.in_doubt)},
                                     {"followed", json_number(summary.followed)},
                                     {"frames", json_number(summary.frames)},
                                     {"lost_frames", json_number(summary.lost_frames)},
                                     {"output_bytes", json_number(summary.bytes)},
                                     {"codes", tally_.counts().codes()},
                                     {"not_shown", json_number(tally_.counts().hidden())}});
    document.begin_list("findings").items(findings_.take()).end().end();
    context_.out.line(document.take());
  }

  const Context& context_;
  const RepairCommand& command_;
  FindingTally tally_;
  JsonDocument findings_;
};

}  // namespace

btf::Result<int> run_repair(const Context& context, const RepairCommand& command) {
  return Repair(context, command).run();
}

}  // namespace btftool

#include "reports/validate.h"

#include <fmt/format.h>

#include "io/context.h"
#include "io/text.h"

namespace btftool {

PrintedValidation::PrintedValidation(const Context& context, const ValidateOptions& options)
    : context_(context), options_(options), exit_code_(kSame) {
  if (options_.json)
    json_.begin_object().members({{"schema", "btftool/validate/1"}}).begin_list("files");
}

void PrintedValidation::begin(const std::string& path) {
  if (options_.json) json_.begin_object().members({{"path", path}}).begin_list("findings");
}

void PrintedValidation::found(const std::string& path, const btf::Finding& finding,
                              const std::string& name) {
  Output& out = context_.out;
  if (options_.json) return out.text(json_.item(json_finding(finding, name)).take());
  if (context_.global.quiet) return;
  const bool error = finding.severity == btf::Severity::error;
  out.line(fmt::format("{}: {}: {}byte {}: {} [{}]", printable(path),
                       error ? out.red("error") : out.yellow("warning"),
                       finding.tensor ? fmt::format("tensor {}{}: ", *finding.tensor,
                                                    name.empty() ? "" : " " + quoted_name(name))
                                      : "",
                       finding.offset, printable(finding.message), finding.code));
}

void PrintedValidation::end(const std::string& path, const FileVerdict& verdict) {
  if (verdict.error) {
    context_.log.error(*verdict.error);
    exit_code_ = kTrouble;
  } else if (!verdict.good(options_.strict) && exit_code_ == kSame) {
    exit_code_ = kDifferent;
  }
  options_.json ? end_json(verdict) : end_text(path, verdict);
}

btf::Result<int> PrintedValidation::finish(const std::vector<std::string>& others) {
  if (options_.json) context_.out.line(json_.end().members(json_others(others)).end().take());
  return exit_code_;
}

void PrintedValidation::end_json(const FileVerdict& verdict) {
  const FindingCounts& counts = verdict.counts;
  json_.end().members({{"errors", json_number(counts.errors)},
                       {"warnings", json_number(counts.warnings)},
                       {"codes", counts.codes()},
                       {"not_shown", json_number(counts.hidden())},
                       {"result", verdict.result(options_.strict)}});
  json_.end();
}

void PrintedValidation::end_text(const std::string& path, const FileVerdict& verdict) {
  if (context_.global.quiet) return;
  Output& out = context_.out;
  const FindingCounts& counts = verdict.counts;
  if (counts.hidden() > 0)
    out.line(
        fmt::format("{}: not shown: {}; --all shows them", printable(path), counts.hidden_text()));
  if (verdict.error) return;
  std::string line = printable(path) + ": ";
  line += verdict.good(options_.strict) ? out.green("well-formed") : out.red("not well-formed");
  if (counts.any())
    line += fmt::format(": {}, {}", counted(counts.errors, "error"),
                        counted(counts.warnings, "warning"));
  out.line(line);
}

}  // namespace btftool

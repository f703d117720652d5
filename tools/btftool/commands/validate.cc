// btftool validate: is it well-formed?
#include "btf/validate.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>

#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "commands/named_specs.h"
#include "commands/other_files.h"
#include "io/exit_code.h"
#include "io/finding_tally.h"
#include "io/json.h"
#include "io/json_document.h"
#include "io/progress.h"
#include "io/text.h"

namespace btftool {
namespace {

class Validation {
 public:
  Validation(const Context& context, const ValidateOptions& options)
      : context_(context), out_(context.out), options_(options) {}

  int run() {
    if (options_.json)
      json_.begin_object().members({{"schema", "btftool/validate/1"}}).begin_list("files");
    for (const std::string& path : options_.files) validate_set(path);
    if (options_.json) out_.line(json_.end().members(json_others(others_)).end().take());
    return exit_code_;
  }

 private:
  void validate_set(const std::string& path) {
    const auto set = btf::TensorSet::open(path, options_.open);
    if (!set) return validate(path, &set.error(), options_.open, {});
    note_others(context_, *set);
    add_others(*set, others_);
    if (set->member_count() == 0) {
      const btf::Error error = no_files(path, *set);
      return validate(path, &error, options_.open, {});
    }
    std::set<std::string> whole;  // files that were looked at, where a manifest has some of each
    for (std::uint64_t i = 0; i < set->member_count(); ++i) {
      const std::string member = set->member(i).path;
      btf::Result<btf::OpenOptions> options = set->open_options(i);
      const btf::Error* trouble = set->trouble(i);
      if (!options && trouble == nullptr) trouble = &options.error();
      // All of a file is looked at, also where one tensor of it is meant.
      const bool part = options && options->entry && options->entry->offset;
      if (options && !part) options->entry.reset();
      if (!part && trouble == nullptr && !whole.insert(member).second) continue;
      validate(member, trouble, options.value_or(options_.open),
               [&](const btf::FindingSink& report) { return set->check_index(i, report); });
    }
  }

  // `trouble`: why it is not looked into. `more`: what else may be found of a file that can be
  // read.
  void validate(const std::string& path, const btf::Error* trouble, const btf::OpenOptions& open,
                const std::function<btf::Status(const btf::FindingSink&)>& more) {
    FindingTally tally(options_.all);
    if (options_.json) json_.begin_object().members({{"path", path}}).begin_list("findings");
    Progress progress(context_.global, size_of(path));
    btf::Execution execution = context_.global.execution();
    progress.attach(execution);
    const auto report = [&](const btf::Finding& finding) {
      if (!tally.take(finding)) return;
      progress.clear();
      show(path, context_.names.in(finding));
    };
    btf::Status status =
        trouble != nullptr ? std::unexpected(*trouble)
                           : btf::validate(path, report, open, execution, options_.checks);
    if (status && more && tally.errors() == 0) status = more(report);
    progress.clear();
    const bool good = tally.errors() == 0 && (tally.warnings() == 0 || !options_.strict);
    if (!status) {
      context_.log.error(status.error().in_file(path));
      exit_code_ = kTrouble;
    } else if (!good && exit_code_ == kSame) {
      exit_code_ = kDifferent;
    }
    if (options_.json)
      json_verdict(tally, status.has_value(), good);
    else
      text_verdict(path, tally, status.has_value(), good);
  }

  // What progress is measured by; nothing to go by where it is not a file.
  static std::uint64_t size_of(const std::string& path) {
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    return unknown ? 0 : size;
  }

  void show(const std::string& path, const btf::Finding& finding) {
    if (options_.json) {
      out_.text(json_.item(json_finding(finding)).take());
      return;
    }
    if (context_.global.quiet) return;
    const bool error = finding.severity == btf::Severity::error;
    out_.line(fmt::format("{}: {}: {}byte {}: {} [{}]", printable(path),
                          error ? out_.red("error") : out_.yellow("warning"),
                          finding.tensor ? fmt::format("tensor {}: ", *finding.tensor) : "",
                          finding.offset, printable(finding.message), finding.code));
  }

  void json_verdict(const FindingTally& tally, bool readable, bool good) {
    json_.end().members({{"errors", json_number(tally.errors())},
                         {"warnings", json_number(tally.warnings())},
                         {"codes", tally.codes()},
                         {"not_shown", json_number(tally.hidden())},
                         {"result", !readable ? "unreadable"
                                    : good    ? "well-formed"
                                              : "malformed"}});
    json_.end();
  }

  void text_verdict(const std::string& path, const FindingTally& tally, bool readable, bool good) {
    if (context_.global.quiet) return;
    if (tally.hidden() > 0)
      out_.line(fmt::format("{}: not shown: {}; --all shows them", printable(path),
                            tally.hidden_text()));
    if (!readable) return;
    std::string line = printable(path) + ": ";
    line += good ? out_.green("well-formed") : out_.red("not well-formed");
    if (tally.any())
      line += fmt::format(": {}, {}", counted(tally.errors(), "error"),
                          counted(tally.warnings(), "warning"));
    out_.line(line);
  }

  const Context& context_;
  Output& out_;
  const ValidateOptions& options_;
  JsonDocument json_;
  std::vector<std::string> others_;
  int exit_code_ = kSame;
};

}  // namespace

btf::Result<int> run_validate(const Context& context, const ValidateOptions& options) {
  BTF_TRY(check_named_specs(options.files, options.open));
  return Validation(context, options).run();
}

}  // namespace btftool

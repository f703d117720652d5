// The commands validate and repair.
#include "btf/validate.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "btf/output.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/context.h"
#include "io/text.h"
#include "report/text/json.h"
#include "reports/validate.h"
#include "reports/validate_part.h"

namespace btftool {
namespace {

// Returns the size of a file, or 0 if it is not a regular one; for the display of progress.
std::uint64_t size_of(const std::string& path) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}

// Names that a file gives its tensors. The file is only opened if a name is asked for.
class TensorNames {
 public:
  TensorNames(const std::string& path, const btf::OpenOptions& open) : path_(path), open_(open) {}

  // Returns an empty string if the tensor has no name, or if the file cannot be read twice.
  std::string of(const std::optional<std::uint64_t>& tensor) {
    if (!tensor) return {};
    if (!regular_) {
      std::error_code unknown;
      const auto state = btf::FileState::of(path_);
      if (!state) note(state.error());
      regular_ = state && *state && std::filesystem::is_regular_file(path_, unknown);
    }
    if (!*regular_) return {};
    if (!file_) file_ = btf::TensorFile::open(path_, open_);
    const auto name = *file_ ? (*file_)->own_name(*tensor) : std::unexpected(file_->error());
    if (!name) note(name.error());
    return name ? name->value_or("") : "";
  }

  // A name that could not be read for a reason of the system.
  const btf::Status& status() const { return status_; }

 private:
  void note(const btf::Error& error) {
    if (status_ && error.code == btf::ErrorCode::io) status_ = std::unexpected(error);
  }

  const std::string& path_;
  const btf::OpenOptions& open_;
  std::optional<bool> regular_;
  std::optional<btf::Result<btf::TensorFile>> file_;
  btf::Status status_{};
};

class Validation {
 public:
  Validation(const Context& context, const ValidateOptions& options)
      : context_(context), options_(options) {}

  btf::Result<int> run() {
    for (const std::string& path : options_.files) add(path);
    if (options_.part) return run_shard();
    PrintedValidation report(context_, options_);
    for (const File& file : files_) validate(file, report);
    return report.finish(others_);
  }

 private:
  struct File {
    std::string path;
    const btf::TensorSet* set = nullptr;  // nullptr if the operand could not be opened
    std::uint64_t member = 0;             // of `set`
    std::string name{};                   // path relative to the operand
    std::optional<btf::Error> error{};    // set if there is no `set`
  };

  btf::Result<int> run_shard() {
    ValidationPart report(context_, options_, others_);
    std::vector<btf::PlannedPair> planned;
    for (const File& file : files_) {
      BTF_ASSIGN(const auto state, btf::FileState::of(file.path));
      const std::uint64_t bytes = state ? state->bytes : 0;
      planned.push_back({.name = file.name, .actual_bytes = bytes, .bytes = bytes});
    }
    BTF_ASSIGN(const std::vector<std::uint64_t> own, report.pick(planned));
    for (const std::uint64_t number : own) {
      report.next(number);
      validate(files_[number], report);
    }
    return report.finish({});
  }

  void add(const std::string& path) {
    const std::string base = path.substr(path.rfind('/') + 1);
    auto set = btf::TensorSet::open(path, options_.open);
    if (!set) return files_.push_back({.path = path, .name = base, .error = set.error()});
    note_others(context_, *set);
    add_others(*set, others_);
    if (set->member_count() == 0)
      return files_.push_back({.path = path, .name = base, .error = btf::no_files(*set)});
    sets_.push_back(*std::move(set));
    add(sets_.back());
  }

  void add(const btf::TensorSet& set) {
    std::set<std::string> whole;  // files that are added; a manifest may have a file several times
    for (std::uint64_t i = 0; i < set.member_count(); ++i) {
      const btf::SetMember member = set.member(i);
      if (set.trouble(i) == nullptr && !is_part(set.open_options(i)) &&
          !whole.insert(member.path).second)
        continue;
      const bool below = member.place != member.path;
      files_.push_back(
          {.path = member.path,
           .set = &set,
           .member = i,
           .name = below ? member.place : member.path.substr(member.path.rfind('/') + 1)});
    }
  }

  // Returns true if only one tensor of the file is meant, given by its offset.
  static bool is_part(const btf::Result<btf::OpenOptions>& options) {
    return !options || (options->entry && options->entry->offset);
  }

  void validate(const File& file, ValidationReport& report) {
    if (file.set == nullptr) return validate(file.path, &*file.error, options_.open, {}, report);
    btf::Result<btf::OpenOptions> options = file.set->open_options(file.member);
    const btf::Error* error = file.set->trouble(file.member);
    if (!options && error == nullptr) error = &options.error();
    if (!is_part(options)) options->entry.reset();
    const auto check_index = [&](const btf::FindingSink& sink) {
      return file.set->check_index(file.member, sink);
    };
    validate(file.path, error, options.value_or(options_.open), check_index, report);
  }

  // If `error` is set, the file is not read. `more` adds findings for a file that could be read.
  void validate(const std::string& path, const btf::Error* error, const btf::OpenOptions& open,
                const std::function<btf::Status(const btf::FindingSink&)>& more,
                ValidationReport& report) {
    FindingTally tally(options_.all);
    TensorNames names(path, open);
    report.begin(path);
    Progress progress(context_.global, size_of(path));
    btf::Execution execution = context_.global.execution();
    progress.attach(execution);
    const auto take = [&](const btf::Finding& finding) {
      if (!tally.take(finding)) return;
      progress.clear();
      report.found(path, context_.names.translate(finding), names.of(finding.tensor));
    };
    btf::Status status = error != nullptr
                             ? std::unexpected(*error)
                             : btf::validate(path, take, open, execution, options_.checks);
    if (status && more && tally.counts().errors == 0) status = more(take);
    if (status) status = names.status();
    progress.clear();
    FileVerdict verdict{.counts = tally.counts()};
    if (!status) verdict.error = context_.names.translate(status.error().in_file(path).text());
    report.end(path, verdict);
  }

  const Context& context_;
  const ValidateOptions& options_;
  std::deque<btf::TensorSet> sets_;
  std::vector<File> files_;
  std::vector<std::string> others_;
};

}  // namespace

btf::Result<int> run_validate(const Context& context, const ValidateOptions& options) {
  BTF_TRY(check_named_specs(options.files, options.open));
  return Validation(context, options).run();
}

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
      context_.log.error(fmt::format("{}: no tensor can be saved; {} was not written",
                                     command_.input, command_.output));
      return kTrouble;
    }
    return summary->lost() + summary->in_doubt > 0 ? kDifferent : kSame;
  }

 private:
  // If the output goes to stdout, the report goes to stderr.
  void line(const std::string& text) {
    if (command_.json || context_.global.quiet) return;
    const std::string whole = printable(command_.input) + ": " + text;
    btf::is_standard_output(command_.output) ? context_.log.note(whole) : context_.out.line(whole);
  }

  void add_json(const btf::Finding& finding, const char* outcome, const Json& target) {
    if (!command_.json) return;
    Json json = json_finding(finding);
    json["outcome"] = outcome;
    json["target"] = target;
    findings_.item(json);
  }

  void damage(const btf::Finding& finding) {
    if (!tally_.take(finding)) return;
    add_json(finding, "damage", nullptr);
    line(fmt::format("{}: byte {}: {} [{}]", context_.out.red("damaged"), finding.offset,
                     finding.message, finding.code));
  }

  void take(const btf::RepairedTensor& tensor) {
    const btf::Finding& finding = tensor.finding;
    if (!tally_.take(finding)) return;
    const bool followed = finding.code == "offset-wrong";
    const char* outcome = !tensor.target ? "lost" : followed ? "followed" : "in-doubt";
    add_json(finding, outcome, tensor.target ? json_number(*tensor.target) : Json(nullptr));
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

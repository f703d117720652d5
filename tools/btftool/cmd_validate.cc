// btftool validate: is it well-formed?
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "btf/validate.h"
#include "commands.h"
#include "exit_code.h"
#include "json.h"
#include "progress.h"
#include "text.h"

namespace btftool {
namespace {

class Validation {
 public:
  Validation(const Context& context, const ValidateOptions& options)
      : context_(context), out_(context.out), options_(options) {}

  int run() {
    if (options_.json) out_.text("{\"schema\":\"btftool/validate/1\",\"files\":[");
    for (const std::string& path : options_.files) validate(path);
    if (options_.json) out_.line("]}");
    return exit_code_;
  }

 private:
  void validate(const std::string& path) {
    errors_ = warnings_ = 0;
    if (options_.json) {
      const std::string head = dump({{"path", path}});
      out_.text((first_file_ ? "" : ",") + head.substr(0, head.size() - 1) + ",\"findings\":[");
      first_file_ = false;
    }
    Progress progress(context_.global, size_of(path));
    btf::Execution execution = context_.global.execution();
    progress.attach(execution);
    const auto report = [&](const btf::Finding& finding) {
      progress.clear();
      take(path, finding);
    };
    const btf::Status status = btf::validate(path, report, options_.open, execution);
    progress.clear();
    const bool good = errors_ == 0 && (warnings_ == 0 || !options_.strict);
    if (!status) {
      context_.log.error(status.error().in_file(path));
      exit_code_ = kTrouble;
    } else if (!good && exit_code_ == kSame) {
      exit_code_ = kDifferent;
    }
    if (options_.json)
      json_verdict(status.has_value(), good);
    else if (status)
      text_verdict(path, good);
  }

  // What progress is measured by; nothing to go by where it is not a file.
  static std::uint64_t size_of(const std::string& path) {
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    return unknown ? 0 : size;
  }

  void take(const std::string& path, const btf::Finding& finding) {
    const bool error = finding.severity == btf::Severity::error;
    ++(error ? errors_ : warnings_);
    if (options_.json) {
      out_.text((errors_ + warnings_ == 1 ? "" : ",") + dump(json_finding(finding)));
      return;
    }
    if (context_.global.quiet) return;
    out_.line(fmt::format("{}: {}: {}byte {}: {} [{}]", printable(path),
                          error ? out_.red("error") : out_.yellow("warning"),
                          finding.tensor ? fmt::format("tensor {}: ", *finding.tensor) : "",
                          finding.offset, finding.message, finding.code));
  }

  void json_verdict(bool readable, bool good) {
    const std::string tail = dump({{"errors", json_number(errors_)},
                                   {"warnings", json_number(warnings_)},
                                   {"result", !readable ? "unreadable"
                                              : good    ? "well-formed"
                                                        : "malformed"}});
    out_.text("]," + tail.substr(1));
  }

  void text_verdict(const std::string& path, bool good) {
    if (context_.global.quiet) return;
    std::string line = printable(path) + ": ";
    line += good ? out_.green("well-formed") : out_.red("not well-formed");
    if (errors_ + warnings_ > 0)
      line += fmt::format(": {}, {}", counted(errors_, "error"), counted(warnings_, "warning"));
    out_.line(line);
  }

  const Context& context_;
  Output& out_;
  const ValidateOptions& options_;
  bool first_file_ = true;
  std::uint64_t errors_ = 0;
  std::uint64_t warnings_ = 0;
  int exit_code_ = kSame;
};

}  // namespace

btf::Result<int> run_validate(const Context& context, const ValidateOptions& options) {
  return Validation(context, options).run();
}

}  // namespace btftool

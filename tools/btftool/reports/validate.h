// The report of the files that are validated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/validate.h"
#include "io/context.h"
#include "report/text/json.h"

namespace btftool {

struct FileVerdict {
  FindingCounts counts{};
  std::optional<std::string> error{};  // why it could not be read to its end, if it could not

  bool good(bool strict) const { return counts.errors == 0 && (counts.warnings == 0 || !strict); }
  std::string_view result(bool strict) const {
    return error ? "unreadable" : good(strict) ? "well-formed" : "malformed";
  }
};

// For each file, begin(), found() for each finding that is shown, and end() are called.
class ValidationReport {
 public:
  virtual ~ValidationReport() = default;
  virtual void begin(const std::string& path) = 0;
  // `name` is that of the finding's tensor, or empty if it has none.
  virtual void found(const std::string& path, const btf::Finding& finding,
                     const std::string& name) = 0;
  virtual void end(const std::string& path, const FileVerdict& verdict) = 0;
  // Returns the exit code. `others` are files in directories that were not read.
  virtual btf::Result<int> finish(const std::vector<std::string>& others) = 0;
};

// Prints text or JSON to standard output.
class PrintedValidation final : public ValidationReport {
 public:
  PrintedValidation(const Context& context, const ValidateOptions& options);

  void begin(const std::string& path) override;
  void found(const std::string& path, const btf::Finding& finding,
             const std::string& name) override;
  void end(const std::string& path, const FileVerdict& verdict) override;
  btf::Result<int> finish(const std::vector<std::string>& others) override;

 private:
  void end_json(const FileVerdict& verdict);
  void end_text(const std::string& path, const FileVerdict& verdict);

  const Context& context_;
  const ValidateOptions& options_;
  JsonDocument json_;
  int exit_code_;
};

}  // namespace btftool

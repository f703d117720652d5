// All the reports that a command asks for, told what was found as if they were one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diff/reports/report.h"
#include "io/context.h"

namespace btftool {

class DiffReports {
 public:
  DiffReports(const Context& context, const DiffCommand& command, bool directories);

  // An error if a report could not be written at the end, as far as that shows now.
  btf::Status check_files() const;

  void tell_others(std::vector<std::string> paths) { totals_.others = std::move(paths); }
  void begin(const FilePair& pair);
  void take(const btf::TensorDiff& diff);
  // Of a file that only one side has.
  bool lists_missing() const;
  void missing(const btf::TensorDiff& diff);
  void end(PairOutcome outcome);
  // Of the pair that began last: tensors that could not be compared, and what is said of them.
  std::uint64_t troubled() const { return totals_.troubled_tensors - before_; }
  std::string trouble() const;
  // Though there was no trouble: that is one of all pairs together.
  bool compared_nothing() const { return totals_.nothing(); }
  // The exit code. Reports that cannot be written are named on stderr.
  int finish();
  // Instead of all these: `pair` as a whole is trouble, before anything was compared.
  void refuse(const FilePair& pair, const btf::Error& error);

 private:
  void show(const btf::TensorDiff& diff);
  void count(const btf::TensorDiff& diff);
  void note_different(const std::string& name);
  void finish(DiffReport& report);

  const Context& context_;
  const DiffCommand& command_;
  std::vector<std::unique_ptr<DiffReport>> reports_;
  FilePair pair_;
  Totals totals_;
  std::uint64_t before_ = 0;  // tensors in trouble, of the pairs before
  std::string first_trouble_;
};

// What the library has to find out so that the reports can tell it.
btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command);

}  // namespace btftool

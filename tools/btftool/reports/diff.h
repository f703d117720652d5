// The reports of diff: text or JSON on standard output, report files, a part, and the picture.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/part.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "io/context.h"
#include "reports/diff_part.h"

namespace btftool {

// The picture of diff --image: the tensor that differs most.
class DifferencePicture {
 public:
  // If `several` is set, there are several files, and the caption names the one that is drawn.
  DifferencePicture(const DiffCommand& command, bool several);

  // Must be called for each pair that was compared, in order. An equal pair is only drawn if all
  // are equal.
  void note(const btf::FilePair& files, const btf::TensorDiff& diff);
  // The number of the pair of files to draw; unset if there is none.
  std::optional<std::uint64_t> pair() const;
  void draw(const Context& context, const btf::Result<btf::ComparedFiles>& files);
  // Writes the picture and prints a caption. Does nothing if no picture was asked for.
  btf::Status write(const Context& context) const;

 private:
  struct WorstPair {
    btf::FilePair files;
    btf::DiffTensor actual;
    btf::DiffTensor golden;
    double error = 0;
    std::optional<btf::Dims> place{};  // index of the largest error
    bool different = false;
  };

  const DiffCommand& command_;
  bool several_;
  std::optional<PictureTarget> target_;
  std::optional<WorstPair> worst_;
  std::uint64_t different_ = 0;
  std::optional<btf::Result<btf::DrawnTensor>> drawn_;
};

// Returns true if the picture is written to standard output as a PNG, so that nothing else may be.
bool picture_takes_output(const DiffCommand& command);

using btf::FilePair;
using btf::PairOutcome;
using btf::PairResult;

// All reports that the command line asks for.
class DiffReports {
 public:
  DiffReports(const Context& context, const DiffCommand& command, bool directories);

  // Fails if a report file could not be written, as far as can be seen before the comparison.
  btf::Status check_files() const;

  void set_others(std::vector<std::string> paths);
  // Returns the pairs that the shard still has to compare.
  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedPair> pairs);
  void begin(const FilePair& pair);
  // The same with the states that the files had when they were compared.
  void begin(const FilePair& pair, const std::optional<btf::FileState>& actual,
             const std::optional<btf::FileState>& golden);
  void take(const btf::TensorDiff& diff);
  // True if the tensors of a file on one side only are to be listed.
  bool lists_missing() const;
  void missing(const btf::TensorDiff& diff);
  void end(PairOutcome outcome);
  // The number of tensors of the current pair that could not be compared, and a message about them.
  std::uint64_t troubled() const { return totals_.pair_troubled; }
  std::string trouble() const { return totals_.trouble_text(); }
  // Returns true if no pair had an element to compare, although there were no errors.
  bool compared_nothing() const { return totals_.nothing(); }
  // Writes the reports and returns the exit code. Logs an error for each that cannot be written.
  int finish();
  // Reports that `pair` cannot be compared at all. To be called instead of all functions above.
  void refuse(const FilePair& pair, const btf::Error& error);

 private:
  void show(const btf::TensorDiff& diff);
  std::optional<btf::FileState> state_of(const std::string& path,
                                         const std::optional<btf::FileState>& opened);

  struct Report {
    std::unique_ptr<btf::DiffReport> report;
    bool own_file;  // goes to a file and not to standard output
  };

  const Context& context_;
  const DiffCommand& command_;
  std::vector<Report> reports_;
  PartReport* part_ = nullptr;  // one of `reports_`, if it is a shard
  FilePair pair_;
  btf::DiffTotals totals_;
};

// Returns the options that make the library compute what the reports need.
btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command);

}  // namespace btftool

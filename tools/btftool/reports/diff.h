// All reports of a run of diff as one: what is written where, the command to type next, and the
// picture.
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

// diff --image: the worst of the tensors that differ, as a picture.

class DifferencePicture {
 public:
  // `several`: there are several files, and pairs are told by their names.
  DifferencePicture(const DiffCommand& command, bool several);

  // Takes each pair that was compared, in order. A pair that is the same is drawn only if all are.
  void note(const btf::FilePair& files, const btf::TensorDiff& diff);
  // The number of the one that is drawn; nothing: there is none.
  std::optional<std::uint64_t> pair() const;
  void draw(const Context& context, const btf::Result<btf::ComparedFiles>& files);
  // To where it goes; says on standard output what it shows. Nothing, if none was asked for.
  btf::Status write(const Context& context) const;

 private:
  struct Chosen {
    btf::FilePair files;
    btf::DiffTensor actual;
    btf::DiffTensor golden;
    double error = 0;
    std::optional<btf::Dims> place{};  // of the largest error
    bool different = false;
  };

  const DiffCommand& command_;
  bool several_;
  std::optional<PictureTarget> target_;
  std::optional<Chosen> chosen_;
  std::uint64_t different_ = 0;
  std::optional<btf::Result<btf::DrawnTensor>> drawn_;
};

// Has the picture all of standard output?
bool picture_takes_output(const DiffCommand& command);

// All the reports that a command requests, behind one interface.

using btf::FilePair;
using btf::PairOutcome;
using btf::PairResult;

class DiffReports {
 public:
  DiffReports(const Context& context, const DiffCommand& command, bool directories);

  // An error if a report could not be written at the end, as far as that shows now.
  btf::Status check_files() const;

  void tell_others(std::vector<std::string> paths);
  // The pairs of this command's shard, which are not in its part yet.
  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedPair> pairs);
  void begin(const FilePair& pair);
  // The files as they were when the pair was compared.
  void begin(const FilePair& pair, const std::optional<btf::FileState>& actual,
             const std::optional<btf::FileState>& golden);
  void take(const btf::TensorDiff& diff);
  // True if the tensors of a file on one side only are to be listed.
  bool lists_missing() const;
  void missing(const btf::TensorDiff& diff);
  void end(PairOutcome outcome);
  // Tensors of the current pair that could not be compared, and the message on them.
  std::uint64_t troubled() const { return totals_.pair_troubled; }
  std::string trouble() const { return totals_.trouble_text(); }
  // Though there was no trouble: that is one of all pairs together.
  bool compared_nothing() const { return totals_.nothing(); }
  // The exit code. Reports that cannot be written are named on stderr.
  int finish();
  // Instead of all these: `pair` as a whole is trouble, before anything was compared.
  void refuse(const FilePair& pair, const btf::Error& error);

 private:
  void show(const btf::TensorDiff& diff);

  struct Report {
    std::unique_ptr<btf::DiffReport> report;
    bool own_file;  // else standard output
  };

  const Context& context_;
  const DiffCommand& command_;
  std::vector<Report> reports_;
  PartReport* part_ = nullptr;  // one of these
  FilePair pair_;
  btf::DiffTotals totals_;
};

// The options that make the library compute what the reports need.
btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command);

}  // namespace btftool

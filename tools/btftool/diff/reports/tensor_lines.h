// The lines about single tensors in a report that fits a screen: details of the first that differ,
// then a line for each, and at last only their number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "cli/options.h"
#include "diff/reports/same_run.h"
#include "io/output.h"

namespace btftool {

class TensorLines {
 public:
  // `reserve`: lines of the screen that are for something else.
  TensorLines(const Output& paint, const DiffCommand& command, std::uint64_t reserve);

  // From here on at most so many lines, until the next section.
  void section(std::uint64_t lines);

  void take(const btf::TensorDiff& diff);
  // Tells of the tensors that were the same and are not told of yet; `fold`: in one line.
  void end_run(bool fold = false);
  // Takes them away instead.
  SameRun take_run();

  // What is to be printed since the last call.
  std::vector<std::string> lines();

  // A line that is not about a tensor: is there room for it on the screen, and for `reserve` more?
  // It is used up then.
  bool use_line(std::uint64_t reserve);
  bool any_different() const { return !first_; }

  // "3 different tensors, details of 12", or nothing.
  std::string not_shown() const;

 private:
  bool room(std::uint64_t lines, std::uint64_t more = 0) const;
  void put(std::string line);
  void tell(const btf::TensorDiff& diff, bool first);
  bool details(const btf::TensorDiff& diff, bool first);
  void heatmap(const btf::TensorDiff& diff);

  const Output& paint_;
  const DiffCommand& command_;
  std::uint64_t reserve_;
  std::uint64_t used_ = 0;
  std::uint64_t section_;  // lines that the section has left
  std::uint64_t maps_ = 0;
  bool first_ = true;  // no tensor has differed yet
  SameRun run_;
  std::vector<std::string> lines_;
  std::uint64_t hidden_different_ = 0;
  std::uint64_t hidden_same_ = 0;
  std::uint64_t hidden_details_ = 0;
};

}  // namespace btftool

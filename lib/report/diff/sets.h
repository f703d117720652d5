// The table of a comparison of many tensors, with a line for each that fits the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "btf/report.h"
#include "report/text/text.h"

namespace btf::report {

struct SetRow {
  std::string name;
  bool different = false;
  std::string refused{};  // "1.56%"
  std::string error{};    // the largest error
  std::string cosine{};
  std::string why{};
  std::string evidence{};            // printed after `why` if there is room
  std::string instead{};             // replaces the four above: "shape [1] against [2]"
  std::vector<std::string> below{};  // lines below the row, which are not shortened
  // Sort keys; the worst tensor comes first.
  double error_rank = 0;
  double cosine_rank = 0;
};

class SetTable {
 public:
  // `columns` is the width of the terminal. If `whole` is set, names and causes are never
  // shortened. `refused` is the title of that column.
  SetTable(Paint paint, std::size_t columns, bool whole, DiffSort sort, std::string refused)
      : paint_(paint),
        columns_(columns),
        whole_(whole),
        sort_(sort),
        refused_(std::move(refused)) {}

  void add(SetRow row);
  // Drops the rows that were not printed.
  void clear() { rows_.clear(); }

  // Returns the lines that can be printed now; all of them if `last` is set. Column widths depend
  // on the rows known at the first call that returns lines.
  std::vector<std::string> lines(bool last);

 private:
  struct Widths {
    std::size_t name = 0;
    std::size_t why = 0;
  };

  Widths measure() const;
  std::string why_text(const SetRow& row) const;
  void print_title(std::vector<std::string>& lines) const;
  void print(const SetRow& row, const std::string& name, std::vector<std::string>& lines) const;

  Paint paint_;
  std::size_t columns_;
  bool whole_;
  DiffSort sort_;
  std::string refused_;
  std::vector<SetRow> rows_;
  Widths widths_;
  bool began_ = false;
};

// Returns the label of a tensor: "conv1", "tensor 3" in a file without names, or "m.npz: conv1" if
// several files may have the same names.
std::string set_name(const TensorDiff& diff, const FilePair& pair, bool directories);

SetRow set_row(const TensorDiff& diff, std::string name);

// Returns the row of a pair of files of which one is missing, unreadable or empty.
SetRow set_row(const FilePair& pair, const PairOutcome& outcome);

}  // namespace btf::report

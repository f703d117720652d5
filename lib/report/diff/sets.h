// The table of a report on many tensors: a line for each, which fits the terminal.
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
  std::string error{};    // the largest
  std::string cosine{};
  std::string why{};
  std::string evidence{};            // behind it, as far as there is room
  std::string instead{};             // of all four: "shape [1] against [2]"
  std::vector<std::string> below{};  // lines of its own, whatever their length
  // Sort keys, the worst first.
  double error_rank = 0;
  double cosine_rank = 0;
};

class SetTable {
 public:
  // `columns`: of the terminal; `whole`: names and causes are whole, however long lines become.
  // `refused`: the title of that column.
  SetTable(Paint paint, std::size_t columns, bool whole, DiffSort sort, std::string refused)
      : paint_(paint),
        columns_(columns),
        whole_(whole),
        sort_(sort),
        refused_(std::move(refused)) {}

  void add(SetRow row);
  // Drops the rows that were not printed.
  void clear() { rows_.clear(); }

  // The lines that became printable since the last call; with `last` all of them. Column widths
  // follow from the rows known at the first print and stay.
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

// One tensor's row in a report on many tensors.

// The label of a tensor: "conv1", "tensor 3" in a file without names, "m.npz: conv1"
// where names of several files may be the same.
std::string set_name(const TensorDiff& diff, const FilePair& pair, bool directories);

SetRow set_row(const TensorDiff& diff, std::string name);

// The row of a pair of files without tensors: one is missing, unreadable or empty.
SetRow set_row(const FilePair& pair, const PairOutcome& outcome);

}  // namespace btf::report

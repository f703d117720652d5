// The output of inspect as text, with percentiles, histogram and channels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/context.h"
#include "report/text/text.h"
#include "reports/inspect_details.h"

namespace btftool {

// Percentiles, histogram and channels as JSON and as lines of text.

void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details);

struct StatisticsLine {
  std::string label;  // empty: it belongs to the one before
  std::string text;
};

// Lines of at most `columns`, where that is not very little. `bars`: the histogram has a line for
// each bin, else it is one line.
std::vector<StatisticsLine> statistics_lines(btf::DType dtype, const InspectDetails& details,
                                             bool bars, std::size_t columns);

// inspect as lines: one for each record, with the requested details below it.

class InspectText {
 public:
  InspectText(Output& out, const InspectOptions& options) : out_(out), options_(options) {}

  // `tensors`: those that will be shown; nothing: all of the file.
  // An error of the system, met while widths of columns were looked for: the tensor, which may be
  // read when its line comes, is not as wide as it should be.
  btf::Status begin(const btf::TensorFile& file,
                    const std::optional<std::vector<std::uint64_t>>& tensors);
  void tensor(const btf::TensorInfo& tensor, const InspectDetails& details);

 private:
  void whole_line(const btf::TensorInfo& tensor);
  void fitting_line(const btf::TensorInfo& tensor);
  std::vector<std::string> cells(const btf::TensorInfo& tensor) const;
  btf::Status fit_columns(const btf::TensorFile& file,
                          const std::optional<std::vector<std::uint64_t>>& tensors);
  void detail(std::string_view label, const std::string& text);
  void strides(const btf::TensorInfo& tensor);
  void stats(const btf::TensorStats& stats, btf::DType dtype);
  void at(const InspectDetails& details);
  std::size_t values_width(std::size_t rank) const;
  void values(const std::string& text);

  Output& out_;
  const InspectOptions& options_;
  std::size_t width_ = 2;
  bool btf_ = true;
  std::string line_;
  std::vector<btf::report::Column> columns_;  // of a table that fits; empty: the one of a pipe
  std::unordered_map<std::uint64_t, std::string> names_;  // there, by the tensors' numbers
};

}  // namespace btftool

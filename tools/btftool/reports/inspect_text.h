// The text output of inspect.
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

// Adds percentiles, histogram and channels to the JSON of the statistics.
void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details);

struct StatisticsLine {
  std::string label;  // empty if the line continues the one before
  std::string text;
};

// Returns percentiles, histogram and channels as lines of at most `columns` columns, unless that is
// very few. If `bars` is set, the histogram has a line for each bin, otherwise it is one line.
std::vector<StatisticsLine> statistics_lines(btf::DType dtype, const InspectDetails& details,
                                             bool bars, std::size_t columns);

// Prints one line for each record, with the requested details below it.
class InspectText {
 public:
  InspectText(Output& out, const InspectOptions& options) : out_(out), options_(options) {}

  // `tensors` are those that will be printed; all if unset. Returns a system error if a tensor
  // could not be read to compute the widths of columns. It may be readable when its line is
  // printed.
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
  std::vector<btf::report::Column> columns_;  // empty unless the table must fit a terminal
  std::unordered_map<std::uint64_t, std::string> names_;  // shortened names, by tensor number
};

}  // namespace btftool

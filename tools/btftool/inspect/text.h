// inspect as lines: one for each record, with the requested details below it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "inspect/details.h"
#include "io/output.h"
#include "report/text/columns.h"

namespace btftool {

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

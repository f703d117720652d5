// inspect as lines: one for each record, with the requested details below it.
#pragma once

#include <string>

#include "inspect/details.h"
#include "io/output.h"

namespace btftool {

class InspectText {
 public:
  InspectText(Output& out, const InspectOptions& options) : out_(out), options_(options) {}

  void begin(const btf::TensorFile& file);
  void tensor(const btf::TensorInfo& tensor, const InspectDetails& details);

 private:
  void detail(std::string_view label, const std::string& text);
  void strides(const btf::TensorInfo& tensor);
  void stats(const btf::TensorStats& stats, btf::DType dtype);
  void at(const btf::TensorInfo& tensor, const InspectDetails& details);
  void values(const std::string& text);

  Output& out_;
  const InspectOptions& options_;
  std::size_t width_ = 2;
  bool btf_ = true;
  std::string line_;
};

}  // namespace btftool

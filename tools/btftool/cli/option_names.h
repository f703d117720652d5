// The library's texts name members of its options in backticks: "`quantization.axis` goes with
// `quantization.automatic`". The user reads the options of the command line in their place.
#pragma once

#include <string>
#include <string_view>

#include "btf/diff/tensor_diff.h"
#include "btf/error.h"
#include "btf/finding.h"
#include "btf/layers/layers.h"

namespace btftool {

class OptionNames {
 public:
  // As `command` ("diff") calls them.
  explicit OptionNames(std::string_view command) : command_(command) {}

  // A name in backticks that the table lacks stays as it is.
  std::string in(std::string text) const;
  btf::Error in(btf::Error error) const;
  btf::Finding in(btf::Finding finding) const;
  btf::TensorDiff in(btf::TensorDiff diff) const;
  btf::LayerReport in(btf::LayerReport report) const;

 private:
  std::string_view option(std::string_view member) const;

  std::string command_;
};

}  // namespace btftool

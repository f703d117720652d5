// How two files differ beside their tensors: in what they say of themselves, and in their graphs.
#pragma once

#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/file.h"

namespace btf {

// What two files say otherwise beside their tensors.
struct FileDifference {
  std::string part{};     // "metadata", "node", "input", "output", "opset", ...
  std::string subject{};  // which of these: "Conv_3"
  std::string what{};     // of it: "dilations"; empty: all of it
  std::string actual{};   // as text; empty: there is none
  std::string golden{};

  // "node 'Conv_3': dilations [1, 1] against [2, 2]"
  BTF_API std::string text() const;
};

struct FileDifferences {
  bool graphs = false;  // both are models, and their graphs were compared
  std::vector<FileDifference> all{};
  // Of two models whose graphs differ where only tensors were to be compared: in which nodes. Or
  // why the graphs could not be compared.
  std::string uncompared{};
};

// `strict`: as DiffOptions has it: all differences; else what is not compared. An error: what a file
// says cannot be read, and is to be compared.
BTF_API Result<FileDifferences> file_differences(const TensorFile& actual, const TensorFile& golden,
                                                 bool strict);

}  // namespace btf

// How the graphs of two ONNX models differ, besides their tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/set_diff.h"

namespace btf {

struct ModelDifferences {
  bool models = false;  // both files are models, so there is something to compare
  std::vector<FileDifference> all{};
  std::uint64_t nodes = 0;  // nodes of golden, and those that only actual has

  // "only tensors were compared; the graphs differ in 1 of 27 nodes: Conv_3 dilations, pads"; empty
  // if they do not differ.
  std::string summary() const;

  // Fails if a graph cannot be read.
  static Result<ModelDifferences> of(const TensorFile& actual, const TensorFile& golden);
};

}  // namespace btf

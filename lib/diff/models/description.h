// What a model says beside its tensors, part by part, as text that can be compared: its nodes, inputs
// and outputs, operator sets and functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

struct OnnxPart {
  std::string kind;    // "node", "input", "output", "opset", "function", "graph"
  std::string name;    // of nodes of subgraphs and functions with where they are; may be empty
  std::string output;  // of a node: its first one, likewise; of an input or output: where it is
  // "operator" -> "Conv", "inputs" -> "['x', 'w']", and attributes by their names. Long values end in
  // a digest of the whole. Equal texts mean equal values.
  std::map<std::string, std::string> says{};
};

// In the order of the file. Values of Constants are no part: they are tensors. An error: it is no
// model, or has more parts than fit into memory.
Result<std::vector<OnnxPart>> describe_onnx_model(const ByteSource& model);

}  // namespace btf

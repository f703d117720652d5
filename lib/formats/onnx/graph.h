// A model's graph in order of execution: ONNX files have nodes sorted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/protobuf/reader.h"

namespace btf {

// An input or output that a node does not have is "".
struct OnnxNode {
  std::uint64_t number = 0;  // in the graph
  ProtoRange place{};
  std::string name;
  std::string op_type;
  std::string domain;  // empty: ONNX's own
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// As a graph says it; a dim that it leaves open is nothing. No list: it says nothing of them.
using OnnxShape = std::optional<std::vector<std::optional<std::uint64_t>>>;

// The whole graph. Initializers may be among the inputs, as models of before 2019 have them.
struct OnnxGraph {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<OnnxShape> input_shapes;  // likewise
  std::vector<std::string> outputs;
};

Result<OnnxGraph> read_onnx_graph(const ByteSource& model);

// One after the other, not those of subgraphs. An error of `take` ends it.
using TakeOnnxNode = std::function<Status(const OnnxNode&)>;
Status for_each_onnx_node(const ByteSource& model, const TakeOnnxNode& take);

// Tensors of the graph by their names, in the order in which they come to be: its inputs, then the
// outputs of its nodes.
using TakeOnnxValue = std::function<Status(const std::string& name)>;
Status for_each_onnx_value(const ByteSource& model, const TakeOnnxValue& take);

// The integer attribute of that name, or nothing.
Result<std::optional<std::int64_t>> onnx_integer(Window& window, const OnnxNode& node,
                                                 std::string_view name);

// Where the GraphProto of a model is.
Result<ProtoRange> find_onnx_graph(Window& window);

}  // namespace btf

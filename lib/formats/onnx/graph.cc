#include "formats/onnx/graph.h"

#include <optional>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/onnx/messages.h"

namespace btf {
namespace {

// More are no node's.
constexpr std::size_t kMostValues = 1U << 16;

Status add_name(Window& window, const ProtoField& field, std::vector<std::string>& names) {
  if (names.size() == kMostValues)
    return malformed("onnx-graph", field.at,
                     "the node or graph at byte " + std::to_string(field.at) + " has more than " +
                         std::to_string(kMostValues) + " inputs or outputs");
  BTF_ASSIGN(std::string name, onnx_name(window, field));
  names.push_back(std::move(name));
  return {};
}

Result<OnnxNode> read_node(Window& window, const ProtoRange& place) {
  OnnxNode node;
  node.place = place;
  BTF_TRY(for_each_field(window, place, onnx::kNode, [&](const ProtoField& field) -> Status {
    if (field.number == onnx::node::kInput) return add_name(window, field, node.inputs);
    if (field.number == onnx::node::kOutput) return add_name(window, field, node.outputs);
    std::string* const text = field.number == onnx::node::kName     ? &node.name
                              : field.number == onnx::node::kOpType ? &node.op_type
                              : field.number == onnx::node::kDomain ? &node.domain
                                                                    : nullptr;
    if (text == nullptr) return {};
    BTF_ASSIGN(*text, onnx_name(window, field));
    return {};
  }));
  return node;
}

// Adds the name of a ValueInfoProto.
Status add_value(Window& window, const ProtoField& value, std::vector<std::string>& names) {
  return for_each_field(
      window, value.content, onnx::kValueInfo, [&](const ProtoField& field) -> Status {
        return field.number == onnx::value_info::kName ? add_name(window, field, names) : Status{};
      });
}

// Of a ValueInfoProto that is a tensor.
Result<OnnxShape> read_shape(Window& window, const ProtoRange& value) {
  OnnxShape shape;
  const auto inside = [&](const ProtoRange& place, const ProtoMessage& message, std::uint64_t number,
                          const auto& take) {
    return for_each_field(window, place, message, [&](const ProtoField& field) -> Status {
      return field.number == number ? take(field.content) : Status{};
    });
  };
  BTF_TRY(inside(value, onnx::kValueInfo, onnx::value_info::kType, [&](const ProtoRange& type) {
    return inside(type, onnx::kType, onnx::type::kTensor, [&](const ProtoRange& tensor) {
      return inside(tensor, onnx::kTypeTensor, onnx::type::kShape, [&](const ProtoRange& dims) {
        shape.emplace();
        return for_each_field(
            window, dims, onnx::kTensorShape, [&](const ProtoField& dim) -> Status {
              if (shape->size() == kMaxRank) return {};
              shape->emplace_back();
              return for_each_field(window, dim.content, onnx::kTensorShapeDimension,
                                    [&](const ProtoField& field) -> Status {
                                      if (field.number == onnx::type::kDimValue)
                                        shape->back() = field.value;
                                      return {};
                                    });
            });
      });
    });
  }));
  return shape;
}

}  // namespace

Result<std::optional<std::int64_t>> onnx_integer(Window& window, const OnnxNode& node,
                                                 std::string_view name) {
  std::optional<std::int64_t> found;
  BTF_TRY(for_each_field(window, node.place, onnx::kNode, [&](const ProtoField& part) -> Status {
    if (part.number != onnx::node::kAttribute) return {};
    std::string own;
    std::optional<std::int64_t> value;
    BTF_TRY(for_each_field(window, part.content, onnx::kAttribute,
                           [&](const ProtoField& field) -> Status {
                             if (field.number == onnx::attribute::kInteger)
                               value = static_cast<std::int64_t>(field.value);
                             if (field.number != onnx::attribute::kName) return {};
                             BTF_ASSIGN(own, onnx_name(window, field));
                             return {};
                           }));
    if (own == name && value) found = value;
    return {};
  }));
  return found;
}

Result<ProtoRange> find_onnx_graph(Window& window) {
  std::optional<ProtoRange> graph;
  BTF_TRY(for_each_field(window, {0, window.end()}, onnx::kModel, [&](const ProtoField& field) {
    if (field.number == onnx::model::kGraph) graph = field.content;
    return Status{};
  }));
  if (!graph) return malformed("onnx-graph", 0, "the model has no graph");
  return *graph;
}

Result<OnnxGraph> read_onnx_graph(const ByteSource& model) {
  Window window(model, model.size());
  BTF_ASSIGN(const ProtoRange place, find_onnx_graph(window));
  OnnxGraph graph;
  BTF_TRY(for_each_field(window, place, onnx::kGraph, [&](const ProtoField& field) -> Status {
    if (field.number == onnx::graph::kInput) {
      BTF_TRY(add_value(window, field, graph.inputs));
      BTF_ASSIGN(OnnxShape shape, read_shape(window, field.content));
      graph.input_shapes.resize(graph.inputs.size());
      if (!graph.inputs.empty()) graph.input_shapes.back() = std::move(shape);
      return {};
    }
    if (field.number == onnx::graph::kOutput) return add_value(window, field, graph.outputs);
    if (field.number != onnx::graph::kName) return {};
    BTF_ASSIGN(graph.name, onnx_name(window, field));
    return {};
  }));
  return graph;
}

Status for_each_onnx_node(const ByteSource& model, const TakeOnnxNode& take) {
  Window window(model, model.size());
  BTF_ASSIGN(const ProtoRange place, find_onnx_graph(window));
  std::uint64_t number = 0;
  return for_each_field(window, place, onnx::kGraph, [&](const ProtoField& field) -> Status {
    if (field.number != onnx::graph::kNode) return {};
    BTF_ASSIGN(OnnxNode node, read_node(window, field.content));
    node.number = number++;
    return take(node);
  });
}

Status for_each_onnx_value(const ByteSource& model, const TakeOnnxValue& take) {
  BTF_ASSIGN(const OnnxGraph graph, read_onnx_graph(model));
  for (const std::string& name : graph.inputs) BTF_TRY(take(name));
  return for_each_onnx_node(model, [&](const OnnxNode& node) -> Status {
    for (const std::string& name : node.outputs)
      if (!name.empty()) BTF_TRY(take(name));
    return {};
  });
}

}  // namespace btf

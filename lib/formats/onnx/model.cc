#include "formats/onnx/model.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "formats/io/same_names.h"
#include "formats/onnx/graph.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/tensor_proto.h"

namespace btf {
namespace {

Result<std::string> name_of_attribute(Window& window, const ProtoRange& place) {
  std::string name;
  BTF_TRY(for_each_field(window, place, onnx::kAttribute, [&](const ProtoField& field) -> Status {
    if (field.number != onnx::attribute::kName) return {};
    BTF_ASSIGN(name, onnx_name(window, field));
    return {};
  }));
  return name;
}

// Its name, else that of what it computes first.
Result<std::string> name_of_node(Window& window, const ProtoRange& place) {
  std::string name;
  std::optional<std::string> output;
  BTF_TRY(for_each_field(window, place, onnx::kNode, [&](const ProtoField& field) -> Status {
    if (field.number == onnx::node::kName) {
      BTF_ASSIGN(name, onnx_name(window, field));
    }
    if (field.number == onnx::node::kOutput && !output) {
      BTF_ASSIGN(output, onnx_name(window, field));
    }
    return {};
  }));
  return name.empty() ? output.value_or("") : name;
}

}  // namespace

class OnnxModel::Reader {
 public:
  Reader(const ByteSource& source, OnnxModel& model)
      : source_(source), model_(model), window_(source, source.size()) {}

  Status run() {
    BTF_ASSIGN(const ProtoRange graph, find_onnx_graph(window_));
    BTF_TRY(take_initializers(graph, 0));
    BTF_TRY(take_constants());
    BTF_TRY(check_names());
    return take_nodes(graph, 0, 0);
  }

 private:
  Status take_initializers(const ProtoRange& graph, std::uint32_t scope) {
    return for_each_field(window_, graph, onnx::kGraph, [&](const ProtoField& field) -> Status {
      if (field.number != onnx::graph::kInitializer &&
          field.number != onnx::graph::kSparseInitializer)
        return {};
      auto entry = entry_of(field, scope);
      if (!entry)
        return std::unexpected(
            entry.error().within("initializer " + std::to_string(model_.entries_.size())));
      model_.entries_.push_back(*entry);
      return {};
    });
  }

  // Scales and zero points that nodes hold, which others dequantise by: called after what the node
  // gives.
  Status take_constants() {
    std::unordered_map<std::string, OnnxEntry> constants;
    std::vector<std::string> wanted;
    const Status read = for_each_onnx_node(source_, [&](const OnnxNode& node) -> Status {
      if (node.op_type == "DequantizeLinear" && node.inputs.size() > 1)
        wanted.insert(wanted.end(), node.inputs.begin() + 1, node.inputs.end());
      if (node.op_type != "Constant" || node.outputs.empty() || node.outputs.front().empty())
        return {};
      BTF_ASSIGN(const std::optional<OnnxEntry> entry, constant_of(node));
      if (entry) constants.emplace(node.outputs.front(), *entry);
      return {};
    });
    // Whoever asks for what nodes say is told that they are wrong; initializers can be used.
    if (!read) return read.error().code == ErrorCode::io ? read : Status{};
    for (const std::string& name : wanted)
      if (const auto found = constants.extract(name)) model_.entries_.push_back(found.mapped());
    return {};
  }

  // Nothing: its value is no tensor.
  Result<std::optional<OnnxEntry>> constant_of(const OnnxNode& node) {
    std::optional<ProtoRange> value;
    OnnxEntry entry;
    BTF_TRY(for_each_field(window_, node.place, onnx::kNode, [&](const ProtoField& part) -> Status {
      if (part.number == onnx::node::kOutput && entry.name.size() == 0) entry.name = part.content;
      if (part.number != onnx::node::kAttribute) return {};
      BTF_ASSIGN(const std::string name, name_of_attribute(window_, part.content));
      if (name != "value") return {};
      return for_each_field(window_, part.content, onnx::kAttribute, [&](const ProtoField& field) {
        if (field.number == onnx::attribute::kTensor) value = field.content;
        return Status{};
      });
    }));
    if (!value) return std::nullopt;
    entry.place = *value;
    return entry;
  }

  Status take_nodes(const ProtoRange& graph, std::uint32_t scope, unsigned depth) {
    return for_each_field(window_, graph, onnx::kGraph, [&](const ProtoField& field) -> Status {
      if (field.number != onnx::graph::kNode) return {};
      return for_each_field(window_, field.content, onnx::kNode,
                            [&](const ProtoField& part) -> Status {
                              if (part.number != onnx::node::kAttribute) return {};
                              return take_attribute(field.content, part.content, scope, depth);
                            });
    });
  }

  Status take_attribute(const ProtoRange& node, const ProtoRange& attribute, std::uint32_t scope,
                        unsigned depth) {
    std::uint64_t number = 0;
    return for_each_field(
        window_, attribute, onnx::kAttribute, [&](const ProtoField& field) -> Status {
          const bool several = field.number == onnx::attribute::kGraphs;
          if (field.number != onnx::attribute::kGraph && !several) return {};
          BTF_ASSIGN(std::string name, name_of_node(window_, node));
          BTF_ASSIGN(const std::string own, name_of_attribute(window_, attribute));
          name += "/" + own + "/";
          if (several) name += std::to_string(number++) + "/";
          return take_subgraph(field, {scope, std::move(name)}, depth + 1);
        });
  }

  Status take_subgraph(const ProtoField& graph, Scope scope, unsigned depth) {
    if (depth > onnx::kDeepestGraph)
      return malformed("onnx-graph", graph.at,
                       "graphs stand in one another more than " +
                           std::to_string(onnx::kDeepestGraph) + " deep at byte " +
                           std::to_string(graph.at));
    const auto number = static_cast<std::uint32_t>(model_.scopes_.size());
    model_.scopes_.push_back(std::move(scope));
    BTF_TRY(take_initializers(graph.content, number));
    return take_nodes(graph.content, number, depth);
  }

  Result<OnnxEntry> entry_of(const ProtoField& field, std::uint32_t scope) {
    OnnxEntry entry{.place = field.content, .name = {}, .scope = scope};
    entry.sparse = field.number == onnx::graph::kSparseInitializer;
    ProtoRange tensor = entry.place;
    if (entry.sparse) {
      BTF_ASSIGN(const OnnxSparse sparse, read_onnx_sparse(window_, entry.place));
      tensor = sparse.values;
    }
    BTF_ASSIGN(entry.name, find_onnx_name(window_, tensor));
    return entry;
  }

  // Of the graph: nodes go by them.
  Status check_names() {
    std::vector<NamePlace> names;
    for (const OnnxEntry& entry : model_.entries_) {
      if (entry.name.size() == 0)
        return malformed("onnx-names", entry.place.begin,
                         "initializer " + std::to_string(names.size()) + " has no name");
      names.push_back({entry.name.begin, entry.name.size()});
    }
    BTF_ASSIGN(const auto same, find_same_names(source_, names));
    if (!same) return {};
    BTF_ASSIGN(const std::string name, name_at(source_, names[same->first]));
    return malformed("onnx-names", model_.entries_[same->second].place.begin,
                     "initializers " + std::to_string(same->first) + " and " +
                         std::to_string(same->second) + " are both called '" + name + "'");
  }

  const ByteSource& source_;
  OnnxModel& model_;
  Window window_;
};

Result<OnnxModel> OnnxModel::read(const ByteSource& source) {
  OnnxModel model;
  BTF_TRY(Reader(source, model).run());
  return model;
}

Result<std::string> OnnxModel::name(const ByteSource& source, const OnnxEntry& entry) const {
  BTF_ASSIGN(std::string name, name_at(source, {entry.name.begin, entry.name.size()}));
  for (std::uint32_t scope = entry.scope; scope != 0; scope = scopes_[scope].parent) {
    name.insert(0, scopes_[scope].name);
    if (name.size() > onnx::kLongestName)
      return malformed("onnx-names", entry.place.begin,
                       "its name with those of the graphs around it has more than " +
                           std::to_string(onnx::kLongestName) + " bytes");
  }
  return name;
}

Result<OnnxSparse> read_onnx_sparse(Window& window, const ProtoRange& place) {
  OnnxSparse sparse;
  std::optional<ProtoRange> values, indices;
  BTF_TRY(
      for_each_field(window, place, onnx::kSparseTensor, [&](const ProtoField& field) -> Status {
        if (field.number == onnx::sparse::kValues) values = field.content;
        if (field.number == onnx::sparse::kIndices) indices = field.content;
        if (field.number != onnx::sparse::kDims) return {};
        return take_onnx_dims(window, field, sparse.dims);
      }));
  if (!values || !indices)
    return malformed("onnx-tensor", place.begin,
                     std::string("a sparse tensor has no ") + (!values ? "values" : "indices"));
  sparse.values = *values;
  sparse.indices = *indices;
  return sparse;
}

}  // namespace btf

#include "formats/onnx/model.h"

#include <optional>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/io/same_names.h"
#include "formats/onnx/constants.h"
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

// A message that has nodes, and in which field.
struct NodesOf {
  const ProtoMessage& message;
  std::uint64_t field = 0;
};

const NodesOf kGraphNodes{onnx::kGraph, onnx::graph::kNode};
const NodesOf kFunctionNodes{onnx::kFunction, onnx::function::kNode};

}  // namespace

class OnnxModel::Reader {
 public:
  Reader(const ByteSource& source, OnnxModel& model)
      : source_(source), model_(model), window_(source, source.size()) {}

  Status run() {
    BTF_ASSIGN(const ProtoRange graph, find_onnx_graph(window_));
    BTF_TRY(take_initializers(graph, 0));
    BTF_TRY(take_constants(kGraphNodes, graph, 0));
    BTF_TRY(check_names());
    BTF_TRY(take_nodes(kGraphNodes, graph, 0, 0));
    return for_each_field(
        window_, {0, source_.size()}, onnx::kModel, [&](const ProtoField& field) -> Status {
          return field.number == onnx::model::kFunction ? take_function(field.content) : Status{};
        });
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

  // Called after what the nodes give.
  Status take_constants(const NodesOf& nodes, const ProtoRange& place, std::uint32_t scope) {
    return for_each_field(window_, place, nodes.message, [&](const ProtoField& field) -> Status {
      if (field.number != nodes.field) return {};
      BTF_ASSIGN(std::optional<OnnxEntry> entry, find_onnx_constant(window_, field.content));
      if (!entry) return {};
      entry->scope = scope;
      model_.entries_.push_back(*entry);
      return {};
    });
  }

  Status take_nodes(const NodesOf& nodes, const ProtoRange& place, std::uint32_t scope,
                    unsigned depth) {
    return for_each_field(window_, place, nodes.message, [&](const ProtoField& field) -> Status {
      if (field.number != nodes.field) return {};
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
                       "graphs are nested more than " + std::to_string(onnx::kDeepestGraph) +
                           " deep at byte " + std::to_string(graph.at));
    const std::uint32_t number = model_.add_scope(scope.parent, std::move(scope.name));
    BTF_TRY(take_initializers(graph.content, number));
    BTF_TRY(take_constants(kGraphNodes, graph.content, number));
    return take_nodes(kGraphNodes, graph.content, number, depth);
  }

  Status take_function(const ProtoRange& place) {
    std::string name, domain, overload;
    BTF_TRY(for_each_field(window_, place, onnx::kFunction, [&](const ProtoField& field) -> Status {
      std::string* const text = field.number == onnx::function::kName       ? &name
                                : field.number == onnx::function::kDomain   ? &domain
                                : field.number == onnx::function::kOverload ? &overload
                                                                            : nullptr;
      if (text == nullptr) return {};
      BTF_ASSIGN(*text, onnx_name(window_, field));
      return {};
    }));
    if (!domain.empty()) name.insert(0, domain + "::");
    if (!overload.empty()) name += "::" + overload;
    const std::uint32_t scope = model_.add_scope(0, name + "/");
    BTF_TRY(take_constants(kFunctionNodes, place, scope));
    return take_nodes(kFunctionNodes, place, scope, 0);
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

  // Checks the graph's names, which nodes refer to.
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

std::uint32_t OnnxModel::add_scope(std::uint32_t parent, std::string name) {
  scopes_.push_back({parent, std::move(name)});
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

std::string OnnxModel::number_text(std::uint64_t number) {
  return number == kUnnumbered ? "" : "#" + std::to_string(number);
}

void OnnxModel::add_value(const OnnxEntry& entry) {
  sequence_ = true;
  entries_.push_back(entry);
}

Result<std::optional<std::string>> OnnxModel::name(const ByteSource& source,
                                                   const OnnxEntry& entry) const {
  if (sequence_ && scopes_.front().name.empty()) return std::nullopt;
  std::string name = number_text(entry.name.begin);
  if (!sequence_) {
    BTF_ASSIGN(name, name_at(source, {entry.name.begin, entry.name.size()}));
  }
  for (std::uint32_t scope = entry.scope; scope != 0; scope = scopes_[scope].parent) {
    name.insert(0, scopes_[scope].name);
    if (name.size() > onnx::kLongestName)
      return malformed("onnx-names", entry.place.begin,
                       "its name with those of the graphs around it has more than " +
                           std::to_string(onnx::kLongestName) + " bytes");
  }
  return scopes_.front().name + name;
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

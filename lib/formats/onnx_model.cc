#include "formats/onnx_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/io/file_names.h"

namespace btf {

Result<std::string> onnx_name(Window& window, const ProtoField& field) {
  return proto_text(window, field.content, onnx::kLongestName, "a name");
}

Result<OnnxProperty> read_onnx_property(Window& window, const ProtoField& field) {
  constexpr std::uint64_t kLongestValue = 1U << 20;
  OnnxProperty found;
  BTF_TRY(
      for_each_field(window, field.content, onnx::kEntry, [&](const ProtoField& part) -> Status {
        if (part.number == onnx::entry::kKey) {
          BTF_ASSIGN(found.key, onnx_name(window, part));
        } else if (part.number == onnx::entry::kValue) {
          BTF_ASSIGN(found.value, proto_text(window, part.content, kLongestValue, "a value"));
        }
        return {};
      }));
  return found;
}

namespace {

using namespace onnx::tensor;

// In the order of their numbers, from 1.
constexpr auto kTypes = std::to_array<OnnxType>({
    {1, "FLOAT", kFloats, DType::float32},
    {2, "UINT8", kInt32s, DType::uint8},
    {3, "INT8", kInt32s, DType::int8},
    {4, "UINT16", kInt32s, DType::uint16},
    {5, "INT16", kInt32s, DType::int16},
    {6, "INT32", kInt32s, DType::int32},
    {7, "INT64", kInt64s, DType::int64},
    {8, "STRING", kStrings},
    {9, "BOOL", kInt32s, DType::boolean},
    {10, "FLOAT16", kInt32s, DType::float16},
    {11, "DOUBLE", kDoubles, DType::float64},
    {12, "UINT32", kUint64s, DType::uint32},
    {13, "UINT64", kUint64s, DType::uint64},
    {14, "COMPLEX64", kFloats},
    {15, "COMPLEX128", kDoubles},
    {16, "BFLOAT16", kInt32s, DType::bfloat16},
    {17, "FLOAT8E4M3FN", kInt32s, DType::float8_e4m3fn},
    {18, "FLOAT8E4M3FNUZ", kInt32s, DType::float8_e4m3fnuz},
    {19, "FLOAT8E5M2", kInt32s, DType::float8_e5m2},
    {20, "FLOAT8E5M2FNUZ", kInt32s, DType::float8_e5m2fnuz},
    {21, "UINT4", kInt32s, DType::uint4},
    {22, "INT4", kInt32s, DType::int4},
    {23, "FLOAT4E2M1", kInt32s, DType::float4_e2m1fn},
    {24, "FLOAT8E8M0", kInt32s, DType::float8_e8m0fnu},
    {25, "UINT2", kInt32s},
    {26, "INT2", kInt32s},
    {27, "FLOAT6E2M3", kInt32s},
    {28, "FLOAT6E3M2", kInt32s},
});

}  // namespace

const OnnxType* find_onnx_type(std::uint64_t number) {
  return number >= 1 && number <= kTypes.size() ? &kTypes[number - 1] : nullptr;
}

const OnnxType* onnx_type_of(DType dtype) {
  const auto* const row = std::ranges::find(kTypes, std::optional(dtype), &OnnxType::dtype);
  return row == kTypes.end() ? nullptr : row;
}

namespace {

namespace attribute = onnx::attribute;

// An attribute of a Constant that holds its value.
struct ConstantForm {
  std::string_view attribute;
  std::uint8_t field = 0;      // number in the AttributeProto
  std::uint8_t data_type = 0;  // 0 if it is a message
  bool several = false;        // a list of numbers; else a scalar
};

constexpr std::uint8_t kFloatType = 1;
constexpr std::uint8_t kInt64Type = 7;
constexpr std::uint8_t kStringType = 8;

constexpr auto kForms = std::to_array<ConstantForm>({
    {"value", attribute::kTensor},
    {"sparse_value", attribute::kSparseTensor},
    {"value_float", attribute::kFloat, kFloatType},
    {"value_floats", attribute::kFloats, kFloatType, true},
    {"value_int", attribute::kInteger, kInt64Type},
    {"value_ints", attribute::kIntegers, kInt64Type, true},
    {"value_string", attribute::kString, kStringType},
    {"value_strings", attribute::kStrings, kStringType, true},
});

// The number of values in a field, packed or not. Varints are checked when they are decoded.
Result<std::uint64_t> count_of(Window& window, const ProtoField& field, const ConstantForm& form) {
  if (field.type != ProtoType::bytes || form.data_type == kStringType) return 1;
  if (form.data_type == kFloatType) return field.content.size() / sizeof(float);
  std::uint64_t count = 0;
  for (std::uint64_t at = field.content.begin; at < field.content.end;) {
    const std::uint64_t some = std::min(Window::kBytes, field.content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    // The last byte of each varint is below 0x80.
    count += static_cast<std::uint64_t>(
        std::count_if(bytes, bytes + some, [](std::byte byte) { return byte < std::byte{0x80}; }));
    at += some;
  }
  return count;
}

Result<OnnxTensor> read_value(Window& window, const ProtoRange& attribute,
                              const ConstantForm& form) {
  OnnxTensor tensor;
  tensor.place = attribute;
  tensor.message = &onnx::kAttribute;
  tensor.data_type = form.data_type;
  tensor.type = find_onnx_type(form.data_type);
  tensor.varints = form.data_type == kInt64Type;
  std::uint64_t count = 0;
  BTF_TRY(
      for_each_field(window, attribute, onnx::kAttribute, [&](const ProtoField& field) -> Status {
        if (field.number != form.field) return {};
        BTF_ASSIGN(const std::uint64_t some, count_of(window, field, form));
        tensor.field = form.field;
        if (tensor.values++ == 0) tensor.first = field.content;
        tensor.value_bytes += field.content.size();
        count += some;
        return {};
      }));
  if (!form.several && count != 1)
    return malformed("onnx-tensor", attribute.begin,
                     "the Constant's " + std::string(form.attribute) + " has no value");
  if (form.several) tensor.dims = {count};
  tensor.elements = count;
  if (tensor.type->dtype) tensor.bytes = count * (info(*tensor.type->dtype).bits / 8);
  return tensor;
}

}  // namespace

Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node) {
  OnnxEntry entry;
  bool constant = false;
  bool own_domain = true;
  BTF_TRY(for_each_field(window, node, onnx::kNode, [&](const ProtoField& field) -> Status {
    if (field.number == onnx::node::kOutput && entry.name.size() == 0) entry.name = field.content;
    if (field.number != onnx::node::kOpType && field.number != onnx::node::kDomain) return {};
    BTF_ASSIGN(const std::string text, onnx_name(window, field));
    if (field.number == onnx::node::kOpType) constant = text == "Constant";
    if (field.number == onnx::node::kDomain) own_domain = text.empty() || text == "ai.onnx";
    return {};
  }));
  if (!constant || !own_domain || entry.name.size() == 0) return std::nullopt;
  bool found = false;
  BTF_TRY(for_each_field(window, node, onnx::kNode, [&](const ProtoField& part) -> Status {
    if (part.number != onnx::node::kAttribute || found) return {};
    std::string name;
    ProtoRange tensor, sparse;
    bool refers = false;
    BTF_TRY(for_each_field(window, part.content, onnx::kAttribute,
                           [&](const ProtoField& field) -> Status {
                             refers = refers || field.number == attribute::kReference;
                             if (field.number == attribute::kTensor) tensor = field.content;
                             if (field.number == attribute::kSparseTensor) sparse = field.content;
                             if (field.number != attribute::kName) return {};
                             BTF_ASSIGN(name, onnx_name(window, field));
                             return {};
                           }));
    const auto form = std::ranges::find(kForms, name, &ConstantForm::attribute);
    if (form == kForms.end() || refers) return {};
    entry.sparse = form->field == attribute::kSparseTensor;
    entry.place = form->data_type != 0 ? part.content : entry.sparse ? sparse : tensor;
    found = entry.place.size() > 0;
    if (form->data_type != 0) entry.form = static_cast<std::uint8_t>(form - kForms.begin());
    return {};
  }));
  return found ? std::optional(entry) : std::nullopt;
}

Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry) {
  if (entry.form == 0) return read_onnx_tensor(window, entry.place);
  return read_value(window, entry.place, kForms[entry.form]);
}

namespace {

using namespace onnx::tensor;

constexpr std::uint64_t kExternalLocation = 1;  // value of data_location

bool holds_values(std::uint64_t field) {
  return (field >= kFloats && field <= kInt64s) || (field >= kRaw && field <= kUint64s);
}

bool holds_varints(std::uint64_t field) {
  return field == kInt32s || field == kInt64s || field == kUint64s;
}

std::unexpected<Error> wrong(const OnnxTensor& tensor, const std::string& what) {
  return malformed("onnx-tensor", tensor.place.begin, what);
}

Status take_dim(std::uint64_t dim, std::uint64_t at, Dims& dims) {
  if (dim > INT64_MAX)
    return malformed("onnx-tensor", at, "dim ", dims.size(), " is ",
                     static_cast<std::int64_t>(dim));
  if (dims.size() == kMaxRank)
    return malformed("rank-too-large", at, "it has more than ", kMaxRank, " dims");
  dims.push_back(dim);
  return {};
}

class TensorParser {
 public:
  TensorParser(Window& window, const ProtoRange& place) : window_(window) { tensor_.place = place; }

  Result<OnnxTensor> run() {
    BTF_TRY(for_each_field(window_, tensor_.place, onnx::kTensor,
                           [&](const ProtoField& field) { return take(field); }));
    BTF_TRY(check_location());
    if (!typed_) return wrong(tensor_, "it has no data_type");
    if (tensor_.data_type == 0) return wrong(tensor_, "its data_type is 0 (UNDEFINED)");
    tensor_.type = find_onnx_type(tensor_.data_type);
    if (tensor_.type == nullptr) return std::move(tensor_);
    BTF_TRY(tensor_.type->dtype ? check_size() : check_field());
    return std::move(tensor_);
  }

 private:
  Status take(const ProtoField& field) {
    if (field.number == kDims) return take_onnx_dims(window_, field, tensor_.dims);
    if (field.number == kDataType) {
      tensor_.data_type = field.value;
      typed_ = true;
    }
    if (field.number == kSegment)
      return wrong(tensor_, "it is one segment of a tensor, whose others are elsewhere");
    if (field.number == kExternal) return take_external(field);
    if (field.number == kLocation) external_ = field.value == kExternalLocation;
    return holds_values(field.number) ? take_values(field) : Status{};
  }

  Status take_values(const ProtoField& field) {
    if (tensor_.field != 0 && tensor_.field != field.number)
      return wrong(tensor_, "its values are in " + std::string(onnx_field_name(tensor_.field)) +
                                " and in " + std::string(onnx_field_name(field.number)));
    tensor_.field = field.number;
    tensor_.varints = holds_varints(field.number);
    const bool number = field.type == ProtoType::varint;
    if (tensor_.values == 0) tensor_.first = field.content;
    tensor_.value_bytes += number ? 1 : field.content.size();
    ++tensor_.values;
    return {};
  }

  Status take_external(const ProtoField& field) {
    BTF_ASSIGN(OnnxProperty property, read_onnx_property(window_, field));
    auto& [key, value] = property;
    if (!tensor_.external) tensor_.external.emplace();
    OnnxExternal& external = *tensor_.external;
    if (key == "checksum" || key == "basepath") return {};
    if (key != "location" && key != "offset" && key != "length") {
      if (external.unknown_key.empty()) external.unknown_key = key.empty() ? "''" : key;
      return {};
    }
    if (std::ranges::find(keys_, key) != keys_.end())
      return wrong_external("has two values of '" + key + "'");
    keys_.push_back(key);
    if (key == "location") {
      external.location = std::move(value);
      return {};
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number > INT64_MAX)
      return wrong_external("has the " + key + " '" + value +
                            "', which is not a number of bytes below 2^63");
    if (key == "offset")
      external.offset = number;
    else
      external.length = number;
    return {};
  }

  std::unexpected<Error> wrong_external(const std::string& what) const {
    return malformed("onnx-external", tensor_.place.begin, "its external_data " + what);
  }

  Status check_location() {
    if (!external_) {
      tensor_.external.reset();
      return {};
    }
    if (!tensor_.external || std::ranges::find(keys_, "location") == keys_.end())
      return wrong_external("names no file (location), but it says that its values are in one");
    if (tensor_.field != 0)
      return wrong_external("says that the values are in another file, but they are in " +
                            std::string(onnx_field_name(tensor_.field)) + " too");
    return {};
  }

  Status check_field() const {
    if (tensor_.field == 0 || tensor_.field == kRaw || tensor_.field == tensor_.type->field)
      return {};
    return wrong(tensor_, "the values of " + std::string(tensor_.type->name) + " are in " +
                              std::string(onnx_field_name(tensor_.type->field)) +
                              " or raw_data, not in " +
                              std::string(onnx_field_name(tensor_.field)));
  }

  Status check_size() {
    const DTypeInfo& dtype = info(*tensor_.type->dtype);
    const Checked elements = element_count(tensor_.dims);
    if (!elements)
      return malformed("size-overflow", tensor_.place.begin,
                       "the product of the dims does not fit 64 bits");
    const Checked bytes = stream_bytes(elements, dtype.bits);
    if (!bytes || *bytes > INT64_MAX)
      return malformed("size-overflow", tensor_.place.begin,
                       "its size in bytes does not fit 63 bits");
    tensor_.elements = *elements;
    tensor_.bytes = *bytes;
    if (tensor_.external) return {};
    const std::string needs = std::string(dtype.name) + " " + dims_text(tensor_.dims) + " needs ";
    if (tensor_.field == 0)
      return *elements == 0 ? Status{}
                            : wrong(tensor_, concat(needs, *bytes, " bytes, and it has no values"));
    BTF_TRY(check_field());
    const std::string found = concat(onnx_field_name(tensor_.field), " has ", tensor_.value_bytes);
    if (!tensor_.varints) {
      if (tensor_.value_bytes == *bytes) return {};
      return wrong(tensor_, concat(needs, *bytes, " bytes, ", found));
    }
    // The number of varints is only known after decoding them.
    const std::uint64_t numbers = dtype.half_byte() ? *bytes : *elements;
    if (tensor_.value_bytes >= numbers && ceil_div(tensor_.value_bytes, kLongestVarint) <= numbers)
      return {};
    return wrong(tensor_, concat(needs, numbers, " numbers of 1 to 10 bytes, ", found, " bytes"));
  }

  Window& window_;
  OnnxTensor tensor_;
  bool typed_ = false;
  bool external_ = false;
  std::vector<std::string> keys_;
};

}  // namespace

bool OnnxTensor::in_place() const { return field == 0 || (!varints && values == 1); }

Result<OnnxTensor> read_onnx_tensor(Window& window, const ProtoRange& place) {
  return TensorParser(window, place).run();
}

Result<ProtoRange> find_onnx_name(Window& window, const ProtoRange& place) {
  ProtoRange name;
  BTF_TRY(for_each_field(window, place, onnx::kTensor, [&](const ProtoField& field) {
    if (field.number == kName) name = field.content;
    return Status{};
  }));
  if (name.size() <= onnx::kLongestName) return name;
  return malformed("onnx-names", name.begin, "its name has ", name.size(), " bytes, at most ",
                   onnx::kLongestName, " are read");
}

Status take_onnx_dims(Window& window, const ProtoField& field, Dims& dims) {
  if (field.type == ProtoType::varint) return take_dim(field.value, field.at, dims);
  for (std::uint64_t at = field.content.begin; at < field.content.end;) {
    const std::uint64_t some = std::min<std::uint64_t>(kLongestVarint, field.content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    const auto dim = read_varint({bytes, some});
    if (!dim)
      return malformed("protobuf", at, "the dim at byte ", at,
                       " is cut off, or has more than 64 bits");
    BTF_TRY(take_dim(dim->value, at, dims));
    at += dim->bytes;
  }
  return {};
}

std::string_view onnx_field_name(std::uint64_t field) {
  const auto found = std::ranges::find(onnx::kTensor.rules, field, &ProtoRule::number);
  return found == onnx::kTensor.rules.end() ? "" : found->name;
}

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

// The node's name, or the name of its first output.
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

// A message that contains nodes, and the field for them.
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
            entry.error().within(concat("initializer ", model_.entries_.size())));
      model_.entries_.push_back(*entry);
      return {};
    });
  }

  // Called after the nodes' own values.
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
          if (several) name += concat(number++, "/");
          return take_subgraph(field, {scope, std::move(name)}, depth + 1);
        });
  }

  Status take_subgraph(const ProtoField& graph, Scope scope, unsigned depth) {
    if (depth > onnx::kDeepestGraph)
      return malformed("onnx-graph", graph.at, "graphs are nested more than ", onnx::kDeepestGraph,
                       " deep at byte ", graph.at);
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

  // Checks the names in the graph, since nodes refer to them.
  Status check_names() {
    std::vector<NamePlace> names;
    for (const OnnxEntry& entry : model_.entries_) {
      if (entry.name.size() == 0)
        return malformed("onnx-names", entry.place.begin, "initializer ", names.size(),
                         " has no name");
      names.push_back({entry.name.begin, entry.name.size()});
    }
    BTF_ASSIGN(const auto same, find_same_names(source_, names));
    if (!same) return {};
    BTF_ASSIGN(const std::string name, name_at(source_, names[same->first]));
    return malformed("onnx-names", model_.entries_[same->second].place.begin, "initializers ",
                     same->first, " and ", same->second, " are both called '", name, "'");
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
  return number == kUnnumbered ? "" : concat("#", number);
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
                       "its name with those of the graphs around it has more than ",
                       onnx::kLongestName, " bytes");
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

namespace {

// No node has more.
constexpr std::size_t kMaxValues = 1U << 16;

Status add_name(Window& window, const ProtoField& field, std::vector<std::string>& names) {
  if (names.size() == kMaxValues)
    return malformed("onnx-graph", field.at, "the node or graph at byte ", field.at,
                     " has more than ", kMaxValues, " inputs or outputs");
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

// Reads the shape of a ValueInfoProto that is a tensor.
Result<OnnxShape> read_shape(Window& window, const ProtoRange& value) {
  OnnxShape shape;
  const auto inside = [&](const ProtoRange& place, const ProtoMessage& message,
                          std::uint64_t number, const auto& take) {
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

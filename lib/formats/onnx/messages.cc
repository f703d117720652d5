#include "formats/onnx/messages.h"

#include <array>

#include "btf/try.h"

namespace btf::onnx {
namespace {

constexpr auto kInt = ProtoType::varint;
constexpr auto kBytes = ProtoType::bytes;

// clang-format off
constexpr auto kModelFields = std::to_array<ProtoRule>({
    {1, "ir_version", kInt},
    {2, "producer_name", kBytes},
    {3, "producer_version", kBytes},
    {7, "graph", kBytes},
    {8, "opset_import", kBytes, true},
    {14, "metadata_props", kBytes, true},
});

constexpr auto kGraphFields = std::to_array<ProtoRule>({
    {1, "node", kBytes, true},
    {2, "name", kBytes},
    {5, "initializer", kBytes, true},
    {11, "input", kBytes, true},
    {12, "output", kBytes, true},
    {14, "quantization_annotation", kBytes, true},
    {15, "sparse_initializer", kBytes, true},
});

constexpr auto kNodeFields = std::to_array<ProtoRule>({
    {1, "input", kBytes, true},
    {2, "output", kBytes, true},
    {3, "name", kBytes},
    {4, "op_type", kBytes},
    {5, "attribute", kBytes, true},
    {7, "domain", kBytes},
});

constexpr auto kAttributeFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {3, "i", ProtoType::varint},
    {5, "t", kBytes},
    {6, "g", kBytes},
    {11, "graphs", kBytes, true},
});

constexpr auto kValueInfoFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
});

constexpr auto kAnnotationFields = std::to_array<ProtoRule>({
    {1, "tensor_name", kBytes},
    {2, "quant_parameter_tensor_names", kBytes, true},
});

constexpr auto kEntryFields = std::to_array<ProtoRule>({
    {1, "key", kBytes},
    {2, "value", kBytes},
});

constexpr auto kTensorFields = std::to_array<ProtoRule>({
    {1, "dims", kInt, true},
    {2, "data_type", kInt},
    {3, "segment", kBytes},
    {4, "float_data", ProtoType::fixed32, true},
    {5, "int32_data", kInt, true},
    {6, "string_data", kBytes, true},
    {7, "int64_data", kInt, true},
    {8, "name", kBytes},
    {9, "raw_data", kBytes},
    {10, "double_data", ProtoType::fixed64, true},
    {11, "uint64_data", kInt, true},
    {12, "doc_string", kBytes},
    {13, "external_data", kBytes, true},
    {14, "data_location", kInt},
});

constexpr auto kSparseTensorFields = std::to_array<ProtoRule>({
    {1, "values", kBytes},
    {2, "indices", kBytes},
    {3, "dims", kInt, true},
});
// clang-format on

}  // namespace

const ProtoMessage kModel{"ModelProto", kModelFields};
const ProtoMessage kGraph{"GraphProto", kGraphFields};
const ProtoMessage kNode{"NodeProto", kNodeFields};
const ProtoMessage kAttribute{"AttributeProto", kAttributeFields};
const ProtoMessage kValueInfo{"ValueInfoProto", kValueInfoFields};
const ProtoMessage kAnnotation{"TensorAnnotation", kAnnotationFields};
const ProtoMessage kEntry{"StringStringEntryProto", kEntryFields};
const ProtoMessage kTensor{"TensorProto", kTensorFields};
const ProtoMessage kSparseTensor{"SparseTensorProto", kSparseTensorFields};
const ProtoMessage kAny{"file", {}};

}  // namespace btf::onnx

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

}  // namespace btf

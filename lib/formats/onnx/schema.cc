// All fields of all messages of onnx.proto 1.23: what may stand in a file, whether it matters here
// or not.
#include <array>

#include "formats/onnx/messages.h"

namespace btf::onnx {

extern const ProtoMessage kTensorSegment;
extern const ProtoMessage kTypeSequence;
extern const ProtoMessage kTypeMap;
extern const ProtoMessage kTypeOptional;
extern const ProtoMessage kTypeSparseTensor;
extern const ProtoMessage kTypeOpaque;
extern const ProtoMessage kNodeDeviceConfiguration;
extern const ProtoMessage kShardingSpec;
extern const ProtoMessage kIntIntListEntry;
extern const ProtoMessage kShardedDim;
extern const ProtoMessage kSimpleShardedDim;
extern const ProtoMessage kTrainingInfo;
extern const ProtoMessage kDeviceConfiguration;

namespace {

constexpr auto kInt = ProtoType::varint;
constexpr auto kBytes = ProtoType::bytes;
constexpr auto kNarrow = ProtoType::fixed32;
constexpr auto kWide = ProtoType::fixed64;

// clang-format off
constexpr auto kModelFields = std::to_array<ProtoRule>({
    {1, "ir_version", kInt},
    {2, "producer_name", kBytes},
    {3, "producer_version", kBytes},
    {4, "domain", kBytes},
    {5, "model_version", kInt},
    {6, "doc_string", kBytes},
    {7, "graph", kBytes, false, &kGraph},
    {8, "opset_import", kBytes, true, &kOperatorSetId},
    {14, "metadata_props", kBytes, true, &kEntry},
    {20, "training_info", kBytes, true, &kTrainingInfo},
    {25, "functions", kBytes, true, &kFunction},
    {26, "configuration", kBytes, true, &kDeviceConfiguration},
});

constexpr auto kOperatorSetIdFields = std::to_array<ProtoRule>({
    {1, "domain", kBytes},
    {2, "version", kInt},
});

constexpr auto kGraphFields = std::to_array<ProtoRule>({
    {1, "node", kBytes, true, &kNode},
    {2, "name", kBytes},
    {5, "initializer", kBytes, true, &kTensor},
    {10, "doc_string", kBytes},
    {11, "input", kBytes, true, &kValueInfo},
    {12, "output", kBytes, true, &kValueInfo},
    {13, "value_info", kBytes, true, &kValueInfo},
    {14, "quantization_annotation", kBytes, true, &kAnnotation},
    {15, "sparse_initializer", kBytes, true, &kSparseTensor},
    {16, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kNodeFields = std::to_array<ProtoRule>({
    {1, "input", kBytes, true},
    {2, "output", kBytes, true},
    {3, "name", kBytes},
    {4, "op_type", kBytes},
    {5, "attribute", kBytes, true, &kAttribute},
    {6, "doc_string", kBytes},
    {7, "domain", kBytes},
    {8, "overload", kBytes},
    {9, "metadata_props", kBytes, true, &kEntry},
    {10, "device_configurations", kBytes, true, &kNodeDeviceConfiguration},
});

constexpr auto kAttributeFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "f", kNarrow},
    {3, "i", kInt},
    {4, "s", kBytes},
    {5, "t", kBytes, false, &kTensor},
    {6, "g", kBytes, false, &kGraph},
    {7, "floats", kNarrow, true},
    {8, "ints", kInt, true},
    {9, "strings", kBytes, true},
    {10, "tensors", kBytes, true, &kTensor},
    {11, "graphs", kBytes, true, &kGraph},
    {13, "doc_string", kBytes},
    {14, "tp", kBytes, false, &kType},
    {15, "type_protos", kBytes, true, &kType},
    {20, "type", kInt},
    {21, "ref_attr_name", kBytes},
    {22, "sparse_tensor", kBytes, false, &kSparseTensor},
    {23, "sparse_tensors", kBytes, true, &kSparseTensor},
});

constexpr auto kTensorFields = std::to_array<ProtoRule>({
    {1, "dims", kInt, true},
    {2, "data_type", kInt},
    {3, "segment", kBytes, false, &kTensorSegment},
    {4, "float_data", kNarrow, true},
    {5, "int32_data", kInt, true},
    {6, "string_data", kBytes, true},
    {7, "int64_data", kInt, true},
    {8, "name", kBytes},
    {9, "raw_data", kBytes},
    {10, "double_data", kWide, true},
    {11, "uint64_data", kInt, true},
    {12, "doc_string", kBytes},
    {13, "external_data", kBytes, true, &kEntry},
    {14, "data_location", kInt},
    {16, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kTensorSegmentFields = std::to_array<ProtoRule>({
    {1, "begin", kInt},
    {2, "end", kInt},
});

constexpr auto kEntryFields = std::to_array<ProtoRule>({
    {1, "key", kBytes},
    {2, "value", kBytes},
});

constexpr auto kSparseTensorFields = std::to_array<ProtoRule>({
    {1, "values", kBytes, false, &kTensor},
    {2, "indices", kBytes, false, &kTensor},
    {3, "dims", kInt, true},
});

constexpr auto kTypeFields = std::to_array<ProtoRule>({
    {1, "tensor_type", kBytes, false, &kTypeTensor},
    {4, "sequence_type", kBytes, false, &kTypeSequence},
    {5, "map_type", kBytes, false, &kTypeMap},
    {6, "denotation", kBytes},
    {7, "opaque_type", kBytes, false, &kTypeOpaque},
    {8, "sparse_tensor_type", kBytes, false, &kTypeSparseTensor},
    {9, "optional_type", kBytes, false, &kTypeOptional},
});

constexpr auto kTypeTensorFields = std::to_array<ProtoRule>({
    {1, "elem_type", kInt},
    {2, "shape", kBytes, false, &kTensorShape},
});

constexpr auto kTensorShapeFields = std::to_array<ProtoRule>({
    {1, "dim", kBytes, true, &kTensorShapeDimension},
});

constexpr auto kTensorShapeDimensionFields = std::to_array<ProtoRule>({
    {1, "dim_value", kInt},
    {2, "dim_param", kBytes},
    {3, "denotation", kBytes},
});

constexpr auto kTypeSequenceFields = std::to_array<ProtoRule>({
    {1, "elem_type", kBytes, false, &kType},
});

constexpr auto kTypeMapFields = std::to_array<ProtoRule>({
    {1, "key_type", kInt},
    {2, "value_type", kBytes, false, &kType},
});

constexpr auto kTypeOptionalFields = std::to_array<ProtoRule>({
    {1, "elem_type", kBytes, false, &kType},
});

constexpr auto kTypeSparseTensorFields = std::to_array<ProtoRule>({
    {1, "elem_type", kInt},
    {2, "shape", kBytes, false, &kTensorShape},
});

constexpr auto kTypeOpaqueFields = std::to_array<ProtoRule>({
    {1, "domain", kBytes},
    {2, "name", kBytes},
});

constexpr auto kNodeDeviceConfigurationFields = std::to_array<ProtoRule>({
    {1, "configuration_id", kBytes},
    {2, "sharding_spec", kBytes, true, &kShardingSpec},
    {3, "pipeline_stage", kInt},
});

constexpr auto kShardingSpecFields = std::to_array<ProtoRule>({
    {1, "tensor_name", kBytes},
    {2, "device", kInt, true},
    {3, "index_to_device_group_map", kBytes, true, &kIntIntListEntry},
    {4, "sharded_dim", kBytes, true, &kShardedDim},
});

constexpr auto kIntIntListEntryFields = std::to_array<ProtoRule>({
    {1, "key", kInt},
    {2, "value", kInt, true},
});

constexpr auto kShardedDimFields = std::to_array<ProtoRule>({
    {1, "axis", kInt},
    {2, "simple_sharding", kBytes, true, &kSimpleShardedDim},
});

constexpr auto kSimpleShardedDimFields = std::to_array<ProtoRule>({
    {1, "dim_value", kInt},
    {2, "dim_param", kBytes},
    {3, "num_shards", kInt},
});

constexpr auto kValueInfoFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "type", kBytes, false, &kType},
    {3, "doc_string", kBytes},
    {4, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kAnnotationFields = std::to_array<ProtoRule>({
    {1, "tensor_name", kBytes},
    {2, "quant_parameter_tensor_names", kBytes, true, &kEntry},
});

constexpr auto kTrainingInfoFields = std::to_array<ProtoRule>({
    {1, "initialization", kBytes, false, &kGraph},
    {2, "algorithm", kBytes, false, &kGraph},
    {3, "initialization_binding", kBytes, true, &kEntry},
    {4, "update_binding", kBytes, true, &kEntry},
});

constexpr auto kFunctionFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {4, "input", kBytes, true},
    {5, "output", kBytes, true},
    {6, "attribute", kBytes, true},
    {7, "node", kBytes, true, &kNode},
    {8, "doc_string", kBytes},
    {9, "opset_import", kBytes, true, &kOperatorSetId},
    {10, "domain", kBytes},
    {11, "attribute_proto", kBytes, true, &kAttribute},
    {12, "value_info", kBytes, true, &kValueInfo},
    {13, "overload", kBytes},
    {14, "metadata_props", kBytes, true, &kEntry},
});

constexpr auto kDeviceConfigurationFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "num_devices", kInt},
    {3, "device", kBytes, true},
});

constexpr auto kSequenceFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "elem_type", kInt},
    {3, "tensor_values", kBytes, true, &kTensor},
    {4, "sparse_tensor_values", kBytes, true, &kSparseTensor},
    {5, "sequence_values", kBytes, true, &kSequence},
    {6, "map_values", kBytes, true, &kMap},
    {7, "optional_values", kBytes, true, &kOptional},
});

constexpr auto kMapFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "key_type", kInt},
    {3, "keys", kInt, true},
    {4, "string_keys", kBytes, true},
    {5, "values", kBytes, false, &kSequence},
});

constexpr auto kOptionalFields = std::to_array<ProtoRule>({
    {1, "name", kBytes},
    {2, "elem_type", kInt},
    {3, "tensor_value", kBytes, false, &kTensor},
    {4, "sparse_tensor_value", kBytes, false, &kSparseTensor},
    {5, "sequence_value", kBytes, false, &kSequence},
    {6, "map_value", kBytes, false, &kMap},
    {7, "optional_value", kBytes, false, &kOptional},
});
// clang-format on

}  // namespace

const ProtoMessage kModel{"ModelProto", kModelFields};
const ProtoMessage kOperatorSetId{"OperatorSetIdProto", kOperatorSetIdFields};
const ProtoMessage kGraph{"GraphProto", kGraphFields};
const ProtoMessage kNode{"NodeProto", kNodeFields};
const ProtoMessage kAttribute{"AttributeProto", kAttributeFields};
const ProtoMessage kTensor{"TensorProto", kTensorFields};
const ProtoMessage kTensorSegment{"Segment", kTensorSegmentFields};
const ProtoMessage kEntry{"StringStringEntryProto", kEntryFields};
const ProtoMessage kSparseTensor{"SparseTensorProto", kSparseTensorFields};
const ProtoMessage kType{"TypeProto", kTypeFields};
const ProtoMessage kTypeTensor{"Tensor", kTypeTensorFields};
const ProtoMessage kTensorShape{"TensorShapeProto", kTensorShapeFields};
const ProtoMessage kTensorShapeDimension{"Dimension", kTensorShapeDimensionFields};
const ProtoMessage kTypeSequence{"Sequence", kTypeSequenceFields};
const ProtoMessage kTypeMap{"Map", kTypeMapFields};
const ProtoMessage kTypeOptional{"Optional", kTypeOptionalFields};
const ProtoMessage kTypeSparseTensor{"SparseTensor", kTypeSparseTensorFields};
const ProtoMessage kTypeOpaque{"Opaque", kTypeOpaqueFields};
const ProtoMessage kNodeDeviceConfiguration{"NodeDeviceConfigurationProto",
                                            kNodeDeviceConfigurationFields};
const ProtoMessage kShardingSpec{"ShardingSpecProto", kShardingSpecFields};
const ProtoMessage kIntIntListEntry{"IntIntListEntryProto", kIntIntListEntryFields};
const ProtoMessage kShardedDim{"ShardedDimProto", kShardedDimFields};
const ProtoMessage kSimpleShardedDim{"SimpleShardedDimProto", kSimpleShardedDimFields};
const ProtoMessage kValueInfo{"ValueInfoProto", kValueInfoFields};
const ProtoMessage kAnnotation{"TensorAnnotation", kAnnotationFields};
const ProtoMessage kTrainingInfo{"TrainingInfoProto", kTrainingInfoFields};
const ProtoMessage kFunction{"FunctionProto", kFunctionFields};
const ProtoMessage kDeviceConfiguration{"DeviceConfigurationProto", kDeviceConfigurationFields};
const ProtoMessage kSequence{"SequenceProto", kSequenceFields};
const ProtoMessage kMap{"MapProto", kMapFields};
const ProtoMessage kOptional{"OptionalProto", kOptionalFields};
const ProtoMessage kAny{"file", {}};

}  // namespace btf::onnx

// The messages of ONNX (onnx.proto of 1.23), and the fields of them that matter here.
#pragma once

#include <string>

#include "btf/error.h"
#include "formats/protobuf/reader.h"

namespace btf::onnx {

extern const ProtoMessage kModel;
extern const ProtoMessage kGraph;
extern const ProtoMessage kNode;
extern const ProtoMessage kAttribute;
extern const ProtoMessage kValueInfo;
extern const ProtoMessage kAnnotation;
extern const ProtoMessage kEntry;  // a key and a value
extern const ProtoMessage kTensor;
extern const ProtoMessage kSparseTensor;
extern const ProtoMessage kFunction;
extern const ProtoMessage kSequence;  // also what an optional is, with the same numbers
extern const ProtoMessage kOptional;
extern const ProtoMessage kMap;
extern const ProtoMessage kOperatorSetId;
extern const ProtoMessage kType;
extern const ProtoMessage kTypeTensor;
extern const ProtoMessage kTensorShape;
extern const ProtoMessage kTensorShapeDimension;
extern const ProtoMessage kAny;  // of whose fields nothing is known

namespace model {
inline constexpr std::uint64_t kIrVersion = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7,
                               kOperatorSet = 8, kMetadata = 14, kFunction = 25;
}
namespace operator_set {
inline constexpr std::uint64_t kDomain = 1, kVersion = 2;
}
namespace graph {
inline constexpr std::uint64_t kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12,
                               kAnnotation = 14, kSparseInitializer = 15;
}
namespace node {
inline constexpr std::uint64_t kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5,
                               kDomain = 7;
}
namespace attribute {
inline constexpr std::uint64_t kName = 1, kFloat = 2, kInteger = 3, kString = 4, kTensor = 5,
                               kGraph = 6, kFloats = 7, kIntegers = 8, kStrings = 9, kGraphs = 11,
                               kReference = 21, kSparseTensor = 22;
}
namespace function {
inline constexpr std::uint64_t kName = 1, kInput = 4, kOutput = 5, kAttribute = 6, kNode = 7,
                               kOperatorSet = 9, kDomain = 10, kOverload = 13;
}
namespace sequence {
inline constexpr std::uint64_t kName = 1, kElementType = 2, kTensors = 3, kSparseTensors = 4,
                               kSequences = 5, kMaps = 6, kOptionals = 7;
}
namespace map {
inline constexpr std::uint64_t kValues = 5;
}
namespace value_info {
inline constexpr std::uint64_t kName = 1, kType = 2;
}
namespace type {
inline constexpr std::uint64_t kTensor = 1, kElement = 1, kShape = 2, kDimValue = 1, kDimParam = 2;
}
namespace annotation {
inline constexpr std::uint64_t kTensor = 1, kParameter = 2;
}
namespace entry {
inline constexpr std::uint64_t kKey = 1, kValue = 2;
}
namespace tensor {
inline constexpr std::uint64_t kDims = 1, kDataType = 2, kSegment = 3, kFloats = 4, kInt32s = 5,
                               kStrings = 6, kInt64s = 7, kName = 8, kRaw = 9, kDoubles = 10,
                               kUint64s = 11, kExternal = 13, kLocation = 14;
}
namespace sparse {
inline constexpr std::uint64_t kValues = 1, kIndices = 2, kDims = 3;
}

// Length of a name in bytes: as long as a BTF file takes.
inline constexpr std::uint64_t kLongestName = 65535;

// Subgraphs within subgraphs.
inline constexpr unsigned kDeepestGraph = 16;

}  // namespace btf::onnx

namespace btf {

// The content of a field that is a name.
Result<std::string> onnx_name(Window& window, const ProtoField& field);

struct OnnxProperty {
  std::string key;
  std::string value;
};

// A StringStringEntryProto.
Result<OnnxProperty> read_onnx_property(Window& window, const ProtoField& field);

}  // namespace btf

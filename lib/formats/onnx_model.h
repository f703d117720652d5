// The messages of ONNX (onnx.proto 1.23): models, graphs, tensors and constants.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"
#include "formats/protobuf.h"

namespace btf::onnx {

// The messages of ONNX, and the fields used here.

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
extern const ProtoMessage kSequence;  // also used for an optional, which has the same numbers
extern const ProtoMessage kOptional;
extern const ProtoMessage kMap;
extern const ProtoMessage kOperatorSetId;
extern const ProtoMessage kType;
extern const ProtoMessage kTypeTensor;
extern const ProtoMessage kTensorShape;
extern const ProtoMessage kTensorShapeDimension;
extern const ProtoMessage kAny;  // a message whose fields are unknown

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

// The longest name in bytes, as in BTF files.
inline constexpr std::uint64_t kLongestName = 65535;

// The deepest nesting of subgraphs.
inline constexpr unsigned kDeepestGraph = 16;

}  // namespace btf::onnx

namespace btf {

// The content of a field that is a name.
Result<std::string> onnx_name(Window& window, const ProtoField& field);

struct OnnxProperty {
  std::string key;
  std::string value;
};

// Reads a StringStringEntryProto.
Result<OnnxProperty> read_onnx_property(Window& window, const ProtoField& field);

// The types of ONNX tensors (TensorProto.DataType).

struct OnnxType {
  std::uint8_t number = 0;  // the data_type
  std::string_view name;
  std::uint8_t field = 0;        // the field of a TensorProto for typed values
  std::optional<DType> dtype{};  // unset if no dtype corresponds to it
};

// nullptr if ONNX 1.23 has no such type.
const OnnxType* find_onnx_type(std::uint64_t number);
const OnnxType* onnx_type_of(DType dtype);

// The tensors of a model: initializers of its graph and subgraphs, and constants.

// As small as possible, since there may be millions. Names stay in the file.
struct OnnxEntry {
  ProtoRange place;
  ProtoRange name{};        // empty if it has none; in a sequence its number instead of a range
  std::uint32_t scope = 0;  // index of the subgraph
  bool sparse = false;      // `place` is a SparseTensorProto
  std::uint8_t form = 0;    // the form of a Constant's value that is not a tensor
};

// First the initializers of the graph in file order, then the values of its Constant nodes in node
// order, then those of subgraphs and functions in the same way. Or the values of a sequence.
class OnnxModel {
 public:
  // Refuses tensors of the graph with missing or duplicate names.
  static Result<OnnxModel> read(const ByteSource& source);

  const std::vector<OnnxEntry>& entries() const { return entries_; }
  // Names in subgraphs contain those of their nodes and attributes: "node/then_branch/name"; in
  // functions: "domain::function/name"; in a sequence: "name#0", or unset if it has no name.
  Result<std::optional<std::string>> name(const ByteSource& source, const OnnxEntry& entry) const;

  // The producer and metadata; for tensors the first node that uses them, and their scales and zero
  // points if known.
  Result<FileAttributes> attributes(const ByteSource& source) const;

  // The number of a sequence's only member, which is not numbered.
  static constexpr std::uint64_t kUnnumbered = UINT64_MAX;
  static std::string number_text(std::uint64_t number);
  void name_values(std::string name) { scopes_.front().name = std::move(name); }
  std::uint32_t add_scope(std::uint32_t parent, std::string name);
  void add_value(const OnnxEntry& entry);
  bool is_sequence() const { return sequence_; }

 private:
  class Reader;
  struct Scope {
    std::uint32_t parent = 0;
    std::string name;
  };

  std::vector<OnnxEntry> entries_;
  std::vector<Scope> scopes_{{}};
  bool sequence_ = false;
};

// The ranges of the values, indices and dims of a SparseTensorProto.
struct OnnxSparse {
  ProtoRange values;
  ProtoRange indices;
  std::vector<std::uint64_t> dims;
};

Result<OnnxSparse> read_onnx_sparse(Window& window, const ProtoRange& place);

// A TensorProto: its description, and where its values are.

// Values in another file.
struct OnnxExternal {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};  // unset: to the end of the file
  std::string unknown_key{};              // the first key that this tool does not know
};

struct OnnxTensor {
  ProtoRange place;
  const ProtoMessage* message = &onnx::kTensor;  // the message at `place`
  Dims dims;
  std::uint64_t data_type = 0;
  const OnnxType* type = nullptr;  // nullptr if it is unknown
  std::uint64_t field = 0;         // the field with the values; 0 if there is none
  bool varints = false;            // values are varints
  std::uint64_t values = 0;        // number of fields with values, packed or single
  ProtoRange first{};              // content of the first one
  std::uint64_t value_bytes = 0;   // total size of all of them
  std::optional<OnnxExternal> external{};

  // Only set if a dtype corresponds to the type: the number of elements and their size here.
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;

  // Returns true if the values are contiguous and can be used without decoding.
  bool in_place() const;
};

// Checks the tensor itself but not files of external data. Several may share the window.
Result<OnnxTensor> read_onnx_tensor(Window& window, const ProtoRange& place);

// The range of the name; empty if there is none.
Result<ProtoRange> find_onnx_name(Window& window, const ProtoRange& place);

// Adds the dims of a field, packed or not.
Status take_onnx_dims(Window& window, const ProtoField& field, Dims& dims);

// The name of a field of TensorProto: "raw_data".
std::string_view onnx_field_name(std::uint64_t field);

// Values of Constant nodes: tensors, and numbers that are read as tensors.

// A node's value, named after its output. Unset if it is not a Constant, or if its value is an
// argument of the enclosing function.
Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node);

// Reads the tensor of an entry that is not sparse.
Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry);

// A model's graph in order of execution, in which ONNX files store nodes.

// A missing optional input or output is "".
struct OnnxNode {
  std::uint64_t number = 0;  // number in the graph
  ProtoRange place{};
  std::string name;
  std::string op_type;
  std::string domain;  // empty for ONNX's own operators
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// A shape in a graph; unset dims are left open. Unset if the graph does not give the shape.
using OnnxShape = std::optional<std::vector<std::optional<std::uint64_t>>>;

// The whole graph. Initializers may be among the inputs, as in models from before 2019.
struct OnnxGraph {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<OnnxShape> input_shapes;  // same order as `inputs`
  std::vector<std::string> outputs;
};

Result<OnnxGraph> read_onnx_graph(const ByteSource& model);

// Calls `take` for each node, without those of subgraphs, and stops at an error.
using TakeOnnxNode = std::function<Status(const OnnxNode&)>;
Status for_each_onnx_node(const ByteSource& model, const TakeOnnxNode& take);

// Calls `take` for the values of the graph in the order of execution: its inputs, then the outputs
// of its nodes.
using TakeOnnxValue = std::function<Status(const std::string& name)>;
Status for_each_onnx_value(const ByteSource& model, const TakeOnnxValue& take);

// The integer attribute of that name; unset if it is absent.
Result<std::optional<std::int64_t>> onnx_integer(Window& window, const OnnxNode& node,
                                                 std::string_view name);

// The range of a model's GraphProto.
Result<ProtoRange> find_onnx_graph(Window& window);

}  // namespace btf

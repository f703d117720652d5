// The messages of ONNX (onnx.proto of 1.23): models, graphs, tensors and the constants in them.
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

// The messages of ONNX (onnx.proto of 1.23), and the fields of them that matter here.

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

// The types of ONNX's tensors (TensorProto.DataType).

struct OnnxType {
  std::uint8_t number = 0;  // the data_type
  std::string_view name;
  std::uint8_t field = 0;        // of a TensorProto that holds the values one by one
  std::optional<DType> dtype{};  // nothing: none stands for it
};

// nullptr: ONNX 1.23 has no such type.
const OnnxType* find_onnx_type(std::uint64_t number);
const OnnxType* onnx_type_of(DType dtype);

// Which tensors a model holds: its initializers, and those of its subgraphs.

// A tensor, as small as can be: there may be millions. Names stay in the file.
struct OnnxEntry {
  ProtoRange place;
  ProtoRange name{};        // empty: it has none; in a sequence: its number, no range
  std::uint32_t scope = 0;  // a subgraph's
  bool sparse = false;      // place is that of a SparseTensorProto
  std::uint8_t form = 0;    // of a Constant's value that is no tensor: which (constants.cc)
};

// Initializers of the graph first, in the order of the file, and what its Constant nodes hold, in
// the order of these; then those of subgraphs and of functions likewise. Or the values of a
// sequence.
class OnnxModel {
 public:
  // Refuses tensors of the graph that have no name or the same one.
  static Result<OnnxModel> read(const ByteSource& source);

  const std::vector<OnnxEntry>& entries() const { return entries_; }
  // In subgraphs with the names of their nodes and attributes: "node/then_branch/name"; in
  // functions: "domain::function/name"; in a sequence: "name#0", or nothing if it has no name.
  Result<std::optional<std::string>> name(const ByteSource& source, const OnnxEntry& entry) const;

  // Producer and metadata; of tensors which node is the first to use them, and which scales and
  // zero points are said to be theirs.
  Result<FileAttributes> attributes(const ByteSource& source) const;

  // A sequence's own name and members. A member without a number is the only one.
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

// Where the values of a SparseTensorProto, their indices and its dims are.
struct OnnxSparse {
  ProtoRange values;
  ProtoRange indices;
  std::vector<std::uint64_t> dims;
};

Result<OnnxSparse> read_onnx_sparse(Window& window, const ProtoRange& place);

// A TensorProto: what it says of itself, and where its values are.

// Values in a file of their own.
struct OnnxExternal {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};  // nothing: to the end of the file
  std::string unknown_key{};              // the first that this tool does not know
};

struct OnnxTensor {
  ProtoRange place;
  const ProtoMessage* message = &onnx::kTensor;  // what stands there
  Dims dims;
  std::uint64_t data_type = 0;
  const OnnxType* type = nullptr;  // nullptr: none that is known
  std::uint64_t field = 0;         // that holds the values; 0: none does
  bool varints = false;            // they are written as such
  std::uint64_t values = 0;        // fields that hold them, packed or one by one
  ProtoRange first{};              // the content of the first of them
  std::uint64_t value_bytes = 0;   // of all of them
  std::optional<OnnxExternal> external{};

  // Where a dtype stands for it: elements by its dims, and the bytes that they take here.
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;

  // Do the values stand in one place as they are used?
  bool in_place() const;
};

// Checked against itself, and not against files of external data. Several may share the window.
Result<OnnxTensor> read_onnx_tensor(Window& window, const ProtoRange& place);

// Where the name is; empty if there is none.
Result<ProtoRange> find_onnx_name(Window& window, const ProtoRange& place);

// Adds those of a field, packed or not.
Status take_onnx_dims(Window& window, const ProtoField& field, Dims& dims);

// "raw_data", by its number in a TensorProto.
std::string_view onnx_field_name(std::uint64_t field);

// The values of Constant nodes: tensors, and numbers that are read as tensors.

// A node's value, named after its output. Nothing: it is no Constant, or its value is an argument
// of the function around it.
Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node);

// The tensor of an entry that is not sparse.
Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry);

// A model's graph in order of execution: ONNX files have nodes sorted.

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

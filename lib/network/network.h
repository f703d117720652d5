// An ONNX model as what it computes: nodes, the values between them, and weights.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "formats/io/byte_source.h"
#include "formats/onnx/graph.h"
#include "network/node/attributes.h"
#include "network/stored.h"

namespace btf::network {

inline constexpr std::uint32_t kNoValue = UINT32_MAX;
inline constexpr std::uint32_t kNoNode = UINT32_MAX;

struct Node {
  ProtoRange place{};  // in the file
  std::string name;    // empty: it has none
  std::string op;
  std::string domain;                 // empty: ONNX's own
  std::vector<std::uint32_t> inputs;  // values; kNoValue: left out
  std::vector<std::uint32_t> outputs;
};

struct Value {
  std::string name;
  std::uint32_t node = kNoNode;           // that makes it
  std::uint32_t output = 0;               // which of its outputs it is
  std::optional<std::uint64_t> weight{};  // the tensor of the model's file that it is
  OnnxShape shape{};  // of an input of the graph
  std::string trouble{};  // nothing makes it, though a node says so: why that is not taken as said
};

// Nodes in order of execution: each takes only what stands before it, and each value has one name
// and one maker. The graph is checked once, when it is read. What a model says otherwise is read as
// a value that nothing makes, and its node is not sound(): nothing is computed or judged by it.
class Network {
 public:
  // The whole graph, and which weights there are; no weight is read. Weights in files beside the
  // model are looked for when they are read.
  static Result<Network> read(const std::string& path);
  // A network of bytes that are there already, and of the same as a file of tensors, if it is one.
  static Result<Network> of(std::shared_ptr<const ByteSource> model,
                            std::shared_ptr<const TensorFile> weights, const std::string& path);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  // The outputs of the whole graph. Empty: the model does not say.
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }
  // Whether the node has as many inputs and outputs as its operator takes, a name for its first
  // output, and outputs that are its own. Of one that is not, why_unsound() says what is wrong.
  bool is_sound(std::uint32_t node) const { return !unsound_.contains(node); }
  std::string why_unsound(std::uint32_t node) const;
  // The newest value of that name; kNoValue: there is none.
  std::uint32_t find(std::string_view name) const;

  // The version of an operator set; 1 if the model does not say.
  std::int64_t version(std::string_view domain) const;
  Result<Attributes> attributes(const Node& node) const;
  // The numbers of a value that is a weight. For several threads at once.
  Result<StoredNumbers> weight(const Value& value) const;
  // The tensor in an attribute, in full.
  Result<std::vector<double>> attribute_tensor(const ProtoRange& place, Dims& dims,
                                               DType& dtype) const;
  // Errors of reading the model, and the files of its weights, since it was opened.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }

 private:
  Network() = default;
  Status read_nodes();
  Status read_versions();
  Result<StoredNumbers> open_weight(const Value& value) const;
  Result<std::vector<double>> read_tensor(const ProtoRange& place, Dims& dims, DType& dtype) const;
  Status read_borders();
  Status take_weights();
  void add_output(std::uint32_t node, const std::string& name);
  void take_from_node(Value& value, const std::string& why);
  void check_counts(std::uint32_t node);
  std::string described(std::uint32_t node) const;
  std::uint32_t value(const std::string& name);

  std::string path_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  std::shared_ptr<const ByteSource> model_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> outputs_;
  std::unordered_map<std::uint32_t, std::string> unsound_;  // nodes, and why
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<std::string, std::int64_t, std::less<>> versions_;
  std::shared_ptr<const TensorFile> weights_;  // the model as a file of tensors; nullptr: of none
  std::unique_ptr<std::mutex> weights_mutex_ = std::make_unique<std::mutex>();
};

}  // namespace btf::network

// An ONNX model as what it computes: nodes, the values between them, weights, and numbers where
// they are stored.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "convert/quantize/scales.h"
#include "core/errors.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"
#include "kernels/number/widen.h"
#include "network/node.h"

namespace btf::network {

// Reads blocks of a few elements, and keeps some of them. Not for several threads at once.
class StoredNumbers {
 public:
  // Codes become the numbers that `scales` makes of them. Refuses what is not read here: codes
  // whose scales are a tensor of blocks, sparse tensors of many elements.
  static Result<StoredNumbers> open(std::shared_ptr<const TensorFile> file, TensorInfo tensor,
                                    QuantizePlan scales = {});
  // Numbers that are in memory, in row-major order.
  static StoredNumbers of(std::shared_ptr<const std::vector<double>> numbers, Dims dims,
                          DType dtype);

  // Notes its errors of reading there, too, under this name.
  void note_troubles(std::shared_ptr<ReadTroubles> troubles, std::string name) {
    noted_ = std::move(troubles);
    name_ = std::move(name);
  }

  const TensorInfo& tensor() const { return *tensor_; }
  bool scaled() const { return scales_.scaling == Scaling::dequantize; }
  std::uint64_t elements() const { return elements_; }

  // Half a step of digits, of values that were text; else 0.
  double text_step(double value) const;
  // Half a step of the stored type around a value at this element; of codes, half their scale.
  double half_step(std::uint64_t number, double value) const;
  // Is the element a code at the end of its range, beyond which there is no other?
  Result<bool> at_end(std::uint64_t number);

  // By the number of an element in row-major order.
  Result<double> at(std::uint64_t number);
  // The same for many: NaN where it cannot be read, and trouble() says why.
  double number_at(std::uint64_t number) {
    const double code = code_at(number);
    return scaled() ? scaled(code, number) : code;
  }
  // As many as `into` has, from `first` on.
  void numbers_at(std::uint64_t first, std::span<double> into);
  // The same for whoever goes through all of them once: keeps none.
  void pass_over(std::uint64_t first, std::span<double> into);
  const std::optional<Error>& trouble() const { return trouble_; }
  // The largest finite magnitude; reads all of it, once.
  Result<double> peak();

 private:
  StoredNumbers() = default;
  void give_up(const Error& error);
  std::uint64_t stored_place(std::uint64_t number) const;
  double code_at(std::uint64_t number) {
    if (!stored_) return (*whole_)[number];
    const std::uint64_t place = plain_ ? number : stored_place(number);
    const auto slot = slot_of(place / kBlock);
    return slot ? numbers_[*slot * kBlock + place % kBlock] : kNoNumber;
  }
  // Where the block is held, after reading it if need be.
  std::optional<std::uint64_t> slot_of(std::uint64_t block) {
    const std::uint64_t set = set_of(block);
    for (std::uint64_t slot = set * kWays; slot < (set + 1) * kWays; ++slot)
      if (held_[slot] == block) return slot;
    return read_blocks(block);
  }
  // Scattered, as channels are whole powers of two apart.
  std::uint64_t set_of(std::uint64_t block) const {
    return (block * 0x9e3779b97f4a7c15 >> 32) & (next_.size() - 1);
  }
  // The slot of the block. Reads as far as the last blocks that were wanted lay apart: a window's
  // rows are near one another, and far from those of the next channel.
  std::optional<std::uint64_t> read_blocks(std::uint64_t block);
  std::uint64_t hold(std::uint64_t block, const std::byte* bytes, std::uint64_t count);
  std::uint64_t which_scale(std::uint64_t number) const;
  double scaled(double code, std::uint64_t number) const;

  static constexpr std::uint64_t kBlock = 64;      // elements that are read at once
  static constexpr std::uint64_t kMaxAtOnce = 16;  // blocks
  static constexpr std::uint64_t kWays = 4;        // blocks that one set of the table holds
  static constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

  std::shared_ptr<const TensorFile> file_;
  std::unique_ptr<TensorInfo> tensor_;  // where it stays: `stored_` refers to it
  std::unique_ptr<StoredElements> stored_;
  QuantizePlan scales_;
  std::uint64_t elements_ = 0;
  bool plain_ = false;  // stands in row-major order
  WidenFn<double> widen_ = nullptr;
  std::vector<std::byte> bytes_;       // of what is read at once
  std::vector<std::uint64_t> held_;    // which block is in each slot, sets of kWays
  std::vector<std::uint8_t> next_;     // which slot of each set is taken next
  std::uint64_t run_begin_ = 0;        // the first block of those that lie near one another
  std::uint64_t run_blocks_ = 1;       // from there on, as wanted so far
  std::unique_ptr<double[]> numbers_;  // of all slots; pages that are not used are not touched
  std::optional<Error> trouble_;
  std::shared_ptr<ReadTroubles> noted_;  // nullptr: nowhere
  std::string name_;
  std::vector<std::byte> run_;                        // bytes of what is passed over
  std::shared_ptr<const std::vector<double>> whole_;  // of what is read at once
  std::optional<double> peak_;
};

// An ONNX model as what it computes: nodes, the values between them, and weights.

// An ONNX model as what it computes: nodes, the values between them, and weights.

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
  OnnxShape shape{};                      // of an input of the graph
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

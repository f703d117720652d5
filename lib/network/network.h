// An ONNX model as a computation: nodes, the values between them, weights, and stored numbers.
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

// Reads numbers of a stored tensor in blocks of a few elements, and caches some of them. For one
// thread at a time.
class StoredNumbers {
 public:
  // Dequantises codes by `scales`. Fails for tensors that are not supported: codes whose scales are
  // a tensor of blocks, and sparse tensors of many elements.
  static Result<StoredNumbers> open(std::shared_ptr<const TensorFile> file, TensorInfo tensor,
                                    QuantizePlan scales = {});
  // Numbers in memory, in row-major order.
  static StoredNumbers of(std::shared_ptr<const std::vector<double>> numbers, Dims dims,
                          DType dtype);

  // Records read errors in `troubles` as well, under this name.
  void note_troubles(std::shared_ptr<ReadTroubles> troubles, std::string name) {
    recorder_ = std::move(troubles);
    name_ = std::move(name);
  }

  const TensorInfo& tensor() const { return *tensor_; }
  bool scaled() const { return scales_.scaling == Scaling::dequantize; }
  std::uint64_t elements() const { return elements_; }

  // For values that were text, half a step of their last digit; else 0.
  double text_step(double value) const;
  // Half a step of the stored type around a value of this element; for codes, half their scale.
  double half_step(std::uint64_t number, double value) const;
  // Whether the element is a code at the end of its range.
  Result<bool> at_end(std::uint64_t number);

  // By the number of an element in row-major order.
  Result<double> at(std::uint64_t number);
  // The same for many calls: NaN if it cannot be read, in which case trouble() says why.
  double number_at(std::uint64_t number) {
    const double code = code_at(number);
    return scaled() ? scaled(code, number) : code;
  }
  // Fills `into` with numbers, beginning with element `first`.
  void numbers_at(std::uint64_t first, std::span<double> into);
  // The same for reading all elements once: caches nothing.
  void pass_over(std::uint64_t first, std::span<double> into);
  const std::optional<Error>& trouble() const { return trouble_; }
  // The largest finite magnitude. The first call reads the whole tensor.
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
  // The slot of the block, which is read if necessary.
  std::optional<std::uint64_t> slot_of(std::uint64_t block) {
    const std::uint64_t set = set_of(block);
    for (std::uint64_t slot = set * kWays; slot < (set + 1) * kWays; ++slot)
      if (slot_blocks_[slot] == block) return slot;
    return read_blocks(block);
  }
  // Hashed, since channels are powers of two apart.
  std::uint64_t set_of(std::uint64_t block) const {
    return (block * 0x9e3779b97f4a7c15 >> 32) & (next_.size() - 1);
  }
  // Reads the block and returns its slot. Reads as many blocks as recent ones were apart, since the
  // rows of a window are near each other but far from those of the next channel.
  std::optional<std::uint64_t> read_blocks(std::uint64_t block);
  std::uint64_t store_block(std::uint64_t block, const std::byte* bytes, std::uint64_t count);
  std::uint64_t which_scale(std::uint64_t number) const;
  double scaled(double code, std::uint64_t number) const;

  static constexpr std::uint64_t kBlock = 64;      // elements read at once
  static constexpr std::uint64_t kMaxAtOnce = 16;  // blocks
  static constexpr std::uint64_t kWays = 4;        // blocks per set of the cache
  static constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

  std::shared_ptr<const TensorFile> file_;
  std::unique_ptr<TensorInfo> tensor_;  // on the heap, since `stored_` refers to it
  std::unique_ptr<StoredElements> stored_;
  QuantizePlan scales_;
  std::uint64_t elements_ = 0;
  bool plain_ = false;  // stored in row-major order
  WidenFn<double> widen_ = nullptr;
  std::vector<std::byte> bytes_;            // buffer of one read
  std::vector<std::uint64_t> slot_blocks_;  // the block in each slot; sets of kWays slots
  std::vector<std::uint8_t> next_;          // the slot of each set to be replaced next
  std::uint64_t run_begin_ = 0;             // first of the blocks that are near each other
  std::uint64_t run_blocks_ = 1;            // how many blocks from there on were wanted so far
  std::unique_ptr<double[]> numbers_;       // of all slots; pages that are not used are not touched
  std::optional<Error> trouble_;
  std::shared_ptr<ReadTroubles> recorder_;  // nullptr: errors are not recorded
  std::string name_;
  std::vector<std::byte> scratch_;                    // buffer for numbers that are not cached
  std::shared_ptr<const std::vector<double>> whole_;  // all numbers, if in memory
  std::optional<double> peak_;
};

inline constexpr std::uint32_t kNoValue = UINT32_MAX;
inline constexpr std::uint32_t kNoNode = UINT32_MAX;

struct Node {
  ProtoRange place{};  // in the file
  std::string name;    // may be empty
  std::string op;
  std::string domain;                 // empty: ONNX's own
  std::vector<std::uint32_t> inputs;  // values; kNoValue: omitted
  std::vector<std::uint32_t> outputs;
};

struct Value {
  std::string name;
  std::uint32_t node = kNoNode;  // the node that computes it
  std::uint32_t output = 0;      // its index among the node's outputs
  std::optional<std::uint64_t>
      weight{};           // its index among the tensors of the model's file, if it is a weight
  OnnxShape shape{};      // of a graph input
  std::string trouble{};  // why the node that claims to compute it is not used, if so
};

// The nodes in order of execution: each uses only values before it, and each value has one name and
// one producer. Checked once, when the graph is read. Where a model violates this, the value has no
// producer and its node is not sound: it is neither computed nor judged.
class Network {
 public:
  // Reads the whole graph and the list of weights, but no weight. Weights in other files are opened
  // when they are read.
  static Result<Network> read(const std::string& path);
  // From bytes that are available already, and the same bytes as a file of tensors if they are one.
  static Result<Network> of(std::shared_ptr<const ByteSource> model,
                            std::shared_ptr<const TensorFile> weights, const std::string& path);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  // Nodes of LSTM, GRU and RNN, which take many products for any of their results.
  std::uint64_t recurrent_nodes() const { return recurrent_nodes_; }
  // The outputs of the whole graph; empty if the model does not list them.
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }
  // Whether the node has a valid number of inputs and outputs for its operator, a name for its
  // first output, and outputs that no other node has. why_unsound() gives the reason if not.
  bool is_sound(std::uint32_t node) const { return !unsound_.contains(node); }
  std::string why_unsound(std::uint32_t node) const;
  // The newest value with that name; kNoValue if there is none.
  std::uint32_t find(std::string_view name) const;

  // The version of an operator set; 1 if the model does not state it.
  std::int64_t version(std::string_view domain) const;
  Result<Attributes> attributes(const Node& node) const;
  // The numbers of a value that is a weight. May be called from several threads.
  Result<StoredNumbers> weight(const Value& value) const;
  // All numbers of the tensor in an attribute.
  Result<std::vector<double>> attribute_tensor(const ProtoRange& place, Dims& dims,
                                               DType& dtype) const;
  // Errors of reading the model and the files of its weights since it was opened.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }
  // An error: the model, or a file of its weights, is no longer the one that was opened, so that
  // what was read of it may be of two models.
  Status check_unchanged() const;

 private:
  Network() = default;
  Status read_nodes();
  Status read_versions();
  Result<StoredNumbers> open_weight(const Value& value) const;
  Result<std::vector<double>> read_tensor(const ProtoRange& place, Dims& dims, DType& dtype) const;
  Status read_inputs_and_outputs();
  Status link_weights();
  void add_output(std::uint32_t node, const std::string& name);
  void unlink_from_node(Value& value, const std::string& why);
  void check_counts(std::uint32_t node);
  std::string node_text(std::uint32_t node) const;
  std::uint32_t value(const std::string& name);

  std::string path_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  std::shared_ptr<const ByteSource> model_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::uint64_t recurrent_nodes_ = 0;
  std::vector<std::uint32_t> outputs_;
  std::unordered_map<std::uint32_t, std::string> unsound_;  // nodes with the reason
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<std::string, std::int64_t, std::less<>> versions_;
  std::shared_ptr<const TensorFile>
      weights_;  // the model as a file of tensors; nullptr if it is none
  std::unique_ptr<std::mutex> weights_mutex_ = std::make_unique<std::mutex>();
};

}  // namespace btf::network

#include "formats/torch/tensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"

namespace btf {
namespace {

using Node = Pickle::Node;

constexpr std::string_view kMakesTensors = "torch._utils _rebuild_";
constexpr std::array<std::string_view, 2> kParameters{
    "torch._utils _rebuild_parameter", "torch._utils _rebuild_parameter_with_state"};
constexpr std::string_view kTensorV2 = "torch._utils _rebuild_tensor_v2";
constexpr std::string_view kTensorV3 = "torch._utils _rebuild_tensor_v3";

// Values that are looked at on the way through dicts and lists, each as often as it is in one.
constexpr std::uint64_t kMostSteps = 1U << 22;

std::unexpected<Error> wrong(const std::string& what) {
  return malformed(kPickleFinding, 0, "the pickle: " + what);
}

class Finder {
 public:
  explicit Finder(const Pickle& pickle) : pickle_(pickle), open_(pickle.node_count()) {}

  Result<std::vector<NamedNode>> run() {
    BTF_TRY(visit(pickle_.root(), std::nullopt));
    if (found_.empty() && others_ > 0)
      return fail(ErrorCode::unsupported,
                  "holds no tensors in dicts or lists, but an object of '" + first_other_ +
                      "'; torch.save(model.state_dict(), ...) makes a file that is read");
    return std::move(found_);
  }

 private:
  Status visit(Node node, const std::optional<std::string>& name) {
    if (++steps_ > kMostSteps) return wrong("its dicts and lists have too many values");
    switch (pickle_.kind(node)) {
      case PickleKind::call:
        return take_call(node, name);
      case PickleKind::dict:
      case PickleKind::list:
      case PickleKind::tuple:
        return visit_parts(node, name);
      default:
        return {};
    }
  }

  Status take_call(Node node, const std::optional<std::string>& name) {
    const std::string_view called = pickle_.text(pickle_.parts(node)[0]);
    if (called.starts_with(kMakesTensors)) {
      found_.push_back({name, node});
    } else if (others_++ == 0) {
      first_other_ = called;
      std::ranges::replace(first_other_, ' ', '.');
    }
    return {};
  }

  // What is in itself ends there.
  Status visit_parts(Node node, const std::optional<std::string>& name) {
    if (open_[node] || depth_ == kMostDepth) return {};
    open_[node] = true;
    ++depth_;
    const std::vector<Node>& parts = pickle_.parts(node);
    const bool dict = pickle_.kind(node) == PickleKind::dict;
    const std::string before = name ? *name + "." : "";
    for (std::size_t i = 0; i < parts.size(); i += dict ? 2 : 1) {
      const std::optional<std::string> key = dict ? key_of(parts[i]) : std::to_string(i);
      if (key) BTF_TRY(visit(parts[dict ? i + 1 : i], before + *key));
    }
    --depth_;
    open_[node] = false;
    return {};
  }

  // Of other keys there is no name.
  std::optional<std::string> key_of(Node node) const {
    if (pickle_.kind(node) == PickleKind::text) return std::string(pickle_.text(node));
    if (pickle_.kind(node) == PickleKind::integer) return std::to_string(pickle_.integer(node));
    return std::nullopt;
  }

  static constexpr unsigned kMostDepth = 64;

  const Pickle& pickle_;
  std::vector<bool> open_;  // those that are being looked into
  unsigned depth_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<NamedNode> found_;
  std::uint64_t others_ = 0;  // objects that are no tensors
  std::string first_other_;
};

class TensorOfCall {
 public:
  explicit TensorOfCall(const Pickle& pickle) : pickle_(pickle) {}

  Result<TorchTensor> read(Node node) const {
    // A parameter is its tensor with something around it.
    for (int depth = 0; depth < 4; ++depth) {
      const std::string_view called = pickle_.text(pickle_.parts(node)[0]);
      const std::vector<Node>& arguments = pickle_.parts(pickle_.parts(node)[1]);
      if (std::ranges::find(kParameters, called) == kParameters.end())
        return read_tensor(called, arguments);
      if (arguments.empty() || pickle_.kind(arguments[0]) != PickleKind::call)
        return wrong("a parameter has no tensor");
      node = arguments[0];
    }
    return wrong("a parameter of a parameter of a parameter");
  }

 private:
  Result<TorchTensor> read_tensor(std::string_view called, const std::vector<Node>& arguments) const {
    const bool typed = called == kTensorV3;
    if (!typed && called != kTensorV2) {
      const std::string what(called.substr(kMakesTensors.size()));
      return foreign(what, "it is made by torch's _rebuild_" + what + ", as no dense tensor is");
    }
    const std::size_t metadata = typed ? 7 : 6;
    if (arguments.size() < metadata) return wrong("a tensor is made of too little");
    TorchTensor tensor;
    BTF_TRY(take_storage(arguments[0], tensor));
    if (typed) BTF_TRY(take_type(arguments[6], tensor));
    BTF_ASSIGN(tensor.offset, size_of(arguments[1], "the offset"));
    BTF_ASSIGN(tensor.dims, sizes_of(arguments[2], "the sizes"));
    BTF_ASSIGN(tensor.strides, sizes_of(arguments[3], "the strides"));
    if (tensor.dims.size() != tensor.strides.size())
      return wrong("a tensor has " + std::to_string(tensor.dims.size()) + " sizes and " +
                   std::to_string(tensor.strides.size()) + " strides");
    if (arguments.size() > metadata && has_items(arguments[metadata]))
      tensor.why = "it is a conjugate or negative view, which holds other numbers than its storage";
    return tensor;
  }

  // ("storage", type, key, location, elements)
  Status take_storage(Node node, TorchTensor& tensor) const {
    if (pickle_.kind(node) != PickleKind::persistent) return wrong("a tensor has no storage");
    const std::vector<Node>& parts = pickle_.parts(node);
    const bool named = parts.size() == 5 && is_text(parts[0]) &&
                       pickle_.text(parts[0]) == "storage" &&
                       pickle_.kind(parts[1]) == PickleKind::global && is_text(parts[2]);
    if (!named) return wrong("a storage is not named as torch names them");
    tensor.key = pickle_.text(parts[2]);
    BTF_ASSIGN(const std::uint64_t elements, size_of(parts[4], "the size of a storage"));
    const std::string_view type = pickle_.text(parts[1]);
    std::uint64_t width = 1;
    if (type != kUntypedStorage) {
      BTF_TRY(take_type(parts[1], tensor));
      width = tensor.type != nullptr ? tensor.type->bytes : 1;
    }
    const Checked bytes = checked_mul(elements, width);
    if (!bytes) return wrong("the size of a storage does not fit 64 bits");
    tensor.storage_bytes = *bytes;
    return {};
  }

  Status take_type(Node node, TorchTensor& tensor) const {
    if (pickle_.kind(node) != PickleKind::global) return wrong("a type is no name");
    const std::string_view name = pickle_.text(node);
    tensor.type = find_torch_type(name);
    if (tensor.type != nullptr && tensor.type->dtype) return {};
    tensor.foreign =
        tensor.type != nullptr ? tensor.type->foreign : name.substr(name.rfind(' ') + 1);
    return {};
  }

  Result<std::uint64_t> size_of(Node node, const std::string& what) const {
    if (pickle_.kind(node) != PickleKind::integer || pickle_.integer(node) < 0)
      return wrong(what + " is no whole number from 0 on");
    return static_cast<std::uint64_t>(pickle_.integer(node));
  }

  // A tuple, or torch.Size of one.
  Result<Dims> sizes_of(Node node, const std::string& what) const {
    if (pickle_.calls(node, "torch Size") && !pickle_.parts(pickle_.parts(node)[1]).empty())
      node = pickle_.parts(pickle_.parts(node)[1])[0];
    const PickleKind kind = pickle_.kind(node);
    if (kind != PickleKind::tuple && kind != PickleKind::list) return wrong(what + " are no tuple");
    const std::vector<Node>& parts = pickle_.parts(node);
    if (parts.size() > kMaxRank)
      return malformed("rank-too-large", 0,
                       what + " are more than " + std::to_string(kMaxRank));
    Dims sizes;
    for (const Node part : parts) {
      BTF_ASSIGN(const std::uint64_t size, size_of(part, "one of " + what));
      sizes.push_back(size);
    }
    return sizes;
  }

  bool is_text(Node node) const { return pickle_.kind(node) == PickleKind::text; }
  bool has_items(Node node) const {
    return pickle_.kind(node) == PickleKind::dict && !pickle_.parts(node).empty();
  }

  static TorchTensor foreign(std::string name, std::string why) {
    TorchTensor tensor;
    tensor.foreign = std::move(name);
    tensor.why = std::move(why);
    return tensor;
  }

  const Pickle& pickle_;
};

}  // namespace

Result<std::vector<NamedNode>> find_torch_tensors(const Pickle& pickle) {
  return Finder(pickle).run();
}

Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node) {
  return TensorOfCall(pickle).read(node);
}

}  // namespace btf

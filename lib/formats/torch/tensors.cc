#include "formats/torch/tensors.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/pickle/makers.h"
#include "formats/torch/numpy_arrays.h"

namespace btf {
namespace {

using Node = Pickle::Node;

constexpr std::string_view kRebuildOldest = "torch._utils _rebuild_tensor";
constexpr std::string_view kBytes = "torch uint8";
constexpr std::string_view kOrderedDict = "collections OrderedDict";

class TensorOfCall {
 public:
  explicit TensorOfCall(const Pickle& pickle) : pickle_(pickle) {}

  Result<TorchTensor> read(Node node) const {
    if (pickle_.kind(node) == PickleKind::persistent) return read_storage(node);
    std::string_view called = pickle_.called(node);
    const std::vector<Node>* arguments = &pickle_.arguments(node);
    for (int depth = 0; depth < 8; ++depth) {
      const auto maker = find_torch_maker(called);
      if (!maker) return unknown_maker(called);
      if (maker->how == TorchMaking::of_type) {
        // (function, class, arguments, state)
        if (arguments->size() < 4 || pickle_.kind((*arguments)[0]) != PickleKind::global ||
            pickle_.kind((*arguments)[2]) != PickleKind::tuple)
          return wrong_pickle("a tensor of a class of its own has too few arguments");
        called = pickle_.text((*arguments)[0]);
        if (called.starts_with("numpy")) return unknown_maker(called);
        arguments = &pickle_.parts((*arguments)[2]);
      } else if (maker->how == TorchMaking::wrapped) {
        if (arguments->empty() || pickle_.kind((*arguments)[0]) != PickleKind::call)
          return wrong_pickle("a parameter has no tensor");
        node = (*arguments)[0];
        called = pickle_.called(node);
        arguments = &pickle_.arguments(node);
      } else if (maker->how == TorchMaking::array) {
        return read_numpy_array(pickle_, node);
      } else {
        return read_made(*maker, *arguments);
      }
    }
    return wrong_pickle("a parameter of a parameter of a parameter");
  }

 private:
  static TorchTensor unknown_maker(std::string_view called) {
    std::string what(called);
    std::ranges::replace(what, ' ', '.');
    return foreign("tensor", "it is made by " + (what.empty() ? "a function" : what) +
                                 ", and is not a dense tensor");
  }

  Result<TorchTensor> read_made(const TorchMaker& maker, const std::vector<Node>& arguments) const {
    if (maker.how == TorchMaking::foreign) return read_foreign(maker, arguments);
    return read_tensor(maker, arguments);
  }

  Result<TorchTensor> read_foreign(const TorchMaker& maker,
                                   const std::vector<Node>& arguments) const {
    const std::string by(maker.global.substr(maker.global.rfind(' ') + 1));
    TorchTensor tensor =
        foreign(std::string(maker.foreign),
                maker.why.empty() ? "it is made by torch's " + by + ", and is not a dense tensor"
                                  : std::string(maker.why));
    if (!maker.sizes) return tensor;
    if (arguments.size() <= *maker.sizes) return wrong_pickle("a tensor has too few arguments");
    BTF_ASSIGN(tensor.dims, sizes_of(arguments[*maker.sizes], "the sizes"));
    return tensor;
  }

  Result<TorchTensor> read_tensor(const TorchMaker& maker,
                                  const std::vector<Node>& arguments) const {
    const bool typed = maker.how == TorchMaking::typed;
    // Storage, offset, sizes and strides; the first version has no more.
    const std::size_t needed = typed ? 7 : maker.global == kRebuildOldest ? 4 : 6;
    if (arguments.size() < needed) return wrong_pickle("a tensor has too few arguments");
    TorchTensor tensor;
    BTF_TRY(take_storage(arguments[0], tensor));
    if (typed) BTF_TRY(take_type(arguments[6], tensor));
    BTF_ASSIGN(tensor.offset, size_of(arguments[1], "the offset"));
    BTF_ASSIGN(tensor.dims, sizes_of(arguments[2], "the sizes"));
    BTF_ASSIGN(tensor.strides, sizes_of(arguments[3], "the strides"));
    if (tensor.dims.size() != tensor.strides.size())
      return wrong_pickle("a tensor has " + std::to_string(tensor.dims.size()) + " sizes and " +
                   std::to_string(tensor.strides.size()) + " strides");
    if (needed == 4) return tensor;
    BTF_TRY(check_gradient(arguments[4], arguments[5]));
    const std::size_t metadata = typed ? 7 : 6;
    if (arguments.size() > metadata + 1)
      tensor.why = "it has arguments that this library does not know";
    else if (arguments.size() > metadata && !is_empty(arguments[metadata]))
      tensor.why = "it is a conjugate or negative view, which holds other numbers than its storage";
    return tensor;
  }

  // Hooks are not saved, so there are none.
  Status check_gradient(Node required, Node hooks) const {
    if (pickle_.kind(required) != PickleKind::boolean)
      return wrong_pickle("requires_grad of a tensor is neither True nor False");
    const PickleKind kind = pickle_.kind(hooks);
    if (kind == PickleKind::none || kind == PickleKind::dict ||
        pickle_.called(hooks) == kOrderedDict)
      return {};
    return wrong_pickle("the hooks of a tensor are not a dict");
  }

  // One that was saved by itself: its elements in a row, or its bytes.
  Result<TorchTensor> read_storage(Node node) const {
    TorchTensor tensor;
    BTF_TRY(take_storage(node, tensor));
    if (tensor.type == nullptr && tensor.foreign.empty()) tensor.type = find_torch_type(kBytes);
    const std::uint64_t width = tensor.type != nullptr ? tensor.type->bytes : 1;
    tensor.dims.push_back(tensor.storage_bytes / width);
    tensor.strides.push_back(1);
    return tensor;
  }

  // ("storage", type, key, location, elements)
  Status take_storage(Node node, TorchTensor& tensor) const {
    if (pickle_.kind(node) != PickleKind::persistent) return wrong_pickle("a tensor has no storage");
    const std::vector<Node>& parts = pickle_.parts(node);
    const bool named = parts.size() == 5 && is_text(parts[0]) &&
                       pickle_.text(parts[0]) == "storage" &&
                       pickle_.kind(parts[1]) == PickleKind::global && is_text(parts[2]) &&
                       is_text(parts[3]);
    if (!named) return wrong_pickle("a storage is not named as torch names them");
    tensor.key = pickle_.text(parts[2]);
    BTF_ASSIGN(const std::uint64_t elements, size_of(parts[4], "the size of a storage"));
    const std::string_view type = pickle_.text(parts[1]);
    std::uint64_t width = 1;
    if (type != kUntypedStorage) {
      BTF_TRY(take_type(parts[1], tensor));
      width = tensor.type != nullptr ? tensor.type->bytes : 1;
    }
    const Checked bytes = checked_mul(elements, width);
    if (!bytes) return wrong_pickle("the size of a storage does not fit 64 bits");
    tensor.storage_bytes = *bytes;
    return {};
  }

  Status take_type(Node node, TorchTensor& tensor) const {
    if (pickle_.kind(node) != PickleKind::global) return wrong_pickle("a type is not a name");
    const std::string_view name = pickle_.text(node);
    tensor.type = find_torch_type(name);
    if (tensor.type != nullptr && tensor.type->dtype) return {};
    tensor.foreign =
        tensor.type != nullptr ? tensor.type->foreign : name.substr(name.rfind(' ') + 1);
    return {};
  }

  Result<std::uint64_t> size_of(Node node, const std::string& what) const {
    if (pickle_.kind(node) != PickleKind::integer || pickle_.integer(node) < 0)
      return wrong_pickle(what + " is not an integer of at least 0");
    return static_cast<std::uint64_t>(pickle_.integer(node));
  }

  // A tuple, or torch.Size of one.
  Result<Dims> sizes_of(Node node, const std::string& what) const {
    if (pickle_.called(node) == "torch Size" && !pickle_.arguments(node).empty())
      node = pickle_.arguments(node)[0];
    const PickleKind kind = pickle_.kind(node);
    if (kind != PickleKind::tuple && kind != PickleKind::list)
      return wrong_pickle(what + " are not a tuple");
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
  bool is_empty(Node node) const {
    const PickleKind kind = pickle_.kind(node);
    if (kind == PickleKind::dict) return pickle_.parts(node).empty();
    if (pickle_.called(node) == kOrderedDict)
      return pickle_.arguments(node).empty() && pickle_.call(node).items == Pickle::kNoNode;
    return kind == PickleKind::none;
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

Result<TorchTensor> read_torch_tensor(const Pickle& pickle, Pickle::Node node) {
  return TensorOfCall(pickle).read(node);
}

}  // namespace btf

#include "formats/torch/numpy_arrays.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/pickle/latin_1.h"

namespace btf {
namespace {

using Node = Pickle::Node;

TorchTensor foreign_tensor(std::string name, std::string why) {
  TorchTensor tensor;
  tensor.foreign = std::move(name);
  tensor.why = "it is an array of NumPy " + std::move(why);
  return tensor;
}

class ArrayOfCall {
 public:
  explicit ArrayOfCall(const Pickle& pickle) : pickle_(pickle) {}

  Result<TorchTensor> read(Node node) const {
    const std::vector<Node>& arguments = pickle_.arguments(node);
    const Node state = pickle_.call(node).state;
    if (pickle_.called(node).ends_with("_frombuffer")) {
      // (bytes, type, shape, order)
      if (arguments.size() < 4 || !is(arguments[3], PickleKind::text))
        return wrong_pickle("an array has too few arguments");
      return read_parts({arguments[0], arguments[1], arguments[2]},
                        pickle_.text(arguments[3]) == "F");
    }
    if (state == Pickle::kNoNode || !is(state, PickleKind::tuple))
      return wrong_pickle("an array has no state");
    // (version, shape, type, in Fortran's order, bytes)
    const std::vector<Node>& parts = pickle_.parts(state);
    if (parts.size() != 5) return wrong_pickle("an array has too few arguments");
    return read_parts({parts[4], parts[2], parts[1]}, is_true(parts[3]));
  }

 private:
  struct Parts {
    Node bytes;
    Node type;
    Node shape;
  };

  bool is(Node node, PickleKind kind) const { return pickle_.kind(node) == kind; }
  bool is_true(Node node) const {
    return (is(node, PickleKind::boolean) || is(node, PickleKind::integer)) &&
           pickle_.integer(node) != 0;
  }

  Result<TorchTensor> read_parts(const Parts& parts, bool fortran) const {
    const std::string_view type = type_of(parts.type);
    if (type.empty()) return foreign_tensor("ndarray", "of a custom type");
    TorchTensor tensor;
    tensor.type = find_torch_type("numpy " + std::string(type));
    if (tensor.type == nullptr)
      return foreign_tensor(std::string(type), "whose type is not supported");
    BTF_ASSIGN(tensor.dims, dims_of(parts.shape));
    std::optional<std::string> bytes = bytes_of(parts.bytes);
    if (!bytes)
      return foreign_tensor("ndarray",
                            "that is too long to be read in the pickle; torch.from_numpy(...) "
                            "makes a tensor of it");
    const Checked wanted = checked_mul(count_of(tensor.dims), tensor.type->bytes);
    if (wanted != bytes->size())
      return wrong_pickle("an array of " + dims_text(tensor.dims) + " " + std::string(type) +
                          " has " + std::to_string(bytes->size()) + " bytes");
    // Where there are elements, their count fits.
    std::uint64_t stride = 1;
    tensor.strides.assign(tensor.dims.size(), 1);
    for (std::size_t i = 0; i < tensor.dims.size() && *wanted > 0; ++i) {
      const std::size_t d = fortran ? i : tensor.dims.size() - 1 - i;
      tensor.strides[d] = stride;
      stride *= tensor.dims[d];
    }
    if (is_big_endian(parts.type)) swap(*bytes, tensor.type->bytes);
    tensor.storage_bytes = bytes->size();
    tensor.held = std::move(bytes);
    return tensor;
  }

  // "f8", of numpy.dtype("f8", ...).
  std::string_view type_of(Node node) const {
    if (pickle_.called(node) != "numpy dtype" || pickle_.arguments(node).empty() ||
        !is(pickle_.arguments(node)[0], PickleKind::text))
      return {};
    return pickle_.text(pickle_.arguments(node)[0]);
  }

  // (version, "<", ...)
  bool is_big_endian(Node type) const {
    const Node state = pickle_.call(type).state;
    return state != Pickle::kNoNode && is(state, PickleKind::tuple) &&
           pickle_.parts(state).size() > 1 && is(pickle_.parts(state)[1], PickleKind::text) &&
           pickle_.text(pickle_.parts(state)[1]) == ">";
  }

  static void swap(std::string& bytes, std::uint64_t width) {
    for (std::size_t at = 0; at < bytes.size(); at += width)
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }

  static Checked count_of(const Dims& dims) {
    if (std::ranges::find(dims, 0) != dims.end()) return 0;
    Checked count = 1;
    for (const std::uint64_t dim : dims) count = checked_mul(count, dim);
    return count;
  }

  Result<Dims> dims_of(Node node) const {
    if (!is(node, PickleKind::tuple)) return wrong_pickle("the shape of an array is not a tuple");
    if (pickle_.parts(node).size() > kMaxRank)
      return malformed("rank-too-large", 0,
                       "the dims of an array are more than " + std::to_string(kMaxRank));
    Dims dims;
    for (const Node part : pickle_.parts(node)) {
      if (!is(part, PickleKind::integer) || pickle_.integer(part) < 0)
        return wrong_pickle("a dim of an array is not an integer of at least 0");
      dims.push_back(static_cast<std::uint64_t>(pickle_.integer(part)));
    }
    return dims;
  }

  std::optional<std::string> bytes_of(Node node) const {
    const std::string_view called = pickle_.called(node);
    if (called.ends_with(" bytes") || called.ends_with(" bytearray")) {
      if (pickle_.arguments(node).empty()) return std::string();
      node = pickle_.arguments(node)[0];
    }
    if (is(node, PickleKind::bytes)) return std::string(pickle_.text(node));
    return latin_1_of(pickle_, node);
  }

  const Pickle& pickle_;
};

}  // namespace

Result<TorchTensor> read_numpy_array(const Pickle& pickle, Node node) {
  return ArrayOfCall(pickle).read(node);
}

}  // namespace btf

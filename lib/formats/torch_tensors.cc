// Tensors that calls in a pickle make: of torch, of NumPy, and names of dict keys.
#include "formats/torch_tensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/pickle.h"
#include "formats/pickle_values.h"

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
    // (version, shape, type, Fortran order, bytes)
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
      return wrong_pickle(concat("an array of ", dims_text(tensor.dims), " ", type, " has ",
                                 bytes->size(), " bytes"));
    // If there are elements, their number has been checked.
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

  // "f8" for numpy.dtype("f8", ...).
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
      return malformed("rank-too-large", 0, "the dims of an array are more than ", kMaxRank);
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

// Reads the array made by a call. Long arrays and types without a dtype become foreign.
Result<TorchTensor> read_numpy_array(const Pickle& pickle, Node node) {
  return ArrayOfCall(pickle).read(node);
}

// clang-format off
constexpr auto kTypes = std::to_array<TorchType>({
    {"torch DoubleStorage",        DType::float64, 8},
    {"torch FloatStorage",         DType::float32, 4},
    {"torch HalfStorage",          DType::float16, 2},
    {"torch BFloat16Storage",      DType::bfloat16, 2},
    {"torch LongStorage",          DType::int64, 8},
    {"torch IntStorage",           DType::int32, 4},
    {"torch ShortStorage",         DType::int16, 2},
    {"torch CharStorage",          DType::int8, 1},
    {"torch ByteStorage",          DType::uint8, 1},
    {"torch BoolStorage",          DType::boolean, 1},
    {"torch ComplexFloatStorage",  std::nullopt, 8, 1, "complex64"},
    {"torch ComplexDoubleStorage", std::nullopt, 16, 1, "complex128"},
    {"torch QInt8Storage",         std::nullopt, 1, 1, "qint8"},
    {"torch QUInt8Storage",        std::nullopt, 1, 1, "quint8"},
    {"torch QInt32Storage",        std::nullopt, 4, 1, "qint32"},
    {"torch QUInt4x2Storage",      std::nullopt, 1, 1, "quint4x2"},
    {"torch QUInt2x4Storage",      std::nullopt, 1, 1, "quint2x4"},
    {"torch float64",              DType::float64, 8},
    {"torch float32",              DType::float32, 4},
    {"torch float16",              DType::float16, 2},
    {"torch bfloat16",             DType::bfloat16, 2},
    {"torch float8_e4m3fn",        DType::float8_e4m3fn, 1},
    {"torch float8_e5m2",          DType::float8_e5m2, 1},
    {"torch float8_e4m3fnuz",      DType::float8_e4m3fnuz, 1},
    {"torch float8_e5m2fnuz",      DType::float8_e5m2fnuz, 1},
    {"torch float8_e8m0fnu",       DType::float8_e8m0fnu, 1},
    {"torch float4_e2m1fn_x2",     DType::float4_e2m1fn, 1, 2},
    {"torch int64",                DType::int64, 8},
    {"torch int32",                DType::int32, 4},
    {"torch int16",                DType::int16, 2},
    {"torch int8",                 DType::int8, 1},
    {"torch uint64",               DType::uint64, 8},
    {"torch uint32",               DType::uint32, 4},
    {"torch uint16",               DType::uint16, 2},
    {"torch uint8",                DType::uint8, 1},
    {"torch bool",                 DType::boolean, 1},
    {"numpy f8",                   DType::float64, 8},
    {"numpy f4",                   DType::float32, 4},
    {"numpy f2",                   DType::float16, 2},
    {"numpy i8",                   DType::int64, 8},
    {"numpy i4",                   DType::int32, 4},
    {"numpy i2",                   DType::int16, 2},
    {"numpy i1",                   DType::int8, 1},
    {"numpy u8",                   DType::uint64, 8},
    {"numpy u4",                   DType::uint32, 4},
    {"numpy u2",                   DType::uint16, 2},
    {"numpy u1",                   DType::uint8, 1},
    {"numpy b1",                   DType::boolean, 1},
    {"torch complex32",            std::nullopt, 4, 1, "complex32"},
    {"torch complex64",            std::nullopt, 8, 1, "complex64"},
    {"torch complex128",           std::nullopt, 16, 1, "complex128"},
});

// clang-format on

}  // namespace

const TorchType* find_torch_type(std::string_view name) {
  const auto* row = std::ranges::find(kTypes, name, &TorchType::name);
  return row == kTypes.end() ? nullptr : row;
}

namespace {

using Node = Pickle::Node;

// Limits the text, since a tuple may contain another one many times, and so on.
constexpr std::size_t kLongest = 256;

class Printer {
 public:
  explicit Printer(const Pickle& pickle) : pickle_(pickle) {}

  std::string take() { return std::move(text_); }

  void print(Node node) {
    if (text_.size() >= kLongest) return cut();
    switch (pickle_.kind(node)) {
      case PickleKind::none:
        return add("None");
      case PickleKind::boolean:
        return add(pickle_.integer(node) != 0 ? "True" : "False");
      case PickleKind::integer:
        return add(std::to_string(pickle_.integer(node)));
      case PickleKind::number:
        return number(pickle_.number(node));
      case PickleKind::long_integer:
        return add(pickle_.text(node));
      case PickleKind::text:
        return add("'" + std::string(pickle_.text(node)) + "'");
      case PickleKind::bytes:
        return bytes(pickle_.text(node));
      case PickleKind::long_text:
        return add(concat(pickle_.integer(node), " bytes"));
      case PickleKind::global:
        return global(pickle_.text(node));
      case PickleKind::tuple:
        return parts(node, '(', pickle_.parts(node).size() == 1 ? ",)" : ")");
      case PickleKind::list:
        return parts(node, '[', "]");
      case PickleKind::set:
      case PickleKind::dict:
        return parts(node, '{', "}");
      case PickleKind::persistent:
        return add("storage");
      case PickleKind::call:
        return call(node);
    }
  }

 private:
  void add(std::string_view more) { text_ += more; }

  void cut() {
    if (!text_.ends_with("...")) add("...");
  }

  void number(double value) {
    if (!std::isfinite(value)) return add(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    const double size = std::abs(value);
    const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value,
                      fixed ? std::chars_format::fixed : std::chars_format::scientific);
    const std::string_view text(digits.data(), end.ptr);
    add(text);
    if (fixed && !text.contains('.')) add(".0");
  }

  void bytes(std::string_view run) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    add("b'");
    for (const char c : run.substr(0, kLongest)) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte >= 0x20 && byte < 0x7f)
        text_ += c;
      else
        text_.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 0xf]});
    }
    add(run.size() > kLongest ? "...'" : "'");
  }

  void global(std::string_view name) {
    std::string dotted(name);
    std::ranges::replace(dotted, ' ', '.');
    add(dotted);
  }

  void parts(Node node, char begin, std::string_view end) {
    if (!open()) return;
    const std::vector<Node>& all = pickle_.parts(node);
    text_ += begin;
    for (std::size_t i = 0; i < all.size() && text_.size() < kLongest; ++i) {
      if (i > 0) add(", ");
      print(all[i]);
    }
    if (text_.size() >= kLongest) cut();
    text_ += end;
    --depth_;
  }

  void call(Node node) {
    const std::string_view called = pickle_.called(node);
    const std::vector<Node>& arguments = pickle_.arguments(node);
    if (const auto run = latin_1_of(pickle_, node)) return bytes(*run);
    // Python 3.11 and later write members of an enum like this.
    if ((called == "builtins getattr" || called == "__builtin__ getattr") &&
        arguments.size() == 2 && pickle_.kind(arguments[1]) == PickleKind::text) {
      print_deeper(arguments[0]);
      text_ += '.';
      return add(pickle_.text(arguments[1]));
    }
    print_deeper(pickle_.call(node).called);
    parts(pickle_.call(node).arguments, '(', ")");
  }

  void print_deeper(Node node) {
    if (!open()) return;
    print(node);
    --depth_;
  }

  bool open() {
    constexpr unsigned kMaxDepth = 16;
    if (depth_ == kMaxDepth) {
      cut();
      return false;
    }
    ++depth_;
    return true;
  }

  const Pickle& pickle_;
  std::string text_;
  unsigned depth_ = 0;
};

}  // namespace

std::string key_name(const Pickle& pickle, Node key) {
  if (pickle.kind(key) == PickleKind::text) return std::string(pickle.text(key));
  Printer printer(pickle);
  printer.print(key);
  return printer.take();
}

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
    // Storage, offset, sizes and strides; the first version has nothing else.
    const std::size_t needed = typed ? 7 : maker.global == kRebuildOldest ? 4 : 6;
    if (arguments.size() < needed) return wrong_pickle("a tensor has too few arguments");
    TorchTensor tensor;
    BTF_TRY(take_storage(arguments[0], tensor));
    if (typed) BTF_TRY(take_type(arguments[6], tensor));
    BTF_ASSIGN(tensor.offset, size_of(arguments[1], "the offset"));
    BTF_ASSIGN(tensor.dims, sizes_of(arguments[2], "the sizes"));
    BTF_ASSIGN(tensor.strides, sizes_of(arguments[3], "the strides"));
    if (tensor.dims.size() != tensor.strides.size())
      return wrong_pickle(concat("a tensor has ", tensor.dims.size(), " sizes and ",
                                 tensor.strides.size(), " strides"));
    if (needed == 4) return tensor;
    BTF_TRY(check_gradient(arguments[4], arguments[5]));
    const std::size_t metadata = typed ? 7 : 6;
    if (arguments.size() > metadata + 1)
      tensor.why = "it has arguments that this library does not know";
    else if (arguments.size() > metadata && !is_empty(arguments[metadata]))
      tensor.why = "it is a conjugate or negative view, which holds other numbers than its storage";
    return tensor;
  }

  // Hooks are not saved, so there must be none.
  Status check_gradient(Node required, Node hooks) const {
    if (pickle_.kind(required) != PickleKind::boolean)
      return wrong_pickle("requires_grad of a tensor is neither True nor False");
    const PickleKind kind = pickle_.kind(hooks);
    if (kind == PickleKind::none || kind == PickleKind::dict ||
        pickle_.called(hooks) == kOrderedDict)
      return {};
    return wrong_pickle("the hooks of a tensor are not a dict");
  }

  // A storage that was saved by itself: its elements, or its bytes, as one dim.
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
    if (pickle_.kind(node) != PickleKind::persistent)
      return wrong_pickle("a tensor has no storage");
    const std::vector<Node>& parts = pickle_.parts(node);
    const bool named =
        parts.size() == 5 && is_text(parts[0]) && pickle_.text(parts[0]) == "storage" &&
        pickle_.kind(parts[1]) == PickleKind::global && is_text(parts[2]) && is_text(parts[3]);
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
      return malformed("rank-too-large", 0, what, " are more than ", kMaxRank);
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

#include "formats/onnx/tensor_proto.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/onnx/messages.h"

namespace btf {
namespace {

using namespace onnx::tensor;

constexpr std::uint64_t kExternalLocation = 1;  // of data_location

bool holds_values(std::uint64_t field) {
  return (field >= kFloats && field <= kInt64s) || (field >= kRaw && field <= kUint64s);
}

bool holds_varints(std::uint64_t field) {
  return field == kInt32s || field == kInt64s || field == kUint64s;
}

std::unexpected<Error> wrong(const OnnxTensor& tensor, const std::string& what) {
  return malformed("onnx-tensor", tensor.place.begin, what);
}

Status take_dim(std::uint64_t dim, std::uint64_t at, Dims& dims) {
  if (dim > INT64_MAX)
    return malformed("onnx-tensor", at,
                     "dim " + std::to_string(dims.size()) + " is " +
                         std::to_string(static_cast<std::int64_t>(dim)));
  if (dims.size() == kMaxRank)
    return malformed("rank-too-large", at,
                     "it has more than " + std::to_string(kMaxRank) + " dims");
  dims.push_back(dim);
  return {};
}

class TensorParser {
 public:
  TensorParser(Window& window, const ProtoRange& place) : window_(window) { tensor_.place = place; }

  Result<OnnxTensor> run() {
    BTF_TRY(for_each_field(window_, tensor_.place, onnx::kTensor,
                           [&](const ProtoField& field) { return take(field); }));
    BTF_TRY(check_location());
    if (!typed_) return wrong(tensor_, "it has no data_type");
    if (tensor_.data_type == 0) return wrong(tensor_, "its data_type is 0 (UNDEFINED)");
    tensor_.type = find_onnx_type(tensor_.data_type);
    if (tensor_.type == nullptr) return std::move(tensor_);
    BTF_TRY(tensor_.type->dtype ? check_size() : check_field());
    return std::move(tensor_);
  }

 private:
  Status take(const ProtoField& field) {
    if (field.number == kDims) return take_onnx_dims(window_, field, tensor_.dims);
    if (field.number == kDataType) {
      tensor_.data_type = field.value;
      typed_ = true;
    }
    if (field.number == kSegment)
      return wrong(tensor_, "it is one segment of a tensor, whose others are elsewhere");
    if (field.number == kExternal) return take_external(field);
    if (field.number == kLocation) external_ = field.value == kExternalLocation;
    return holds_values(field.number) ? take_values(field) : Status{};
  }

  Status take_values(const ProtoField& field) {
    if (tensor_.field != 0 && tensor_.field != field.number)
      return wrong(tensor_, "its values are in " + std::string(onnx_field_name(tensor_.field)) +
                                " and in " + std::string(onnx_field_name(field.number)));
    tensor_.field = field.number;
    tensor_.varints = holds_varints(field.number);
    const bool number = field.type == ProtoType::varint;
    if (tensor_.values == 0) tensor_.first = field.content;
    tensor_.value_bytes += number ? 1 : field.content.size();
    ++tensor_.values;
    return {};
  }

  Status take_external(const ProtoField& field) {
    BTF_ASSIGN(OnnxProperty property, read_onnx_property(window_, field));
    auto& [key, value] = property;
    if (!tensor_.external) tensor_.external.emplace();
    OnnxExternal& external = *tensor_.external;
    if (key == "checksum" || key == "basepath") return {};
    if (key != "location" && key != "offset" && key != "length") {
      if (external.unknown_key.empty()) external.unknown_key = key.empty() ? "''" : key;
      return {};
    }
    if (std::ranges::find(keys_, key) != keys_.end())
      return wrong_external("has two values of '" + key + "'");
    keys_.push_back(key);
    if (key == "location") {
      external.location = std::move(value);
      return {};
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number > INT64_MAX)
      return wrong_external("has the " + key + " '" + value +
                            "', which is not a number of bytes below 2^63");
    if (key == "offset")
      external.offset = number;
    else
      external.length = number;
    return {};
  }

  std::unexpected<Error> wrong_external(const std::string& what) const {
    return malformed("onnx-external", tensor_.place.begin, "its external_data " + what);
  }

  Status check_location() {
    if (!external_) {
      tensor_.external.reset();
      return {};
    }
    if (!tensor_.external || std::ranges::find(keys_, "location") == keys_.end())
      return wrong_external("names no file (location), but it says that its values are in one");
    if (tensor_.field != 0)
      return wrong_external("says that the values are in another file, and they are in " +
                            std::string(onnx_field_name(tensor_.field)) + " too");
    return {};
  }

  Status check_field() const {
    if (tensor_.field == 0 || tensor_.field == kRaw || tensor_.field == tensor_.type->field)
      return {};
    return wrong(tensor_, "the values of " + std::string(tensor_.type->name) + " are in " +
                              std::string(onnx_field_name(tensor_.type->field)) +
                              " or raw_data, not in " +
                              std::string(onnx_field_name(tensor_.field)));
  }

  Status check_size() {
    const DTypeInfo& dtype = info(*tensor_.type->dtype);
    const Checked elements = element_count(tensor_.dims);
    if (!elements)
      return malformed("size-overflow", tensor_.place.begin,
                       "the product of the dims does not fit 64 bits");
    const Checked bytes = stream_bytes(elements, dtype.bits);
    if (!bytes || *bytes > INT64_MAX)
      return malformed("size-overflow", tensor_.place.begin,
                       "its size in bytes does not fit 63 bits");
    tensor_.elements = *elements;
    tensor_.bytes = *bytes;
    if (tensor_.external) return {};
    const std::string needs = std::string(dtype.name) + " " + dims_text(tensor_.dims) + " needs ";
    if (tensor_.field == 0)
      return *elements == 0
                 ? Status{}
                 : wrong(tensor_, needs + std::to_string(*bytes) + " bytes, and it has no values");
    BTF_TRY(check_field());
    const std::string found =
        std::string(onnx_field_name(tensor_.field)) + " has " + std::to_string(tensor_.value_bytes);
    if (!tensor_.varints) {
      if (tensor_.value_bytes == *bytes) return {};
      return wrong(tensor_, needs + std::to_string(*bytes) + " bytes, " + found);
    }
    // How many they are is known when they are read.
    const std::uint64_t numbers = dtype.bits < 8 ? *bytes : *elements;
    if (tensor_.value_bytes >= numbers && ceil_div(tensor_.value_bytes, kLongestVarint) <= numbers)
      return {};
    return wrong(tensor_, needs + std::to_string(numbers) + " numbers of 1 to 10 bytes, " + found +
                              " bytes");
  }

  Window& window_;
  OnnxTensor tensor_;
  bool typed_ = false;
  bool external_ = false;
  std::vector<std::string> keys_;
};

}  // namespace

bool OnnxTensor::in_place() const { return field == 0 || (!varints && values == 1); }

Result<OnnxTensor> read_onnx_tensor(Window& window, const ProtoRange& place) {
  return TensorParser(window, place).run();
}

Result<ProtoRange> find_onnx_name(Window& window, const ProtoRange& place) {
  ProtoRange name;
  BTF_TRY(for_each_field(window, place, onnx::kTensor, [&](const ProtoField& field) {
    if (field.number == kName) name = field.content;
    return Status{};
  }));
  if (name.size() <= onnx::kLongestName) return name;
  return malformed("onnx-names", name.begin,
                   "its name has " + std::to_string(name.size()) + " bytes, at most " +
                       std::to_string(onnx::kLongestName) + " are read");
}

Status take_onnx_dims(Window& window, const ProtoField& field, Dims& dims) {
  if (field.type == ProtoType::varint) return take_dim(field.value, field.at, dims);
  for (std::uint64_t at = field.content.begin; at < field.content.end;) {
    const std::uint64_t some = std::min<std::uint64_t>(kLongestVarint, field.content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    const auto dim = read_varint({bytes, some});
    if (!dim)
      return malformed(
          "protobuf", at,
          "the dim at byte " + std::to_string(at) + " is cut off, or has more than 64 bits");
    BTF_TRY(take_dim(dim->value, at, dims));
    at += dim->bytes;
  }
  return {};
}

std::string_view onnx_field_name(std::uint64_t field) {
  const auto found = std::ranges::find(onnx::kTensor.rules, field, &ProtoRule::number);
  return found == onnx::kTensor.rules.end() ? "" : found->name;
}

}  // namespace btf

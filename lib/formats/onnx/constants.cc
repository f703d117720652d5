#include "formats/onnx/constants.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/onnx/messages.h"

namespace btf {
namespace {

namespace attribute = onnx::attribute;

// An attribute of a Constant that is its value.
struct ConstantForm {
  std::string_view attribute;
  std::uint8_t field = 0;      // of the AttributeProto
  std::uint8_t data_type = 0;  // 0: it is a message of its own
  bool several = false;        // one dim of numbers, else none
};

constexpr std::uint8_t kFloatType = 1;
constexpr std::uint8_t kInt64Type = 7;
constexpr std::uint8_t kStringType = 8;

constexpr auto kForms = std::to_array<ConstantForm>({
    {"value", attribute::kTensor},
    {"sparse_value", attribute::kSparseTensor},
    {"value_float", attribute::kFloat, kFloatType},
    {"value_floats", attribute::kFloats, kFloatType, true},
    {"value_int", attribute::kInteger, kInt64Type},
    {"value_ints", attribute::kIntegers, kInt64Type, true},
    {"value_string", attribute::kString, kStringType},
    {"value_strings", attribute::kStrings, kStringType, true},
});

// The count of a field of numbers, packed or not. Varints are checked when they are read.
Result<std::uint64_t> count_of(Window& window, const ProtoField& field, const ConstantForm& form) {
  if (field.type != ProtoType::bytes || form.data_type == kStringType) return 1;
  if (form.data_type == kFloatType) return field.content.size() / sizeof(float);
  std::uint64_t count = 0;
  for (std::uint64_t at = field.content.begin; at < field.content.end;) {
    const std::uint64_t some = std::min(Window::kBytes, field.content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    // The last byte of each is below 0x80.
    count += static_cast<std::uint64_t>(
        std::count_if(bytes, bytes + some, [](std::byte byte) { return byte < std::byte{0x80}; }));
    at += some;
  }
  return count;
}

Result<OnnxTensor> read_value(Window& window, const ProtoRange& attribute,
                              const ConstantForm& form) {
  OnnxTensor tensor;
  tensor.place = attribute;
  tensor.message = &onnx::kAttribute;
  tensor.data_type = form.data_type;
  tensor.type = find_onnx_type(form.data_type);
  tensor.varints = form.data_type == kInt64Type;
  std::uint64_t count = 0;
  BTF_TRY(for_each_field(window, attribute, onnx::kAttribute,
                         [&](const ProtoField& field) -> Status {
                           if (field.number != form.field) return {};
                           BTF_ASSIGN(const std::uint64_t some,
                                      count_of(window, field, form));
                           tensor.field = form.field;
                           if (tensor.values++ == 0) tensor.first = field.content;
                           tensor.value_bytes += field.content.size();
                           count += some;
                           return {};
                         }));
  if (!form.several && count != 1)
    return malformed("onnx-tensor", attribute.begin,
                     "the Constant's " + std::string(form.attribute) + " has no value");
  if (form.several) tensor.dims = {count};
  tensor.elements = count;
  if (tensor.type->dtype) tensor.bytes = count * (info(*tensor.type->dtype).bits / 8);
  return tensor;
}

}  // namespace

Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node) {
  OnnxEntry entry;
  bool constant = false;
  bool own_domain = true;
  BTF_TRY(for_each_field(window, node, onnx::kNode, [&](const ProtoField& field) -> Status {
    if (field.number == onnx::node::kOutput && entry.name.size() == 0) entry.name = field.content;
    if (field.number != onnx::node::kOpType && field.number != onnx::node::kDomain) return {};
    BTF_ASSIGN(const std::string text, onnx_name(window, field));
    if (field.number == onnx::node::kOpType) constant = text == "Constant";
    if (field.number == onnx::node::kDomain) own_domain = text.empty() || text == "ai.onnx";
    return {};
  }));
  if (!constant || !own_domain || entry.name.size() == 0) return std::nullopt;
  bool found = false;
  BTF_TRY(for_each_field(window, node, onnx::kNode, [&](const ProtoField& part) -> Status {
    if (part.number != onnx::node::kAttribute || found) return {};
    std::string name;
    ProtoRange tensor, sparse;
    bool refers = false;
    BTF_TRY(for_each_field(window, part.content, onnx::kAttribute,
                           [&](const ProtoField& field) -> Status {
                             refers = refers || field.number == attribute::kReference;
                             if (field.number == attribute::kTensor) tensor = field.content;
                             if (field.number == attribute::kSparseTensor) sparse = field.content;
                             if (field.number != attribute::kName) return {};
                             BTF_ASSIGN(name, onnx_name(window, field));
                             return {};
                           }));
    const auto form = std::ranges::find(kForms, name, &ConstantForm::attribute);
    if (form == kForms.end() || refers) return {};
    entry.sparse = form->field == attribute::kSparseTensor;
    entry.place = form->data_type != 0 ? part.content : entry.sparse ? sparse : tensor;
    found = entry.place.size() > 0;
    if (form->data_type != 0) entry.form = static_cast<std::uint8_t>(form - kForms.begin());
    return {};
  }));
  return found ? std::optional(entry) : std::nullopt;
}

Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry) {
  if (entry.form == 0) return read_onnx_tensor(window, entry.place);
  return read_value(window, entry.place, kForms[entry.form]);
}

}  // namespace btf

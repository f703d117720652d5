#include "network/node/attributes.h"

#include <algorithm>
#include <bit>

#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/onnx/messages.h"

namespace btf::network {
namespace {

constexpr std::size_t kMostNumbers = 1U << 16;
constexpr std::uint64_t kLongestText = 1U << 16;

Status check_count(const ProtoField& field, std::uint64_t count) {
  if (count <= kMostNumbers) return {};
  return malformed("onnx-graph", field.at,
                   "an attribute has more than " + std::to_string(kMostNumbers) + " numbers");
}

Result<double> read_real(Window& window, std::uint64_t at) {
  BTF_ASSIGN(const std::byte* const bytes, window.at(at, sizeof(float)));
  return std::bit_cast<float>(load_little<std::uint32_t>(bytes));
}

// One by one, or packed.
Status take_reals(Window& window, const ProtoField& field, std::vector<double>& reals) {
  BTF_TRY(check_count(field, reals.size() + field.content.size() / sizeof(float)));
  for (std::uint64_t at = field.content.begin; at + sizeof(float) <= field.content.end;
       at += sizeof(float)) {
    BTF_ASSIGN(const double value, read_real(window, at));
    reals.push_back(value);
  }
  return {};
}

Status take_integers(Window& window, const ProtoField& field, std::vector<std::int64_t>& integers) {
  if (field.type == ProtoType::varint) {
    integers.push_back(static_cast<std::int64_t>(field.value));
    return check_count(field, integers.size());
  }
  for (std::uint64_t at = field.content.begin; at < field.content.end;) {
    const std::uint64_t some = std::min<std::uint64_t>(kLongestVarint, field.content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    const auto number = read_varint({bytes, some});
    if (!number)
      return malformed(
          "protobuf", at,
          "the integer at byte " + std::to_string(at) + " is cut off, or has more than 64 bits");
    integers.push_back(static_cast<std::int64_t>(number->value));
    BTF_TRY(check_count(field, integers.size()));
    at += number->bytes;
  }
  return {};
}

}  // namespace

Result<Attributes> read_attributes(Window& window, const ProtoRange& node) {
  namespace field_of = onnx::attribute;
  Attributes all;
  BTF_TRY(for_each_field(window, node, onnx::kNode, [&](const ProtoField& part) -> Status {
    if (part.number != onnx::node::kAttribute) return {};
    std::string name;
    Attribute attribute;
    BTF_TRY(for_each_field(
        window, part.content, onnx::kAttribute, [&](const ProtoField& field) -> Status {
          switch (field.number) {
            case field_of::kName: {
              BTF_ASSIGN(name, onnx_name(window, field));
              break;
            }
            case field_of::kFloat: {
              BTF_ASSIGN(attribute.real, read_real(window, field.content.begin));
              break;
            }
            case field_of::kInteger:
              attribute.integer = static_cast<std::int64_t>(field.value);
              break;
            case field_of::kString: {
              BTF_ASSIGN(attribute.text,
                         proto_text(window, field.content, kLongestText, "an attribute"));
              break;
            }
            case field_of::kTensor:
              attribute.tensor = field.content;
              break;
            case field_of::kFloats:
              return take_reals(window, field, attribute.reals);
            case field_of::kIntegers:
              return take_integers(window, field, attribute.integers);
            default:
              break;
          }
          return {};
        }));
    all.emplace(std::move(name), std::move(attribute));
    return {};
  }));
  return all;
}

}  // namespace btf::network

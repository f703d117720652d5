#include "network/node.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "btf/try.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/onnx_model.h"

namespace btf::network {

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

void index_into(std::uint64_t number, const Dims& dims, std::span<std::uint64_t> index) {
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = number % dims[d];
    number /= dims[d];
  }
}

Dims index_of(std::uint64_t number, const Dims& dims) {
  Dims index(dims.size());
  index_into(number, dims, index);
  return index;
}

std::uint64_t number_of(std::span<const std::uint64_t> index, const Dims& dims) {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d];
  return number;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::uint64_t own = back <= a.size() ? a[a.size() - back] : 1;
    const std::uint64_t other = back <= b.size() ? b[b.size() - back] : 1;
    if (own != other && own != 1 && other != 1)
      return not_computed("its inputs " + dims_text(a) + " and " + dims_text(b) +
                          " do not broadcast");
    result[result.size() - back] = own == 1 ? other : own;
  }
  return result;
}

Broadcast::Broadcast(const Dims& from, const Dims& to) : same_(from == to) {
  if (same_) return;
  to_ = to;
  steps_.assign(to.size(), 0);
  const Dims strides = row_major_strides(from);
  for (std::size_t back = 1; back <= from.size(); ++back)
    if (from[from.size() - back] != 1) steps_[to.size() - back] = strides[from.size() - back];
}

std::uint64_t Broadcast::number(std::uint64_t result) const {
  if (same_) return result;
  std::uint64_t number = 0;
  for (std::size_t d = to_.size(); d-- > 0;) {
    number += result % to_[d] * steps_[d];
    result /= to_[d];
  }
  return number;
}

namespace {

constexpr std::size_t kMaxNumbers = 1U << 16;
constexpr std::uint64_t kLongestText = 1U << 16;

Status check_count(const ProtoField& field, std::uint64_t count) {
  if (count <= kMaxNumbers) return {};
  return malformed("onnx-graph", field.at,
                   "an attribute has more than " + std::to_string(kMaxNumbers) + " numbers");
}

Result<double> read_real(Window& window, std::uint64_t at) {
  BTF_ASSIGN(const std::byte* const bytes, window.at(at, sizeof(float)));
  return std::bit_cast<float>(load_little<std::uint32_t>(bytes));
}

// Single values, or packed ones.
Status add_reals(Window& window, const ProtoField& field, std::vector<double>& reals) {
  BTF_TRY(check_count(field, reals.size() + field.content.size() / sizeof(float)));
  for (std::uint64_t at = field.content.begin; at + sizeof(float) <= field.content.end;
       at += sizeof(float)) {
    BTF_ASSIGN(const double value, read_real(window, at));
    reals.push_back(value);
  }
  return {};
}

Status add_integers(Window& window, const ProtoField& field, std::vector<std::int64_t>& integers) {
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
              return add_reals(window, field, attribute.reals);
            case field_of::kIntegers:
              return add_integers(window, field, attribute.integers);
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

namespace {

// No shape or list of axes has more.
constexpr std::uint64_t kMaxWhole = 1U << 16;

}  // namespace

std::unexpected<Error> not_computed(std::string why) {
  return fail(ErrorCode::unsupported, std::move(why));
}

Status check_terms(std::uint64_t terms) {
  constexpr std::uint64_t kMax = 1ULL << 22;
  if (terms <= kMax) return {};
  return not_computed("each of its elements is made of " + std::to_string(terms) + " others");
}

Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto all = static_cast<std::int64_t>(rank);
  if (axis < -all || axis >= all)
    return not_computed("its axis " + std::to_string(axis) + " is outside of rank " +
                        std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + all : axis);
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const auto at = attributes.find(name);
  return at == attributes.end() ? otherwise : at->second.integer.value_or(otherwise);
}

double Call::real(std::string_view name, double otherwise) const {
  const auto at = attributes.find(name);
  if (at == attributes.end()) return otherwise;
  if (at->second.integer) return static_cast<double>(*at->second.integer);
  return at->second.real.value_or(otherwise);
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const auto at = attributes.find(name);
  return std::string(at == attributes.end() ? otherwise
                                            : std::string_view(at->second.text.value_or("")));
}

std::vector<std::int64_t> Call::integers(std::string_view name) const {
  const auto at = attributes.find(name);
  return at == attributes.end() ? std::vector<std::int64_t>() : at->second.integers;
}

Result<Tensor*> Call::input(std::size_t i) const {
  if (!has_input(i)) return not_computed("its input " + std::to_string(i) + " is missing");
  return inputs[i];
}

Result<std::vector<double>> Call::whole_reals(std::size_t i) const {
  BTF_ASSIGN(Tensor* const tensor, input(i));
  if (tensor->elements() > kMaxWhole)
    return not_computed("its input " + std::to_string(i) + " has " +
                        std::to_string(tensor->elements()) + " elements, too many for a shape");
  std::vector<double> numbers;
  for (std::uint64_t number = 0; number < tensor->elements(); ++number)
    numbers.push_back(tensor->value(number));
  return numbers;
}

Result<std::vector<std::int64_t>> Call::whole_integers(std::size_t i) const {
  constexpr double kMax = 0x1p62;
  BTF_ASSIGN(const std::vector<double> numbers, whole_reals(i));
  std::vector<std::int64_t> integers;
  for (const double number : numbers) {
    if (std::isnan(number)) return not_computed("its input " + std::to_string(i) + " is not known");
    integers.push_back(static_cast<std::int64_t>(std::clamp(number, -kMax, kMax)));
  }
  return integers;
}

Result<std::vector<std::int64_t>> Call::integers_of(std::size_t i, std::string_view name) const {
  if (has_input(i)) return whole_integers(i);
  return integers(name);
}

}  // namespace btf::network

#include "formats/protobuf/reader.h"

#include <algorithm>

#include "btf/try.h"
#include "core/finding_table.h"

namespace btf {
namespace {

std::string at_byte(std::uint64_t offset) { return " at byte " + std::to_string(offset); }

}  // namespace

const ProtoRule* ProtoReader::rule(std::uint64_t number) const {
  const auto found = std::ranges::find(kind_.rules, number, &ProtoRule::number);
  return found == kind_.rules.end() ? nullptr : &*found;
}

std::string ProtoReader::field_text(const ProtoField& field) const {
  const ProtoRule* const known = rule(field.number);
  const std::string name =
      known != nullptr ? std::string(known->name) : "field " + std::to_string(field.number);
  return name + " of the " + std::string(kind_.name) + at_byte(field.at);
}

std::unexpected<Error> ProtoReader::fault(ProtoFault fault) const {
  const std::string where = "the field" + at_byte(at_) + " of the " + std::string(kind_.name);
  const auto wrong = [&](const std::string& what) {
    return malformed("protobuf", at_, where + " " + what);
  };
  switch (fault) {
    case ProtoFault::cut_off:
      return wrong("is cut off: the message ends at byte " + std::to_string(message_.end));
    case ProtoFault::too_large:
      return wrong("has a number of more than 64 bits");
    case ProtoFault::number_zero:
      return wrong("has the number 0, which no field has");
    case ProtoFault::number_large:
      return wrong("has a number above 536870911, which no field has");
    case ProtoFault::group:
      return wrong("begins or ends a group (wire type 3 or 4), which ONNX does not use");
    case ProtoFault::unknown_type:
      break;
  }
  return wrong("has wire type 6 or 7, which do not exist");
}

Result<bool> ProtoReader::next(ProtoField& field) {
  if (at_ == message_.end) return false;
  const std::uint64_t some = std::min<std::uint64_t>(kLongestProtoHead, message_.end - at_);
  BTF_ASSIGN(const std::byte* const bytes, window_.at(at_, some));
  const auto head = read_proto_head({bytes, some});
  if (!head) return fault(head.error());
  const std::uint64_t begin = at_ + head->bytes;
  field = {head->number, head->type, at_, head->value, {begin, begin}};
  const std::uint64_t left = message_.end - begin;
  if (head->length > left)
    return malformed("protobuf", at_,
                     field_text(field) + " should have " + std::to_string(head->length) +
                         " bytes, the message has " + std::to_string(left) + " left");
  field.content.end = begin + head->length;
  BTF_TRY(check(field));
  at_ = field.content.end;
  return true;
}

Status ProtoReader::check(const ProtoField& field) {
  const ProtoRule* const known = rule(field.number);
  if (known == nullptr) return {};
  const bool packed =
      known->repeated && known->type != ProtoType::bytes && field.type == ProtoType::bytes;
  if (field.type != known->type && !packed)
    return malformed("protobuf", field.at,
                     field_text(field) + " is " + std::string(proto_type_name(field.type)) +
                         " and not " + std::string(proto_type_name(known->type)));
  const std::uint32_t bit = std::uint32_t{1} << known->number;
  if (!known->repeated && (seen_ & bit) != 0)
    return malformed("protobuf", field.at, field_text(field) + " occurs twice");
  seen_ |= bit;
  return {};
}

Result<std::string> proto_text(Window& window, const ProtoRange& content, std::uint64_t most,
                               const std::string& what) {
  if (content.size() > most)
    return malformed("protobuf", content.begin,
                     what + " has " + std::to_string(content.size()) + " bytes, at most " +
                         std::to_string(most) + " are read");
  std::string text;
  text.reserve(content.size());
  for (std::uint64_t at = content.begin; at < content.end;) {
    const std::uint64_t some = std::min(Window::kBytes, content.end - at);
    BTF_ASSIGN(const std::byte* const bytes, window.at(at, some));
    text.append(reinterpret_cast<const char*>(bytes), some);
    at += some;
  }
  return text;
}

}  // namespace btf

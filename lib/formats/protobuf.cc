#include "formats/protobuf.h"

#include <algorithm>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"

namespace btf {
namespace {

constexpr std::uint64_t kLargestNumber = (1U << 29) - 1;

}  // namespace

std::string_view proto_type_name(ProtoType type) {
  switch (type) {
    case ProtoType::varint:
      return "a varint";
    case ProtoType::fixed64:
      return "8 bytes";
    case ProtoType::bytes:
      return "a length with bytes";
    case ProtoType::fixed32:
      return "4 bytes";
  }
  std::unreachable();
}

std::expected<Varint, ProtoFault> read_varint(std::span<const std::byte> bytes) {
  Varint varint;
  const std::size_t most = std::min(bytes.size(), kLongestVarint);
  while (varint.bytes < most) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[varint.bytes]);
    // Only one bit of the tenth byte is used.
    if (varint.bytes + 1 == kLongestVarint && byte > 1)
      return std::unexpected(ProtoFault::too_large);
    varint.value |= (byte & 0x7f) << (7 * varint.bytes);
    ++varint.bytes;
    if (byte < 0x80) return varint;
  }
  return std::unexpected(ProtoFault::cut_off);
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

std::expected<ProtoHead, ProtoFault> read_proto_head(std::span<const std::byte> bytes) {
  const auto tag = read_varint(bytes);
  if (!tag) return std::unexpected(tag.error());
  ProtoHead head{.number = tag->value >> 3, .bytes = tag->bytes};
  if (head.number == 0) return std::unexpected(ProtoFault::number_zero);
  if (head.number > kLargestNumber) return std::unexpected(ProtoFault::number_large);
  const std::uint64_t type = tag->value & 7;
  if (type == 3 || type == 4) return std::unexpected(ProtoFault::group);
  if (type > 5) return std::unexpected(ProtoFault::unknown_type);
  head.type = static_cast<ProtoType>(type);
  if (head.type == ProtoType::fixed32 || head.type == ProtoType::fixed64) {
    head.length = head.type == ProtoType::fixed32 ? 4 : 8;
    return head;
  }
  const auto number = read_varint(bytes.subspan(tag->bytes));
  if (!number) return std::unexpected(number.error());
  (head.type == ProtoType::bytes ? head.length : head.value) = number->value;
  head.bytes += number->bytes;
  return head;
}

Status PackedVarints::fill() {
  constexpr std::size_t kBlock = 64U << 10;
  std::copy(block_.begin() + static_cast<std::ptrdiff_t>(at_),
            block_.begin() + static_cast<std::ptrdiff_t>(end_), block_.begin());
  end_ -= at_;
  at_ = 0;
  const std::uint64_t some = std::min<std::uint64_t>(kBlock - end_, range_.size());
  block_.resize(std::max<std::size_t>(block_.size(), end_ + some));
  BTF_TRY(source_.read_at(range_.begin, std::span(block_).subspan(end_, some)));
  range_.begin += some;
  end_ += some;
  return {};
}

namespace {

// The same limit as in Google's libraries.
constexpr unsigned kDeepest = 100;

std::uint64_t width_of(ProtoType type) { return type == ProtoType::fixed64 ? 8 : 4; }

class MessageCheck {
 public:
  explicit MessageCheck(Window& window) : window_(window) {}

  Status run(const ProtoRange& message, const ProtoMessage& kind, unsigned depth) {
    ProtoReader reader(window_, message, kind);
    ProtoField field;
    for (;;) {
      BTF_ASSIGN(const bool more, reader.next(field));
      if (!more) return {};
      const auto known = std::ranges::find(kind.rules, field.number, &ProtoRule::number);
      if (known == kind.rules.end() || field.type != ProtoType::bytes) continue;
      if (known->message != nullptr)
        BTF_TRY(nested(reader, field, *known->message, depth + 1));
      else if (known->type != ProtoType::bytes)
        BTF_TRY(packed(reader, field, known->type));
    }
  }

 private:
  Status nested(const ProtoReader& reader, const ProtoField& field, const ProtoMessage& kind,
                unsigned depth) {
    if (depth < kDeepest) return run(field.content, kind, depth);
    return malformed("protobuf", field.at, reader.field_text(field), " is nested in more than ",
                     kDeepest, " others");
  }

  // Numbers in packed form.
  Status packed(const ProtoReader& reader, const ProtoField& field, ProtoType type) {
    if (type != ProtoType::varint) {
      if (field.content.size() % width_of(type) == 0) return {};
      return malformed("protobuf", field.at, reader.field_text(field), " has ",
                       field.content.size(), " bytes, not a multiple of ", width_of(type));
    }
    for (std::uint64_t at = field.content.begin; at < field.content.end;) {
      const std::uint64_t some = std::min(Window::kBytes, field.content.end - at);
      BTF_ASSIGN(const std::byte* const bytes, window_.at(at, some));
      std::size_t done = 0;
      // A number at the end of the block is read with the next block.
      while (done < some && (some - done >= kLongestVarint || at + some == field.content.end)) {
        const auto number = read_varint({bytes + done, some - done});
        if (!number)
          return malformed(
              "protobuf", at + done, "the packed number at byte ", at + done, " of ",
              reader.field_text(field),
              number.error() == ProtoFault::cut_off ? " is cut off" : " has more than 64 bits");
        done += number->bytes;
      }
      at += done;
    }
    return {};
  }

  Window& window_;
};

}  // namespace

Status check_message(Window& window, const ProtoRange& message, const ProtoMessage& kind) {
  return MessageCheck(window).run(message, kind, 0);
}

namespace {

std::string at_byte(std::uint64_t offset) { return concat(" at byte ", offset); }

}  // namespace

const ProtoRule* ProtoReader::rule(std::uint64_t number) const {
  const auto found = std::ranges::find(kind_.rules, number, &ProtoRule::number);
  return found == kind_.rules.end() ? nullptr : &*found;
}

std::string ProtoReader::field_text(const ProtoField& field) const {
  const ProtoRule* const known = rule(field.number);
  const std::string name =
      known != nullptr ? std::string(known->name) : concat("field ", field.number);
  return name + " of the " + std::string(kind_.name) + at_byte(field.at);
}

std::unexpected<Error> ProtoReader::fault(ProtoFault fault) const {
  const std::string where = "the field" + at_byte(at_) + " of the " + std::string(kind_.name);
  const auto wrong = [&](const std::string& what) {
    return malformed("protobuf", at_, where + " " + what);
  };
  switch (fault) {
    case ProtoFault::cut_off:
      return wrong(concat("is cut off: the message ends at byte ", message_.end));
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
    return malformed("protobuf", at_, field_text(field), " should have ", head->length,
                     " bytes, the message has ", left, " left");
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
    return malformed("protobuf", content.begin, what, " has ", content.size(), " bytes, at most ",
                     most, " are read");
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

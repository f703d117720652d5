#include <algorithm>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/protobuf/reader.h"

namespace btf {
namespace {

// As in Google's libraries.
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
    return malformed("protobuf", field.at,
                     reader.field_text(field) + " is nested in more than " +
                         std::to_string(kDeepest) + " others");
  }

  // Numbers one behind the other.
  Status packed(const ProtoReader& reader, const ProtoField& field, ProtoType type) {
    if (type != ProtoType::varint) {
      if (field.content.size() % width_of(type) == 0) return {};
      return malformed("protobuf", field.at,
                       reader.field_text(field) + " has " + std::to_string(field.content.size()) +
                           " bytes, not a multiple of " + std::to_string(width_of(type)));
    }
    for (std::uint64_t at = field.content.begin; at < field.content.end;) {
      const std::uint64_t some = std::min(Window::kBytes, field.content.end - at);
      BTF_ASSIGN(const std::byte* const bytes, window_.at(at, some));
      std::size_t done = 0;
      // A number that the block cuts off is read with the next.
      while (done < some && (some - done >= kLongestVarint || at + some == field.content.end)) {
        const auto number = read_varint({bytes + done, some - done});
        if (!number)
          return malformed("protobuf", at + done,
                           "the packed number at byte " + std::to_string(at + done) + " of " +
                               reader.field_text(field) +
                               (number.error() == ProtoFault::cut_off
                                    ? " is cut off"
                                    : " has more than 64 bits"));
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

}  // namespace btf

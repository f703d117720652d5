// The wire format of protocol buffers: a message is a sequence of fields, each with a tag.
//
//   TAG = varint (number << 3 | type)
//   type 0: a varint; 1: 8 bytes; 2: a varint and that many bytes; 5: 4 bytes
//
// A varint has seven bits in each byte, the lowest first; the high bit of a byte means that another
// byte follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"

namespace btf {

enum class ProtoType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// "a varint"
std::string_view proto_type_name(ProtoType type);

// Errors in the first bytes of a field.
enum class ProtoFault : std::uint8_t {
  cut_off,      // the bytes end too early
  too_large,    // a varint of more than 64 bits
  number_zero,  // fields are numbered from 1
  number_large,
  group,  // types 3 and 4, which are obsolete
  unknown_type,
};

inline constexpr std::size_t kLongestVarint = 10;
inline constexpr std::size_t kLongestProtoHead = 2 * kLongestVarint;

struct Varint {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // its length
};

std::expected<Varint, ProtoFault> read_varint(std::span<const std::byte> bytes);
void append_varint(std::string& to, std::uint64_t value);

// A tag and what follows it before the content.
struct ProtoHead {
  std::uint64_t number = 0;
  ProtoType type{};
  std::uint64_t value = 0;   // for a varint
  std::uint64_t length = 0;  // of the content after the head; 0 for a varint
  std::size_t bytes = 0;     // length of the head
};

// Reads a head from the beginning of `bytes`; kLongestProtoHead bytes are always enough.
std::expected<ProtoHead, ProtoFault> read_proto_head(std::span<const std::byte> bytes);

// Iterates over the fields of a message without holding it: the content of a field is skipped, or
// read from its range.

// A range of bytes of the source.
struct ProtoRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

struct ProtoField {
  std::uint64_t number = 0;
  ProtoType type{};
  std::uint64_t at = 0;     // offset of its tag
  std::uint64_t value = 0;  // for a varint
  ProtoRange content{};     // for other types; within the message
};

struct ProtoMessage;

// A field that is known.
struct ProtoRule {
  std::uint8_t number = 0;
  std::string_view name;
  ProtoType type{};
  bool repeated = false;                  // may occur several times; numbers may also be packed
  const ProtoMessage* message = nullptr;  // for a field that is a message
};

// Fields without a rule are skipped. Numbers of rules must be below 32.
struct ProtoMessage {
  std::string_view name;
  std::span<const ProtoRule> rules;
};

class ProtoReader {
 public:
  // The window must outlive the reader; others may use it in between. The message must be within
  // its source.
  ProtoReader(Window& window, ProtoRange message, const ProtoMessage& kind)
      : window_(window), message_(message), kind_(kind), at_(message.begin) {}

  // Returns false at the end of the message. An error if it is not a message, or if a known field
  // has a wrong type or occurs twice without being repeated: some programs merge such fields and
  // some take the last one.
  Result<bool> next(ProtoField& field);

  // Describes a field for messages: "raw_data of the TensorProto at byte 12".
  std::string field_text(const ProtoField& field) const;

 private:
  Status check(const ProtoField& field);
  const ProtoRule* rule(std::uint64_t number) const;
  std::unexpected<Error> fault(ProtoFault fault) const;

  Window& window_;
  ProtoRange message_;
  const ProtoMessage& kind_;
  std::uint64_t at_;
  std::uint32_t seen_ = 0;  // bits of field numbers
};

// Calls `take` with every field of a message; stops at an error.
template <typename Take>
Status for_each_field(Window& window, const ProtoRange& message, const ProtoMessage& kind,
                      const Take& take) {
  ProtoReader reader(window, message, kind);
  ProtoField field;
  for (;;) {
    BTF_ASSIGN(const bool more, reader.next(field));
    if (!more) return {};
    BTF_TRY(take(field));
  }
}

// Checks that the range is a message, and all messages in it, including fields that are skipped
// otherwise. An error also if messages are nested too deep.
Status check_message(Window& window, const ProtoRange& message, const ProtoMessage& kind);

// The content of a field as text. An error if it has more than `most` bytes.
Result<std::string> proto_text(Window& window, const ProtoRange& content, std::uint64_t most,
                               const std::string& what);

// Reads any number of packed varints in blocks.

class PackedVarints {
 public:
  PackedVarints(const ByteSource& source, ProtoRange range) : source_(source), range_(range) {}

  // Unset at the end of the range.
  Result<std::optional<std::uint64_t>> next() {
    if (end_ - at_ < kLongestVarint && range_.size() > 0) {
      const Status filled = fill();
      if (!filled) return std::unexpected(filled.error());
    }
    if (at_ == end_) return std::nullopt;
    const auto varint = read_varint({block_.data() + at_, end_ - at_});
    if (!varint)
      return malformed(
          "protobuf", range_.begin - (end_ - at_), "the packed number at byte ",
          range_.begin - (end_ - at_),
          varint.error() == ProtoFault::cut_off ? " is cut off" : " has more than 64 bits");
    at_ += varint->bytes;
    return varint->value;
  }

 private:
  Status fill();

  const ByteSource& source_;
  ProtoRange range_;  // the rest, which is not in the block yet
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace btf

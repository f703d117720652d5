// The wire format of protocol buffers: a message is a sequence of fields, each after a tag.
//
//   TAG = varint (number << 3 | type)
//   type 0: a varint; 1: 8 bytes; 2: a varint, and as many bytes as it says; 5: 4 bytes
//
// A varint has seven bits in a byte, the lowest first; the highest bit of a byte says that another
// follows.
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
#include "core/finding_table.h"
#include "formats/io/byte_source.h"

namespace btf {

enum class ProtoType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// "a varint"
std::string_view proto_type_name(ProtoType type);

// Errors in the first bytes of a field.
enum class ProtoFault : std::uint8_t {
  cut_off,      // they end before they say all
  too_large,    // a varint of more than 64 bits
  number_zero,  // no field has this number
  number_large,
  group,  // types 3 and 4, which nothing has used for long
  unknown_type,
};

inline constexpr std::size_t kLongestVarint = 10;
inline constexpr std::size_t kLongestProtoHead = 2 * kLongestVarint;

struct Varint {
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // that it takes
};

std::expected<Varint, ProtoFault> read_varint(std::span<const std::byte> bytes);
void append_varint(std::string& to, std::uint64_t value);

// A tag and what follows up to the content.
struct ProtoHead {
  std::uint64_t number = 0;
  ProtoType type{};
  std::uint64_t value = 0;   // of a varint
  std::uint64_t length = 0;  // of the content behind the head; none of a varint
  std::size_t bytes = 0;     // of the head
};

// Reads the bytes there are; kLongestProtoHead are enough.
std::expected<ProtoHead, ProtoFault> read_proto_head(std::span<const std::byte> bytes);

// The fields of a message one by one. No message is held: the content of a field is skipped, or
// read from where it is said to be.

// Bytes of the source.
struct ProtoRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

struct ProtoField {
  std::uint64_t number = 0;
  ProtoType type{};
  std::uint64_t at = 0;     // where its tag is
  std::uint64_t value = 0;  // of a varint
  ProtoRange content{};     // of the others; lies inside the message
};

struct ProtoMessage;

// A field that is known.
struct ProtoRule {
  std::uint8_t number = 0;
  std::string_view name;
  ProtoType type{};
  bool repeated = false;                  // numbers then stand one by one, or packed as bytes
  const ProtoMessage* message = nullptr;  // of bytes that are one
};

// Fields that are not in `rules` are skipped. Numbers of rules are below 32.
struct ProtoMessage {
  std::string_view name;
  std::span<const ProtoRule> rules;
};

class ProtoReader {
 public:
  // The window outlives it, and others may use it in between. The message lies in its source.
  ProtoReader(Window& window, ProtoRange message, const ProtoMessage& kind)
      : window_(window), message_(message), kind_(kind), at_(message.begin) {}

  // False: the message has ended. An error: it is no message, a known field is of another type, or
  // one that is not repeated occurs twice. Programs that merge those, or take the last, would see
  // something else than others.
  Result<bool> next(ProtoField& field);

  // For messages: "raw_data of the TensorProto at byte 12".
  std::string field_text(const ProtoField& field) const;

 private:
  Status check(const ProtoField& field);
  const ProtoRule* rule(std::uint64_t number) const;
  std::unexpected<Error> fault(ProtoFault fault) const;

  Window& window_;
  ProtoRange message_;
  const ProtoMessage& kind_;
  std::uint64_t at_;
  std::uint32_t seen_ = 0;  // fields, by their numbers
};

// Calls `take` with every field of a message. An error of it ends that.
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

// Is it a message, and are those within it, whatever is passed over otherwise? An error says where
// not, also where they stand deeper in one another than programs follow.
Status check_message(Window& window, const ProtoRange& message, const ProtoMessage& kind);

// The content of a field as text; `most` bytes of it at most, more are an error.
Result<std::string> proto_text(Window& window, const ProtoRange& content, std::uint64_t most,
                               const std::string& what);

// Varints that stand one behind the other, of any number: read in blocks.

class PackedVarints {
 public:
  PackedVarints(const ByteSource& source, ProtoRange range) : source_(source), range_(range) {}

  // Nothing: the range has ended.
  Result<std::optional<std::uint64_t>> next() {
    if (end_ - at_ < kLongestVarint && range_.size() > 0) {
      const Status filled = fill();
      if (!filled) return std::unexpected(filled.error());
    }
    if (at_ == end_) return std::nullopt;
    const auto varint = read_varint({block_.data() + at_, end_ - at_});
    if (!varint)
      return malformed(
          "protobuf", range_.begin - (end_ - at_),
          "the packed number at byte " + std::to_string(range_.begin - (end_ - at_)) +
              (varint.error() == ProtoFault::cut_off ? " is cut off" : " has more than 64 bits"));
    at_ += varint->bytes;
    return varint->value;
  }

 private:
  Status fill();

  const ByteSource& source_;
  ProtoRange range_;  // what is not in the block yet
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace btf

// The fields of a message one by one. No message is held: the content of a field is skipped, or
// read from where it is said to be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "formats/io/window.h"
#include "formats/protobuf/wire.h"

namespace btf {

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
  bool repeated = false;  // numbers then stand one by one, or packed as bytes
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

}  // namespace btf

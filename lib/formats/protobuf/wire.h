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
#include <span>
#include <string>

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

}  // namespace btf

#include "formats/protobuf/wire.h"

#include <algorithm>
#include <utility>

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
    // The tenth byte has one bit left.
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

}  // namespace btf

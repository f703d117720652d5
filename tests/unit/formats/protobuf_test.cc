// Protocol buffers on the wire: numbers by hand, and fields of messages that lie.
#include "formats/protobuf.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/byte_source.h"
#include "support/btf_bytes.h"

using btf::ProtoFault;
using btf::ProtoField;
using btf::ProtoRule;
using btf::ProtoType;
using bytes::Bytes;

namespace {

// As they are written in the specification and by protoc 3.21.
const std::vector<std::pair<std::uint64_t, std::string>> kVarints{
    {0, "00"},
    {1, "01"},
    {127, "7f"},
    {128, "8001"},
    {150, "9601"},
    {16384, "808001"},
    {UINT32_MAX, "ffffffff0f"},
    {UINT64_MAX, "ffffffffffffffffff01"},
    {static_cast<std::uint64_t>(-2), "feffffffffffffffff01"},
    {std::uint64_t{1} << 63, "80808080808080808001"}};

constexpr auto kRules = std::to_array<ProtoRule>({
    {1, "numbers", ProtoType::varint, true},
    {2, "text", ProtoType::bytes},
    {3, "float", ProtoType::fixed32},
});
const btf::ProtoMessage kKind{"Message", kRules};

struct Read {
  std::vector<ProtoField> fields;
  std::string error;
};

Read read(const std::string& hex) {
  const Bytes content = bytes::hex(hex);
  const btf::MemorySource source(content);
  btf::Window window(source, source.size());
  Read found;
  const auto status = btf::for_each_field(window, {0, source.size()}, kKind,
                                          [&](const ProtoField& field) -> btf::Status {
                                            found.fields.push_back(field);
                                            return {};
                                          });
  if (!status) {
    CHECK(status.error().finding == "protobuf");
    found.error = status.error().message;
  }
  return found;
}

}  // namespace

TEST_CASE("protobuf: varints") {
  for (const auto& [value, hex] : kVarints) {
    CAPTURE(value);
    const Bytes content = bytes::hex(hex + "ff");
    const auto varint = btf::read_varint(content);
    REQUIRE(varint);
    CHECK(varint->value == value);
    CHECK(varint->bytes == hex.size() / 2);
    std::string written;
    btf::append_varint(written, value);
    CHECK(std::ranges::equal(std::as_bytes(std::span(written)),
                             std::span(content).first(hex.size() / 2)));
    for (std::size_t size = 0; size < hex.size() / 2; ++size)
      CHECK(btf::read_varint(std::span(content).first(size)).error() == ProtoFault::cut_off);
  }
  CHECK(btf::read_varint(bytes::hex("8000"))->value == 0);
  CHECK(btf::read_varint(bytes::hex("ffffffffffffffffff02")).error() == ProtoFault::too_large);
  CHECK(btf::read_varint(bytes::hex("8080808080808080808001")).error() == ProtoFault::too_large);
}

TEST_CASE("protobuf: fields of a message") {
  const Read found = read("0896010a03080807120361626325000000001d000080bfa20600");
  REQUIRE(found.error.empty());
  REQUIRE(found.fields.size() == 6);
  CHECK(found.fields[0].value == 150);
  CHECK(found.fields[1].content.begin == 5);
  CHECK(found.fields[1].content.end == 8);
  CHECK(found.fields[2].number == 2);
  CHECK(found.fields[2].at == 8);
  CHECK(found.fields[3].number == 4);  // unknown, of 4 bytes
  CHECK(found.fields[4].content.size() == 4);
  CHECK(found.fields[5].number == 100);
  CHECK(found.fields[5].content.size() == 0);
  CHECK(read("").fields.empty());
}

TEST_CASE("protobuf: what is no message") {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"08", "the field at byte 0 of the Message is cut off: the message ends at byte 1"},
      {"0801f8", "the field at byte 2 of the Message is cut off: the message ends at byte 3"},
      {"0000", "the field at byte 0 of the Message has the number 0, which no field has"},
      {"808080801000",
       "the field at byte 0 of the Message has a number above 536870911, which no field has"},
      {"0b0c",
       "the field at byte 0 of the Message begins or ends a group (wire type 3 or 4), which ONNX "
       "does not use"},
      {"0e", "the field at byte 0 of the Message has wire type 6 or 7, which do not exist"},
      {"08ffffffffffffffffff7f",
       "the field at byte 0 of the Message has a number of more than 64 bits"},
      {"12ffffffffffffffffff0100",
       "text of the Message at byte 0 should have 18446744073709551615 bytes, the message has 1 "
       "left"},
      {"220200", "field 4 of the Message at byte 0 should have 2 bytes, the message has 1 left"},
      {"1001", "text of the Message at byte 0 is a varint and not a length with bytes"},
      {"1a0400000000", "float of the Message at byte 0 is a length with bytes and not 4 bytes"},
      {"12001200", "text of the Message at byte 2 occurs twice"}};
  for (const auto& [hex, message] : faults) {
    CAPTURE(hex);
    CHECK(read(hex).error == message);
  }
}

TEST_CASE("protobuf: packed numbers, across blocks") {
  std::string text = "x";
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 30000; ++i) {
    numbers.push_back(kVarints[i % kVarints.size()].first + i / 7);
    btf::append_varint(text, numbers.back());
  }
  const auto all = std::as_bytes(std::span(text));
  const btf::MemorySource source(all);
  btf::PackedVarints packed(source, {1, all.size()});
  for (const std::uint64_t number : numbers)
    if (const auto next = packed.next(); !next || *next != number) FAIL(number);
  CHECK(packed.next().value() == std::nullopt);
  CHECK(packed.next().value() == std::nullopt);

  btf::PackedVarints cut(source, {1, 4});
  CHECK(cut.next().value() == 0U);
  CHECK(cut.next().value() == 1U);
  CHECK(cut.next().value() == 127U);
  CHECK(cut.next().value() == std::nullopt);
  const Bytes broken = bytes::hex("0180");
  const btf::MemorySource short_source(broken);
  btf::PackedVarints end(short_source, {0, 2});
  CHECK(end.next().value() == 1U);
  CHECK(end.next().error().message == "the packed number at byte 1 is cut off");
}

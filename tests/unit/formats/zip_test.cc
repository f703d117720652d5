// Zip archives below .npz: crcs out of order, numbers too large for the plain format, many members,
// what is kept of inflated ones.
#include "formats/zip.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/names.h"
#include "formats/decoded_cache.h"
#include "formats/io/byte_source.h"
#include "formats/zip_writer.h"
#include "support/btf_bytes.h"
#include "support/memory_sink.h"
#include "support/random_bytes.h"
#include "support/scratch_dir.h"

using bytes::Bytes;

namespace {

// Bit by bit, as the crc is defined.
std::uint32_t plain_crc(std::span<const std::byte> data) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : data) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// Keeps what is short and forgets content.
class HeaderSink final : public btf::ByteSink {
 public:
  explicit HeaderSink(bool seeks) : seeks_(seeks) {}
  bool random_access() const override { return seeks_; }
  btf::Status commit() override { return {}; }
  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    end_ = std::max(end_, offset + bytes.size());
    if (bytes.size() < 1000) kept_[offset] = Bytes(bytes.begin(), bytes.end());
    return {};
  }
  const Bytes& at(std::uint64_t offset) const { return kept_.at(offset); }
  std::uint64_t end() const { return end_; }

 private:
  bool seeks_;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, Bytes> kept_;
};

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("zip: the crc of what is written does not depend on the order of the parts") {
  const Bytes content = btf::test::random_bytes(5000);
  for (const std::size_t part : {1U, 7U, 64U, 999U, 5000U}) {
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < content.size(); at += part) begins.push_back(at);
    for (int turn = 0; turn < 3; ++turn) {
      if (turn == 1) std::ranges::reverse(begins);
      if (turn == 2)
        std::ranges::sort(begins, {}, [](std::size_t at) { return at * 2654435761U % 1009; });
      Bytes written(5100);
      MemorySink memory(written);
      btf::CrcSink sink(memory, 100, 5100);
      for (const std::size_t at : begins) {
        const std::size_t some = std::min(part, content.size() - at);
        CHECK(sink.write_at(100 + at, std::span(content).subspan(at, some)));
      }
      CHECK(sink.crc() == plain_crc(content));
      CHECK(std::ranges::equal(content, std::span(written).subspan(100)));
    }
  }
  Bytes written(10);
  MemorySink memory(written);
  btf::CrcSink sink(memory, 0, 10);
  CHECK(sink.write_at(0, std::span(content).first(9)));
  CHECK_FALSE(sink.crc());
}

TEST_CASE("zip: numbers that are too large for the plain format go to zip64 as CPython has them") {
  const Bytes zeros(16U << 20);
  for (const bool seeks : {true, false}) {
    HeaderSink sink(seeks);
    btf::ZipWriter writer;
    const std::uint64_t large = (std::uint64_t{1} << 31) + 5;
    CHECK(writer.announce("large", large));
    CHECK(writer.announce("small", 3));
    writer.begin(sink);
    const std::uint64_t data = writer.begin_member(sink).value();
    CHECK(data == 30 + 5 + 20);
    for (std::uint64_t at = 0; at < large; at += zeros.size())
      REQUIRE(writer.content().write_at(
          data + at, std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), large - at))));
    CHECK(writer.end_member(sink));
    const std::uint64_t second = data + large + (seeks ? 0 : 24);
    CHECK(writer.begin_member(sink) == second + 55);
    CHECK(writer.content().write_at(second + 55, std::span(zeros).first(3)));
    CHECK(writer.end_member(sink));
    CHECK(writer.end(sink));
    CHECK(writer.total_bytes() == sink.end());
    // As zipfile of CPython 3.11.7 wrote them, with force_zip64, dates of 1980 and mode 0600.
    const std::string crc = "b90f0cc7";
    const std::string flags = seeks ? "0000" : "0800";
    const std::string size = "0500008000000000";
    const std::uint64_t directory = second + 58 + (seeks ? 0 : 24);
    CHECK(hex(sink.at(directory)) == "504b01022d032d00" + flags + "000000002100" + crc +
                                         "ffffffffffffffff" + "0500140000000000000000008001" +
                                         "00000000" + "6c61726765" + "01001000" + size + size);
    const std::string offset = seeks ? "3c00008000000000" : "5400008000000000";
    CHECK(hex(sink.at(directory + 71)) == "504b01022d032d00" + flags + "00000000210012d941ff" +
                                              "0300000003000000" + "05000c0000000000000000008001" +
                                              "ffffffff" + "736d616c6c" + "01000800" + offset);
    const std::string begin = seeks ? "7600008000000000" : "a600008000000000";
    const std::string end = seeks ? "fc00008000000000" : "2c01008000000000";
    CHECK(hex(sink.at(directory + 134)) ==
          "504b06062c000000000000002d002d000000000000000000"
          "0200000000000000"
          "0200000000000000" +
              std::string("8600000000000000") + begin + "504b060700000000" + end + "01000000" +
              "504b0506000000000200020086000000" + begin.substr(0, 8) + "0000");
  }
}

TEST_CASE("zip: more members than the plain format counts") {
  constexpr std::uint64_t kMembers = 70'000;
  btf::ZipWriter writer;
  for (std::uint64_t i = 0; i < kMembers; ++i) REQUIRE(writer.announce(std::to_string(i), 0));
  Bytes image(writer.total_bytes().value());
  MemorySink sink(image);
  writer.begin(sink);
  for (std::uint64_t i = 0; i < kMembers; ++i) {
    REQUIRE(writer.begin_member(sink));
    REQUIRE(writer.end_member(sink));
  }
  CHECK(writer.end(sink));
  const btf::MemorySource source(image);
  const auto directory = btf::ZipDirectory::read(source);
  REQUIRE(directory);
  REQUIRE(directory->members().size() == kMembers);
  CHECK(directory->find("69999") == 69'999);
  CHECK_FALSE(directory->find("70000"));
  CHECK(btf::locate(source, *directory, directory->members()[12]));
}

TEST_CASE("zip: names of folders are none of members") {
  btf::ZipWriter writer;
  CHECK(writer.announce("a/", 0).error().message.find("folder") != std::string::npos);
}

TEST_CASE("zip: inflated contents are read anew when others were wanted meanwhile") {
  const Bytes image = read_file(std::string(BTF_TESTDATA_DIR) + "/npz/arrays.deflated.npz");
  const btf::MemorySource source(image);
  const auto directory = btf::ZipDirectory::read(source).value();
  btf::DecodedCache contents;
  std::vector<std::unique_ptr<btf::ByteSource>> sources;
  std::uint64_t made = 0;
  for (const btf::ZipMember& member : directory.members()) {
    const btf::ZipPlace place{source, directory, member,
                              btf::locate(source, directory, member).value()};
    sources.push_back(contents.source(sources.size(), member.size, source, [place, &made] {
      ++made;
      return btf::inflated(place);
    }));
  }
  REQUIRE(sources.size() > 6);
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const btf::ZipMember& member = directory.members()[i];
      Bytes all(member.size);
      CHECK(sources[i]->read_at(0, all));
      CHECK(plain_crc(all) == member.crc);
      Bytes part(5);
      CHECK(sources[i]->read_at(member.size - 5, part));
      CHECK(std::ranges::equal(part, std::span(all).last(5)));
      CHECK_FALSE(sources[i]->read_at(member.size - 4, part));
      CHECK(sources[i]->size() == member.size);
    }
  }
  CHECK(made == 2 * sources.size());
  // What was read last is still there.
  Bytes part(1);
  CHECK(sources.back()->read_at(0, part));
  CHECK(made == 2 * sources.size());
}

TEST_CASE("utf8: what is and what is not") {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "a"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv, "\xed\x9f\xbf"sv,
        "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv, "\xf4\x8f\xbf\xbf"sv, "a\0b"sv})
    CHECK(btf::is_utf8(text));
  for (const auto text :
       {"\x80"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2x"sv, "\xe0\x9f\xbf"sv, "\xe1\x80"sv,
        "\xed\xa0\x80"sv, "\xed\xbf\xbf"sv, "\xf0\x8f\xbf\xbf"sv, "\xf4\x90\x80\x80"sv,
        "\xf5\x80\x80\x80"sv, "\xff"sv, "\xf0\x90\x80"sv})
    CHECK_FALSE(btf::is_utf8(text));
}

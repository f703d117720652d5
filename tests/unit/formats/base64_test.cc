// base64: against the test vectors of RFC 4648, and a decoder that goes bit by bit.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/finding_table.h"
#include "formats/decoded_cache.h"
#include "formats/io/byte_source.h"

namespace {

constexpr btf::FindingCode kFinding("polygraphy-json");

// A sink that keeps what it gets, and wants it in order.
class KeepingSink final : public btf::ByteSink {
 public:
  bool random_access() const override { return false; }
  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    REQUIRE(offset == text.size());
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  btf::Status commit() override { return {}; }

  std::string text;
};

std::string bit_by_bit(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    if (c == '=') break;
    for (unsigned bit = 6; bit-- > 0;) {
      bits = bits << 1 | (kDigits.find(c) >> bit & 1U);
      if (++count == 8) {
        bytes += static_cast<char>(bits);
        bits = count = 0;
      }
    }
  }
  return bytes;
}

std::string read(const btf::ByteSource& source, std::uint64_t offset, std::uint64_t length) {
  std::string bytes(length, '\0');
  REQUIRE(source.read_at(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

std::string encoded(const std::string& bytes, std::size_t step) {
  KeepingSink sink;
  btf::Base64Sink base64(sink, 0);
  const auto all = std::as_bytes(std::span(bytes));
  for (std::size_t at = 0; at < all.size(); at += step)
    REQUIRE(base64.write_at(at, all.subspan(at, std::min(step, all.size() - at))));
  REQUIRE(base64.commit());
  return sink.text;
}

}  // namespace

TEST_CASE("base64: the vectors of RFC 4648, both ways") {
  for (const auto& [bytes, text] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"}}) {
    CHECK(encoded(bytes, 1) == text);
    CHECK(btf::base64_chars(bytes.size()) == text.size());
    const btf::MemorySource source(std::as_bytes(std::span(text)));
    const auto decoded = btf::base64_source(source, 0, text.size(), kFinding);
    REQUIRE(decoded);
    CHECK((*decoded)->size() == bytes.size());
    CHECK(read(**decoded, 0, bytes.size()) == bytes);
  }
}

TEST_CASE("base64: any part of any text, whatever it was written in") {
  std::string bytes;
  unsigned state = 7;
  for (int i = 0; i < 30000; ++i)
    bytes += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  for (const std::size_t length :
       {1UL, 2UL, 3UL, 100UL, 9215UL, 9216UL, 9217UL, 29999UL, 30000UL}) {
    const std::string part = bytes.substr(0, length);
    for (const std::size_t step : {1UL, 2UL, 5UL, 1000UL, 30000UL}) {
      const std::string text = encoded(part, step);
      REQUIRE(bit_by_bit(text) == part);
      const std::string shifted = "xy" + text + "z";
      const btf::MemorySource source(std::as_bytes(std::span(shifted)));
      const auto decoded = btf::base64_source(source, 2, text.size(), kFinding);
      REQUIRE(decoded);
      CHECK(read(**decoded, 0, length) == part);
      for (const std::size_t at : {0UL, 1UL, 2UL, length / 2, length - 1}) {
        if (at >= length) continue;
        CHECK(read(**decoded, at, length - at) == part.substr(at));
        CHECK(read(**decoded, at, 1) == part.substr(at, 1));
      }
      std::byte one{};
      CHECK_FALSE((*decoded)->read_at(length, std::span(&one, 1)));
    }
  }
}

TEST_CASE("base64: what is none is refused, where it is read") {
  const auto wrong = [](const std::string& text) {
    const btf::MemorySource source(std::as_bytes(std::span(text)));
    const auto decoded = btf::base64_source(source, 0, text.size(), kFinding);
    if (!decoded) return decoded.error().message;
    std::vector<std::byte> all((*decoded)->size());
    const btf::Status status = (*decoded)->read_at(0, all);
    return status ? std::string("fine") : status.error().message;
  };
  CHECK(wrong("AAAA") == "fine");
  for (int c = 0; c < 256; ++c) {
    std::string text = "AAAA";
    text[1] = static_cast<char>(c);
    const bool digit = std::isalnum(c) != 0 || c == '+' || c == '/';
    CHECK((wrong(text) == "fine") == digit);
  }
  CHECK(wrong("AAA").find("multiple of 4") != std::string::npos);
  CHECK(wrong("AA=A").find("byte 2 ") != std::string::npos);
  CHECK(wrong("====") != "fine");
  CHECK(wrong("AB==").find("within a byte") != std::string::npos);
  CHECK(wrong("AAB=").find("within a byte") != std::string::npos);
  CHECK(wrong("AA==AAAA") != "fine");
}

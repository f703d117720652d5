// JSON: every text of the corpus against what Python reads in it; places, limits and messages.
#include "formats/json.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <string>

#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "support/btf_bytes.h"
#include "support/said.h"

using btf::JsonKind;
using btf::JsonReader;
using btf::JsonToken;

namespace {

const btf::JsonOptions kOptions{.finding = "npy-header", .whole = "the text"};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string hex_of(std::string_view text) {
  std::string hex;
  for (const char c : text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

std::string told(const JsonToken& token) {
  switch (token.kind) {
    case JsonKind::object_begin:
      return "{";
    case JsonKind::object_end:
      return "} ";
    case JsonKind::array_begin:
      return "[";
    case JsonKind::array_end:
      return "] ";
    case JsonKind::name:
      return "n:" + hex_of(token.text) + " ";
    case JsonKind::string:
      return "s:" + hex_of(token.text) + " ";
    case JsonKind::number:
      return "#" + std::string(token.text) + " ";
    case JsonKind::boolean:
      return token.text == "true" ? "t " : "f ";
    case JsonKind::null:
      return "0 ";
    case JsonKind::end:
      break;
  }
  return "";
}

btf::Result<std::string> tokens_of(const btf::ByteSource& source, btf::JsonExtent extent,
                                   const btf::JsonOptions& options = kOptions) {
  JsonReader reader(source, extent, options);
  std::string all;
  for (;;) {
    BTF_ASSIGN(const JsonToken token, reader.next());
    if (token.kind == JsonKind::end) break;
    all += told(token);
    // Where it says that the text stands, the text stands.
    if (token.kind != JsonKind::name && token.kind != JsonKind::string) continue;
    BTF_ASSIGN(const std::string again, btf::json_string_at(source, token.extent));
    CHECK(again == token.text);
    CHECK((token.escaped || again.size() == token.extent.length));
  }
  while (all.ends_with(' ')) all.pop_back();
  return all;
}

// "-" of what is refused.
std::string read_all(const std::string& text, std::size_t shift) {
  const std::string shifted = std::string(shift, ' ') + text;
  const btf::MemorySource source(bytes_of(shifted));
  const std::size_t skipped = shift == 0 ? 0 : 1;
  const auto tokens = tokens_of(source, {skipped, shifted.size() - skipped});
  if (tokens) return *tokens;
  CHECK(tokens.error().finding == "npy-header");
  CHECK(tokens.error().offset >= skipped);
  CHECK(tokens.error().offset <= shifted.size());
  return "-";
}

std::string refusal(const std::string& text) {
  const btf::MemorySource source(bytes_of(text));
  const auto tokens = tokens_of(source, {0, text.size()});
  return tokens ? "" : said(tokens.error());
}

}  // namespace

TEST_CASE("json: every text is read as Python reads it, wherever the window ends") {
  std::ifstream lines(std::string(BTF_TESTDATA_DIR) + "/json/texts.txt");
  std::size_t count = 0;
  std::mt19937 random(7);
  for (std::string line; std::getline(lines, line); ++count) {
    const std::size_t tab = line.find('\t');
    CAPTURE(line);
    const bytes::Bytes raw = bytes::hex(line.substr(0, tab));
    const std::string text(reinterpret_cast<const char*>(raw.data()), raw.size());
    CHECK(read_all(text, 0) == line.substr(tab + 1));
    // What is told by the first bytes, as UTF-16, is another thing behind spaces.
    const std::string behind = line.substr(tab + 1);
    const std::size_t border = (std::size_t{64} << 10) + 1;
    CHECK(read_all(text, border - random() % (text.size() + 1)) == behind);
  }
  CHECK(count > 1300);
}

TEST_CASE("json: what is long is a place and not a copy") {
  const std::string text = R"({"name":")" + std::string(1000, 'x') + R"(","short":"a\"b"})";
  const btf::MemorySource source(bytes_of(text));
  btf::JsonOptions options = kOptions;
  options.keep = 999;
  JsonReader reader(source, {0, text.size()}, options);
  CHECK(reader.next()->kind == JsonKind::object_begin);
  CHECK(reader.next()->text == "name");
  const JsonToken value = reader.next().value();
  CHECK_FALSE(value.complete);
  CHECK_FALSE(value.escaped);
  CHECK(value.text.empty());
  CHECK(value.extent.offset == 9);
  CHECK(value.extent.length == 1000);
  CHECK(btf::json_string_at(source, value.extent).value() == std::string(1000, 'x'));
  CHECK(reader.next()->text == "short");
  const JsonToken last = reader.next().value();
  CHECK(last.escaped);
  CHECK(last.text == "a\"b");
  CHECK(last.extent.length == 4);
  CHECK(reader.next()->kind == JsonKind::object_end);
  CHECK(reader.next()->kind == JsonKind::end);
  CHECK(reader.next()->kind == JsonKind::end);
}

TEST_CASE("json: names come once in an object, however long they are") {
  const std::string name(3000, 'n');
  const std::string text =
      R"({")" + name + R"(":1,")" + name + R"(x":2,"\u006e)" + name.substr(1) + R"(":3})";
  const btf::MemorySource source(bytes_of(text));
  btf::JsonOptions options = kOptions;
  options.keep = 100;
  const auto found = [&](bool check) {
    options.check_names = check;
    JsonReader reader(source, {0, text.size()}, options);
    for (;;) {
      const auto token = reader.next();
      if (!token) return said(token.error());
      if (token->kind == JsonKind::end) return std::string();
    }
  };
  CHECK(found(true) == "'" + name.substr(0, 200) + "...' is in the text twice, again at byte 6013");
  CHECK(found(false).empty());
}

TEST_CASE("json: messages say what was expected, what is there, and where") {
  CHECK(refusal("{\"a\":1 \"b\"") == "the text: expected ',' or '}', found '\"', at byte 7");
  CHECK(refusal("[1,") == "the text: it ends where a value was expected, at byte 3");
  CHECK(refusal("{1") == "the text: expected a name in quotes or '}', found '1', at byte 1");
  CHECK(refusal("{\"a\":1,}") == "the text: expected a name in quotes, found '}', at byte 7");
  CHECK(refusal("{\"a\"\x01") == "the text: expected ':', found 0x01, at byte 4");
  CHECK(refusal("[NaN]") == "the text: expected a value, found 'NaN', at byte 1");
  CHECK(refusal("[-]") == "the text: expected a digit, found ']', at byte 2");
  CHECK(refusal("[012]") == "the text: a number has a leading 0, at byte 1");
  CHECK(refusal("{} 1") == "the text: there is '1' after its end, at byte 3");
  CHECK(refusal("\"a") == "the text: a string has no end, at byte 2");
  CHECK(refusal("\"\\ud800\"") == "the text: unpaired surrogate, at byte 7");
  CHECK(refusal("\"\x1f\"") ==
        "the text: a control character in a string must be escaped, at byte 1");
  CHECK(refusal("\"\xff\"") == "the text: a string is not UTF-8, at byte 1");
  CHECK(refusal("\"\\q\"") == "the text: unknown escape, at byte 2");
  CHECK(refusal("\xef\xbb\xbf{}") ==
        "the text: it begins with a byte order mark, which JSON must not have, at byte 0");
  CHECK(refusal(std::string("{\0}\0", 4)) ==
        "the text: it is UTF-16 or UTF-32, and JSON is UTF-8, at byte 0");
  CHECK(refusal(std::string(65, '[')) ==
        "the text: objects and arrays are nested more than 64 deep, at byte 64");
  CHECK(refusal(std::string(5000, '1')) ==
        "the text: a number has more than 4096 digits, at byte 0");
  CHECK(refusal(R"({"x":{"a":1,"a":2}})") ==
        "'a' is in an object of the text twice, again at byte 13");
  CHECK(refusal(R"({"a":1,"b":2,"b":3,"a":4})") == "'b' is in the text twice, again at byte 14");
}

TEST_CASE("json: integers are exact or none") {
  CHECK(btf::exact_u64("0") == 0);
  CHECK(btf::exact_u64("18446744073709551615") == UINT64_MAX);
  for (const char* const text :
       {"18446744073709551616", "-0", "-1", "1.0", "1e2", "0.5", "1E0", ""})
    CHECK_FALSE(btf::exact_u64(text));
  CHECK(btf::exact_i64("-9223372036854775808") == INT64_MIN);
  CHECK(btf::exact_i64("9223372036854775807") == INT64_MAX);
  for (const char* const text :
       {"9223372036854775808", "-9223372036854775809", "-0", "1.0", "-1e2"})
    CHECK_FALSE(btf::exact_i64(text));
}

TEST_CASE("json: values are passed over, asked for by kind, gone through by name") {
  const std::string text =
      R"( {"skip":[{"a":"]"},[1]], "string" : "s\n" ,"size":7,"flag":true,"last":1.5})";
  const btf::MemorySource source(bytes_of(text));
  const auto read = [&](std::string_view wrong_kind) -> btf::Result<std::string> {
    JsonReader reader(source, {0, text.size()}, kOptions);
    BTF_TRY(reader.expect(JsonKind::object_begin, "it"));
    std::string names;
    BTF_TRY(reader.members([&](const JsonToken& name) -> btf::Status {
      names += std::string(name.text) + ";";
      if (name.text == wrong_kind) BTF_TRY(reader.expect_size("what '" + names + "' says"));
      if (name.text == "size") {
        BTF_ASSIGN(const std::uint64_t size, reader.expect_size("the size"));
        CHECK(size == 7);
        return {};
      }
      BTF_ASSIGN(const btf::JsonExtent extent, reader.skip_value());
      names += text.substr(extent.offset, extent.length) + ";";
      return {};
    }));
    BTF_TRY(reader.expect(JsonKind::end, "what follows"));
    return names;
  };
  CHECK(read("").value() == R"(skip;[{"a":"]"},[1]];string;"s\n";size;flag;true;last;1.5;)");
  CHECK(said(read("skip").error()) ==
        "the text: what 'skip;' says is an array and not a number, at byte 9");
  CHECK(said(read("last").error())
            .ends_with("' says is 1.5, not an integer from 0 to 2^64-1, at byte " +
                       std::to_string(text.find("1.5"))));
}

// Any bytes in the texts of JSON come back.
#include <catch2/catch.hpp>
#include <string>

#include "core/names.h"
#include "report/text/json.h"
#include "support/random_tensor.h"

namespace {

using btf::report::Json;

void check_back(const std::string& text) {
  CAPTURE(text.size());
  const std::string line = btf::report::dump_exact(Json{{"number", 1}, {"texts", {text, "z"}}});
  CHECK(btf::is_utf8(line));
  CHECK_FALSE(line.contains('\n'));
  const auto read = btf::report::parse_exact(line, "a test");
  REQUIRE(read);
  CHECK((*read)["texts"][0].get<std::string>() == text);
  CHECK((*read)["texts"][1] == "z");
}

}  // namespace

TEST_CASE("exact json: every text of bytes comes back", "[report]") {
  for (int byte = 0; byte < 256; ++byte) {
    check_back(std::string(1, static_cast<char>(byte)));
    check_back("a" + std::string(1, static_cast<char>(byte)) + "\xc3\xa9");
  }
  // Characters that stand for bytes, and parts of them, are bytes themselves.
  for (const char* text : {"\xf4\x8f\xba\x80", "\xf4\x8f\xbb\xbf", "\xf4\x8f\xb9\xbf",
                           "\xf4\x8f\xbc\x80", "\xf4\x8f\xba", "\xf4\x8f", "\xff\xf4\x8f\xbb\x80",
                           "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80", "e\xcc\x81"})
    check_back(text);
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const char* const likely = "\xf4\x8f\xba\xbb\x80\xbf\xc3\xa9 a\xe2\x82\xac";
    for (std::uint64_t n = random.below(9); n > 0; --n)
      text += random.below(4) > 0 ? likely[random.below(13)] : static_cast<char>(random.below(256));
    check_back(text);
  }
}

TEST_CASE("exact json: what is UTF-8 stays as it is", "[report]") {
  CHECK(btf::report::dump_exact(Json{{"a", "caf\xc3\xa9"}}) == "{\"a\":\"caf\xc3\xa9\"}");
  CHECK(btf::report::dump_exact(Json{{"a", "\xff"}}) == "{\"a\":\"\xf4\x8f\xbb\xbf\"}");
}

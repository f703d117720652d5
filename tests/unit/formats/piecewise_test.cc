// Bytes out of several places against a plain copy of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "formats/io/byte_source.h"
#include "support/random_bytes.h"

using btf::ByteSource;
using btf::Piece;

namespace {

using Bytes = std::vector<std::byte>;

std::shared_ptr<const ByteSource> memory(const Bytes& bytes) {
  return std::make_shared<btf::MemorySource>(bytes);
}

}  // namespace

TEST_CASE("piecewise source: reads across pieces are the bytes of all of them") {
  const Bytes first = btf::test::random_bytes(100);
  const Bytes second = btf::test::random_bytes(50);
  const auto a = memory(first);
  const auto b = memory(second);
  // Words of the second are turned round.
  const std::shared_ptr<const ByteSource> turned = btf::swapped_source(*b, 2, 4);
  std::vector<Piece> pieces{
      {0, 30, a, 70}, {30, 0, a, 0}, {30, 10, b, 5}, {40, 8, turned, 2}, {48, 52, a, 10}};
  Bytes whole(100);
  std::copy_n(first.begin() + 70, 30, whole.begin());
  std::copy_n(second.begin() + 5, 10, whole.begin() + 30);
  for (int i = 0; i < 8; ++i) whole[40 + i] = second[2 + (i / 4) * 4 + 3 - i % 4];
  std::copy_n(first.begin() + 10, 52, whole.begin() + 48);
  const auto source = btf::piecewise_source(std::move(pieces)).value();
  REQUIRE(source->size() == 100);
  CHECK(source->check_unchanged());
  for (std::size_t begin = 0; begin <= 100; ++begin)
    for (std::size_t end = begin; end <= 100; ++end) {
      Bytes out(end - begin);
      if (!source->read_at(begin, out) ||
          !std::ranges::equal(out, std::span(whole).subspan(begin, end - begin)))
        FAIL("bytes " << begin << " to " << end);
    }
}

TEST_CASE("piecewise source: gaps and what lies behind the end are errors") {
  const Bytes bytes(20);
  const auto a = memory(bytes);
  const auto source = btf::piecewise_source({{4, 4, a, 0}, {12, 4, a, 16}}).value();
  Bytes out(4);
  CHECK(source->read_at(4, out));
  CHECK(source->read_at(12, out));
  CHECK(source->read_at(3, out).error().message == "there is nothing at byte 3");
  CHECK(source->read_at(6, out).error().message == "there is nothing at byte 8");
  CHECK(source->read_at(13, out).error().message == "there is nothing at byte 16");
  CHECK(source->read_at(UINT64_MAX, out).error().message ==
        "there is nothing at byte 18446744073709551615");
  CHECK(source->read_ahead_end(5) == 8);
  CHECK(source->read_ahead_end(9) == 9);
}

TEST_CASE("piecewise source: pieces that cannot be are refused") {
  const Bytes bytes(20);
  const auto a = memory(bytes);
  CHECK_FALSE(btf::piecewise_source({{0, 4, a, 0}, {3, 4, a, 0}}));
  CHECK_FALSE(btf::piecewise_source({{4, 4, a, 0}, {0, 4, a, 0}}));
  CHECK_FALSE(btf::piecewise_source({{0, 4, a, 17}}));
  CHECK_FALSE(btf::piecewise_source({{0, 4, a, UINT64_MAX}}));
  CHECK_FALSE(btf::piecewise_source({{UINT64_MAX, 4, a, 0}}));
  CHECK(btf::piecewise_source({}).value()->size() == 0);
}

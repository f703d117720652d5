// What is kept for a while: in memory as long as it is little, then in a file without a name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "formats/io/byte_source.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tmp_dir.h"

using btf::Spool;
using bytes::Bytes;

namespace {

Bytes counted(std::size_t size) {
  Bytes all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>(i * 7 + i / 251);
  return all;
}

}  // namespace

TEST_CASE("spool: what is appended is read, in memory and in a file") {
  const Bytes all = counted(Spool::kInMemory + 1000);
  for (const std::size_t size : {0U, 1U, 1000U}) {
    Spool spool = Spool::in_memory();
    REQUIRE(spool.append(std::span(all).first(size)));
    // Up to the border, to a byte behind it, and on.
    for (const std::size_t end :
         {std::size_t{Spool::kInMemory}, std::size_t{Spool::kInMemory} + 1, all.size()}) {
      REQUIRE(spool.append(std::span(all).subspan(spool.size(), end - spool.size())));
      REQUIRE(spool.size() == end);
      Bytes read(end);
      REQUIRE(spool.read_at(0, read));
      CHECK(std::ranges::equal(read, std::span(all).first(end)));
      read.resize(end / 2);
      REQUIRE(spool.read_at(end - read.size(), read));
      CHECK(std::ranges::equal(read, std::span(all).first(end).last(read.size())));
      CHECK_FALSE(spool.read_at(end, std::span(read).first(1)));
    }
  }
}

TEST_CASE("spool: a little needs no directory, and an error leaves what was there") {
  const ScratchDir scratch;
  const TmpDir tmp(scratch / "no/such/directory");
  CHECK_FALSE(Spool::create());
  const Bytes all = counted(Spool::kInMemory);
  Spool spool = Spool::in_memory();
  REQUIRE(spool.append(all));
  const btf::Status more = spool.append(std::span(all).first(1));
  REQUIRE_FALSE(more);
  CHECK(said(more.error()).find("no/such/directory") != std::string::npos);
  CHECK(spool.size() == all.size());
  Bytes read(all.size());
  REQUIRE(spool.read_at(0, read));
  CHECK(read == all);
}

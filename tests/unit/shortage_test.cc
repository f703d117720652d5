// When memory or threads run out the answer is an error, and never a hang, an end of the process or
// another answer; afterwards the same file can be used as if nothing had happened.
#include "support/shortage.h"

#include <array>
#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/read.h"
#include "core/resources.h"
#include "elements/cast.h"
#include "formats/io/byte_source.h"
#include "formats/zstd_source.h"
#include "support/btf_bytes.h"
#include "support/scratch_dir.h"
#include "support/zstd_bytes.h"

using bytes::Bytes;

namespace {

// Does `work` with every allocation failing once, in turn; `check` looks at what is left of it.
// Both get a fresh `make()`.
template <typename Make, typename Work, typename Check>
long fail_each_allocation(Make&& make, Work&& work, Check&& check) {
  if (!shortage::can_fail()) return 0;
  for (long n = 0;; ++n) {
    auto subject = make();
    bool happened = false;
    {
      const shortage::FailingAllocation failing(n);
      try {
        work(subject);
      } catch (const std::bad_alloc&) {
      }
      happened = shortage::FailingAllocation::happened();
    }
    CAPTURE(n);
    check(subject);
    if (!happened) return n;
  }
}

// 30 small pieces, each a frame.
struct Pieces {
  Bytes content = bytes::noise(30 * 3000);
  std::vector<std::size_t> ends;
  Pieces() {
    for (std::size_t end = 3000; end < content.size(); end += 3000) ends.push_back(end);
  }
};

std::unique_ptr<btf::ByteSource> seekable(const Bytes& file) {
  auto source = std::make_unique<btf::MemorySource>(file);
  auto table = btf::zstd::SeekTable::read(*source);
  if (!table) throw std::runtime_error(table.error().text());
  return btf::zstd::seekable_source("x", std::move(source), *std::move(table));
}

// A byte of every piece, three times: from the second time on frames are kept.
void read_pieces(const btf::ByteSource& source, const Pieces& pieces, bool must_succeed) {
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t at = 1000; at < pieces.content.size(); at += 3000) {
      std::byte byte{};
      const bool read = source.read_at(at, std::span(&byte, 1)).has_value();
      if (must_succeed) REQUIRE(read);
      if (read && byte != pieces.content[at]) throw std::runtime_error("another byte");
    }
  }
}

}  // namespace

TEST_CASE("shortage: a buffer without memory has none the next time either") {
  btf::Buffer buffer;
  REQUIRE(buffer.reserve(100) != nullptr);
  if (!shortage::can_fail()) return;
  try {
    const shortage::FailingAllocation failing(0);
    buffer.reserve(200);
  } catch (const std::bad_alloc&) {
  }
  CHECK(buffer.reserve(100) != nullptr);
}

TEST_CASE("shortage: what is thrown on a thread arrives in the calling one") {
  btf::Workers workers;
  workers.start(3, [](unsigned worker) {
    if (worker == 2) throw std::runtime_error("two");
  });
  CHECK_THROWS_WITH(workers.join(), "two");
  CHECK_NOTHROW(workers.join());

  btf::Execution execution;
  CHECK_THROWS_AS(btf::for_each_slab(execution, 4, 1000,
                                     [](unsigned, std::uint64_t slab) -> btf::Status {
                                       if (slab == 500) throw std::runtime_error("500");
                                       return {};
                                     }),
                  std::runtime_error);
}

TEST_CASE("shortage: work is done by as many threads as there are") {
  for (const long threads : {0L, 1L, 2L}) {
    const shortage::FewThreads few(threads);
    std::vector<int> done(1000);
    REQUIRE(btf::for_each_slab({}, 8, done.size(), [&](unsigned, std::uint64_t slab) {
      ++done[slab];
      return btf::Status{};
    }));
    CHECK(done == std::vector<int>(1000, 1));
    CHECK((shortage::FewThreads::refused() > 0) == shortage::can_fail());
  }
}

TEST_CASE("shortage: compressing goes on with as many threads as there are") {
  const Pieces pieces;
  const Bytes expected = bytes::compress(pieces.content, 1, pieces.ends);
  for (const long threads : {0L, 1L, 2L}) {
    const shortage::FewThreads few(threads);
    CHECK(bytes::compress(pieces.content, 8, pieces.ends) == expected);
    CHECK((shortage::FewThreads::refused() > 0) == shortage::can_fail());
  }
}

TEST_CASE("shortage: compressing with an allocation that fails") {
  const Pieces pieces;
  const Bytes expected = bytes::compress(pieces.content, 1, pieces.ends);
  for (const unsigned threads : {1U, 3U}) {
    bool succeeded = false;
    const long count = fail_each_allocation(
        [] { return bytes::GrowingSink(); },
        [&](bytes::GrowingSink& file) {
          succeeded = false;
          succeeded = bytes::compress_to(file, pieces.content, threads, pieces.ends).has_value();
        },
        [&](const bytes::GrowingSink& file) {
          if (succeeded) CHECK((file.content == expected));
        });
    CHECK((count > 10 || !shortage::can_fail()));
    CHECK((succeeded || !shortage::can_fail()));
  }
}

TEST_CASE("shortage: reading frames with an allocation that fails, and again") {
  const Pieces pieces;
  const Bytes file = bytes::compress(pieces.content, 1, pieces.ends);
  const long count = fail_each_allocation(
      [&] { return seekable(file); }, [&](auto& source) { read_pieces(*source, pieces, false); },
      [&](auto& source) { read_pieces(*source, pieces, true); });
  CHECK((count > 30 || !shortage::can_fail()));
}

TEST_CASE("shortage: several threads read frames with an allocation that fails") {
  const Pieces pieces;
  const Bytes file = bytes::compress(pieces.content, 1, pieces.ends);
  fail_each_allocation([&] { return seekable(file); },
                       [&](auto& source) {
                         btf::Workers workers;
                         workers.start(3, [&](unsigned) { read_pieces(*source, pieces, false); });
                         workers.join();
                       },
                       [&](auto& source) { read_pieces(*source, pieces, true); });
}

TEST_CASE("shortage: all questions to a compressed file with an allocation that fails, and again") {
  const ScratchDir scratch;
  std::vector<Bytes> records;
  std::vector<std::size_t> pieces{8 + 8 * 12};
  for (std::uint64_t i = 0; i < 12; ++i) {
    records.push_back(i == 3
                          ? bytes::coo(btf::DType::uint8, {9}, {{1}, {4}}, Bytes(2, std::byte{5}))
                          : bytes::dense(btf::DType::uint8, 0, {4, 2500}, bytes::noise(10000)));
    pieces.push_back(pieces.back() + bytes::padded(records.back()).size());
  }
  // Tensors 6 and 7 overlap.
  Bytes content = bytes::file(records);
  content[8 + 7 * 8] = content[8 + 6 * 8];
  content[8 + 7 * 8 + 1] = content[8 + 6 * 8 + 1];
  pieces.pop_back();
  const std::string path = bytes::save(scratch, "x.btf.zst", bytes::compress(content, 1, pieces));

  const std::array<std::uint64_t, 9> order{2, 0, 11, 3, 7, 1, 6, 2, 10};
  const auto ask = [&](const btf::TensorFile& file, bool must_succeed) {
    for (const std::uint64_t index : order) {
      const auto info = file.tensor(index);
      if (!info && !must_succeed) continue;
      if (!info) throw std::runtime_error(info.error().text());
      if (info->dims != (index == 3 ? btf::Dims{9} : btf::Dims{4, 2500}))
        throw std::runtime_error("other dims");
      const auto apart = file.check_overlap(*info);
      if (apart ? index == 6 || index == 7
                : must_succeed && apart.error().finding != "records-overlap")
        throw std::runtime_error("another overlap");
      if (!apart) continue;
      const auto loaded = btf::read_tensor(file, *info);
      if (!loaded && !must_succeed) continue;
      if (!loaded) throw std::runtime_error(loaded.error().text());
      const Bytes expected =
          index == 3 ? bytes::hex("00 05 00 00 05 00 00 00 00") : bytes::noise(10000);
      if (!std::ranges::equal(loaded->tensor.bytes, expected))
        throw std::runtime_error("another tensor");
    }
  };
  const long count = fail_each_allocation([&] { return bytes::open(path); },
                                          [&](btf::TensorFile& file) { ask(file, false); },
                                          [&](btf::TensorFile& file) { ask(file, true); });
  CHECK((count > 100 || !shortage::can_fail()));
}

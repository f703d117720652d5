// Compressed files whose header needs more content than their frames can have: seen before all of
// it is decompressed. Frames are put together by hand, of blocks that are stored as they are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "btf/file.h"
#include "formats/io/byte_source.h"
#include "formats/zstd.h"
#include "support/btf_bytes.h"
#include "support/said.h"

using bytes::Bytes;

namespace {

constexpr std::size_t kBlock = 128U << 10;

void put(Bytes& to, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

// `says`: the size of the content stands in its header.
Bytes frame(std::span<const std::byte> content, std::optional<std::uint64_t> says) {
  Bytes file;
  put(file, 0xFD2FB528, 4);
  put(file, says ? 0xc0 : 0, 1);
  put(file, 0x38, 1);  // a window of 128 KiB
  if (says) put(file, *says, 8);
  do {
    const auto block = content.first(std::min(kBlock, content.size()));
    content = content.subspan(block.size());
    put(file, block.size() << 3 | (content.empty() ? 1U : 0U), 3);
    file.insert(file.end(), block.begin(), block.end());
  } while (!content.empty());
  return file;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Bytes text(std::string_view from) {
  const auto all = std::as_bytes(std::span(from));
  return {all.begin(), all.end()};
}

Bytes npy(const std::string& descr, std::uint64_t count, std::size_t data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(count) + ",), }";
  header.resize(117, ' ');
  Bytes file = text("\x93NUMPY\x01");
  put(file, 0, 1);
  put(file, header.size() + 1, 2);
  file = joined(file, text(header + "\n"));
  file.resize(128 + data);
  return file;
}

Bytes safetensors(std::uint64_t data, std::size_t there) {
  const std::string header = R"({"a":{"dtype":"I8","shape":[)" + std::to_string(data) +
                             R"(],"data_offsets":[0,)" + std::to_string(data) + "]}}";
  Bytes file;
  put(file, header.size(), 8);
  file = joined(file, text(header));
  file.resize(file.size() + there);
  return file;
}

Bytes btf_file(std::uint64_t dim, std::size_t data) {
  Bytes file;
  for (const std::uint64_t word : {1U, 16U, 1U, 4U}) put(file, word, 8);  // float32, linear
  put(file, dim, 8);
  file.resize(file.size() + data);
  return file;
}

// How many compressed bytes it takes to come to an end.
struct Outcome {
  std::size_t pulled = 0;
  std::string error;
};

Outcome unpacked(const Bytes& file, bool seeks) {
  Outcome outcome;
  const btf::MemorySource source(file);
  const auto pull = [&](std::span<std::byte> out) -> btf::Result<std::size_t> {
    const std::size_t some = std::min(out.size(), file.size() - outcome.pulled);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(outcome.pulled), some, out.begin());
    outcome.pulled += some;
    return some;
  };
  const auto spool =
      btf::zstd::unpack(pull, std::nullopt,
                        seeks ? btf::zstd::Capacity([&] { return btf::zstd::most_content(source); })
                              : btf::zstd::Capacity());
  if (!spool) outcome.error = said(spool.error());
  return outcome;
}

btf::Result<btf::TensorFile> opened(const Bytes& file) {
  return btf::TensorFile::open(std::make_unique<btf::MemorySource>(file), "x");
}

constexpr std::size_t kData = 8U << 20;

}  // namespace

TEST_CASE("zstd: a header that needs more than the frames have is seen before they are unpacked") {
  const std::uint64_t much = kData / 4 + 1000;
  const Bytes contents[] = {npy("<f4", much, kData), npy(">i4", much, kData),
                            npy("f8", kData / 8 + 1, kData), safetensors(kData + 1, kData),
                            btf_file(much, kData)};
  for (const Bytes& content : contents) {
    CAPTURE(&content - contents);
    const std::span all = content;
    const Bytes files[] = {frame(all, std::nullopt), frame(all, all.size()),
                           joined(frame(all.first(kBlock), std::nullopt),
                                  frame(all.subspan(kBlock), all.size() - kBlock))};
    for (const Bytes& file : files) {
      const Outcome outcome = unpacked(file, true);
      CHECK(outcome.error.contains(" bytes of content, the compressed file has no more than "));
      CHECK(outcome.pulled < kData / 4);
      const auto whole = opened(file);
      REQUIRE_FALSE(whole);
      CHECK(whole.error().finding == "data-past-end");
      CHECK(said(whole.error()) == outcome.error);
      // A stream might go on with more frames.
      CHECK(unpacked(file, false).pulled == file.size());
    }
  }
  const Outcome exact = unpacked(frame(contents[0], contents[0].size()), true);
  CHECK(exact.error == "the array in its .npy header needs " + std::to_string(128 + 4 * much) +
                           " bytes of content, the compressed file has no more than " +
                           std::to_string(128 + kData));
}

TEST_CASE("zstd: frames that hold what their header needs are read to their end") {
  const Bytes whole = npy("<f4", kData / 4, kData);
  const Bytes two = joined(frame(std::span(whole).first(1000), std::nullopt),
                           frame(std::span(whole).subspan(1000), whole.size() - 1000));
  Bytes skippable;
  put(skippable, 0x184D2A57, 4);
  put(skippable, 5, 4);
  put(skippable, 0, 5);
  for (const Bytes& file : {frame(whole, std::nullopt), frame(whole, whole.size()), two,
                            joined(skippable, joined(two, skippable))}) {
    CHECK(unpacked(file, true).error.empty());
    const auto read = opened(file);
    REQUIRE(read);
    CHECK(read->size() == whole.size());
  }
  // Names that do not say by a digit how wide they are.
  for (const auto& [descr, bytes] : {std::pair{"bfloat16", 2}, {"float8_e5m2", 1}, {"|O", 2}})
    CHECK(unpacked(frame(npy(descr, kData / bytes, kData), std::nullopt), true).pulled > kData);
  // Of two records the one that is there can be used.
  Bytes records;
  for (const std::uint64_t word : {2U, 24U, 1U << 21, 1U, 4U, 100U}) put(records, word, 8);
  records.resize(1U << 21);
  for (const std::uint64_t word : {1U, 4U}) put(records, word, 8);
  put(records, 1U << 24, 8);
  records.resize(4U << 20);
  const auto read = opened(frame(records, std::nullopt));
  REQUIRE(read);
  CHECK(read->tensor(0));
  CHECK_FALSE(read->tensor(1));
}

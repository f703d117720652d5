#include "formats/zstd.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/tensor_file.h"
#include "formats/zstd_sink.h"
#include "formats/zstd_source.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "support/zstd_bytes.h"

using bytes::Bytes;
using bytes::compress;
using bytes::noise;

namespace {

// Counts what is read through it.
class CountingSource final : public btf::ByteSource {
 public:
  CountingSource(std::unique_ptr<btf::ByteSource> source, std::atomic<std::uint64_t>& count)
      : source_(std::move(source)), count_(count) {}
  std::uint64_t size() const override { return source_->size(); }
  btf::Status check_unchanged() const override { return source_->check_unchanged(); }
  btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    count_ += out.size();
    return source_->read_at(offset, out);
  }

 private:
  std::unique_ptr<btf::ByteSource> source_;
  std::atomic<std::uint64_t>& count_;
};

// A file, past the library's own way of opening one, which would decompress it.
class HandleSource final : public btf::ByteSource {
 public:
  HandleSource(std::FILE* file, std::uint64_t size) : file_(file), size_(size) {}
  ~HandleSource() override { std::fclose(file_); }
  std::uint64_t size() const override { return size_; }
  btf::Status check_unchanged() const override { return {}; }
  btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (std::fseek(file_, static_cast<long>(offset), SEEK_SET) != 0 ||
        std::fread(out.data(), 1, out.size(), file_) != out.size())
      return btf::fail(btf::ErrorCode::io, "cannot read");
    return {};
  }

 private:
  std::FILE* file_;
  std::uint64_t size_;
};

Bytes all_of(const btf::ByteSource& source) {
  Bytes content(source.size());
  REQUIRE(source.read_at(0, content));
  return content;
}

std::unique_ptr<btf::ByteSource> open(const std::string& path) {
  auto source = btf::open_source(path);
  INFO((source ? "" : source.error().text()));
  REQUIRE(source);
  return *std::move(source);
}

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/zstd/";

}  // namespace

TEST_CASE("zstd: the bytes do not depend on threads nor on how they are handed over") {
  const Bytes content = noise((11U << 20) + 4321);
  const std::vector<std::size_t> pieces{0, 24, 24, 5U << 20, (9U << 20) + 7};
  const Bytes one = compress(content, 1, pieces);
  for (const unsigned threads : {2U, 3U, 8U}) CHECK(compress(content, threads, pieces) == one);
  // Frames begin where pieces do: 24 bytes in 1, 5 MiB - 24 in 5, 4 MiB + 7 in 5, the rest in 3.
  const btf::MemorySource file(one);
  const auto table = btf::zstd::SeekTable::read(file);
  REQUIRE(table);
  CHECK(table->frames() == 14);
  CHECK(table->content_bytes() == content.size());
  for (const std::size_t piece : {std::size_t{24}, pieces[3], pieces[4]})
    CHECK(table->find(piece)->content_offset == piece);
}

TEST_CASE("zstd: what is compressed reads back") {
  const ScratchDir scratch;
  for (const std::size_t size : {0U, 1U, 1000U, 1U << 20, (1U << 20) + 1, (3U << 20) - 1}) {
    const Bytes content = noise(size);
    const auto source = open(bytes::save(scratch, "x", compress(content, 2)));
    CHECK(source->compressed());
    CHECK(all_of(*source) == content);
    CHECK(source->check_unchanged());
    std::byte one{};
    CHECK(!source->read_at(size, std::span(&one, 1)));
  }
}

TEST_CASE("zstd: several threads read one file") {
  const ScratchDir scratch;
  const Bytes content = noise(20U << 20);
  const auto source = open(bytes::save(scratch, "x", compress(content, 2)));
  std::atomic<int> wrong = 0;
  const auto reader = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 60; ++i) {
      const std::size_t at = random() % content.size();
      const std::size_t most = i % 3 == 0 ? 3U << 20 : 5000;
      Bytes part(std::min(content.size() - at, static_cast<std::size_t>(random() % most)));
      if (!source->read_at(at, part) ||
          !std::equal(part.begin(), part.end(), content.begin() + static_cast<long>(at)))
        ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 12; ++seed) threads.emplace_back(reader, seed);
  }
  CHECK(wrong == 0);
}

TEST_CASE("zstd: the last of 64 tensors of 1 GiB is read without the others") {
  const ScratchDir scratch;
  constexpr std::uint64_t kBytes = 16U << 20;
  // A quarter of the bits are noise, so that the share means something of the compressed bytes.
  const auto data_of = [](std::uint64_t tensor) {
    Bytes data = random_bytes(kBytes, tensor);
    for (std::byte& byte : data) byte &= std::byte{3};
    return data;
  };
  const Bytes header =
      bytes::join({bytes::header(1, btf::DType::uint8, btf::Layout::linear), bytes::u64({kBytes})});
  bytes::Words table{64};
  for (std::uint64_t i = 0; i < 64; ++i) table.push_back(65 * 8 + i * (header.size() + kBytes));
  std::uint64_t written = 0;
  {
    const auto file = btf::create_sink(scratch / "x.zst", {});
    REQUIRE(file);
    const auto sink = btf::zstd::compressing_sink(**file, {.level = 1}, 2);
    REQUIRE(sink->write_at(0, bytes::u64(table)));
    for (std::uint64_t i = 0; i < 64; ++i) {
      REQUIRE(sink->begin_piece(1U << 20));
      REQUIRE(sink->write_at(table[i + 1], header));
      REQUIRE(sink->write_at(table[i + 1] + header.size(), data_of(i)));
    }
    REQUIRE(sink->commit());
    REQUIRE((*file)->commit());
    written = sink->file_bytes();
  }
  std::atomic<std::uint64_t> count = 0;
  std::FILE* const handle = std::fopen((scratch / "x.zst").c_str(), "rb");
  REQUIRE(handle != nullptr);
  auto file =
      std::make_unique<CountingSource>(std::make_unique<HandleSource>(handle, written), count);
  auto seek_table = btf::zstd::SeekTable::read(*file);
  REQUIRE(seek_table);
  const auto source = btf::zstd::seekable_source("x", std::move(file), *std::move(seek_table));
  CHECK(source->size() == 65 * 8 + 64 * (header.size() + kBytes));
  const btf::OpenOptions open_options;
  const btf::OpenRequest request{"x", open_options};
  const auto format = btf::recognize_format(*source, request);
  REQUIRE(format);
  const auto reader = (*format)->open(*source, request);
  REQUIRE(reader);
  const auto info = (*reader)->tensor(63);
  REQUIRE(info);
  Bytes data(info->data_bytes);
  REQUIRE(source->read_at(info->data_offset, data));
  CHECK((data == data_of(63)));
  CHECK(count < written * 3 / 100);
}

TEST_CASE("zstd: sound files of other hands") {
  const Bytes golden = read_file(std::string(BTF_TESTDATA_DIR) + "/good/mixed.btf");
  for (const std::string name :
       {"seekable.btf.zst", "seekable_pieces.btf.zst", "seekable_bare.btf.zst",
        "seekable_sums.btf.zst", "seekable_gaps.btf.zst", "one_frame.btf.zst", "frames.btf.zst",
        "no_name"}) {
    INFO(name);
    const auto source = open(kFolder + name);
    CHECK(source->compressed());
    CHECK(all_of(*source) == golden);
  }
}

TEST_CASE("zstd: a file that is damaged or cut anywhere is never read as another") {
  const ScratchDir scratch;
  const Bytes golden = read_file(std::string(BTF_TESTDATA_DIR) + "/good/mixed.btf");
  for (const std::string name : {"seekable.btf.zst", "seekable_sums.btf.zst"}) {
    const Bytes sound = read_file(kFolder + name);
    for (std::size_t at = 4; at < sound.size(); at += 3) {
      Bytes damaged = sound;
      damaged[at] ^= std::byte{0x10};
      const auto source = btf::open_source(bytes::save(scratch, "x", damaged));
      if (!source) continue;
      Bytes content((*source)->size());
      if ((*source)->read_at(0, content) && content != golden) {
        INFO(name << ", byte " << at);
        // Without its last bytes the table is not seen, and only it has checksums.
        CHECK((at >= sound.size() - 4 && name == "seekable_sums.btf.zst"));
      }
    }
    for (std::size_t size = 4; size < sound.size(); ++size) {
      const auto source = btf::open_source(
          bytes::save(scratch, "x", Bytes(sound.begin(), sound.begin() + static_cast<long>(size))));
      if (!source) continue;
      // Cut between two frames: whole records are missing.
      const Bytes content = all_of(**source);
      INFO(name << ", " << size << " bytes");
      const auto file = btf::TensorFile::open(scratch / "x");
      if (content == golden) continue;
      REQUIRE(content.size() < golden.size());
      CHECK((!file || !file->tensor(file->tensor_count() - 1)));
    }
  }
}

namespace {

// From front to back, as through a pipe that gives so many bytes at a time.
btf::Status unpacked(std::span<const std::byte> file, std::size_t portion, Bytes& content) {
  std::size_t at = 0;
  const auto pull = [&](std::span<std::byte> out) -> btf::Result<std::size_t> {
    const std::size_t some = std::min({out.size(), file.size() - at, portion});
    std::ranges::copy(file.subspan(at, some), out.begin());
    at += some;
    return some;
  };
  const auto unpacked = btf::zstd::unpack(pull, std::nullopt);
  if (!unpacked) return std::unexpected(unpacked.error());
  content.resize(unpacked->content.size());
  return unpacked->content.read_at(0, content);
}

}  // namespace

TEST_CASE("zstd: a stream that ends too early is noticed at every byte") {
  std::vector<Bytes> records;
  std::vector<std::size_t> pieces{8 + 5 * 8};
  for (std::uint64_t i = 0; i < 5; ++i) {
    records.push_back(i == 3 ? bytes::coo(btf::DType::float32, {9}, {{1}, {4}}, Bytes(8))
                             : bytes::dense(btf::DType::int16, 0, {i, 3}, noise(i * 6)));
    pieces.push_back(pieces.back() + bytes::padded(records.back()).size());
  }
  const Bytes content = bytes::file(records);
  pieces.pop_back();
  const Bytes file = compress(content, 1, pieces);
  const std::size_t table = 8 + 12 * 6 + 9;
  for (const std::size_t portion : {1U, 7U, 1U << 20}) {
    Bytes back;
    REQUIRE(unpacked(file, portion, back));
    CHECK(back == content);
    for (std::size_t end = 1; end < file.size(); ++end) {
      CAPTURE(portion, end, file.size());
      const bool whole = end == file.size() - table;  // all of the content is there
      CHECK(unpacked(std::span(file).first(end), portion, back).has_value() == whole);
    }
    // Any byte of the table but those of the checksums, which only a reader that seeks looks at.
    for (std::size_t at = file.size() - table; at < file.size(); ++at) {
      const std::size_t entry = at - (file.size() - table);
      const bool checksum = entry >= 8 && entry < table - 9 && (entry - 8) % 12 >= 8;
      const bool descriptor = entry == table - 5;
      // Another magic number, or another at the end: no seek table, and not one that is wrong.
      const bool magic = entry < 4 || entry >= table - 4;
      if (checksum || descriptor || magic) continue;
      Bytes wrong = file;
      wrong[at] ^= std::byte{0x10};
      CAPTURE(portion, entry);
      CHECK(!unpacked(wrong, portion, back));
    }
  }
}

TEST_CASE("zstd: what is wrong in a frame is told behind blocks that are sound") {
  const ScratchDir scratch;
  // One segment of 9 bytes: a block of 8 as they are, and one of the type that nobody has defined.
  const Bytes file =
      bytes::hex("28 b5 2f fd 20 09  40 00 00  01 02 03 04 05 06 07 08  0f 00 00  09");
  const auto opened = btf::TensorFile::open(bytes::save(scratch, "f.btf.zst", file));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("a block in it is of a reserved type") != std::string::npos);
  // A block of one byte that is said four times.
  const Bytes repeated = bytes::hex("28 b5 2f fd 20 05  22 00 00  07  0f 00 00  09");
  const auto other = btf::TensorFile::open(bytes::save(scratch, "g.btf.zst", repeated));
  REQUIRE_FALSE(other);
  CHECK(other.error().message.find("a block in it is of a reserved type") != std::string::npos);
  // 300 bytes, said in two bytes, which begin at 256; 8 are there.
  const Bytes too_short = bytes::hex("28 b5 2f fd 60 2c 00  41 00 00  01 02 03 04 05 06 07 08");
  const auto third = btf::TensorFile::open(bytes::save(scratch, "h.btf.zst", too_short));
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find(
            "its header says 300 bytes of content, its blocks end after 8") != std::string::npos);
}

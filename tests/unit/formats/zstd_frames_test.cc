// Which frames a compressed file has, which of them a question needs, and what becomes of the
// others when one is damaged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/read.h"
#include "btf/validate.h"
#include "formats/tensor_file.h"
#include "support/btf_bytes.h"
#include "support/scratch_dir.h"
#include "support/zstd_bytes.h"

using bytes::Bytes;

namespace {

const std::string kData = BTF_TESTDATA_DIR "/";

struct Frame {
  std::uint64_t file_begin = 0;
  std::uint64_t file_end = 0;
  std::uint64_t begin = 0;  // content
  std::uint64_t end = 0;
};

std::uint64_t number(const Bytes& file, std::size_t at) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::to_integer<std::uint64_t>(file[at + i]) << (8 * i);
  return value;
}

// By the seek table, as the specification of the format words it.
std::vector<Frame> frames_of(const Bytes& file) {
  const std::uint64_t count = number(file, file.size() - 9);
  const std::size_t width = (file[file.size() - 5] & std::byte{0x80}) != std::byte{} ? 12 : 8;
  std::vector<Frame> frames;
  Frame frame;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t entry = file.size() - 9 - (count - i) * width;
    frame = {frame.file_end, frame.file_end + number(file, entry), frame.end,
             frame.end + number(file, entry + 4)};
    frames.push_back(frame);
  }
  return frames;
}

std::vector<std::uint64_t> contents_of(const Bytes& file) {
  std::vector<std::uint64_t> sizes;
  for (const Frame& frame : frames_of(file)) sizes.push_back(frame.end - frame.begin);
  return sizes;
}

Bytes compressed(const ScratchDir& scratch, const std::string& path) {
  btf::ConvertOptions options;
  options.compression = 1;
  const auto file = bytes::open(path);
  const auto size = btf::convert(file, scratch / "compressed", options);
  if (!size) throw std::runtime_error(size.error().text());
  return read_file(scratch / "compressed");
}

// Bytes that this process has read from files so far.
std::optional<std::uint64_t> bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  counters >> name >> value;
  return counters && name == "rchar:" ? std::optional(value) : std::nullopt;
}

// Tensors that a finding zstd-frame is about; that of the file as a whole is UINT64_MAX.
std::multiset<std::uint64_t> damaged_tensors(const std::string& path) {
  std::multiset<std::uint64_t> tensors;
  REQUIRE(btf::validate(path, [&](const btf::Finding& finding) {
    if (finding.code == "zstd-frame") tensors.insert(finding.tensor.value_or(UINT64_MAX));
  }));
  return tensors;
}

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Damages every frame in turn, and looks at each tensor.
void damage_each_frame(const ScratchDir& scratch, const Bytes& sound) {
  const auto file = bytes::open(bytes::save(scratch, "sound", sound));
  std::vector<Extent> extents;
  std::vector<Bytes> data;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto info = file.tensor(i).value();
    extents.push_back({info.record_offset, info.end()});
    const auto loaded = btf::read_tensor(file, info);
    data.emplace_back();
    if (loaded) data.back().assign(loaded->tensor.bytes.begin(), loaded->tensor.bytes.end());
  }
  const std::uint64_t table_end = 8 + 8 * file.tensor_count();
  for (const Frame& frame : frames_of(sound)) {
    if (frame.begin == frame.end) continue;
    Bytes damaged = sound;
    damaged[(frame.file_begin + frame.file_end) / 2] ^= std::byte{0x40};
    const std::string path = bytes::save(scratch, "damaged", damaged);
    CAPTURE(frame.begin, frame.end);
    const auto told = damaged_tensors(path);
    REQUIRE(!told.empty());
    if (frame.begin < table_end) continue;
    std::multiset<std::uint64_t> lost;
    const auto again = bytes::open(path);
    for (std::uint64_t i = 0; i < extents.size(); ++i) {
      if (frame.begin < extents[i].end && extents[i].begin < frame.end) {
        lost.insert(i);
        continue;
      }
      const auto info = again.tensor(i);
      REQUIRE(info);
      CHECK(again.check_overlap(*info));
      const auto loaded = btf::read_tensor(again, *info);
      CHECK((loaded ? std::ranges::equal(loaded->tensor.bytes, data[i]) : data[i].empty()));
    }
    if (lost.empty()) lost.insert(UINT64_MAX);
    CHECK(told == lost);
  }
}

}  // namespace

TEST_CASE("zstd frames: payloads have frames of their own, what is small shares some") {
  const ScratchDir scratch;
  const Bytes file = compressed(scratch, kData + "good/mixed.btf");
  // The table and a header; float32 [1, 3, 8, 8]; a header; float32 [16, 3, 3, 3]; int64 [4], a
  // header and the count of 20 indices; these; and the values.
  CHECK(contents_of(file) == std::vector<std::uint64_t>{88, 768, 48, 1728, 104, 320, 88});
  // The generator has put the same together.
  CHECK(contents_of(read_file(kData + "zstd/seekable_pieces.btf.zst")) == contents_of(file));
}

TEST_CASE("zstd frames: small pieces share a frame up to its size") {
  std::vector<Bytes> records(1000, bytes::dense(btf::DType::uint8, 0, {40}, Bytes(40)));
  const ScratchDir scratch;
  const Bytes file =
      compressed(scratch, bytes::save(scratch, "x.btf", bytes::file(std::move(records))));
  // A table of 8008 bytes, and of 64,000 bytes in headers of 24 and payloads of 40 as many as fit.
  CHECK(contents_of(file) == std::vector<std::uint64_t>{8008, 16384, 16384, 16384, 14848});
}

TEST_CASE("zstd frames: a question to one of 1000 tensors reads only what it needs") {
  if (!bytes_read()) return;
  const ScratchDir scratch;
  constexpr std::uint64_t kBytes = 256U << 10;
  constexpr std::uint64_t kTensors = 1000;
  const std::string path = scratch / "x.btf.zst";
  {
    const Bytes header = bytes::join(
        {bytes::header(2, btf::DType::uint8, btf::Layout::linear), bytes::u64({512, 512})});
    bytes::Words table{kTensors};
    for (std::uint64_t i = 0; i < kTensors; ++i)
      table.push_back(8 + 8 * kTensors + i * (header.size() + kBytes));
    const Bytes data = bytes::noise(kBytes);
    std::ofstream plain(scratch / "x.btf", std::ios::binary);
    const auto put = [&](const Bytes& part) {
      plain.write(reinterpret_cast<const char*>(part.data()),
                  static_cast<std::streamsize>(part.size()));
    };
    put(bytes::u64(table));
    for (std::uint64_t i = 0; i < kTensors; ++i) put(header), put(data);
  }
  btf::ConvertOptions options;
  options.compression = 1;
  const auto size = btf::convert(bytes::open(scratch / "x.btf"), path, options);
  REQUIRE(size);
  std::filesystem::remove(scratch / "x.btf");

  const auto share_of = [&](auto&& question) {
    const std::uint64_t before = bytes_read().value();
    question(bytes::open(path));
    return static_cast<double>(bytes_read().value() - before) / static_cast<double>(*size);
  };
  CHECK(share_of([&](const btf::TensorFile& file) {
          btf::ConvertOptions one;
          one.tensors = std::vector<std::uint64_t>{999};
          CHECK(btf::convert(file, scratch / "one.btf", one));
        }) < 0.01);
  CHECK(share_of([](const btf::TensorFile& file) {
          const bytes::Words index{511, 511};
          CHECK(btf::read_elements(file, file.tensor(500).value(), {{index}}));
        }) < 0.01);
  CHECK(share_of([](const btf::TensorFile& file) {
          for (std::uint64_t i = 0; i < kTensors; ++i)
            CHECK(file.check_overlap(file.tensor(i).value()));
        }) < 0.02);
}

TEST_CASE("zstd frames: every damaged frame is found, and costs the tensors in it and no others") {
  const ScratchDir scratch;
  for (const auto& entry : std::filesystem::directory_iterator(kData + "good")) {
    if (entry.path().extension() != ".btf" || entry.file_size() > 8192) continue;
    INFO(entry.path().string());
    damage_each_frame(scratch, compressed(scratch, entry.path().string()));
  }
}

TEST_CASE("zstd frames: a damaged one is decompressed once, however often it is asked for") {
  class Counting final : public btf::ByteSource {
   public:
    Counting(const Bytes& bytes, std::uint64_t& read) : bytes_(bytes), read_(read) {}
    std::uint64_t size() const override { return bytes_.size(); }
    btf::Status check_unchanged() const override { return {}; }
    btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
      read_ += out.size();
      std::ranges::copy(std::span(bytes_).subspan(offset, out.size()), out.begin());
      return {};
    }

   private:
    const Bytes& bytes_;
    std::uint64_t& read_;
  };
  // A frame with the count, then one with the offsets of half a million tensors.
  bytes::Words table{500'000};
  table.resize(1 + table.front());
  Bytes file = bytes::compress(bytes::u64(table), 1, {8});
  const Frame offsets = frames_of(file)[1];
  file[offsets.file_end - 1] ^= std::byte{1};
  std::uint64_t read = 0;
  const auto source = btf::unpacked_source("x", std::make_unique<Counting>(file, read), {});
  REQUIRE(source);
  const std::uint64_t before = read;
  std::string first;
  for (unsigned i = 0; i < 100; ++i) {
    Bytes some(8);
    const btf::Status status = (*source)->read_at(8 + 8 * i, some);
    REQUIRE_FALSE(status);
    CHECK(status.error().finding == "zstd-frame");
    if (i == 0) first = status.error().text();
    CHECK(status.error().text() == first);
  }
  // And a piece of the seek table.
  CHECK(read - before < 5 * (offsets.file_end - offsets.file_begin));
}

TEST_CASE("zstd frames: so they are in files of other writers") {
  const ScratchDir scratch;
  damage_each_frame(scratch, read_file(kData + "zstd/seekable.btf.zst"));
  // Cut anywhere, with bytes that belong to no record.
  Bytes content = read_file(kData + "good/mixed.btf");
  content.resize(content.size() + 1000, std::byte{7});
  for (const std::size_t step : {150U, 700U}) {
    std::vector<std::size_t> pieces;
    for (std::size_t end = step; end < content.size(); end += step) pieces.push_back(end);
    damage_each_frame(scratch, bytes::compress(content, 1, pieces));
  }
}

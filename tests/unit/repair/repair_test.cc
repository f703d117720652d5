// Damaged files, cut at every byte and with every bit of their headers flipped: what repair()
// writes is well-formed, has every record that is intact, to the byte, and none that never was.
#include "btf/repair.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "repair/salvage.h"
#include "support/btf_bytes.h"
#include "support/scratch_dir.h"
#include "support/zstd_bytes.h"

namespace {

using btf::DType;
using btf::Layout;
using bytes::Bytes;
using bytes::Words;

std::uint64_t word_at(const Bytes& file, std::size_t at) {
  std::uint64_t word = 0;
  for (unsigned i = 8; i-- > 0;) word = word << 8 | std::to_integer<std::uint64_t>(file.at(at + i));
  return word;
}

std::uint32_t half_at(const Bytes& file, std::size_t at) {
  std::uint32_t word = 0;
  for (unsigned i = 4; i-- > 0;) word = word << 8 | std::to_integer<std::uint32_t>(file.at(at + i));
  return word;
}

Bytes part(const Bytes& file, std::size_t begin, std::size_t end) {
  return {file.begin() + static_cast<std::ptrdiff_t>(begin),
          file.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Where the records of a canonical file begin, and at last where the file ends.
std::vector<std::size_t> borders(const Bytes& file) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < word_at(file, 0); ++i) all.push_back(word_at(file, 8 + 8 * i));
  all.push_back(file.size());
  return all;
}

std::vector<Bytes> records_of(const Bytes& file) {
  const std::vector<std::size_t> at = borders(file);
  std::vector<Bytes> all;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) all.push_back(part(file, at[i], at[i + 1]));
  return all;
}

struct Outcome {
  btf::RepairSummary summary;
  std::map<std::uint64_t, std::uint64_t> targets;  // of tensors that something was said about
  std::set<std::uint64_t> lost;
  std::set<std::uint64_t> in_doubt;
  std::set<std::uint64_t> followed;
  std::vector<std::string> damage;
  std::vector<Bytes> records;  // of the output
};

// Writes the file, repairs it and checks what holds whatever the damage.
class Bench {
 public:
  explicit Bench(btf::RepairOptions options = {}) : options_(std::move(options)) {
    options_.execution.jobs = 1;
  }

  Outcome run(const Bytes& file) {
    write_file(in_, file);
    write_file(out_, kOld);
    Outcome outcome;
    const auto summary =
        btf::repair(in_, out_, options_,
                    {.file = [&](const btf::Finding& f) { outcome.damage.emplace_back(f.code); },
                     .tensor = [&](const btf::RepairedTensor& tensor) { take(tensor, outcome); }});
    if (!summary) throw std::runtime_error(summary.error().text());
    outcome.summary = *summary;
    const Bytes written = read_file(out_);
    if (summary->bytes == 0) {
      REQUIRE(written == kOld);
      REQUIRE(summary->saved == 0);
      return outcome;
    }
    REQUIRE(written.size() == summary->bytes);
    std::string findings;
    REQUIRE(btf::validate(out_, [&](const btf::Finding& f) {
      // What an element means is no damage: it is copied.
      if (f.code != "bool-byte") findings += f.message;
    }));
    REQUIRE(findings.empty());
    outcome.records = records_of(written);
    REQUIRE(outcome.records.size() == summary->saved);
    REQUIRE(outcome.lost.size() == summary->lost());
    return outcome;
  }

 private:
  static void take(const btf::RepairedTensor& tensor, Outcome& outcome) {
    if (!tensor.target) outcome.lost.insert(tensor.source);
    if (tensor.target && tensor.finding.code != "offset-wrong")
      outcome.in_doubt.insert(tensor.source);
    if (tensor.followed) outcome.followed.insert(tensor.source);
    REQUIRE(!tensor.finding.message.empty());
    REQUIRE(!tensor.finding.code.empty());
    REQUIRE(tensor.finding.tensor == tensor.source);
  }

  const Bytes kOld = bytes::hex("6f 6c 64");
  ScratchDir scratch_;
  btf::RepairOptions options_;
  std::string in_ = scratch_ / "in.btf";
  std::string out_ = scratch_ / "out.btf";
};

// Of `good` these and no others, in their order.
void expect_saved(const Outcome& outcome, const std::vector<Bytes>& good,
                  const std::set<std::uint64_t>& saved) {
  std::vector<Bytes> expected;
  for (const std::uint64_t i : saved) expected.push_back(good[i]);
  REQUIRE(outcome.records == expected);
  REQUIRE(outcome.summary.saved == saved.size());
}

// Records of all kinds whose data have no zero bytes at their ends.
Bytes sample() {
  const auto ramp = [](std::size_t count, std::size_t first) {
    Bytes all(count);
    for (std::size_t i = 0; i < count; ++i)
      all[i] = static_cast<std::byte>((first + i * 7) % 255 + 1);
    return all;
  };
  Bytes lanes(2 * 8 * 4);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t c = 0; c < 3 * 4; ++c) lanes[i * 32 + c] = static_cast<std::byte>(c + 1);
  return bytes::file({
      bytes::dense(DType::float32, Layout::linear, {2, 3}, ramp(24, 1)),
      bytes::dense(DType::uint8, Layout::linear, {5}, ramp(5, 9)),
      bytes::coo(DType::float32, {4, 5}, {{0, 1}, {2, 2}, {3, 4}}, ramp(12, 30)),
      bytes::dense(DType::float32, Layout::hwc8, {3, 1, 2}, lanes),
      bytes::dense(DType::int4, Layout::linear, {3, 3},
                   bytes::pack(4, {1, 2, 3, 4, 5, 6, 7, 9, 11})),
      bytes::dense(DType::float64, Layout::linear, {}, ramp(8, 50)),
      bytes::dense(DType::int16, Layout::linear, {7, 2}, ramp(28, 80)),
  });
}

Bytes flipped(Bytes file, std::size_t byte, unsigned bit) {
  file[byte] ^= static_cast<std::byte>(1U << bit);
  return file;
}

// Bytes of the header of a record: what stands before the elements.
std::vector<std::size_t> header_bytes(const Bytes& file, std::size_t begin) {
  const std::size_t rank = word_at(file, begin);
  std::size_t end = begin + 16 + 8 * rank;
  std::vector<std::size_t> all;
  const unsigned layout = std::to_integer<unsigned>(file[begin + 9]);
  if (layout == 2) {
    const std::size_t values = end + 16 + 8 * rank * word_at(file, end);
    end += 16;
    for (std::size_t i = 0; i < 8; ++i) all.push_back(values + i);
  }
  for (std::size_t at = begin; at < end; ++at) all.push_back(at);
  return all;
}

// Does the file tell that something is wrong? Padding that is not zero is no sign: writers of real
// files leave it so.
bool tells(const Bytes& file) {
  const ScratchDir scratch;
  bool any = false;
  (void)btf::validate(bytes::save(scratch, "x.btf", file), [&](const btf::Finding& finding) {
    any = any || finding.severity == btf::Severity::error ||
          finding.code == "gap-between-records" || finding.code == "trailing-bytes";
  });
  return any;
}

}  // namespace

TEST_CASE("repair: files cut at every byte keep the records before the cut", "[repair]") {
  Bench bench;
  for (const std::string name : {"mixed", "dtypes", "scalars", "coo_code2", "zero_dims"}) {
    const Bytes file = read_file(std::string(BTF_TESTDATA_DIR) + "/good/" + name + ".btf");
    const std::vector<Bytes> good = records_of(file);
    const std::vector<std::size_t> at = borders(file);
    // What is cut off of a record's padding is no loss.
    std::vector<std::size_t> ends;
    const auto whole_file = bytes::open(std::string(BTF_TESTDATA_DIR) + "/good/" + name + ".btf");
    for (std::size_t i = 0; i < good.size(); ++i) ends.push_back(whole_file.tensor(i)->end());
    for (std::size_t size = 0; size <= file.size(); ++size) {
      CAPTURE(name, size);
      std::set<std::uint64_t> whole;
      for (std::size_t i = 0; i < good.size() && at.front() <= size; ++i)
        if (ends[i] <= size) whole.insert(i);
      if (size < at.front() || whole.empty()) {
        REQUIRE(bench.run(part(file, 0, size)).summary.bytes == 0);
        continue;
      }
      expect_saved(bench.run(part(file, 0, size)), good, whole);
    }
  }
}

TEST_CASE("repair: whatever bit of the count or of the offsets is wrong, all is found",
          "[repair]") {
  Bench bench;
  const Bytes file = sample();
  const std::vector<Bytes> good = records_of(file);
  std::set<std::uint64_t> all;
  for (std::size_t i = 0; i < good.size(); ++i) all.insert(i);
  for (std::size_t byte = 0; byte < borders(file).front(); ++byte)
    for (unsigned bit = 0; bit < 8; ++bit) {
      CAPTURE(byte, bit);
      const Outcome outcome = bench.run(flipped(file, byte, bit));
      expect_saved(outcome, good, all);
      REQUIRE(outcome.in_doubt.empty());
      const bool count = byte < 8;
      REQUIRE(outcome.damage.size() == (count ? 1 : 0));
      REQUIRE(outcome.followed ==
              (count ? std::set<std::uint64_t>{} : std::set<std::uint64_t>{byte / 8 - 1}));
    }
}

TEST_CASE("repair: a table that is zero or noise costs nothing", "[repair]") {
  Bench bench;
  const Bytes file = sample();
  const std::vector<Bytes> good = records_of(file);
  for (const int fill : {0x00, 0xff, 0x5a}) {
    Bytes damaged = file;
    std::fill(damaged.begin() + 16, damaged.begin() + 16 + 5 * 8, static_cast<std::byte>(fill));
    const Outcome outcome = bench.run(damaged);
    CAPTURE(fill);
    expect_saved(outcome, good, {0, 1, 2, 3, 4, 5, 6});
    REQUIRE(outcome.followed == std::set<std::uint64_t>{1, 2, 3, 4, 5});
  }
}

TEST_CASE("repair: whatever bit of a header is wrong, the other records are saved", "[repair]") {
  for (const bool strict : {false, true}) {
    Bench bench({.strict = strict});
    const Bytes file = sample();
    const std::vector<Bytes> good = records_of(file);
    const std::vector<std::size_t> at = borders(file);
    for (std::size_t record = 0; record < good.size(); ++record)
      for (const std::size_t byte : header_bytes(file, at[record]))
        for (unsigned bit = 0; bit < 8; ++bit) {
          CAPTURE(strict, record, byte - at[record], bit);
          const Bytes damaged = flipped(file, byte, bit);
          const Outcome outcome = bench.run(damaged);
          REQUIRE(outcome.followed.empty());
          std::set<std::uint64_t> others;
          for (std::size_t i = 0; i < good.size(); ++i)
            if (i != record) others.insert(i);
          if (outcome.lost.contains(record)) {
            expect_saved(outcome, good, others);
            continue;
          }
          // It was kept: as it was, or in doubt, or nothing in the file tells that it was another.
          REQUIRE(outcome.lost.empty());
          REQUIRE(outcome.records.size() == good.size());
          for (const std::uint64_t i : others) REQUIRE(outcome.records[i] == good[i]);
          if (outcome.records[record] == good[record]) continue;
          if (outcome.in_doubt.contains(record))
            REQUIRE(!strict);
          else
            REQUIRE(!tells(damaged));
        }
  }
}

TEST_CASE("repair: a header of zeros is no scalar", "[repair]") {
  Bench bench;
  const Bytes file = sample();
  const std::vector<std::size_t> at = borders(file);
  for (std::size_t record = 0; record + 1 < at.size(); ++record) {
    Bytes damaged = file;
    const auto from = damaged.begin() + static_cast<std::ptrdiff_t>(at[record]);
    std::fill(from, from + 24, std::byte{});
    const Outcome outcome = bench.run(damaged);
    CAPTURE(record);
    if (at[record + 1] - at[record] == 24) continue;  // a scalar may be zero
    REQUIRE(outcome.lost == std::set<std::uint64_t>{record});
  }
}

TEST_CASE("repair: what readers cope with is saved as convert writes it", "[repair]") {
  Bench bench;
  for (const std::string name :
       {"bool_byte", "lane_padding_not_zero", "misaligned_offsets", "offsets_not_ascending",
        "padding_not_zero", "reserved_not_zero", "spare_nibble_not_zero", "unpadded_last",
        "gap_between_records", "trailing_bytes"}) {
    CAPTURE(name);
    const std::string path = std::string(BTF_TESTDATA_DIR) + "/odd/" + name;
    const Outcome outcome = bench.run(read_file(path + ".btf"));
    REQUIRE(outcome.records == records_of(read_file(path + ".canonical.btf")));
    REQUIRE(outcome.lost.empty());
    // Bytes that belong to no record may be what a damaged header no longer speaks of.
    const bool gaps = name == "gap_between_records" || name == "trailing_bytes";
    REQUIRE(outcome.in_doubt.empty() == !gaps);
  }
}

TEST_CASE("repair: an index out of range, and one that occurs twice, cost the tensor", "[repair]") {
  const auto tensor = [](std::uint64_t first) {
    return bytes::coo(DType::int8, {4}, {{first}, {2}}, bytes::hex("05 06"));
  };
  const Bytes sound = tensor(1);
  const Bytes file = bytes::file({sound, tensor(4), tensor(2), sound});
  REQUIRE(Bench().run(file).lost == std::set<std::uint64_t>{1, 2});
  REQUIRE(Bench({.duplicates = btf::Duplicates::last}).run(file).lost ==
          std::set<std::uint64_t>{1});
}

namespace {

// A compressed file, and where its frames are in it and in its content.
struct Compressed {
  Bytes content;
  Bytes file;
  std::vector<std::size_t> file_at;     // of each frame; at last: of the table
  std::vector<std::size_t> content_at;  // likewise
};

Compressed framed(const Bytes& content, Bytes file) {
  Compressed all{content, std::move(file), {0}, {0}};
  const std::size_t frames = half_at(all.file, all.file.size() - 9);
  std::size_t entry = all.file.size() - 9 - 12 * frames;
  for (std::size_t i = 0; i < frames; ++i, entry += 12) {
    all.file_at.push_back(all.file_at.back() + half_at(all.file, entry));
    all.content_at.push_back(all.content_at.back() + half_at(all.file, entry + 4));
  }
  return all;
}

Compressed compressed(const Bytes& content, const std::vector<std::size_t>& pieces) {
  return framed(content, bytes::compress(content, 1, pieces));
}

// Records of many lengths, the middle one in many frames.
Compressed compressed_sample() {
  const Bytes content = bytes::file({
      bytes::dense(DType::uint8, Layout::linear, {300}, bytes::noise(300, 1)),
      bytes::dense(DType::float32, Layout::linear, {100}, bytes::noise(400, 2)),
      bytes::dense(DType::int16, Layout::linear, {2, 500}, bytes::noise(2000, 3)),
      bytes::dense(DType::uint8, Layout::linear, {50}, bytes::noise(50, 4)),
      bytes::dense(DType::float64, Layout::linear, {40}, bytes::noise(320, 5)),
  });
  std::vector<std::size_t> pieces = borders(content);
  for (std::size_t at = pieces[2] + 40; at < pieces[3]; at += 300) pieces.push_back(at);
  std::ranges::sort(pieces);
  return compressed(content, pieces);
}

// Records that need none of the frames that are lost.
std::set<std::uint64_t> records_without(const Compressed& data, const std::set<std::size_t>& lost) {
  const std::vector<std::size_t> at = borders(data.content);
  std::set<std::uint64_t> all;
  for (std::size_t record = 0; record + 1 < at.size(); ++record) {
    bool there = true;
    for (const std::size_t frame : lost)
      there = there && (data.content_at[frame] >= at[record + 1] ||
                        data.content_at[frame + 1] <= at[record]);
    if (there) all.insert(record);
  }
  return all;
}

std::size_t frame_of(const Compressed& data, std::size_t byte) {
  return static_cast<std::size_t>(std::ranges::upper_bound(data.file_at, byte) -
                                  data.file_at.begin()) -
         1;
}

}  // namespace

TEST_CASE("repair: a compressed file that is cut anywhere keeps its whole frames", "[repair]") {
  const Compressed data = compressed_sample();
  const std::vector<Bytes> good = records_of(data.content);
  Bench bench;
  for (std::size_t size = 0; size <= data.file.size(); ++size) {
    CAPTURE(size);
    std::set<std::size_t> lost;
    for (std::size_t i = 0; i + 1 < data.file_at.size(); ++i)
      if (data.file_at[i + 1] > size) lost.insert(i);
    const Outcome outcome = bench.run(part(data.file, 0, size));
    // Without its first frame there is no table.
    if (lost.contains(0) || records_without(data, lost).empty())
      REQUIRE(outcome.summary.bytes == 0);
    else
      expect_saved(outcome, good, records_without(data, lost));
  }
}

TEST_CASE("repair: a damaged frame costs the records that need it", "[repair]") {
  const Compressed data = compressed_sample();
  const std::vector<Bytes> good = records_of(data.content);
  const std::size_t table = data.file_at.back();
  Bench bench;
  for (std::size_t byte = 0; byte < table; ++byte) {
    const auto bit = static_cast<unsigned>(byte * 5 % 8);
    const std::size_t frame = frame_of(data, byte);
    const Bytes damaged = flipped(data.file, byte, bit);
    const std::set<std::uint64_t> expected = records_without(data, {frame});
    for (const bool has_table : {true, false}) {
      CAPTURE(byte, bit, frame, has_table);
      const Outcome outcome = bench.run(has_table ? damaged : part(damaged, 0, table));
      // Some bits of a frame say nothing about its content.
      if (outcome.summary.saved == good.size())
        expect_saved(outcome, good, {0, 1, 2, 3, 4});
      else if (frame == 0)
        REQUIRE(outcome.summary.bytes == 0);
      else
        expect_saved(outcome, good, expected);
    }
  }
}

TEST_CASE("repair: a damaged seek table costs nothing", "[repair]") {
  const Compressed data = compressed_sample();
  const std::vector<Bytes> good = records_of(data.content);
  Bench bench;
  for (std::size_t byte = data.file_at.back(); byte < data.file.size(); ++byte)
    for (unsigned bit = 0; bit < 8; ++bit) {
      CAPTURE(byte - data.file_at.back(), bit);
      const Outcome outcome = bench.run(flipped(data.file, byte, bit));
      expect_saved(outcome, good, {0, 1, 2, 3, 4});
      CHECK(outcome.summary.lost_frames == 0);
    }
}

TEST_CASE("repair: frames that are missing leave the others where they belong", "[repair]") {
  const Compressed data = compressed_sample();
  const std::vector<Bytes> good = records_of(data.content);
  Bench bench;
  for (std::size_t first = 1; first + 1 < data.file_at.size(); ++first)
    for (std::size_t end = first + 1; end < data.file_at.size(); ++end) {
      std::set<std::size_t> lost;
      for (std::size_t i = first; i < end; ++i) lost.insert(i);
      Bytes damaged = part(data.file, 0, data.file_at[first]);
      const Bytes rest = part(data.file, data.file_at[end], data.file.size());
      CAPTURE(first, end);
      // Bytes of another kind in their place, so that it can be seen that something is missing.
      for (const std::size_t junk : {7U, 100U}) {
        const Bytes file = bytes::join({damaged, Bytes(junk, std::byte{0x41}), rest});
        const std::set<std::uint64_t> expected = records_without(data, lost);
        const Outcome outcome = bench.run(file);
        if (expected.empty())
          REQUIRE(outcome.summary.bytes == 0);
        else
          expect_saved(outcome, good, expected);
      }
    }
}

TEST_CASE("repair: small records that share frames, each frame damaged in turn", "[repair]") {
  // As convert() writes them: many small records to a frame, some with a large one's header behind.
  std::vector<Bytes> records;
  for (unsigned i = 0; i < 700; ++i) {
    const std::size_t size = i % 97 == 50 ? 3000 + i : 1 + i * 37 % 101;
    records.push_back(bytes::dense(DType::uint8, Layout::linear, {size}, bytes::noise(size, i)));
  }
  const Bytes content = bytes::file(records);
  const ScratchDir scratch;
  const auto input = bytes::open(bytes::save(scratch, "x.btf", content));
  btf::ConvertOptions options;
  options.compression = 1;
  options.execution.jobs = 1;
  REQUIRE(btf::convert(input, scratch / "x.btf.zst", options));
  const Compressed data = framed(content, read_file(scratch / "x.btf.zst"));
  const std::size_t frames = data.file_at.size() - 1;
  REQUIRE(frames > 10);
  REQUIRE(frames < records.size() / 8);
  const std::vector<Bytes> good = records_of(content);
  const std::size_t table = data.file_at.back();
  Bench bench;
  for (std::size_t frame = 1; frame < frames; ++frame) {
    const std::set<std::uint64_t> expected = records_without(data, {frame});
    // Its magic number, so that nothing but the seek table says how much it held; its content.
    for (const std::size_t at : {data.file_at[frame], data.file_at[frame + 1] - 6}) {
      Bytes damaged = flipped(data.file, at, 3);
      CAPTURE(frame, at - data.file_at[frame]);
      expect_saved(bench.run(damaged), good, expected);
      expect_saved(bench.run(part(damaged, 0, table)), good, expected);  // no seek table
      // One that a sound frame contradicts.
      expect_saved(bench.run(flipped(damaged, table + 8 + 5, 0)), good, expected);
    }
  }
}

TEST_CASE("repair: records of one length are not taken for each other", "[repair]") {
  std::vector<Bytes> records;
  for (unsigned i = 0; i < 8; ++i)
    records.push_back(bytes::dense(DType::uint8, Layout::linear, {40}, bytes::noise(40, i)));
  const Bytes content = bytes::file(records);
  const Compressed data = compressed(content, borders(content));
  const std::vector<Bytes> good = records_of(content);
  Bench bench;
  for (std::size_t byte = data.file_at[1]; byte < data.file_at.back(); ++byte)
    for (const unsigned bit : {0U, 2U, 4U, 6U})
      for (const std::size_t end : {data.file.size(), data.file_at.back(), data.file_at[6]}) {
        CAPTURE(byte, bit, end);
        if (byte >= end) continue;
        const Outcome outcome = bench.run(part(flipped(data.file, byte, bit), 0, end));
        std::uint64_t next = 0;
        for (std::uint64_t i = 0; i < good.size(); ++i)
          if (!outcome.lost.contains(i) && outcome.summary.bytes > 0)
            REQUIRE(outcome.records.at(next++) == good[i]);
        if (end == data.file.size()) REQUIRE(outcome.lost.size() <= 1);
      }
}

// In a time that grew with their square it would not end before the limit of the test.
TEST_CASE("repair: a hundred thousand small frames") {
  constexpr std::size_t kFrames = 100'000;
  std::vector<std::size_t> pieces(kFrames - 1);
  std::iota(pieces.begin(), pieces.end(), std::size_t{1});
  const Bytes content(kFrames, std::byte{7});
  const Bytes file = bytes::compress(content, 1, pieces);
  const auto saved =
      btf::zstd::salvage("x", std::make_unique<btf::MemorySource>(std::span(file)), {});
  REQUIRE(saved);
  Bytes read(kFrames);
  REQUIRE((*saved)->read_at(0, read));
  CHECK(read == content);
}

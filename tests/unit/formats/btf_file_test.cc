#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/file.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "btf/validate.h"
#include "formats/btf_reader.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::ErrorCode;
using btf::Layout;
using btf::Severity;
using btf::TensorFile;
using btf::TensorInfo;
using bytes::Bytes;
using bytes::Words;

namespace {

const std::string kTestdata = BTF_TESTDATA_DIR;

struct Found {
  bool error = false;
  std::string code;
  std::optional<std::uint64_t> tensor;
  std::uint64_t offset = 0;

  bool operator==(const Found&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << (found.error ? "error " : "warning ") << found.code << " tensor "
               << (found.tensor ? std::to_string(*found.tensor) : "-") << " byte " << found.offset;
  }
};

std::vector<Found> findings(const std::string& path) {
  std::vector<Found> all;
  const auto status = btf::validate(path, [&](const btf::Finding& finding) {
    CHECK_FALSE(finding.message.empty());
    all.push_back({finding.severity == Severity::error, std::string(finding.code), finding.tensor,
                   finding.offset});
  });
  REQUIRE(status);
  return all;
}

std::vector<std::string> btf_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kTestdata + "/" + folder))
    if (entry.path().extension() == ".btf") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  REQUIRE(paths.size() > 10);
  return paths;
}

// The finding of an error that tensor() must return.
std::string refusal(const TensorFile& file, std::uint64_t index) {
  const auto info = file.tensor(index);
  if (info) return "";
  CHECK(info.error().code == ErrorCode::malformed);
  CHECK(info.error().file == file.path());
  CHECK(said(info.error()).starts_with("tensor " + std::to_string(index) + ": "));
  return std::string(info.error().finding);
}

std::string refusal(const Bytes& record) {
  const ScratchDir scratch;
  return refusal(bytes::open(bytes::save(scratch, "f.btf", bytes::file({record}))), 0);
}

TensorInfo tensor(const TensorFile& file, std::uint64_t index) {
  auto info = file.tensor(index);
  if (!info) throw std::runtime_error(info.error().text());
  return *std::move(info);
}

const Bytes kFloats =
    bytes::dense(DType::float32, Layout::linear, {3}, bytes::values<float>({1, 2, 3}));

// Are these the three floats of kFloats?
bool floats_usable(const TensorFile& file, std::uint64_t index) {
  const auto info = file.tensor(index);
  if (!info) return false;
  const auto stats = btf::stats(file, *info);
  return stats && stats->elements == 3 && stats->mean == 2.0;
}

}  // namespace

TEST_CASE("btf file: the dense example of the format's description") {
  const Bytes content = bytes::hex(
      "02 00 00 00 00 00 00 00  18 00 00 00 00 00 00 00  38 00 00 00 00 00 00 00"
      "01 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
      "01 00 fe ff 2c 01 00 00"
      "02 00 00 00 00 00 00 00  04 00 00 00 00 00 00 00"
      "01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00  00 00 80 3f 00 00 00 bf");
  REQUIRE(content == bytes::file({bytes::dense(DType::int16, Layout::linear, {3},
                                               bytes::values<std::int16_t>({1, -2, 300})),
                                  bytes::dense(DType::float32, Layout::linear, {1, 2},
                                               bytes::values<float>({1.0F, -0.5F}))}));
  const ScratchDir scratch;
  const std::string path = bytes::save(scratch, "dense.btf", content);
  const TensorFile file = bytes::open(path);
  CHECK(file.path() == path);
  CHECK(file.format() == "btf");
  CHECK(file.size() == 96);
  CHECK(file.tensor_count() == 2);

  const TensorInfo first = tensor(file, 0);
  CHECK(first.index == 0);
  CHECK_FALSE(first.named);
  CHECK(first.dtype_code == 1);
  CHECK(first.layout_code == 0);
  CHECK(first.dtype == DType::int16);
  CHECK(first.layout == Layout::linear);
  CHECK(first.known());
  CHECK(first.dims == Words{3});
  CHECK(first.record_offset == 0x18);
  CHECK(first.data_offset == 0x30);
  CHECK(first.data_bytes == 6);
  CHECK(first.end() == 0x36);
  CHECK_FALSE(first.coo);
  REQUIRE(first.storage);
  CHECK(first.storage->storage_elements == 3);
  CHECK(first.storage->strides == Words{1});

  const TensorInfo second = tensor(file, 1);
  CHECK(second.index == 1);
  CHECK(second.dtype == DType::float32);
  CHECK(second.dims == Words{1, 2});
  CHECK(second.record_offset == 0x38);
  CHECK(second.data_offset == 0x58);
  CHECK(second.data_bytes == 8);
  CHECK(second.end() == 0x60);
}

TEST_CASE("btf file: the COO example, with both codes") {
  for (const char* code : {"02", "01"}) {
    const Bytes content = bytes::hex(
        std::string("01 00 00 00 00 00 00 00  10 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
                    "04 ") +
        code +
        "00 00 00 00 00 00  02 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
        "03 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
        "00 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00"
        "01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
        "01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
        "03 00 00 00 00 00 00 00  00 00 c0 3f 00 00 00 80 00 00 00 c0 00 00 00 00");
    const ScratchDir scratch;
    const std::string path = bytes::save(scratch, "coo.btf", content);
    CHECK(findings(path).empty());
    const TensorFile file = bytes::open(path);
    const TensorInfo info = tensor(file, 0);
    CHECK(info.layout_code == std::stoi(code));
    CHECK(info.layout == Layout::coo);
    CHECK(info.known());
    CHECK(info.dims == Words{2, 3});
    CHECK_FALSE(info.storage);
    REQUIRE(info.coo);
    CHECK(info.coo->nnz == 3);
    CHECK(info.data_offset == 0x30);
    CHECK(info.coo->indices_offset == 0x40);
    CHECK(info.coo->values_offset == 0x78);
    CHECK(info.data_bytes == 0x84 - 0x30);
    CHECK(info.end() == 0x84);
  }
}

TEST_CASE("btf file: the example of the extension") {
  const Bytes content = bytes::hex(
      "02 00 00 00 00 00 00 00  18 00 00 00 00 00 00 00  38 00 00 00 00 00 00 00"
      "01 00 00 00 00 00 00 00  86 00 00 00 00 00 00 00  05 00 00 00 00 00 00 00"
      "e1 87 03 00 00 00 00 00"
      "03 00 00 00 00 00 00 00  80 81 00 00 00 00 00 00"
      "03 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
      "00 3c 00 42 00 40 00 44 00 45 00 00 00 46 00 00");
  const ScratchDir scratch;
  const std::string path = bytes::save(scratch, "extension.btf", content);
  CHECK(findings(path).empty());
  const TensorFile file = bytes::open(path);

  const TensorInfo nibbles = tensor(file, 0);
  CHECK(nibbles.dtype == DType::int4);
  CHECK(nibbles.data_bytes == 3);
  const auto codes = btf::read_elements(file, nibbles, std::vector<Words>{{0}, {1}, {3}, {4}});
  REQUIRE(codes);
  CHECK((*codes)[0].code == 0x1);
  CHECK((*codes)[1].code == 0xe);
  CHECK((*codes)[1].high_nibble);
  CHECK((*codes)[2].code == 0x8);
  CHECK((*codes)[3].offset == 0x32);

  const TensorInfo lanes = tensor(file, 1);
  CHECK(lanes.dtype == DType::float16);
  CHECK(lanes.layout == Layout::chw2);
  CHECK(lanes.layout_code == 129);
  CHECK(lanes.dims == Words{3, 1, 2});
  CHECK(lanes.data_bytes == 16);
  REQUIRE(lanes.storage);
  CHECK(lanes.storage->storage_shape() == Words{2, 1, 2, 2});
  const auto last = btf::read_elements(file, lanes, std::vector<Words>{{2, 0, 1}});
  REQUIRE(last);
  CHECK(last->front().code == 0x4600);
  CHECK(last->front().offset == 0x6c);
}

TEST_CASE("btf file: what cannot be opened") {
  const ScratchDir scratch;
  const auto missing = TensorFile::open(scratch / "no.btf");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::io);
  CHECK(missing.error().file == scratch / "no.btf");
  CHECK(missing.error().text().find("No such file") != std::string::npos);

  const auto folder = TensorFile::open(scratch / "");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == ErrorCode::io);

  for (const std::size_t size : {0U, 1U, 7U}) {
    const auto cut = TensorFile::open(bytes::save(scratch, "cut.btf", Bytes(size)));
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == ErrorCode::malformed);
    CHECK(cut.error().finding == "file-too-short");
  }
  for (const std::uint64_t count :
       {1ULL, 1ULL << 32, 1ULL << 61, (1ULL << 61) - 1, 1ULL << 63, ~0ULL}) {
    const auto lie = TensorFile::open(bytes::save(scratch, "lie.btf", bytes::u64({count})));
    REQUIRE_FALSE(lie);
    CHECK(lie.error().finding == "offset-table-too-long");
  }
}

TEST_CASE("btf file: no tensor, and a tensor that is not there") {
  const ScratchDir scratch;
  const TensorFile file = bytes::open(bytes::save(scratch, "empty.btf", bytes::file({})));
  CHECK(file.size() == 8);
  CHECK(file.tensor_count() == 0);
  for (const std::uint64_t index : {0ULL, 1ULL, 1ULL << 61, ~0ULL}) {
    const auto none = file.tensor(index);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("btf file: rank 0, rank 255 and rank 256") {
  const ScratchDir scratch;
  const Words ones(255, 1);
  const TensorFile file = bytes::open(bytes::save(
      scratch, "ranks.btf",
      bytes::file({bytes::dense(DType::int8, Layout::linear, {}, bytes::hex("80")),
                   bytes::dense(DType::int8, Layout::linear, ones, bytes::hex("01")),
                   bytes::dense(DType::int8, Layout::linear, Words(256, 1), bytes::hex("01"))})));
  CHECK(tensor(file, 0).dims.empty());
  CHECK(tensor(file, 0).data_bytes == 1);
  CHECK(tensor(file, 1).dims == ones);
  CHECK(refusal(file, 2) == "rank-too-large");
}

TEST_CASE("btf file: a dim of 0 hides no overflow, wherever it stands") {
  constexpr std::uint64_t k40 = 1ULL << 40;
  for (const DType dtype : {DType::int8, DType::int4, DType::float64}) {
    for (Words dims : {Words{0, k40, k40}, Words{k40, 0, k40}, Words{k40, k40, 0}}) {
      CAPTURE(dims);
      CHECK(refusal(bytes::dense(dtype, Layout::linear, dims, {})) == "size-overflow");
      CHECK(refusal(bytes::coo(dtype, dims, {}, {})) == "size-overflow");
    }
    for (const Words& dims :
         {Words{0, k40}, Words{k40, 0}, Words{0}, Words{k40, 0, 1 << 20}, Words{0, 0, k40}}) {
      CAPTURE(dims);
      CHECK(refusal(bytes::dense(dtype, Layout::linear, dims, {})).empty());
      CHECK(refusal(bytes::coo(dtype, dims, {}, {})).empty());
    }
  }
  for (const Layout layout : {Layout::hwc8, Layout::chw32, Layout::dla_linear}) {
    CHECK(refusal(bytes::dense(DType::float16, layout, {0, k40, k40}, {})) == "size-overflow");
    CHECK(refusal(bytes::dense(DType::float16, layout, {k40, 0, k40}, {})) == "size-overflow");
    CHECK(refusal(bytes::dense(DType::float16, layout, {k40, 0, 5}, {})).empty());
  }
}

TEST_CASE("btf file: dims whose product does not fit 64 bits") {
  constexpr std::uint64_t kHuge = 1ULL << 63;
  CHECK(refusal(bytes::dense(DType::uint8, Layout::linear, {1ULL << 32, 1ULL << 32}, {})) ==
        "size-overflow");
  CHECK(refusal(bytes::dense(DType::uint8, Layout::linear, {kHuge + 2, 2}, Bytes(4))) ==
        "size-overflow");
  CHECK(refusal(bytes::dense(DType::int16, Layout::linear, {kHuge}, {})) == "size-overflow");
  CHECK(refusal(bytes::dense(DType::int8, Layout::linear, {kHuge}, {})) == "data-past-end");
  CHECK(refusal(bytes::dense(DType::uint4, Layout::linear, {~0ULL}, {})) == "data-past-end");
  CHECK(refusal(bytes::dense(DType::int8, Layout::hwc8, {~0ULL, 1, 1}, {})) == "size-overflow");
  CHECK(refusal(bytes::dense(DType::int8, Layout::chw32, {~0ULL, 1, 1}, {})) == "size-overflow");
  CHECK(refusal(bytes::dense(DType::int8, Layout::dla_linear, {1, 1, ~0ULL}, {})) ==
        "size-overflow");
  CHECK(refusal(bytes::coo(DType::int8, {1ULL << 40, 1ULL << 40}, {}, {})) == "size-overflow");
  CHECK(refusal(bytes::coo(DType::int8, {~0ULL, 2}, {}, {})) == "size-overflow");
  // A sparse tensor may be larger than any file.
  CHECK(refusal(bytes::coo(DType::float64, {~0ULL}, {}, {})).empty());
  CHECK(refusal(bytes::coo(DType::float64, {1ULL << 31, 1ULL << 32}, {}, {})).empty());
}

TEST_CASE("btf file: the counts inside a COO payload") {
  const auto record = [](std::uint64_t n, std::uint64_t columns, std::uint64_t values) {
    return bytes::join({bytes::header(1, DType::int64, Layout::coo), bytes::u64({4, n, columns}),
                        bytes::u64({0, 3}), bytes::u64({values}), bytes::u64({7, 9})});
  };
  CHECK(refusal(record(2, 1, 2)).empty());
  CHECK(refusal(record(2, 2, 2)) == "coo-rank-mismatch");
  CHECK(refusal(record(2, 0, 2)) == "coo-rank-mismatch");
  CHECK(refusal(record(2, 1, 3)) == "coo-count-mismatch");
  CHECK(refusal(record(2, 1, 1)) == "coo-count-mismatch");
  for (const std::uint64_t n :
       {6ULL, 1ULL << 60, 1ULL << 61, (1ULL << 61) + 2, 1ULL << 63, ~0ULL}) {
    CAPTURE(n);
    CHECK(refusal(record(n, 1, n)) == "coo-indices-past-end");
  }
  // With rank 0 there are no index bytes that could be too many.
  const auto scalar = [](std::uint64_t n) {
    return bytes::join({bytes::header(0, DType::int64, Layout::coo), bytes::u64({n, 0, n, 5})});
  };
  CHECK(refusal(scalar(0)).empty());
  CHECK(refusal(scalar(1)).empty());
  for (const std::uint64_t n : {2ULL, 1ULL << 61, ~0ULL}) {
    CAPTURE(n);
    CHECK(refusal(scalar(n)) == "coo-values-past-end");
  }
}

TEST_CASE("btf file: unknown codes leave the other records usable") {
  const ScratchDir scratch;
  const std::string path =
      bytes::save(scratch, "unknown.btf",
                  bytes::file({kFloats, bytes::dense(42, Layout::linear, {2, 2}, Bytes(16)),
                               kFloats, bytes::dense(DType::float32, 77, {4}, Bytes(16)),
                               bytes::dense(255, 128, {1, 2, 3}, Bytes(8)), kFloats}));
  const TensorFile file = bytes::open(path);
  for (const std::uint64_t good : {0U, 2U, 5U}) CHECK(floats_usable(file, good));

  const TensorInfo dtype = tensor(file, 1);
  CHECK_FALSE(dtype.known());
  CHECK_FALSE(dtype.dtype);
  CHECK(dtype.dtype_code == 42);
  CHECK(dtype.layout == Layout::linear);
  CHECK(dtype.dims == Words{2, 2});
  const TensorInfo layout = tensor(file, 3);
  CHECK(layout.dtype == DType::float32);
  CHECK_FALSE(layout.layout);
  CHECK(layout.layout_code == 77);
  const TensorInfo both = tensor(file, 4);
  CHECK(both.dtype_code == 255);
  CHECK(both.layout_code == 128);
  CHECK(both.dims == Words{1, 2, 3});

  for (const TensorInfo& info : {dtype, layout, both}) {
    const auto stats = btf::stats(file, info);
    REQUIRE_FALSE(stats);
    CHECK(stats.error().code == ErrorCode::unsupported);
    CHECK_FALSE(btf::read_elements(file, info, std::vector<Words>{Words(info.dims.size(), 0)}));
  }
  CHECK(findings(path) == std::vector<Found>{{true, "unknown-dtype", 1, dtype.record_offset + 8},
                                             {true, "unknown-layout", 3, layout.record_offset + 9},
                                             {true, "unknown-dtype", 4, both.record_offset + 8},
                                             {true, "unknown-layout", 4, both.record_offset + 9}});
}

TEST_CASE("btf file: records that share bytes are refused, others are not") {
  const ScratchDir scratch;
  const auto overlapping = [&](const Words& table, const std::vector<Bytes>& records) {
    const std::string path =
        bytes::save(scratch, "overlap.btf", bytes::file_with_table(table, records));
    const TensorFile file = bytes::open(path);
    std::set<std::uint64_t> refused;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
      const auto status = file.check_overlap(tensor(file, i));
      if (status) continue;
      CHECK(status.error().finding == "records-overlap");
      refused.insert(i);
    }
    // In whatever order one asks, and how often.
    const TensorFile again = bytes::open(path);
    for (int round = 0; round < 2; ++round)
      for (std::uint64_t i = again.tensor_count(); i-- > 0;)
        CHECK(again.check_overlap(tensor(again, i)).has_value() == !refused.contains(i));
    std::set<std::uint64_t> found;
    for (const Found& finding : findings(path))
      if (finding.code == "records-overlap") found.insert(*finding.tensor);
    CHECK(found == refused);
    return refused;
  };
  using Set = std::set<std::uint64_t>;
  const Bytes record = bytes::padded(kFloats);  // 40 bytes, 36 without the padding
  CHECK(overlapping({24, 64}, {record, record}).empty());
  CHECK(overlapping({64, 24}, {record, record}).empty());
  CHECK(overlapping({24, 24}, {record}) == Set{0, 1});
  CHECK(overlapping({32, 32, 72}, {record, record}) == Set{0, 1});

  // Without its padding a record ends where the next may start.
  const Bytes cut(kFloats.begin(), kFloats.end());
  CHECK(overlapping({24, 60}, {cut, cut}).empty());

  // Two records in the data of a third; they do not touch one another.
  const Bytes inner = bytes::join({record, record});
  const Bytes outer = bytes::dense(DType::uint8, Layout::linear, {inner.size()}, inner);
  CHECK(overlapping({40, 64, 104, 144}, {outer, record}) == Set{0, 1, 2});
  // The same, in another order of the table.
  CHECK(overlapping({144, 104, 64, 40}, {outer, record}) == Set{1, 2, 3});
  // A chain: each record shares bytes with the next one only.
  const auto bytes_of = [](std::uint64_t n, const Bytes& data) {
    return bytes::dense(DType::uint8, Layout::linear, {n}, data);
  };
  const Bytes tail = bytes_of(32, Bytes(32));        // 56 bytes
  const Bytes middle = bytes_of(tail.size(), tail);  // 80 bytes
  const Bytes first = bytes_of(middle.size() - 32, Bytes(middle.begin(), middle.end() - 32));
  CHECK(overlapping({32, 56, 80}, {first, Bytes(32)}) == Set{0, 1, 2});
}

TEST_CASE("btf file: offsets in any order, gaps and odd places") {
  const ScratchDir scratch;
  const Bytes a = bytes::dense(DType::int8, Layout::linear, {3}, bytes::hex("01 02 03"));
  const Bytes b = bytes::dense(DType::uint16, Layout::linear, {1}, bytes::hex("e8 03"));
  const std::string path = bytes::save(
      scratch, "f.btf", bytes::file_with_table({24 + b.size() + 5, 24}, {b, Bytes(5), a}));
  const TensorFile file = bytes::open(path);
  CHECK(tensor(file, 0).dtype == DType::int8);
  CHECK(tensor(file, 0).record_offset == 24 + b.size() + 5);
  CHECK(tensor(file, 1).dtype == DType::uint16);
  CHECK(tensor(file, 1).record_offset == 24);
  std::set<std::string> codes;
  for (const Found& found : findings(path)) {
    CHECK_FALSE(found.error);
    codes.insert(found.code);
  }
  CHECK(codes == std::set<std::string>{"offset-not-aligned", "offsets-not-ascending"});
}

TEST_CASE("btf file: any order of access gives the same headers") {
  const ScratchDir scratch;
  std::vector<Bytes> records;
  for (std::uint64_t i = 0; i < 40; ++i) {
    Words dims(i % 4 == 3 ? 255 : i % 3, 1);
    dims.push_back(i);
    if (dims.size() > 255) dims.erase(dims.begin());
    records.push_back(bytes::dense(DType::int16, Layout::linear, dims, Bytes(2 * i)));
  }
  const TensorFile file = bytes::open(bytes::save(scratch, "f.btf", bytes::file(records)));
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t i = random.below(40);
    const TensorInfo info = tensor(file, i);
    CHECK(info.dims.back() == i);
    CHECK(info.data_bytes == 2 * i);
  }
}

namespace {

// A million float32 scalars that exist only where they are read.
class ManyRecords final : public btf::ByteSource {
 public:
  static constexpr std::uint64_t kCount = 1'000'000;
  static constexpr std::uint64_t kRecord = 24;

  std::uint64_t size() const override { return 8 + kCount * (8 + kRecord); }

  btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    bytes_read += out.size();
    for (std::byte& byte : out) {
      byte = static_cast<std::byte>(word(offset / 8) >> (offset % 8 * 8));
      ++offset;
    }
    return {};
  }

  btf::Status check_unchanged() const override { return {}; }

  mutable std::uint64_t reads = 0;
  mutable std::uint64_t bytes_read = 0;

 private:
  static std::uint64_t word(std::uint64_t i) {
    if (i == 0) return kCount;
    if (i <= kCount) return 8 + kCount * 8 + (i - 1) * kRecord;
    return (i - kCount - 1) % 3 == 1 ? 4 : 0;  // rank 0, float32, data
  }
};

}  // namespace

TEST_CASE("btf file: one tensor of a million costs a few reads") {
  const ManyRecords source;
  const auto reader = btf::open_btf(source, {{}, {}});
  REQUIRE(reader);
  REQUIRE((*reader)->tensor_count() == ManyRecords::kCount);
  for (const std::uint64_t index : {999'999ULL, 0ULL, 500'000ULL}) {
    source.reads = 0;
    source.bytes_read = 0;
    const auto info = (*reader)->tensor(index);
    REQUIRE(info);
    CHECK(info->record_offset == 8 + ManyRecords::kCount * 8 + index * ManyRecords::kRecord);
    CHECK(info->dtype == DType::float32);
    CHECK(source.reads <= 3);
    CHECK(source.bytes_read <= 3 * 4096);
  }
  // All of them one after the other: every byte about once.
  source.bytes_read = 0;
  for (std::uint64_t i = 0; i < ManyRecords::kCount; ++i)
    if (!(*reader)->tensor(i)) FAIL("tensor " << i);
  CHECK(source.bytes_read < 2 * source.size());
}

TEST_CASE("btf file: headers only, however large the data") {
  const ScratchDir scratch;
  constexpr std::uint64_t kBytes = 1ULL << 38;
  const std::string path =
      bytes::save(scratch, "sparse.btf",
                  bytes::file({kFloats, bytes::dense(DType::uint8, Layout::linear, {kBytes}, {})}));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + kBytes);
  const TensorFile file = bytes::open(path);
  CHECK(tensor(file, 1).data_bytes == kBytes);
  CHECK(file.check_overlap(tensor(file, 0)));
  CHECK(floats_usable(file, 0));
  const auto last = btf::read_elements(file, tensor(file, 1), std::vector<Words>{{kBytes - 1}});
  REQUIRE(last);
  CHECK(last->front().code == 0);
}

TEST_CASE("validate: every bad file gives its one error") {
  std::ifstream table(kTestdata + "/bad/expected.tsv");
  REQUIRE(table);
  std::set<std::string> listed;
  std::string name, code, tensor;
  while (std::getline(table, name, '\t') && std::getline(table, code, '\t') &&
         std::getline(table, tensor)) {
    CAPTURE(name);
    listed.insert(name);
    const std::string path = kTestdata + "/bad/" + name;
    std::optional<std::uint64_t> index;
    if (tensor != "-") index = std::stoull(tensor);
    // Of two records that overlap both are unusable.
    std::set<std::optional<std::uint64_t>> expected{index};
    if (code == "records-overlap") expected.insert(0);
    std::set<std::optional<std::uint64_t>> found;
    const std::vector<Found> all = findings(path);
    for (const Found& finding : all) {
      CAPTURE(finding);
      CHECK(finding.error);
      CHECK(finding.code == code);
      found.insert(finding.tensor);
    }
    CHECK(found == expected);
    CHECK(all.size() == expected.size());

    // The healthy records beside it stay usable.
    const auto file = TensorFile::open(path);
    CHECK(file.has_value() == index.has_value());
    if (!file) continue;
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
      CAPTURE(i);
      const auto info = file->tensor(i);
      CHECK((info && btf::stats(*file, *info)) == !expected.contains(i));
    }
  }
  std::set<std::string> files;
  for (const std::string& path : btf_files("bad"))
    files.insert(std::filesystem::path(path).filename().string());
  CHECK(files == listed);
}

TEST_CASE("validate: every odd file gives its warnings and no error") {
  // Where the name of the file is not the code of the finding.
  const std::map<std::string, std::string> others{{"unpadded_last", ""},
                                                  {"misaligned_offsets", "offset-not-aligned"}};
  for (const std::string& path : btf_files("odd")) {
    CAPTURE(path);
    const std::filesystem::path stem = std::filesystem::path(path).stem();
    std::string code = stem.stem().string();
    if (const auto other = others.find(code); other != others.end()) code = other->second;
    std::ranges::replace(code, '_', '-');
    // Casts that change no type copy bits, so an odd bool stays odd.
    if (stem.extension() == ".canonical" && code != "bool-byte") code.clear();
    std::set<std::string> codes;
    for (const Found& finding : findings(path)) {
      CHECK_FALSE(finding.error);
      codes.insert(finding.code);
    }
    CHECK(codes == (code.empty() ? std::set<std::string>{} : std::set{code}));
  }
}

TEST_CASE("validate: nothing to say about a good file") {
  for (const std::string& path : btf_files("good")) {
    CAPTURE(path);
    CHECK(findings(path).empty());
  }
}

TEST_CASE("validate: findings say where") {
  const ScratchDir scratch;
  Bytes reserved = kFloats;
  reserved[12] = std::byte{1};
  Bytes padding = bytes::padded(kFloats);
  padding[39] = std::byte{1};
  const Bytes bools =
      bytes::dense(DType::boolean, Layout::linear, {5}, bytes::hex("00 01 01 02 ff"));
  const Bytes nibble = bytes::dense(DType::uint4, Layout::linear, {3}, bytes::hex("21 13"));
  const Bytes lanes = bytes::dense(DType::int8, Layout::chw4, {3, 1, 1}, bytes::hex("01 02 03 04"));
  const Bytes twice = bytes::coo(DType::int8, {4}, {{1}, {0}, {1}}, bytes::hex("01 02 03"));
  const Bytes out = bytes::coo(DType::int8, {4, 2}, {{1, 1}, {0, 2}}, bytes::hex("01 02"));
  const std::string path = bytes::save(
      scratch, "f.btf", bytes::file({reserved, padding, bools, nibble, lanes, twice, out}));
  const TensorFile file = bytes::open(path);
  const auto at = [&](std::uint64_t i) { return tensor(file, i).record_offset; };
  auto all = findings(path);
  std::ranges::sort(all, {}, &Found::offset);
  CHECK(all == std::vector<Found>{{false, "reserved-not-zero", 0, at(0) + 10},
                                  {false, "padding-not-zero", 1, at(1) + 36},
                                  {false, "bool-byte", 2, at(2) + 24 + 3},
                                  {false, "spare-nibble-not-zero", 3, at(3) + 24 + 1},
                                  {false, "lane-padding-not-zero", 4, at(4) + 40 + 3},
                                  {false, "coo-duplicate-index", 5, at(5) + 24 + 16 + 2 * 8},
                                  {true, "coo-index-out-of-range", 6, at(6) + 32 + 16 + 3 * 8}});
}

TEST_CASE("validate: a lane of padding is no bool") {
  const ScratchDir scratch;
  const auto bools = [](Bytes data) {
    return bytes::dense(DType::boolean, Layout::hwc8, {2, 1, 2}, data);
  };
  const Bytes lane = bools(bytes::hex("01 00 05 00 00 00 00 00  00 01 00 00 00 00 00 00"));
  const Bytes both = bools(bytes::hex("01 00 00 05 00 00 00 00  00 07 00 00 00 00 00 00"));
  const Bytes only = bools(bytes::hex("01 00 00 00 00 00 00 00  06 01 00 00 00 00 00 00"));
  const std::string path = bytes::save(scratch, "f.btf", bytes::file({lane, both, only}));
  const TensorFile file = bytes::open(path);
  const auto at = [&](std::uint64_t i) { return tensor(file, i).data_offset; };
  CHECK(findings(path) == std::vector<Found>{{false, "lane-padding-not-zero", 0, at(0) + 2},
                                             {false, "lane-padding-not-zero", 1, at(1) + 3},
                                             {false, "bool-byte", 1, at(1) + 9},
                                             {false, "bool-byte", 2, at(2) + 8}});
}

TEST_CASE("validate: gaps and bytes at the end") {
  const ScratchDir scratch;
  const Bytes record = bytes::padded(kFloats);
  const std::string gaps = bytes::save(
      scratch, "gaps.btf",
      bytes::file_with_table({40, 96}, {Bytes(16), record, Bytes(16), record, Bytes(1)}));
  CHECK(findings(gaps) == std::vector<Found>{{false, "gap-between-records", 0, 24},
                                             {false, "gap-between-records", 1, 80},
                                             {false, "trailing-bytes", {}, 136}});
  const std::string nothing =
      bytes::save(scratch, "n.btf", bytes::join({bytes::u64({0}), Bytes(1)}));
  CHECK(findings(nothing) == std::vector<Found>{{false, "trailing-bytes", {}, 8}});
  // Any length from the end of the data to the end of the padding is fine.
  for (std::size_t size = kFloats.size(); size <= record.size(); ++size) {
    Bytes content = bytes::file({kFloats});
    content.resize(16 + size);
    CHECK(findings(bytes::save(scratch, "cut.btf", content)).empty());
  }
}

TEST_CASE("validate: trouble with the file itself is no finding") {
  const ScratchDir scratch;
  for (const std::string& path : {scratch / "no.btf", scratch / ""}) {
    const auto status = btf::validate(path, [](const btf::Finding&) { FAIL("a finding"); });
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::io);
  }
}

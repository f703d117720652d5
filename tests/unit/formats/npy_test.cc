// .npy: files that NumPy wrote against their twins in BTF, and what is written against NumPy's.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "formats/npy_writer.h"
#include "support/btf_bytes.h"
#include "support/memory_sink.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tensor_files.h"

using btf::DType;
using btf::TensorFile;
using bytes::Bytes;
using files::for_each_bad_file;
using files::refusal;

namespace {

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/npy/";
const std::string kBadFolder = std::string(BTF_TESTDATA_DIR) + "/npy-bad/";

std::vector<std::string> npy_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".npy") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// "float32" of "float32.c.little.v1.npy"
std::string stem_of(const std::string& name) { return name.substr(0, name.find('.')); }

btf::OpenOptions told(DType dtype) {
  btf::TensorSpec spec;
  spec.dtype = dtype;
  return {.spec = spec};
}

btf::OpenOptions options_for(const std::string& stem) {
  if (!stem.starts_with("void_")) return {};
  return told(btf::parse_dtype(stem.substr(5)).value());
}

TensorFile open(const std::string& path, const btf::OpenOptions& options = {}) {
  auto file = TensorFile::open(path, options);
  if (!file) FAIL(file.error().text());
  return *std::move(file);
}

void write(const TensorFile& file, const std::string& output,
           const btf::ConvertOptions& options = {}) {
  const auto size = btf::convert(file, output, options);
  if (!size) FAIL(size.error().text());
  CHECK(*size == std::filesystem::file_size(output));
}

std::string refusal(const std::string& path, const btf::OpenOptions& options = {}) {
  const auto file = TensorFile::open(path, options);
  return file ? "" : said(file.error());
}

}  // namespace

TEST_CASE("npy: what NumPy wrote is its twin to the bit") {
  const ScratchDir scratch;
  const std::vector<std::string> names = npy_names();
  CHECK(names.size() > 50);
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string stem = stem_of(name);
    const TensorFile file = open(kFolder + name, options_for(stem));
    CHECK(file.format() == "npy");
    REQUIRE(file.tensor_count() == 1);
    write(file, scratch / "out.btf");
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + stem + ".btf"));
    std::size_t findings = 0;
    CHECK(
        btf::validate(kFolder + name, [&](const btf::Finding&) { ++findings; }, options_for(stem)));
    CHECK(findings == 0);
  }
}

TEST_CASE("npy: what is written is what NumPy writes, to the byte") {
  const ScratchDir scratch;
  for (const std::string& name : npy_names()) {
    const std::string stem = stem_of(name);
    const bool canonical = name == stem + ".c.little.v1.npy" || stem.starts_with("shape_");
    if (!canonical) continue;
    CAPTURE(name);
    write(open(kFolder + stem + ".btf"), scratch / "out.npy");
    CHECK(read_file(scratch / "out.npy") == read_file(kFolder + name));
  }
}

TEST_CASE("npy: dtypes that NumPy has not come back by their names, and as integers when told") {
  const ScratchDir scratch;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    if (!row.npy.empty()) continue;
    const std::string twin = kFolder + "void_" + std::string(row.name) + ".btf";
    CAPTURE(row.name);
    for (const bool as_uint : {false, true}) {
      const std::string path = scratch / "out.npy";
      write(open(twin), path, {.as_uint = as_uint});
      const Bytes written = read_file(path);
      const std::string header(reinterpret_cast<const char*>(written.data()), 40);
      // As ml_dtypes registers it.
      const std::string descr =
          as_uint ? (row.bits == 16 ? "'<u2'" : "'|u1'") : "'" + std::string(row.name) + "'";
      CHECK(header.find(descr) != std::string::npos);
      write(open(path, told(row.dtype)), scratch / "back.btf");
      CHECK(read_file(scratch / "back.btf") == read_file(twin));
      if (!as_uint) {
        write(open(path), scratch / "untold.btf");
        CHECK(read_file(scratch / "untold.btf") == read_file(twin));
        CHECK(refusal(kFolder + "void_" + std::string(row.name) + ".npy").find("`spec` TYPE") !=
              std::string::npos);
      } else {
        CHECK(open(path).tensor(0)->dtype == (row.bits == 16 ? DType::uint16 : DType::uint8));
      }
    }
  }
}

TEST_CASE("npy: a told dtype must fit what the file says") {
  CHECK(refusal(kFolder + "void_bfloat16.npy", told(DType::int4)).find("have 2 bytes") !=
        std::string::npos);
  CHECK(refusal(kFolder + "void_int4.npy", told(DType::float16)).find("have 1 bytes") !=
        std::string::npos);
  CHECK(refusal(kFolder + "float32.c.little.v1.npy", told(DType::int32)) ==
        "the file says float32, the spec says int32");
  CHECK(refusal(kFolder + "float32.c.little.v1.npy", told(DType::float32)).empty());
  const auto spec = btf::parse_tensor_spec("fp32:2x3x5");
  REQUIRE(spec);
  CHECK(refusal(kFolder + "float32.c.little.v1.npy", {.spec = *spec}).find("describes itself") !=
        std::string::npos);
}

TEST_CASE("npy: an element of a 4-bit array has a byte of its own") {
  const TensorFile file = open(kFolder + "void_int4.npy", told(DType::int4));
  const TensorFile twin = open(kFolder + "void_int4.btf");
  const auto info = file.tensor(0);
  REQUIRE(info);
  CHECK(info->data_bytes == 45);
  for (const btf::Dims& index : {btf::Dims{0, 0, 1}, {1, 1, 1}, {2, 2, 4}}) {
    const auto element = btf::read_elements(file, *info, std::span(&index, 1));
    const auto wanted = btf::read_elements(twin, *twin.tensor(0), std::span(&index, 1));
    REQUIRE(element);
    REQUIRE(wanted);
    CHECK(element->front().code == wanted->front().code);
    CHECK(element->front().offset == info->data_offset + index[0] * 15 + index[1] * 5 + index[2]);
    CHECK_FALSE(element->front().high_nibble);
  }
}

TEST_CASE("npy: every bad file has its own error") {
  std::set<std::string> texts;
  const auto judge = [&](const std::string& path, const std::string& finding) {
    const bool malformed = finding != "-";
    CHECK(texts.insert(refusal(path, malformed ? finding : "")).second);
    std::vector<std::string> found;
    const auto status =
        btf::validate(path, [&](const btf::Finding& f) { found.emplace_back(f.code); });
    CHECK(status.has_value() == malformed);
    if (status) CHECK(found == std::vector{finding});
  };
  for_each_bad_file(kBadFolder, judge);
  CHECK(texts.size() > 40);
}

TEST_CASE(
    "npy: a file cut anywhere, and one with any byte of its header changed, is refused or read") {
  const ScratchDir scratch;
  const Bytes whole = read_file(kFolder + "float32.f.big.v2.npy");
  const std::string path = scratch / "x.npy";
  for (std::size_t size = 6; size < whole.size(); ++size) {
    write_file(path, std::span(whole).first(size));
    CHECK_FALSE(TensorFile::open(path));
  }
  Bytes changed = whole;
  for (std::size_t at = 6; at < 100; ++at) {
    for (const int value : {0, 1, 39, 44, 45, 48, 57, 123, 255}) {
      changed[at] = static_cast<std::byte>(value);
      write_file(path, changed);
      const auto file = TensorFile::open(path);
      if (file) CHECK(file->tensor(0)->end() == whole.size());
    }
    changed[at] = whole[at];
  }
}

TEST_CASE("npy: one row-major array and nothing else is written") {
  const ScratchDir scratch;
  const std::string good = std::string(BTF_TESTDATA_DIR) + "/good/";
  const auto message = [&](const std::string& input, const btf::ConvertOptions& options) {
    const auto size = btf::convert(open(good + input), scratch / "out.npy", options);
    CHECK_FALSE(std::filesystem::exists(scratch / "out.npy"));
    return size ? std::string() : said(size.error());
  };
  using Selection = std::vector<std::uint64_t>;
  CHECK(message("mixed.btf", {}).find("holds one tensor, the result has more") !=
        std::string::npos);
  CHECK(message("mixed.btf", {.tensors = Selection{}}).find("there is none") != std::string::npos);
  CHECK(message("mixed.btf", {.layout = btf::Layout::hwc8, .tensors = Selection{0}})
            .find("row-major") != std::string::npos);
  CHECK(message("mixed.btf", {.layout = btf::Layout::coo, .tensors = Selection{0}})
            .find("row-major") != std::string::npos);

  // A vectorised layout and COO become row-major by themselves; plain keeps the stored array.
  const TensorFile layouts = open(good + "layouts_f16.btf");
  write(layouts, scratch / "out.npy", {.tensors = Selection{2}});
  CHECK(open(scratch / "out.npy").tensor(0)->dims == btf::Dims{1, 3, 5, 7});
  write(layouts, scratch / "out.npy", {.tensors = Selection{2}, .plain = true});
  CHECK(open(scratch / "out.npy").tensor(0)->dims == btf::Dims{1, 5, 7, 8});
  write(open(good + "mixed.btf"), scratch / "out.npy", {.tensors = Selection{3}});
  CHECK(open(scratch / "out.npy").tensor(0)->dims == btf::Dims{64, 64});
}

TEST_CASE("npy: elements that are turned round or packed can be read from anywhere") {
  Bytes stored;
  for (int i = 0; i < 10'007; ++i) stored.push_back(static_cast<std::byte>(i * 37 + i / 256));
  const btf::MemorySource memory(stored);
  constexpr std::uint64_t kFirst = 7;
  const std::uint64_t count = stored.size() - kFirst;
  const auto check = [&](const btf::ByteSource& source, const Bytes& wanted) {
    REQUIRE(source.size() == wanted.size());
    for (std::uint64_t i = 0; i < 500; ++i) {
      const std::uint64_t offset = i * i * 7919 % wanted.size();
      const std::uint64_t length = i * 104729 % (wanted.size() - offset + 1);
      Bytes out(length);
      REQUIRE(source.read_at(offset, out));
      REQUIRE(std::ranges::equal(out, std::span(wanted).subspan(offset, length)));
    }
    Bytes beyond(2);
    CHECK_FALSE(source.read_at(wanted.size() - 1, beyond));
  };
  for (const std::uint64_t width : {2U, 4U, 8U}) {
    Bytes turned = stored;
    for (std::uint64_t at = kFirst; at + width <= turned.size(); at += width)
      std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(at),
                   turned.begin() + static_cast<std::ptrdiff_t>(at + width));
    check(*btf::swapped_source(memory, kFirst, width), turned);
  }
  // Some of the negative ones carry their sign in the high nibble too.
  for (std::uint64_t i = kFirst; i < stored.size(); ++i) {
    stored[i] &= std::byte{15};
    if (i % 3 == 0 && stored[i] >= std::byte{8}) stored[i] |= std::byte{0xf0};
  }
  for (const std::uint64_t codes : {count, count - 1}) {
    Bytes packed(stored.begin(), stored.begin() + kFirst);
    for (std::uint64_t i = 0; i < codes; i += 2)
      packed.push_back((stored[kFirst + i] & std::byte{15}) |
                       (i + 1 < codes ? stored[kFirst + i + 1] << 4 : std::byte{}));
    check(*btf::packed_source(memory, kFirst, codes, DType::int4), packed);
    Bytes spread(kFirst + codes);
    MemorySink sink(spread);
    const auto spreading = btf::spread_sink(sink, kFirst, codes);
    const auto data = std::span(std::as_const(packed)).subspan(kFirst);
    REQUIRE(spreading->write_at(kFirst, data.first(3001)));
    REQUIRE(spreading->write_at(kFirst + 3001, data.subspan(3001)));
    for (std::uint64_t i = 0; i < codes; ++i)
      REQUIRE(spread[kFirst + i] == (stored[kFirst + i] & std::byte{15}));
  }
}

TEST_CASE("npy: a byte that is no 4-bit code is refused where it stands, and only there") {
  constexpr std::uint64_t kFirst = 3;
  constexpr std::uint64_t kCodes = 9001;
  for (const DType dtype : {DType::int4, DType::uint4, DType::float4_e2m1fn}) {
    for (unsigned value = 0; value < 256; ++value) {
      for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4321}, kCodes - 1}) {
        CAPTURE(btf::info(dtype).name, value, at);
        Bytes stored(kFirst + kCodes, std::byte{7});
        stored[kFirst + at] = static_cast<std::byte>(value);
        const btf::MemorySource memory(stored);
        const auto source = btf::packed_source(memory, kFirst, kCodes, dtype);
        Bytes out((kCodes + 1) / 2);
        const btf::Status read = source->read_at(kFirst, out);
        const bool code = value < 16 || (dtype == DType::int4 && value >= 0xf8);
        CHECK(read.has_value() == code);
        if (read) {
          const auto nibble = static_cast<std::byte>(value & 15);
          CHECK((at % 2 == 0 ? out[at / 2] & std::byte{15} : out[at / 2] >> 4) == nibble);
          continue;
        }
        CHECK(read.error().code == btf::ErrorCode::malformed);
        CHECK(read.error().finding == "nibble-byte");
        CHECK(read.error().offset == kFirst + at);
        // What stands before and behind can be had.
        CHECK(source->read_at(kFirst, std::span(out).first(at / 2)));
        if (at + 2 < kCodes)
          CHECK(source->read_at(kFirst + at / 2 + 1, std::span(out).first((kCodes - at - 1) / 2)));
      }
    }
  }
}

TEST_CASE("npy: validate has a finding for the first byte that is no code") {
  const ScratchDir scratch;
  const Bytes good = read_file(kFolder + "void_int4.npy");
  const std::uint64_t first = good.size() - 45;
  for (const std::uint64_t at : {0U, 17U, 44U}) {
    Bytes bad = good;
    bad[first + at] = std::byte{0x43};
    bad.back() |= std::byte{0x20};
    write_file(scratch / "x.npy", bad);
    std::vector<std::pair<std::string, std::uint64_t>> found;
    const btf::Status status = btf::validate(
        scratch / "x.npy",
        [&](const btf::Finding& finding) {
          CHECK(finding.severity == btf::Severity::error);
          found.emplace_back(finding.code, finding.offset);
        },
        told(DType::int4));
    CHECK(status);
    CHECK(found == std::vector{std::pair(std::string("nibble-byte"), first + at)});
  }
}

namespace {

// An array of four elements of zeros and ones, as any writer might have it.
void write_npy(const std::string& path, const std::string& descr, std::size_t width) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (4,), }";
  header.resize(118, ' ');
  std::string text = std::string("\x93NUMPY\x01\0\x76\0", 10) + header;
  for (std::size_t i = 0; i < 4 * width; ++i) text += static_cast<char>(i % width == 0 ? i & 1 : 0);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("npy: a dtype that is called by its name is that one") {
  const ScratchDir scratch;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    write_npy(scratch / "x.npy", std::string(row.name), row.buffer_bytes());
    const TensorFile file = open(scratch / "x.npy");
    CHECK(file.tensor(0)->dtype == row.dtype);
    CHECK(file.tensor(0)->unpacked == (row.bits < 8));
    CHECK(btf::read_tensor(file, *file.tensor(0)));
    // The spec may say the same, and nothing else.
    CHECK(open(scratch / "x.npy", told(row.dtype)).tensor(0)->dtype == row.dtype);
    const DType other = row.dtype == DType::int8 ? DType::uint8 : DType::int8;
    CHECK(refusal(scratch / "x.npy", told(other)) == "the file says " + std::string(row.name) +
                                                         ", the spec says " +
                                                         std::string(btf::info(other).name));
  }
  // Names of other types, other spellings, and names with an order are none.
  for (const std::string descr : {"complex64", "Float32", "<float32", "fp16"}) {
    CAPTURE(descr);
    write_npy(scratch / "x.npy", descr, 4);
    CHECK(refusal(scratch / "x.npy") == "dtype '" + descr + "' is not supported");
  }
  // Types that others have and btftool has not, with the way out.
  for (const std::string descr :
       {"int2", "uint2", "float6_e2m3fn", "float6_e3m2fn", "<c8", ">c16"}) {
    CAPTURE(descr);
    write_npy(scratch / "x.npy", descr, 4);
    CHECK(refusal(scratch / "x.npy").starts_with("dtype '" + descr + "' is "));
    CHECK(refusal(scratch / "x.npy").contains("np.save"));
  }
  write_npy(scratch / "x.npy", "<g2", 2);
  CHECK(open(scratch / "x.npy").tensor(0)->dtype == DType::bfloat16);
  CHECK(refusal(scratch / "x.npy", told(DType::float16)).starts_with("the file says bfloat16"));
}

TEST_CASE("npy: a dtype that says only how wide it is takes a spec of that width") {
  const ScratchDir scratch;
  const auto try_all = [&](const std::string& descr, std::size_t width, bool floats_only) {
    write_npy(scratch / "x.npy", descr, width);
    CHECK(refusal(scratch / "x.npy")
              .starts_with("dtype '" + descr + "' does not say what its bytes mean"));
    for (const btf::DTypeInfo& row : btf::dtypes()) {
      CAPTURE(descr, row.name);
      const bool fits = row.buffer_bytes() == width && (row.floating() || !floats_only);
      const auto file = TensorFile::open(scratch / "x.npy", told(row.dtype));
      REQUIRE(file.has_value() == fits);
      if (fits) CHECK(file->tensor(0)->dtype == row.dtype);
    }
  };
  try_all("<f1", 1, true);
  for (const std::size_t width : {1U, 2U, 4U, 8U})
    for (const std::string order : {"<", "|", ""})
      try_all(order + "V" + std::to_string(width), width, false);
  CHECK(refusal(scratch / "x.npy", told(DType::float32)) ==
        "elements of dtype 'V8' have 8 bytes, those of float32 have 4");
  write_npy(scratch / "x.npy", "<f1", 1);
  CHECK(refusal(scratch / "x.npy", told(DType::int8)) ==
        "the file says a float of one byte, the spec says int8");
  for (const std::string descr : {"|V3", "|V16", ">V2", "V"}) {
    write_npy(scratch / "x.npy", descr, 2);
    CHECK(refusal(scratch / "x.npy") == "dtype '" + descr + "' is bytes that match no dtype");
  }
}

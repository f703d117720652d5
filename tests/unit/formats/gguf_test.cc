// GGUF: files against their twins in BTF, blocks decoded in every way in which they can be asked
// for, and every way in which a header can lie.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tensor_files.h"

namespace fs = std::filesystem;

using btf::DType;
using btf::TensorFile;
using bytes::Bytes;
using files::codes_found;
using files::for_each_bad_file;
using files::open;
using files::refusal;
using files::write;

namespace {

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/gguf/";
const std::string kBadFolder = std::string(BTF_TESTDATA_DIR) + "/gguf-bad/";
const std::string kOddFolder = std::string(BTF_TESTDATA_DIR) + "/gguf-odd/";
const std::string kSplitFolder = std::string(BTF_TESTDATA_DIR) + "/gguf-split/";
const std::string kOracleFolder = std::string(BTF_TESTDATA_DIR) + "/oracle/gguf/";

btf::ConvertOptions dequantize() {
  btf::ConvertOptions options;
  options.quantization.dequantize = true;
  options.drop_names = true;
  return options;
}

}  // namespace

TEST_CASE("gguf: plain types are their twins to the bit") {
  const ScratchDir scratch;
  for (const std::string name : {"plain", "plain_v2", "plain_unpadded", "plain_aligned_1",
                                 "plain_aligned_256", "none", "none_unpadded"}) {
    CAPTURE(name);
    const TensorFile file = open(kFolder + name + ".gguf");
    CHECK(file.format() == "gguf");
    write(file, scratch / "out.btf", {.drop_names = true});
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + name + ".btf"));
    // There is nothing to be scaled: int8 too stays what it is.
    write(file, scratch / "out.btf", dequantize());
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + name + ".btf"));
    CHECK(codes_found(kFolder + name + ".gguf").empty());
  }
  CHECK(open(kFolder + "plain.gguf").tensor(0)->name == "x.float32");
}

TEST_CASE("gguf: keys are metadata") {
  using Texts = std::map<std::string, std::string>;
  const Texts expected{{"", "1"},
                       {"a.bools", "[true,false]"},
                       {"a.empty", ""},
                       {"a.f32", "1e-06"},
                       {"a.f64", "0.1"},
                       {"a.false", "false"},
                       {"a.floats", "[0.5,-2,3e+09]"},
                       {"a.i16", "-32768"},
                       {"a.i32", "-2147483648"},
                       {"a.i64", "-9223372036854775808"},
                       {"a.i8", "-128"},
                       {"a.list", "[-1,2,3]"},
                       {"a.long list", "uint8[17]"},
                       {"a.long text", "string of 65537 bytes"},
                       {"a.no list", "[]"},
                       {"a.text", "two\nlines \xc3\xa9"},
                       {"a.true", "true"},
                       {"a.u16", "65535"},
                       {"a.u32", "4294967295"},
                       {"a.u64", "18446744073709551615"},
                       {"a.u8", "255"},
                       {"a.words", "string[3]"},
                       {"general.architecture", "llama"}};
  CHECK(open(kFolder + "plain.gguf").attributes()->metadata == expected);
  // BTF keeps them, and what a tensor's type was.
  const ScratchDir scratch;
  write(open(kFolder + "plain.gguf"), scratch / "plain.btf");
  CHECK(open(scratch / "plain.btf").attributes()->metadata == expected);
  write(open(kFolder + "mixed.gguf"), scratch / "mixed.btf",
        {.quantization = {.dequantize = true}});
  const btf::FileAttributes kept = open(scratch / "mixed.btf").attributes().value();
  CHECK(kept.metadata == Texts{{"general.name", "mixed"}});
  CHECK(kept.tensors.at(1).dtype_in_source == "Q8_0");
  CHECK(kept.tensors.size() == 1);
}

TEST_CASE("gguf: blocks are listed by their names, and are float32 with --dequantize") {
  const ScratchDir scratch;
  const TensorFile file = open(kFolder + "blocks.gguf");
  REQUIRE(file.tensor_count() == 12);
  const btf::TensorInfo q4k = file.tensor(7).value();
  CHECK(q4k.foreign_dtype == "Q4_K");
  CHECK_FALSE(q4k.known());
  CHECK(q4k.dims == btf::Dims{3, 768});
  CHECK(q4k.data_bytes == 9 * 144);
  const auto refused = btf::convert(file, scratch / "out.btf", {});
  REQUIRE_FALSE(refused);
  CHECK(said(refused.error()) ==
        "tensor 0: 'x.Q4_0' is Q4_0: 32 elements in 18 bytes; `dequantize` gives float32");
  CHECK(codes_found(kFolder + "blocks.gguf") == std::vector<std::string>(12, "foreign-dtype"));

  for (const std::string name : {"blocks", "mixed", "small"}) {
    write(open(kFolder + name + ".gguf"), scratch / "out.btf", dequantize());
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + name + ".btf"));
    write(open(kFolder + name + ".gguf"), scratch / "packed.gguf.btf.zst", dequantize());
    write(open(scratch / "packed.gguf.btf.zst"), scratch / "unpacked.btf");
    CHECK(read_file(scratch / "unpacked.btf") == read_file(kFolder + name + ".btf"));
  }
  // With what else convert does: the same as by way of the twin.
  btf::ConvertOptions edited = dequantize();
  edited.dtype = DType::float16;
  edited.edits = {btf::Slice{{btf::SliceRange{.start = 1, .stop = {}},
                              btf::SliceRange{.start = 5, .stop = 300, .step = 7}}},
                  btf::Permute{{1, 0}}};
  edited.tensors = std::vector<std::uint64_t>{7, 9};
  write(file, scratch / "edited.btf", edited);
  edited.quantization = {};
  write(open(kFolder + "blocks.btf"), scratch / "twin.btf", edited);
  CHECK(read_file(scratch / "edited.btf") == read_file(scratch / "twin.btf"));
}

TEST_CASE("gguf: what the gguf package makes of blocks, and of its own file") {
  const ScratchDir scratch;
  write(open(kOracleFolder + "written.gguf"), scratch / "out.btf", dequantize());
  CHECK(read_file(scratch / "out.btf") == read_file(kOracleFolder + "written.btf"));
  write(open(kFolder + "blocks.gguf"), scratch / "blocks.btf", dequantize());
  CHECK(read_file(scratch / "blocks.btf") == read_file(kOracleFolder + "blocks.btf"));
}

TEST_CASE("gguf: codes of code books are the numbers that the gguf package makes of them") {
  const ScratchDir scratch;
  const TensorFile file = open(kFolder + "code_books.gguf");
  REQUIRE(file.tensor_count() == 11);
  CHECK(file.tensor(0)->foreign_dtype == "IQ1_S");
  write(file, scratch / "out.btf", dequantize());
  CHECK(read_file(scratch / "out.btf") == read_file(kOracleFolder + "code_books.btf"));
}

TEST_CASE("gguf: big-endian files are their twins, but for blocks whose scales may be either way") {
  const ScratchDir scratch;
  const TensorFile file = open(kFolder + "big_endian.gguf");
  write(file, scratch / "out.btf", dequantize());
  CHECK(read_file(scratch / "out.btf") == read_file(kFolder + "big_endian.btf"));
  CHECK(file.attributes()->metadata ==
        std::map<std::string, std::string>{
            {"a.i16", "-2"}, {"a.list", "[1,-2,70000]"}, {"general.architecture", "llama"}});
  CHECK(codes_found(kFolder + "big_endian.gguf") == std::vector<std::string>{"foreign-dtype"});

  const TensorFile blocks = open(kFolder + "big_endian_blocks.gguf");
  REQUIRE(blocks.tensor_count() == file.tensor_count() + 1);
  const std::uint64_t last = file.tensor_count();
  CHECK(said(btf::convert(blocks, scratch / "x.btf", dequantize()).error()) ==
        "tensor 9: 'x.Q8_0' is Q8_0: 32 elements in 34 bytes, whose scales some writers of "
        "big-endian files byte-swap and some do not");
  btf::ConvertOptions others = dequantize();
  others.tensors.emplace();
  for (std::uint64_t i = 0; i < last; ++i) others.tensors->push_back(i);
  write(blocks, scratch / "others.btf", others);
  CHECK(read_file(scratch / "others.btf") == read_file(kFolder + "big_endian.btf"));
}

TEST_CASE("gguf: what is odd about one tensor or key is a finding, and the others are used") {
  const ScratchDir scratch;
  std::ifstream lines(kOddFolder + "expected.tsv");
  std::size_t files = 0;
  for (std::string name, left_out, codes;
       std::getline(lines, name, '\t') && std::getline(lines, left_out, '\t') &&
       std::getline(lines, codes);
       ++files) {
    CAPTURE(name);
    const std::string path = kOddFolder + name;
    std::string found;
    for (const std::string& code : codes_found(path)) found += (found.empty() ? "" : " ") + code;
    CHECK(found == codes);
    const TensorFile file = open(path);
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
      const btf::TensorInfo tensor = file.tensor(i).value();
      CAPTURE(tensor.name);
      CHECK(tensor.known() == (tensor.name != left_out));
      btf::ConvertOptions only{.tensors = std::vector{i}};
      const auto written = btf::convert(file, scratch / "out.npy", only);
      CHECK(written.has_value() == tensor.known());
      if (tensor.name != "sound") continue;
      const Bytes npy = read_file(scratch / "out.npy");
      CHECK(std::memcmp(npy.data() + npy.size() - 4, "abcd", 4) == 0);
    }
  }
  CHECK(files == 15);
  const TensorFile unknown = open(kOddFolder + "type-new.gguf");
  CHECK(unknown.tensor(0)->foreign_dtype == "ggml type 43");
  CHECK(unknown.tensor(0)->foreign_reason ==
        "'odd' is of ggml's type 43, which was removed or is newer than this tool: its size is not "
        "known");
  CHECK(open(kOddFolder + "array-of-arrays.gguf").attributes()->metadata ==
        std::map<std::string, std::string>{{"k", "array[2]"}, {"l", "7"}});
}

TEST_CASE("gguf: blocks are decoded from any byte to any other") {
  const std::string name = GENERATE("blocks.gguf", "code_books.gguf");
  const TensorFile file = open(kFolder + name);
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    CAPTURE(i);
    const btf::TensorInfo numbers = file.dequantized(i).value().value();
    CHECK(numbers.dtype == DType::float32);
    CHECK(numbers.foreign_dtype.empty());
    CHECK(numbers.name == file.tensor(i)->name);
    const btf::ByteSource* const source = file.elements(i).value();
    Bytes whole(numbers.data_bytes);
    REQUIRE(source->size() == whole.size());
    REQUIRE(source->read_at(0, whole));
    for (std::uint64_t begin = 0; begin < whole.size(); begin += 1 + begin % 97) {
      const std::uint64_t length = std::min<std::uint64_t>(whole.size() - begin, begin * 31 % 1900);
      Bytes part(length);
      REQUIRE(source->read_at(begin, part));
      CHECK(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
    Bytes more(5);
    CHECK_FALSE(source->read_at(whole.size() - 4, more));
  }
  const TensorFile plain = open(kFolder + "plain.gguf");
  CHECK(plain.dequantized(0).value().value().dtype == DType::float32);
  CHECK(plain.dequantized(2).value().value().dtype == DType::int8);
  const TensorFile btf = open(kFolder + "plain.btf");
  CHECK_FALSE(btf.dequantized(0).value().has_value());
}

TEST_CASE("gguf: the types that are not decoded are refused by their names") {
  const ScratchDir scratch;
  const TensorFile file = open(kFolder + "every.gguf");
  REQUIRE(file.tensor_count() == 27);
  const std::set<std::string> not_decoded{"Q8_1", "Q8_K", "Q1_0", "Q2_0"};
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const std::string type = file.tensor(i)->foreign_dtype;
    CAPTURE(type);
    btf::ConvertOptions options = dequantize();
    options.tensors = std::vector{i};
    const auto size = btf::convert(file, scratch / "out.btf", options);
    CHECK(size.has_value() == !not_decoded.contains(type));
    CHECK(file.elements(i).has_value() == !not_decoded.contains(type));
    if (type == "Q8_K")
      CHECK(said(size.error()) == "tensor " + std::to_string(i) +
                                      ": 'x.Q8_K' is Q8_K: 256 elements in 292 bytes, which this "
                                      "tool does not decode");
  }
}

TEST_CASE("gguf: the first part of several stands for all of them") {
  const ScratchDir scratch;
  const std::string first = kSplitFolder + "tiny-00001-of-00003.gguf";
  CHECK(btf::is_index(first).value());
  CHECK_FALSE(btf::is_index(kSplitFolder + "tiny-00002-of-00003.gguf").value());
  for (const char* const name :
       {"x-00001-of-00000.gguf", "x-0001-of-0003.gguf", "00001-of-00003.gguf",
        "x-00001-of-00003.btf", "x-00001-of-000003.gguf"})
    CHECK_FALSE(btf::is_index(name).value());
  for (const std::string& path : {first, kSplitFolder}) {
    const btf::TensorSet set = btf::TensorSet::open(path).value();
    CHECK(set.member_count() == 3);
    REQUIRE(btf::convert(set, scratch / "out.btf", {.drop_names = true}));
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + "split_whole.btf"));
  }
  // A part that is not there, one of another name, and one that is no part.
  const auto trouble = [&](const std::string& path) {
    const auto set = btf::TensorSet::open(path).value();
    const auto count = set.tensor_count();
    return count ? std::string() : said(count.error());
  };
  const auto part = [&](const std::string& name) {
    return scratch / ("tiny-0000" + name + ".gguf");
  };
  fs::copy_file(first, part("1-of-00003"));
  fs::copy_file(kSplitFolder + "tiny-00003-of-00003.gguf", part("3-of-00003"));
  const std::string missing =
      "cannot open: No such file or directory; it is listed in " + part("1-of-00003");
  CHECK(trouble(part("1-of-00003")) == missing);
  fs::copy_file(kSplitFolder + "tiny-00003-of-00003.gguf", part("2-of-00003"));
  CHECK(trouble(part("1-of-00003")) == "split.no is 2, the file name says 1");
  fs::copy_file(kFolder + "plain.gguf", part("2-of-00003"), fs::copy_options::overwrite_existing);
  CHECK(trouble(part("1-of-00003")) == "split.no is missing, the file name says 1");
  fs::copy_file(kFolder + "plain.btf", part("2-of-00003"), fs::copy_options::overwrite_existing);
  CHECK(trouble(part("1-of-00003")) ==
        "the name says part of a split GGUF file, the format is BTF");
}

TEST_CASE("gguf: every bad file has its own error") {
  std::set<std::string> texts;
  const auto judge = [&](const std::string& path, const std::string& finding) {
    CHECK(codes_found(path) == std::vector{finding});
    texts.insert(refusal(path, finding));
  };
  CHECK(for_each_bad_file(kBadFolder, judge) > 68);
  CHECK(texts.size() > 60);
}

TEST_CASE("gguf: it is read and not written") {
  const ScratchDir scratch;
  const TensorFile file = open(kFolder + "plain.gguf");
  const auto by_name = btf::convert(file, scratch / "out.gguf", {});
  REQUIRE_FALSE(by_name);
  CHECK(said(by_name.error()).starts_with("GGUF files are not written; these are: npy, "));
  const auto told = btf::convert(file, scratch / "out.x", {.format = "gguf"});
  REQUIRE_FALSE(told);
  CHECK(said(told.error()).starts_with("GGUF is read and not written; these are: npy, "));
}

TEST_CASE("gguf: a file cut anywhere is refused, and one with any byte changed or read") {
  const ScratchDir scratch;
  const Bytes whole = read_file(kFolder + "mixed.gguf");
  const std::string path = scratch / "x.gguf";
  const std::size_t padding = 20;  // behind the last tensor, which may be missing
  for (std::size_t size = 4; size < whole.size() - padding; ++size) {
    write_file(path, std::span(whole).first(size));
    const auto file = TensorFile::open(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().finding == "data-past-end");
  }
  Bytes changed = whole;
  for (std::size_t at = 4; at < 320; ++at) {
    for (const int value : {0, 1, 2, 8, 127, 128, 255}) {
      changed[at] = static_cast<std::byte>(value);
      write_file(path, changed);
      const auto file = TensorFile::open(path);
      for (std::uint64_t i = 0; file && i < file->tensor_count(); ++i)
        if (const auto tensor = file->tensor(i)) CHECK(tensor->end() <= whole.size());
    }
    changed[at] = whole[at];
  }
}

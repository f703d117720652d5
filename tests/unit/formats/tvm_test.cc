// Files of TVM's parameters: against their twins in BTF, what is written against what TVM would
// write, and every way in which a header can lie.
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/validate.h"
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

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/tvm/";
const std::string kBadFolder = std::string(BTF_TESTDATA_DIR) + "/tvm-bad/";

}  // namespace

TEST_CASE("tvm: what is read is its twin to the bit, and is written again as it was") {
  const ScratchDir scratch;
  const std::vector<std::string> names{"types", "nibbles", "small", "none", "odd", "dump", "names"};
  for (const std::string& name : names) {
    CAPTURE(name);
    const TensorFile file = open(kFolder + name + ".params");
    CHECK(file.format() == "tvm");
    CHECK(file.format_title() == "TVM .params");
    write(file, scratch / "out.btf", {.drop_names = true});
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + name + ".btf"));
    CHECK(codes_found(kFolder + name + ".params").empty());
    if (name == "nibbles") continue;  // not written
    write(file, scratch / "again.params");
    const bool same = read_file(scratch / "again.params") == read_file(kFolder + name + ".params");
    CHECK(same == (name != "odd"));
    // By way of BTF, which keeps the names, and compressed.
    write(file, scratch / "named.btf");
    write(open(scratch / "named.btf"), scratch / "back.params");
    // An empty one is none there.
    const bool kept = read_file(scratch / "back.params") == read_file(scratch / "again.params");
    CHECK(kept == (name != "names"));
    write(file, scratch / "out.params.zst");
    CHECK(open(scratch / "out.params.zst").format() == "tvm");
    write(open(scratch / "out.params.zst"), scratch / "unpacked.params");
    CHECK(read_file(scratch / "unpacked.params") == read_file(scratch / "again.params"));
  }
}

TEST_CASE("tvm: what TVM itself wrote") {
  const std::string oracle = std::string(BTF_TESTDATA_DIR) + "/oracle/tvm/";
  for (const char* const name : {"types.params", "dump.params"})
    CHECK(read_file(oracle + name) == read_file(kFolder + name));
}

TEST_CASE("tvm: names, and the order of execution in those of the debug executor") {
  const TensorFile types = open(kFolder + "types.params");
  CHECK(types.tensor(0)->name == "x.int8");
  CHECK(types.tensor(0)->named);
  const TensorFile names = open(kFolder + "names.params");
  CHECK(names.own_name(0).value() == "");
  CHECK(names.own_name(4).value() == "bell\x07");
  CHECK(names.own_name(6).value() == std::string(500, 'p'));
  CHECK(names.attributes()->tensors.empty());

  const btf::FileAttributes dump = open(kFolder + "dump.params").attributes().value();
  std::vector<std::optional<std::uint64_t>> orders(8);
  for (const auto& [index, tensor] : dump.tensors) orders.at(index) = tensor.order;
  CHECK(orders == std::vector<std::optional<std::uint64_t>>{0, 3, 12, {}, 7, {}, {}, {}});
  // BTF keeps it.
  const ScratchDir scratch;
  write(open(kFolder + "dump.params"), scratch / "dump.btf");
  CHECK(open(scratch / "dump.btf").attributes()->tensors.at(2).order == 12);
}

TEST_CASE("tvm: types that no dtype stands for do not sink the file") {
  const std::string path = kFolder + "foreign.params";
  const TensorFile file = open(path);
  const std::vector<std::string> types{"",
                                       "float32x4",
                                       "float32x4",
                                       "handle64",
                                       "complex64",
                                       "float6_e2m3fn",
                                       "code 130 of 16 bits",
                                       "int128",
                                       "uint2",
                                       "handle0x0",
                                       ""};
  REQUIRE(file.tensor_count() == types.size());
  for (std::uint64_t i = 0; i < types.size(); ++i) {
    CHECK(file.tensor(i)->foreign_dtype == types[i]);
    CHECK(file.tensor(i)->known() == types[i].empty());
  }
  CHECK(file.tensor(1)->data_bytes == 12);
  CHECK(file.tensor(2)->data_bytes == 48);
  CHECK(codes_found(path) == std::vector<std::string>(9, "foreign-dtype"));
  const btf::Dims first{0};
  const auto element = btf::read_elements(file, file.tensor(1).value(), std::span(&first, 1));
  REQUIRE_FALSE(element);
  CHECK(said(element.error()).ends_with("dtype float32x4 is not supported"));
  const ScratchDir scratch;
  const auto all = btf::convert(file, scratch / "all.params", {});
  REQUIRE_FALSE(all);
  CHECK(said(all.error()) == "tensor 1: dtype float32x4 is not supported");
  write(file, scratch / "two.params", {.tensors = std::vector<std::uint64_t>{0, 10}});
  CHECK(open(scratch / "two.params").tensor_count() == 2);
}

TEST_CASE("tvm: 4-bit codes have a byte each; two in a byte are refused") {
  const ScratchDir scratch;
  // As TVM writes int4 where its memory has two codes in a byte.
  Bytes file = read_file(kFolder + "nibbles.params");
  const TensorFile whole = open(kFolder + "nibbles.params");
  std::uint64_t int4 = 0;
  while (whole.tensor(int4)->dtype != DType::int4) ++int4;
  const btf::TensorInfo tensor = whole.tensor(int4).value();
  CHECK(tensor.unpacked);
  CHECK(tensor.data_bytes == 45);
  file[tensor.data_offset + 2] = std::byte{0x21};
  write_file(scratch / "packed.params", file);
  CHECK(codes_found(scratch / "packed.params") == std::vector<std::string>{"nibble-byte"});
  const auto done = btf::convert(open(scratch / "packed.params"), scratch / "out.btf", {});
  REQUIRE_FALSE(done);
  CHECK(done.error().finding == "nibble-byte");
}

TEST_CASE("tvm: what it cannot hold is refused before a byte is written") {
  const ScratchDir scratch;
  const std::string good = std::string(BTF_TESTDATA_DIR) + "/good/";
  const auto message = [&](const std::string& input, const btf::ConvertOptions& options) {
    const auto size = btf::convert(open(input), scratch / "out.params", options);
    CHECK_FALSE(fs::exists(scratch / "out.params"));
    return size ? std::string() : said(size.error());
  };
  using Selection = std::vector<std::uint64_t>;
  using Names = std::vector<std::string>;
  const std::string types = kFolder + "types.btf";
  CHECK(message(kFolder + "nibbles.params", {})
            .starts_with("tensor 0: float4_e2m1fn is not written: in such a file an element takes "
                         "a byte, and TVM 0.27 reads beyond the end"));
  CHECK(
      message(types, {.tensors = Selection{0, 1}, .names = Names{"a", "a"}}) ==
      "tensor 1: two tensors have the name 'a', of which a file of TVM's parameters can hold one");
  CHECK(message(types, {.tensors = Selection{0}, .names = Names{"\xc3"}}) ==
        "tensor 0: the name '\xc3' is not UTF-8, as TVM demands");
  CHECK(message(types, {.tensors = Selection{0}, .names = Names{std::string(65536, 'n')}}) ==
        "tensor 0: a name of 65536 bytes; at most 65535 are written");
  for (const btf::Layout layout : {btf::Layout::coo, btf::Layout::hwc8})
    CHECK(message(good + "mixed.btf", {.layout = layout, .tensors = Selection{0}})
              .ends_with("kLINEAR, or the stored array as it is (plain)"));
  // Layouts and sparse tensors become row-major by themselves.
  write(open(good + "mixed.btf"), scratch / "mixed.params");
  CHECK(open(scratch / "mixed.params").tensor_count() == 4);
  CHECK(open(scratch / "mixed.params").tensor(3)->name == "mixed#3");
}

TEST_CASE("tvm: every bad file has its own error") {
  std::set<std::string> texts;
  const auto judge = [&](const std::string& path, const std::string& finding) {
    CHECK(codes_found(path) == std::vector{finding});
    texts.insert(refusal(path, finding));
  };
  CHECK(for_each_bad_file(kBadFolder, judge) == 46);
  CHECK(texts.size() >= 40);
  CHECK_FALSE(texts.contains(""));
}

TEST_CASE("tvm: a file cut anywhere is refused, and one with any byte changed or read") {
  const ScratchDir scratch;
  const Bytes whole = read_file(kFolder + "small.params");
  const std::string path = scratch / "x.params";
  for (std::size_t size = 8; size < whole.size(); ++size) {
    write_file(path, std::span(whole).first(size));
    const auto file = TensorFile::open(path);
    REQUIRE_FALSE(file);
    CHECK(said(file.error())
              .starts_with("the file is cut off: has " + std::to_string(size) + " bytes, and "));
  }
  Bytes changed = whole;
  for (std::size_t at = 8; at < whole.size(); ++at) {
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

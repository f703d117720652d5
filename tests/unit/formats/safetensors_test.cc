// safetensors: files against their twins in BTF, what is written against what the reference would
// write, and every way in which a header can lie.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/tensor_spec.h"
#include "btf/validate.h"
#include "btf/write.h"
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

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/safetensors/";
const std::string kBadFolder = std::string(BTF_TESTDATA_DIR) + "/safetensors-bad/";
const std::string kEnding = ".safetensors";

std::vector<std::string> names_of(const TensorFile& file) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
    names.push_back(file.own_name(i).value().value());
  return names;
}

Bytes with_header(const std::string& text, std::size_t data) {
  Bytes file = bytes::little_endian(text.size(), 8);
  for (const char c : text) file.push_back(static_cast<std::byte>(c));
  file.resize(file.size() + data);
  return file;
}

}  // namespace

TEST_CASE("safetensors: what is read is its twin to the bit") {
  const ScratchDir scratch;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    const std::string twin = kFolder + name.substr(0, name.find('.')) + ".btf";
    if (!name.ends_with(kEnding) || name.contains(".canonical") || !fs::exists(twin)) continue;
    CAPTURE(name);
    ++count;
    const TensorFile file = open(kFolder + name);
    CHECK(file.format() == "safetensors");
    write(file, scratch / "out.btf", {.drop_names = true});
    CHECK(read_file(scratch / "out.btf") == read_file(twin));
    std::size_t findings = 0;
    CHECK(btf::validate(kFolder + name, [&](const btf::Finding&) { ++findings; }));
    CHECK(findings == 0);
  }
  CHECK(count == 9);
}

TEST_CASE("safetensors: what the reference library wrote, and what it refuses") {
  const std::string oracle = std::string(BTF_TESTDATA_DIR) + "/oracle/safetensors/";
  for (const char* const name : {"types.safetensors", "names.safetensors"})
    CHECK(read_file(oracle + name) == read_file(kFolder + name));
  // Beyond it, as docs/formats.md says.
  const std::set<std::string> stricter{"zero-hides-overflow", "entry-is-list",
                                       "many-dims",           "name-twice",
                                       "name-twice-escaped",  "unknown-member-twice"};
  std::ifstream lines(oracle + "verdicts.tsv");
  std::size_t count = 0;
  for (std::string name, verdict;
       std::getline(lines, name, '\t') && std::getline(lines, verdict);) {
    CAPTURE(name);
    ++count;
    const bool bad = fs::exists(kBadFolder + name);
    const bool refused = verdict == "refused";
    if (bad) CHECK(refused != stricter.contains(name.substr(0, name.find('.'))));
    if (!bad && name != "foreign.safetensors") CHECK_FALSE(refused);
  }
  CHECK(count > 70);
}

TEST_CASE("safetensors: names are what they are, however the header spells them") {
  std::ifstream lines(kFolder + "names.txt");
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const Bytes name = bytes::hex(line);
    names.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
  }
  REQUIRE(names.size() == 12);
  CHECK(names_of(open(kFolder + "names.safetensors")) == names);
  CHECK(names_of(open(kFolder + "names.escaped.safetensors")) == names);
  CHECK(names_of(open(kFolder + "order.safetensors")) ==
        std::vector<std::string>{"last", "a", "empty 1", "empty 2", "m"});
  const TensorFile file = open(kFolder + "types.safetensors");
  CHECK(file.tensor(0)->name == "x.uint64");
  CHECK(file.tensor(0)->named);
  CHECK(file.tensor(file.tensor_count() - 1)->name == "x.bool");
}

TEST_CASE("safetensors: what is written is what the reference writes") {
  const ScratchDir scratch;
  const auto again = [&](const std::string& input, const std::string& same) {
    CAPTURE(input);
    write(open(kFolder + input), scratch / "out.safetensors");
    CHECK(read_file(scratch / "out.safetensors") == read_file(kFolder + same));
  };
  again("types.safetensors", "types.safetensors");
  again("order.safetensors", "order.canonical.safetensors");
  again("order.canonical.safetensors", "order.canonical.safetensors");
  again("names.escaped.safetensors", "names.safetensors");
  again("none_bare.safetensors", "none.safetensors");

  // Names and metadata go by way of BTF.
  using Texts = std::map<std::string, std::string>;
  CHECK(open(kFolder + "order.safetensors").attributes()->metadata ==
        Texts{{"format", "np"}, {"k", "v"}});
  CHECK(open(kFolder + "null_metadata.safetensors").attributes()->metadata.empty());
  write(open(kFolder + "order.safetensors"), scratch / "order.btf");
  write(open(scratch / "order.btf"), scratch / "back.safetensors");
  CHECK(read_file(scratch / "back.safetensors") ==
        read_file(kFolder + "order.canonical.safetensors"));

  // Whatever the order of the input, and whether the output can be written anywhere or not.
  const TensorFile twin = open(kFolder + "types.btf");
  std::vector<std::uint64_t> tensors(twin.tensor_count());
  std::iota(tensors.rbegin(), tensors.rend(), 0);
  std::swap(tensors[3], tensors[11]);
  std::vector<std::string> names = names_of(open(kFolder + "types.safetensors"));
  std::vector<std::string> given;
  for (const std::uint64_t number : tensors) given.push_back(names[number]);
  btf::ConvertOptions options{.tensors = tensors, .names = given};
  std::vector<btf::TensorReport> reports;
  const auto size = btf::convert(twin, scratch / "out.safetensors", options,
                                 [&](const btf::TensorReport& r) { reports.push_back(r); });
  REQUIRE(size);
  CHECK(read_file(scratch / "out.safetensors") == read_file(kFolder + "types.safetensors"));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CHECK(reports[i].target == i);
    CHECK(reports[i].source == i);
    CHECK(reports[i].name == names[i]);
  }
  write(twin, scratch / "out.safetensors.zst", options);
  const TensorFile packed = open(scratch / "out.safetensors.zst");
  CHECK(packed.format() == "safetensors");
  CHECK(names_of(packed) == names);
  write(packed, scratch / "unpacked.safetensors");
  CHECK(read_file(scratch / "unpacked.safetensors") == read_file(kFolder + "types.safetensors"));
}

TEST_CASE("safetensors: tensors without a name are called after their file") {
  const ScratchDir scratch;
  const btf::ConvertOptions two{.tensors = std::vector<std::uint64_t>{0, 1}};
  write(open(kFolder + "types.btf"), scratch / "w.safetensors", two);
  CHECK(names_of(open(scratch / "w.safetensors")) ==
        std::vector<std::string>{"types#0", "types#1"});
  const std::vector<float> values{1, 2, 3, 4};
  btf::TensorToWrite tensor{.tensor = {}};
  tensor.tensor.bytes = std::as_bytes(std::span(values));
  tensor.tensor.dtype = DType::float32;
  tensor.tensor.storage = btf::resolve(btf::Layout::linear, btf::Dims{4}, DType::float32).value();
  std::vector<btf::TensorToWrite> tensors{tensor, tensor};
  tensors[1].name = "a";
  REQUIRE(btf::write_tensors(scratch / "m.safetensors", tensors, {}));
  CHECK(names_of(open(scratch / "m.safetensors")) == std::vector<std::string>{"a", "tensor_0"});
}

TEST_CASE("safetensors: what it cannot hold is refused before a byte is written") {
  const ScratchDir scratch;
  const std::string good = std::string(BTF_TESTDATA_DIR) + "/good/";
  const auto message = [&](const std::string& input, const btf::ConvertOptions& options) {
    const auto size = btf::convert(open(input), scratch / "out.safetensors", options);
    CHECK_FALSE(fs::exists(scratch / "out.safetensors"));
    return size ? std::string() : said(size.error());
  };
  using Selection = std::vector<std::uint64_t>;
  using Names = std::vector<std::string>;
  const std::string types = kFolder + "types.btf";
  CHECK(message(types, {.dtype = DType::int4, .tensors = Selection{0}}) ==
        "tensor 0: safetensors has no type for int4");
  CHECK(message(types, {.dtype = DType::uint4, .tensors = Selection{0}}) ==
        "tensor 0: safetensors has no type for uint4");
  CHECK(message(good + "scalars.btf", {.dtype = DType::float4_e2m1fn, .tensors = Selection{0}}) ==
        "tensor 0: 1 elements of float4_e2m1fn do not fill whole bytes, as safetensors demands");
  CHECK(message(good + "mixed.btf", {.layout = btf::Layout::coo, .tensors = Selection{0}})
            .ends_with("kLINEAR, or the stored array as it is (plain)"));
  CHECK(message(good + "mixed.btf", {.layout = btf::Layout::hwc8, .tensors = Selection{0}})
            .ends_with("kLINEAR, or the stored array as it is (plain)"));
  CHECK(message(types, {.tensors = Selection{0, 1}, .names = Names{"a", "a"}}) ==
        "two tensors have the name 'a', of which a safetensors file can hold one");
  CHECK(message(types, {.tensors = Selection{0}, .names = Names{"\xc3"}}) ==
        "tensor 0: the name '\xc3' is not UTF-8, as safetensors demands");
  CHECK(message(types, {.tensors = Selection{0}, .names = Names{"__metadata__"}}) ==
        "tensor 0: a tensor of a safetensors file cannot be called '__metadata__'");

  // Layouts and sparse tensors become row-major by themselves.
  write(open(good + "mixed.btf"), scratch / "mixed.safetensors");
  CHECK(open(scratch / "mixed.safetensors").tensor_count() == 4);
}

TEST_CASE("safetensors: every bad file has its own error") {
  std::set<std::string> texts;
  const auto judge = [&](const std::string& path, const std::string& finding) {
    CHECK(codes_found(path) == std::vector{finding});
    if (finding != "rank-too-large") {
      CHECK(texts.insert(refusal(path, finding)).second);
      return;
    }
    // Of one tensor; the other is sound.
    const TensorFile file = open(path);
    CHECK(file.tensor(0)->dims == btf::Dims{1});
    CHECK(file.tensor(1).error().finding == finding);
  };
  for_each_bad_file(kBadFolder, judge);
  CHECK(texts.size() > 55);
}

TEST_CASE("safetensors: types that no dtype stands for do not sink the file") {
  const TensorFile file = open(kFolder + "foreign.safetensors");
  const std::vector<std::string> types{"", "C64", "F6_E2M3", "F6_E3M2", "I128", "", "NEW"};
  REQUIRE(file.tensor_count() == types.size());
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < types.size(); ++i) found.push_back(file.tensor(i)->foreign_dtype);
  std::vector<std::string> sorted = types;
  std::ranges::sort(sorted);
  std::ranges::sort(found);
  CHECK(found == sorted);
  const btf::TensorInfo complex = file.tensor(1).value();
  CHECK(complex.name == "complex");
  CHECK(complex.foreign_dtype == "C64");
  CHECK(complex.data_bytes == 16);
  CHECK(complex.dims == btf::Dims{2, 1});
  CHECK_FALSE(complex.known());
  const btf::Dims first{0, 0};
  const auto element = btf::read_elements(file, complex, std::span(&first, 1));
  REQUIRE_FALSE(element);
  CHECK(said(element.error()).ends_with("dtype C64 is not supported"));
  std::size_t findings = 0;
  CHECK(btf::validate(kFolder + "foreign.safetensors", [&](const btf::Finding& finding) {
    CHECK(finding.code == "unknown-dtype");
    ++findings;
  }));
  CHECK(findings == 5);
  const ScratchDir scratch;
  write(file, scratch / "out.safetensors", {.tensors = std::vector<std::uint64_t>{0}});
  const auto all = btf::convert(file, scratch / "all.safetensors", {});
  REQUIRE_FALSE(all);
  CHECK(said(all.error()) == "tensor 1: dtype C64 is not supported");
}

TEST_CASE("safetensors: a file cut anywhere is refused, and one with any byte changed or read") {
  const ScratchDir scratch;
  const Bytes whole = read_file(kFolder + "order.safetensors");
  const std::string path = scratch / "x.safetensors";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, std::span(whole).first(size));
    const auto file = TensorFile::open(path);
    REQUIRE_FALSE(file);
    CHECK(said(file.error())
              .starts_with(size == 0 ? "is empty: 0 bytes"
                                     : "the file is cut off: has " + std::to_string(size)));
  }
  Bytes changed = whole;
  for (std::size_t at = 0; at < 400; ++at) {
    for (const int value : {0, 1, 34, 44, 48, 57, 93, 123, 125, 255}) {
      changed[at] = static_cast<std::byte>(value);
      write_file(path, changed);
      const auto file = TensorFile::open(path);
      for (std::uint64_t i = 0; file && i < file->tensor_count(); ++i)
        if (const auto tensor = file->tensor(i)) CHECK(tensor->end() <= whole.size());
    }
    changed[at] = whole[at];
  }
}

TEST_CASE("safetensors: a BTF file is none, whatever it is called and begins with") {
  const ScratchDir scratch;
  const std::string path = scratch / "x.safetensors";
  for (const char* const folder : {"/good", "/odd"})
    for (const auto& entry : fs::directory_iterator(BTF_TESTDATA_DIR + std::string(folder))) {
      fs::copy_file(entry.path(), path, fs::copy_options::overwrite_existing);
      CAPTURE(entry.path().filename().string());
      CHECK(open(path).format() == "btf");
    }
  // Its only record begins at byte 123, which is '{', or at 8827 (0x227b), which is '{"'.
  for (const std::uint64_t offset : {std::uint64_t{0x7b}, std::uint64_t{0x227b}}) {
    Bytes file = bytes::u64({1, offset});
    file.resize(offset);
    const Bytes record = bytes::u64({0, 6, 0});
    file.insert(file.end(), record.begin(), record.end());
    write_file(path, file);
    CHECK(open(path).format() == "btf");
    CHECK(open(path).tensor(0)->dtype == DType::uint8);
  }
  // Not by its name, nor cut in its header, is it taken for a BTF file.
  const Bytes types = read_file(kFolder + "types.safetensors");
  write_file(scratch / "plain", types);
  CHECK(open(scratch / "plain").format() == "safetensors");
  write_file(scratch / "cut", std::span(types).first(100));
  CHECK(said(TensorFile::open(scratch / "cut").error()).starts_with("the file is cut off"));
}

TEST_CASE("safetensors: a spec contradicts what the file says itself") {
  const auto spec = btf::parse_tensor_spec("fp32:2x3x5");
  const auto file = TensorFile::open(kFolder + "types.safetensors", {.spec = *spec});
  REQUIRE_FALSE(file);
  CHECK(said(file.error()).find("describes its tensors itself") != std::string::npos);
}

TEST_CASE("safetensors: headers of millions of tensors, or of one name, cost what they hold") {
  const ScratchDir scratch;
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
            R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  text += "}";
  write_file(scratch / "many.safetensors", with_header(text, 0));
  const TensorFile many = open(scratch / "many.safetensors");
  CHECK(many.tensor_count() == 100'000);
  CHECK(many.tensor(99'999)->name == "99999");
  CHECK(many.check_overlap(many.tensor(99'999).value()));

  const std::string name(3'000'000, 'n');
  write_file(
      scratch / "long.safetensors",
      with_header("{\"" + name + R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4));
  CHECK(open(scratch / "long.safetensors").tensor(0)->name == name);
  write_file(
      scratch / "long.safetensors",
      with_header("{\"" + name + R"(":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", 4));
  CHECK(TensorFile::open(scratch / "long.safetensors").error().message.size() < 1000);
}

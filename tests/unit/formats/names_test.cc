// Names of tensors in BTF files: tables that testdata/generator/names.py wrote against what is
// read, and what is written against them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "btf/write.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::TensorFile;

namespace {

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/names/";

using Rows = std::vector<std::vector<std::string>>;

// Tab-separated.
Rows rows_of(const std::string& name) {
  std::ifstream file(kFolder + name);
  REQUIRE(file);
  Rows rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

std::string from_hex(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return text;
}

std::string tensor_text(const std::optional<std::uint64_t>& tensor) {
  return tensor ? std::to_string(*tensor) : "-";
}

std::string findings_of(const std::string& path) {
  std::string codes;
  std::string tensors;
  const auto done = btf::validate(path, [&](const btf::Finding& finding) {
    codes += (codes.empty() ? "" : ",") + std::string(finding.code);
    tensors += (tensors.empty() ? "" : ",") + tensor_text(finding.tensor);
  });
  REQUIRE(done);
  return codes.empty() ? "-\t-" : codes + "\t" + tensors;
}

// A reader of the published text and nothing more: the offsets, and what stands there.
struct PublishedRecord {
  std::vector<std::uint64_t> dims;
  std::uint8_t dtype = 0;
  std::uint8_t layout = 0;
  std::string data;

  bool operator==(const PublishedRecord&) const = default;
};

std::vector<PublishedRecord> read_published(const std::string& bytes, std::uint64_t element) {
  const auto word = [&](std::uint64_t at) {
    std::uint64_t value = 0;
    REQUIRE(at + 8 <= bytes.size());
    std::memcpy(&value, bytes.data() + at, 8);
    return value;
  };
  std::vector<PublishedRecord> records;
  for (std::uint64_t i = 0; i < word(0); ++i) {
    std::uint64_t at = word(8 + 8 * i);
    PublishedRecord record;
    const std::uint64_t rank = word(at);
    record.dtype = static_cast<std::uint8_t>(bytes[at + 8]);
    record.layout = static_cast<std::uint8_t>(bytes[at + 9]);
    at += 16;
    std::uint64_t size = element;
    for (std::uint64_t d = 0; d < rank; ++d, at += 8) {
      record.dims.push_back(word(at));
      size *= record.dims.back();
    }
    record.data = bytes.substr(at, size);
    records.push_back(record);
  }
  return records;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

btf::ConvertOptions named(std::vector<std::string> names) {
  btf::ConvertOptions options;
  options.names = std::move(names);
  return options;
}

std::vector<std::string> names_of(const TensorFile& file) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto name = file.own_name(i);
    REQUIRE(name);
    names.push_back(name->value_or(""));
  }
  return names;
}

}  // namespace

TEST_CASE("names: every sound table is read, and written again to the byte") {
  const ScratchDir scratch;
  for (const auto& row : rows_of("names.tsv")) {
    CAPTURE(row.front());
    const std::string path = kFolder + row.front();
    const auto file = TensorFile::open(path);
    REQUIRE(file);
    std::vector<std::string> expected;
    for (std::size_t i = 1; i < row.size(); ++i)
      expected.push_back(row[i] == "-" ? "" : from_hex(row[i]));
    CHECK(names_of(*file) == expected);
    CHECK(findings_of(path) == "-\t-");
    REQUIRE(btf::convert(*file, scratch / "out.btf", {}));
    // A table of nothing is not written.
    const std::string twin = expected.empty() ? std::string(8, '\0') : content(path);
    CHECK(content(scratch / "out.btf") == twin);
    REQUIRE(btf::convert(*file, scratch / "out.btf.zst", {}));
    const auto packed = TensorFile::open(scratch / "out.btf.zst");
    REQUIRE(packed);
    CHECK(names_of(*packed) == expected);
  }
}

TEST_CASE("names: every broken table gives its finding, and its tensors are there by number") {
  std::set<std::string> listed;
  for (const auto& row : rows_of("expected.tsv")) {
    CAPTURE(row.front());
    listed.insert(row.front());
    const auto file = TensorFile::open(kFolder + row.front());
    REQUIRE(file);
    CHECK(findings_of(kFolder + row.front()) == row[1] + "\t" + row[2]);
    const bool one_tensor = row[2] == "4";
    for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
      const auto tensor = file->tensor(i);
      CHECK((one_tensor && i == 4 && !tensor) == !tensor.has_value());
      if (tensor && !tensor->named) CHECK(tensor->name.ends_with("#" + std::to_string(i)));
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("bad-")) CHECK(listed.contains(name));
  }
}

TEST_CASE("names: a reader of the published text sees what it sees without them") {
  const auto plain = read_published(content(kFolder + "plain.btf"), 4);
  CHECK(plain.size() == 5);
  for (const std::string name : {"names", "attributes", "long", "bad-checksum", "bad-twice"})
    CHECK(read_published(content(kFolder + name + ".btf"), 4) == plain);
}

TEST_CASE("names: selecting by those that cannot be read is an error, by number it is none") {
  const auto file = TensorFile::open(kFolder + "bad-checksum.btf");
  REQUIRE(file);
  const btf::TensorSet set = btf::TensorSet::of(*file);
  CHECK(set.select("1,3"));
  const auto selected = set.select("conv1.weight");
  REQUIRE_FALSE(selected);
  CHECK(said(selected.error()) == "the name table's checksum does not match its bytes");
}

TEST_CASE("names: what BTF cannot hold as a name is refused before anything is written") {
  const ScratchDir scratch;
  const auto file = TensorFile::open(kFolder + "plain.btf");
  REQUIRE(file);
  const auto refused = [&](const std::string& name, const std::string& why) {
    const auto done = btf::convert(*file, scratch / "out.btf", named({"", name, "", "", ""}));
    REQUIRE_FALSE(done);
    CHECK(said(done.error()) == why);
    CHECK(scratch.names().empty());
  };
  refused(std::string(65536, 'n'),
          "tensor 1: its name has 65536 bytes, names in BTF have at most 65535");
  refused("a\xff",
          "tensor 1: its name 'a\xff' is not UTF-8 without zero bytes, as names in BTF are");
  refused(std::string("a\0b", 3), "tensor 1: its name 'a" + std::string(1, '\0') +
                                      "b' is not UTF-8 without zero bytes, as names in BTF are");
  const auto few = btf::convert(*file, scratch / "out.btf", named({"a", "b"}));
  REQUIRE_FALSE(few);
  CHECK(said(few.error()) == "2 names are given for 5 tensors");
  CHECK(scratch.names().empty());
}

TEST_CASE("names: written by convert and write_tensors as the generator does") {
  const ScratchDir scratch;
  const auto plain = TensorFile::open(kFolder + "plain.btf");
  REQUIRE(plain);
  const std::vector<std::string> names{"conv1.weight", "", "/layer1/conv/Conv_output_0",
                                       "gr\xc3\xb6\xc3\x9f"
                                       "e \xc2\xb5",
                                       "1017"};
  REQUIRE(btf::convert(*plain, scratch / "out.btf", named(names)));
  CHECK(content(scratch / "out.btf") == content(kFolder + "names.btf"));

  const auto file = TensorFile::open(scratch / "out.btf");
  REQUIRE(file);
  btf::ConvertOptions options;
  options.drop_names = true;
  REQUIRE(btf::convert(*file, scratch / "dropped.btf", options));
  CHECK(content(scratch / "dropped.btf") == content(kFolder + "plain.btf"));

  options = {};
  options.tensors = {{4, 0}};
  options.rename = {{"1017", "first"}};
  REQUIRE(btf::convert(*file, scratch / "two.btf", options));
  const auto two = TensorFile::open(scratch / "two.btf");
  REQUIRE(two);
  CHECK(names_of(*two) == std::vector<std::string>{"first", "conv1.weight"});

  const std::vector<float> values{1, 2, 3};
  btf::TensorToWrite tensor;
  tensor.tensor.dtype = btf::DType::float32;
  tensor.tensor.storage = *btf::resolve(btf::Layout::linear, btf::Dims{3}, btf::DType::float32);
  tensor.tensor.bytes = std::as_bytes(std::span(values));
  tensor.name = "x";
  REQUIRE(btf::write_tensors(scratch / "memory.btf", {{tensor}}));
  const auto memory = TensorFile::open(scratch / "memory.btf");
  REQUIRE(memory);
  CHECK(names_of(*memory) == std::vector<std::string>{"x"});
}

TEST_CASE("names: of many tensors, through a stream of zstd without a seek table") {
  const ScratchDir scratch;
  const std::vector<float> values{1};
  std::vector<btf::TensorToWrite> tensors(3000);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].tensor.dtype = btf::DType::float32;
    tensors[i].tensor.storage =
        *btf::resolve(btf::Layout::linear, btf::Dims{1}, btf::DType::float32);
    tensors[i].tensor.bytes = std::as_bytes(std::span(values));
    // Together more than what may follow a stream's last record unasked.
    tensors[i].name = std::string(600, 'n') + std::to_string(i);
  }
  REQUIRE(btf::write_tensors(scratch / "many.btf", tensors));
  REQUIRE(std::system(
              ("zstd -q " + (scratch / "many.btf") + " -o " + (scratch / "one_frame")).c_str()) ==
          0);
  REQUIRE(
      std::system(("cat " + (scratch / "many.btf") + " | zstd -q -c > " + (scratch / "streamed"))
                      .c_str()) == 0);
  for (const std::string& path : {scratch / "one_frame", scratch / "streamed"}) {
    const auto file = TensorFile::open(path);
    REQUIRE(file);
    CHECK(names_of(*file).back() == tensors.back().name);
    CHECK(findings_of(path) == "-\t-");
  }
}

TEST_CASE("names: they make the pairs of a comparison where both files have some") {
  const ScratchDir scratch;
  const auto plain = TensorFile::open(kFolder + "plain.btf");
  REQUIRE(plain);
  btf::ConvertOptions options = named({"d", "a", "c"});
  options.tensors = {{3, 0, 2}};
  REQUIRE(btf::convert(*plain, scratch / "actual.btf", options));
  options = named({"a", "b", "c", "d"});
  options.tensors = {{0, 1, 2, 3}};
  REQUIRE(btf::convert(*plain, scratch / "golden.btf", options));
  const auto actual = TensorFile::open(scratch / "actual.btf");
  const auto golden = TensorFile::open(scratch / "golden.btf");
  REQUIRE((actual && golden));
  const auto pairs = [&](const btf::DiffOptions& how) {
    std::vector<std::string> found;
    const auto same = btf::diff(*actual, *golden, how, [&](const btf::TensorDiff& diff) {
      found.push_back((diff.actual ? std::to_string(diff.actual->index) : "-") + ":" +
                      (diff.golden ? std::to_string(diff.golden->index) : "-") +
                      (diff.result == btf::DiffResult::same ? "" : "!"));
    });
    if (!same) found.push_back(said(same.error()));
    return found;
  };
  using Pairs = std::vector<std::string>;
  CHECK(pairs({}) == Pairs{"0:3", "1:0", "2:2", "-:1!"});
  CHECK(pairs({.pair_by = btf::PairBy::number}) == Pairs{"0:0!", "1:1!", "2:2", "-:3!"});
  CHECK(pairs({.actual_tensors = {{2, 0}}}) == Pairs{"2:2", "0:3"});
  const auto unnamed = btf::diff(*actual, *plain, {.pair_by = btf::PairBy::name}, {});
  REQUIRE_FALSE(unnamed);
  CHECK(said(unnamed.error()) == "has no names of tensors to pair them by");
}

TEST_CASE("attributes: what a safetensors file says of itself goes through BTF and back") {
  const ScratchDir scratch;
  // As safetensors.numpy.save_file() writes it.
  std::string header = R"({"__metadata__":{"a\"b":"gr\u00f6\u00dfe","format":"pt","k":"v"},)"
                       R"("x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header + "ab";
  std::ofstream(scratch / "in.safetensors", std::ios::binary) << file;
  const auto input = TensorFile::open(scratch / "in.safetensors");
  REQUIRE(input);
  REQUIRE(btf::convert(*input, scratch / "x.btf", {}));
  const auto middle = TensorFile::open(scratch / "x.btf");
  REQUIRE(middle);
  const auto attributes = middle->attributes();
  REQUIRE(attributes);
  CHECK(attributes->metadata == std::map<std::string, std::string>{{"a\"b",
                                                                    "gr\xc3\xb6\xc3\x9f"
                                                                    "e"},
                                                                   {"format", "pt"},
                                                                   {"k", "v"}});
  REQUIRE(btf::convert(*middle, scratch / "out.safetensors", {}));
  const auto back = TensorFile::open(scratch / "out.safetensors");
  REQUIRE(back);
  CHECK(back->attributes() == *attributes);
  CHECK(findings_of(scratch / "x.btf") == "-\t-");
}

// .npz: archives in every form that writers have had, against their twins in BTF; what is written
// against what NumPy writes; archives that are broken.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "btf/write.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tensor_files.h"

using btf::DType;
using btf::TensorFile;
using bytes::Bytes;
using files::codes_found;
using files::open;
using files::write;

namespace {

const std::string kFolder = std::string(BTF_TESTDATA_DIR) + "/npz/";
const std::string kBadFolder = std::string(BTF_TESTDATA_DIR) + "/npz-bad/";

std::vector<std::string> npz_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".npz") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

btf::OpenOptions told(DType dtype) {
  btf::TensorSpec spec;
  spec.dtype = dtype;
  return {.spec = spec};
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

btf::TensorToWrite float32_array(const btf::Dims& dims, const std::vector<float>& values) {
  btf::TensorToWrite tensor;
  tensor.tensor.dtype = DType::float32;
  tensor.tensor.storage = btf::resolve(btf::Layout::linear, dims, DType::float32).value();
  tensor.tensor.bytes = std::as_bytes(std::span(values));
  return tensor;
}

// What is read from a pipe while `work` writes to it.
template <typename Work>
Bytes through_pipe(const Work& work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  Bytes all;
  std::thread reader([&] {
    Bytes block(1 << 16);
    for (ssize_t got; (got = ::read(ends[0], block.data(), block.size())) > 0;)
      all.insert(all.end(), block.begin(), block.begin() + got);
  });
  work("/dev/fd/" + std::to_string(ends[1]));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  return all;
}

}  // namespace

TEST_CASE("npz: every form of an archive is its twin to the bit") {
  const ScratchDir scratch;
  std::size_t compared = 0;
  for (const std::string& name : npz_names()) {
    const std::string stem = name.substr(0, name.find('.'));
    if (stem == "foreign" || stem == "complex" || stem == "spooled") continue;
    CAPTURE(name);
    const auto options = stem.starts_with("void_") ? told(btf::parse_dtype(stem.substr(5)).value())
                                                   : btf::OpenOptions{};
    const TensorFile file = open(kFolder + name, options);
    CHECK(file.format() == "npz");
    write(file, scratch / "out.btf", {.drop_names = true});
    CHECK(read_file(scratch / "out.btf") == read_file(kFolder + stem + ".btf"));
    const bool skips = name == "arrays.infozip.npz";
    CHECK(codes_found(kFolder + name, options) ==
          std::vector<std::string>(skips ? 1 : 0, "npz-skipped"));
    ++compared;
  }
  CHECK(compared > 15);
}

TEST_CASE("npz: what is inflated may be more than memory is wanted for") {
  const TensorFile file = open(kFolder + "spooled.npz");
  const auto info = file.tensor(0);
  REQUIRE(info);
  CHECK(info->data_bytes == 600'000);
  CHECK(info->deflated());
  const auto read = btf::read_tensor(file, *info);
  REQUIRE(read);
  std::vector<std::int32_t> values(150'000);
  REQUIRE(read->tensor.bytes.size() == info->data_bytes);
  std::memcpy(values.data(), read->tensor.bytes.data(), info->data_bytes);
  CHECK(std::ranges::count(values, 0) == 149'999);
  CHECK(values.back() == 1);
}

TEST_CASE("npz: tensors are called what NumPy calls them, whatever that is") {
  const TensorFile file = open(kFolder + "names.npz");
  const std::vector<std::string> names{
      "",     "x",        "x.npy", "/abs", "../up",           "a/b",
      "dir/", "\xc3\xbc", "1017",  "a\nb", "\xf0\x9f\x90\x8d"};
  REQUIRE(file.tensor_count() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto info = file.tensor(i);
    REQUIRE(info);
    CHECK(info->named);
    CHECK(info->name == names[i]);
  }
}

TEST_CASE("npz: types that are none here are listed, and the others can be used") {
  const TensorFile file = open(kFolder + "foreign.npz");
  const std::vector<std::string> types{
      "|S3", "<U2", "<c8", "|O", "<M8[ns]", "|V3", "[('x', '<f4'), (\"y]\", '<f4', (2,))]"};
  REQUIRE(file.tensor_count() == types.size() + 1);
  std::set<std::string> reasons;
  for (std::size_t i = 0; i < types.size(); ++i) {
    CAPTURE(types[i]);
    const auto info = file.tensor(i);
    REQUIRE(info);
    CHECK_FALSE(info->dtype);
    CHECK(info->foreign_dtype == types[i]);
    const auto read = btf::read_tensor(file, *info);
    REQUIRE_FALSE(read);
    CHECK(read.error().message == info->unknown_dtype_text());
    CHECK(reasons.insert(read.error().message).second);
    CHECK_FALSE(file.elements(i));
  }
  const auto last = file.tensor(types.size());
  REQUIRE(last);
  CHECK(btf::read_tensor(file, *last));
  CHECK(codes_found(kFolder + "foreign.npz") ==
        std::vector<std::string>(types.size(), "foreign-dtype"));
}

TEST_CASE("npz: a spec is for the arrays that it fits, and one that fits none is an error") {
  const ScratchDir scratch;
  write(open(kFolder + "written.btf"), scratch / "all.npz");
  const std::string path = scratch / "all.npz";
  const TensorFile plain = open(path);
  const auto spec = [](const std::string& text) { return btf::parse_tensor_spec(text).value(); };
  const auto refused = [&](const btf::OpenOptions& options) {
    const auto file = TensorFile::open(path, options);
    return file ? "" : said(file.error());
  };
  // The first two bytes wide array, by its dims: others of its type are not meant.
  std::vector<std::uint64_t> wide;
  for (std::uint64_t i = 0; i < plain.tensor_count(); ++i)
    if (plain.tensor(i)->dtype == DType::uint16) wide.push_back(i);
  REQUIRE_FALSE(wide.empty());
  const btf::TensorInfo meant = plain.tensor(wide.front()).value();
  std::string dims;
  for (const std::uint64_t dim : meant.dims)
    dims += (dims.empty() ? "" : "x") + std::to_string(dim);
  if (dims.empty()) dims = "scalar";
  const auto count_of = [&](const TensorFile& file, const btf::Dims& shape) {
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i)
      if (file.tensor(i)->dtype == DType::bfloat16) {
        CHECK(file.tensor(i)->dims == shape);
        ++count;
      }
    return count;
  };
  CHECK(count_of(open(path, {.spec = spec("bf16:" + dims)}), meant.dims) > 0);
  CHECK(refused({.spec = spec("bf16:9x9x9x9")})
            .starts_with("the spec 'bf16:9x9x9x9' fits none of its "));
  CHECK(refused({.spec = spec("bf16:hwc8:1x3x4x4")})
            .ends_with("a spec may give its dtype and dims only"));
  CHECK(refused({.spec = spec("fp8:9x9")}).starts_with("the spec 'fp8:9x9' fits none of its "));

  // By name: one array, which it must fit; the last of two counts.
  btf::OpenOptions named;
  named.named_specs = {
      {"*", spec("int64")}, {meant.name, spec("fp16:" + dims)}, {meant.name, spec("bf16")}};
  const TensorFile told_file = open(path, named);
  for (std::uint64_t i = 0; i < told_file.tensor_count(); ++i) {
    const auto tensor = told_file.tensor(i);
    const bool is_meant = plain.tensor(i)->name == meant.name;
    const bool fits = is_meant || plain.tensor(i)->dtype == DType::int64;
    CHECK(tensor.has_value() == fits);
    if (is_meant) CHECK(tensor->dtype == DType::bfloat16);
  }
}

TEST_CASE("npz: one told dtype is for the members that it can be of") {
  const ScratchDir scratch;
  const auto dtypes_of = [](const TensorFile& file) {
    std::vector<std::optional<DType>> found;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) found.push_back(file.tensor(i)->dtype);
    return found;
  };
  write(open(kFolder + "written.btf"), scratch / "all.npz");
  const auto plain = dtypes_of(open(scratch / "all.npz"));
  auto wanted = plain;
  std::ranges::replace(wanted, std::optional(DType::uint16), std::optional(DType::bfloat16));
  CHECK(wanted != plain);
  CHECK(dtypes_of(open(scratch / "all.npz", told(DType::bfloat16))) == wanted);
  const TensorFile untold = open(kFolder + "void_bfloat16.npz");
  CHECK(untold.tensor(1)->unknown_dtype_text().find("`spec` TYPE") != std::string::npos);
  const auto spec = btf::parse_tensor_spec("fp32:2x3x5");
  CHECK(dtypes_of(open(scratch / "all.npz", {.spec = *spec})) == plain);
}

TEST_CASE("npz: what is written is what NumPy writes, to the byte") {
  const ScratchDir scratch;
  const TensorFile twin = open(kFolder + "written.btf");
  const btf::ConvertOptions named{.names = lines_of(kFolder + "written.txt")};
  write(twin, scratch / "out.npz", named);
  CHECK(read_file(scratch / "out.npz") == read_file(kFolder + "written.npz"));
  write(open(scratch / "out.npz"), scratch / "again.npz");
  CHECK(read_file(scratch / "again.npz") == read_file(kFolder + "written.npz"));
  btf::ConvertOptions to_pipe = named;
  to_pipe.format = "npz";
  std::uint64_t size = 0;
  const Bytes piped = through_pipe([&](const std::string& path) {
    const auto written = btf::convert(twin, path, to_pipe);
    if (!written) FAIL(written.error().text());
    size = *written;
  });
  CHECK(piped == read_file(kFolder + "written.pipe.npz"));
  CHECK(size == piped.size());
  // Compressed, it is the same as through a pipe.
  btf::ConvertOptions compressed = named;
  compressed.compression = 1;
  write(twin, scratch / "out.npz.zst", compressed);
  write(open(scratch / "out.npz.zst"), scratch / "again.npz");
  CHECK(read_file(scratch / "again.npz") == read_file(kFolder + "written.npz"));
  CHECK(codes_found(scratch / "out.npz.zst").empty());
}

TEST_CASE("npz: without a name of its own a tensor has one of its file's") {
  const ScratchDir scratch;
  std::filesystem::copy(kFolder + "void_bfloat16.btf", scratch / "x.btf");
  write(open(scratch / "x.btf"), scratch / "out.npz");
  CHECK(open(scratch / "out.npz").tensor(1)->name == "x#1");
  const std::vector<float> values{1, 2};
  const btf::TensorToWrite nameless = float32_array({2}, values);
  const std::vector<btf::TensorToWrite> tensors{nameless, nameless};
  const auto size = btf::write_tensors(scratch / "memory.npz", tensors);
  REQUIRE(size);
  CHECK(*size == std::filesystem::file_size(scratch / "memory.npz"));
  CHECK(open(scratch / "memory.npz").tensor(1)->name == "arr_1");
  CHECK(codes_found(scratch / "memory.npz").empty());
}

TEST_CASE("npz: names that an archive cannot hold are refused, and nothing is written") {
  const ScratchDir scratch;
  const TensorFile two = open(kFolder + "void_bfloat16.btf");
  const auto refusal = [&](std::vector<std::string> names) {
    const auto size = btf::convert(two, scratch / "out.npz", {.names = std::move(names)});
    CHECK_FALSE(std::filesystem::exists(scratch / "out.npz"));
    return size ? std::string() : size.error().message;
  };
  CHECK(refusal({"a", "a"}).find("'a.npy' occurs twice") != std::string::npos);
  CHECK(refusal({"a", std::string("b\0c", 3)}).find("NUL") != std::string::npos);
  CHECK(refusal({"a", "\xff"}).find("UTF-8") != std::string::npos);
  CHECK(refusal({"a", std::string(65'532, 'x')}).find("65535") != std::string::npos);
}

TEST_CASE(
    "npz: crcs are right however elements come: by threads, in tiles, padded, a nibble each") {
  const ScratchDir scratch;
  const std::string good = std::string(BTF_TESTDATA_DIR) + "/good/";
  std::vector<float> values(3U << 20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 1009);
  const btf::TensorToWrite large = float32_array({3, 1024, 1024}, values);
  REQUIRE(btf::write_tensors(scratch / "large.btf", std::span(&large, 1)));
  const auto check = [&](const std::string& input, btf::ConvertOptions options) {
    CAPTURE(input);
    options.execution.jobs = 4;
    write(open(input), scratch / "out.npz", options);
    const TensorFile made = open(scratch / "out.npz");
    bool untold = false;
    for (std::uint64_t i = 0; i < made.tensor_count(); ++i)
      untold = untold || !made.tensor(i)->dtype;
    const auto all_told = untold ? told(DType::int4) : btf::OpenOptions{};
    CHECK(codes_found(scratch / "out.npz", all_told).empty());
  };
  check(scratch / "large.btf", {});
  check(scratch / "large.btf", {.edits = {btf::Permute{{2, 1, 0}}}});
  check(scratch / "large.btf",
        {.dtype = DType::float16, .layout = btf::Layout::hwc8, .plain = true});
  check(scratch / "large.btf", {.dtype = DType::int4});
  check(good + "layouts_f16.btf", {});
  check(good + "layouts_f16.btf", {.plain = true});
  check(good + "coo_code2.btf", {});
}

TEST_CASE("npz: every bad archive has its own error, and its sound member can be used") {
  const ScratchDir scratch;
  std::ifstream table(kBadFolder + "expected.tsv");
  REQUIRE(table);
  std::map<std::string, std::string> texts;
  std::set<std::string> listed{"expected.tsv"};
  std::string name, finding;
  while (std::getline(table, name, '\t') && std::getline(table, finding)) {
    CAPTURE(name);
    listed.insert(name);
    const std::string path = kBadFolder + name;
    std::vector<btf::Finding> found;
    const auto status = btf::validate(path, [&](const btf::Finding& f) { found.push_back(f); });
    CHECK(status.has_value() == (finding != "-"));
    std::string text = status ? "" : said(status.error());
    if (status) {
      REQUIRE(found.size() == 1);
      CHECK(found.front().code == finding);
      text = found.front().message;
    }
    // The same fault in a deflated member is said in the same words.
    if (name.find("-deflated") == std::string::npos) CHECK(texts.emplace(text, name).second);
    const auto file = TensorFile::open(path);
    if (!file) {
      CHECK(said(file.error()) == text);
      continue;
    }
    REQUIRE(file->tensor_count() == 2);
    write(*file, scratch / "out.btf", {.tensors = std::vector<std::uint64_t>{0}});
    CHECK_FALSE(btf::convert(*file, scratch / "both.btf", {}));
  }
  CHECK(texts.size() > 60);
  for (const auto& entry : std::filesystem::directory_iterator(kBadFolder))
    CHECK(listed.contains(entry.path().filename().string()));
}

TEST_CASE("npz: an archive cut anywhere is refused, one with any byte changed is refused or read") {
  const ScratchDir scratch;
  const std::string path = scratch / "x.npz";
  const Bytes whole = read_file(kFolder + "void_int4.npz");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, std::span(whole).first(size));
    CHECK_FALSE(TensorFile::open(path, told(DType::int4)));
  }
  Bytes changed = whole;
  const Bytes twin = read_file(kFolder + "void_int4.btf");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 8, 0x50, 0x7f, 0xff}) {
      changed[at] = static_cast<std::byte>(value);
      write_file(path, changed);
      const auto file = TensorFile::open(path, told(DType::int4));
      if (!file || file->format() != "npz") continue;
      bool faulty = false;
      const auto status =
          btf::validate(path, [&](const btf::Finding&) { faulty = true; }, told(DType::int4));
      const auto converted = btf::convert(*file, scratch / "out.btf", {.drop_names = true});
      if (faulty || !status || !converted || file->tensor_count() != 2) continue;
      if (read_file(scratch / "out.btf") != twin) FAIL("byte " << at << " as " << value);
    }
    changed[at] = whole[at];
  }
}

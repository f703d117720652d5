#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "unit/convert/convert_cases.h"

using namespace convert_cases;

namespace {

std::string testdata(const std::string& name) { return BTF_TESTDATA_DIR "/" + name; }

std::vector<std::string> testdata_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(testdata(folder)))
    if (entry.path().extension() == ".btf") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::vector<btf::TensorInfo> tensors_of(const std::string& path) {
  const auto file = btf::TensorFile::open(path);
  REQUIRE(file);
  std::vector<btf::TensorInfo> tensors;
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    auto tensor = file->tensor(i);
    REQUIRE(tensor);
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

void put_u64(Bytes& out, std::uint64_t word) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<std::byte>(word >> shift));
}

// A file with one dense record.
Bytes one_record(DType dtype, Layout layout, const Dims& dims, const Bytes& data) {
  Bytes file;
  put_u64(file, 1);
  put_u64(file, 16);
  put_u64(file, dims.size());
  file.push_back(std::byte{btf::info(dtype).code()});
  file.push_back(static_cast<std::byte>(layout));
  file.resize(file.size() + 6);
  for (const std::uint64_t dim : dims) put_u64(file, dim);
  file.insert(file.end(), data.begin(), data.end());
  file.resize((file.size() + 7) / 8 * 8);
  return file;
}

// What a reader at the other end of a pipe gets.
Bytes converted_through_pipe(const std::string& input, const ConvertOptions& options) {
  const ScratchDir dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  // Opened for writing too, so that the reader always finds a writer.
  const int keep = ::open((dir / "pipe").c_str(), O_RDWR);
  Bytes got;
  std::optional<btf::Result<std::uint64_t>> size;
  {
    const int reader = ::open((dir / "pipe").c_str(), O_RDONLY);
    const std::jthread read([&] {
      Bytes part(1U << 16);
      for (ssize_t n = 0; (n = ::read(reader, part.data(), part.size())) > 0;)
        got.insert(got.end(), part.begin(), part.begin() + n);
      ::close(reader);
    });
    size = try_convert(input, dir / "pipe", options);
    ::close(keep);
  }
  INFO((*size ? "" : size->error().text()));
  REQUIRE(*size);
  CHECK(**size == got.size());
  return got;
}

}  // namespace

TEST_CASE("file: canonical files stay as they are") {
  std::size_t files = 0;
  for (const std::string& name : testdata_names("good")) {
    if (name == "coo_code1.btf" || name == "coo_unsorted.btf") continue;
    CAPTURE(name);
    CHECK((converted(testdata("good/" + name)) == read_file(testdata("good/" + name))));
    ++files;
  }
  CHECK(files > 30);
}

TEST_CASE("file: odd files become canonical") {
  std::size_t files = 0;
  for (const std::string& name : testdata_names("odd")) {
    const std::string golden = name.substr(0, name.size() - 4) + ".canonical.btf";
    if (!fs::exists(testdata("odd/" + golden))) continue;
    CAPTURE(name);
    CHECK((converted(testdata("odd/" + name)) == read_file(testdata("odd/" + golden))));
    CHECK((converted(testdata("odd/" + golden)) == read_file(testdata("odd/" + golden))));
    ++files;
  }
  CHECK(files >= 9);
}

TEST_CASE("file: bad files are refused and nothing is written") {
  std::size_t files = 0;
  for (const std::string& name : testdata_names("bad")) {
    const ScratchDir dir;
    write_file(dir / "out", Bytes(3, kJunk));
    const auto result = try_convert(testdata("bad/" + name), dir / "out");
    CAPTURE(name);
    REQUIRE(!result);
    CHECK(result.error().file == testdata("bad/" + name));
    CHECK((read_file(dir / "out") == Bytes(3, kJunk)));
    CHECK(dir.names() == std::vector<std::string>{"out"});
    ++files;
  }
  CHECK(files > 20);
}

TEST_CASE("file: every layout to kLINEAR and back") {
  std::size_t files = 0;
  for (const std::string& name : testdata_names("good")) {
    const std::string golden = name.substr(0, name.size() - 4) + ".linear.btf";
    if (!fs::exists(testdata("good/" + golden))) continue;
    CAPTURE(name);
    CHECK((converted(testdata("good/" + name), {.layout = Layout::linear}) ==
           read_file(testdata("good/" + golden))));
    const std::vector<btf::TensorInfo> tensors = tensors_of(testdata("good/" + name));
    for (const btf::TensorInfo& tensor : tensors) {
      CAPTURE(tensor.index);
      const std::vector<std::uint64_t> one{tensor.index};
      CHECK((converted(testdata("good/" + golden), {.layout = tensor.layout, .tensors = one}) ==
             converted(testdata("good/" + name), {.tensors = one})));
    }
    ++files;
  }
  CHECK(files == 16);
}

TEST_CASE("file: COO to dense and back") {
  const Bytes dense = read_file(testdata("good/coo_code2.dense.btf"));
  const Bytes coo = read_file(testdata("good/coo_code2.btf"));
  CHECK((converted(testdata("good/coo_code2.btf"), {.layout = Layout::linear}) == dense));
  CHECK((converted(testdata("good/coo_code1.btf"), {.layout = Layout::linear}) == dense));
  CHECK((converted(testdata("good/coo_code2.dense.btf"), {.layout = Layout::coo}) == coo));
  CHECK((converted(testdata("good/coo_code1.btf")) == coo));
}

TEST_CASE("file: COO with TFRT's code") {
  const ConvertOptions tfrt{.coo_code = btf::kCooCodeTfrt};
  const Bytes golden = read_file(testdata("good/coo_code1.btf"));
  CHECK((converted(testdata("good/coo_code1.btf"), tfrt) == golden));
  CHECK((converted(testdata("good/coo_code2.btf"), tfrt) == golden));
  CHECK((converted(testdata("good/coo_code2.dense.btf"),
                   {.layout = Layout::coo, .coo_code = btf::kCooCodeTfrt}) == golden));
}

TEST_CASE("file: COO in any order is sorted, in memory or not") {
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{32} << 20}) {
    CAPTURE(memory);
    CHECK((converted(testdata("good/coo_unsorted.btf"), {.execution = {.memory = memory}}) ==
           read_file(testdata("good/coo_unsorted.canonical.btf"))));
    CHECK((converted(testdata("good/coo_unsorted.btf"),
                     {.layout = Layout::linear, .execution = {.memory = memory}}) ==
           read_file(testdata("good/coo_unsorted.dense.btf"))));
  }
}

TEST_CASE("file: COO to a padded layout, as from dense") {
  // [1, 3, 8, 8]
  const ConvertOptions options{.layout = Layout::chw4, .tensors = std::vector<std::uint64_t>{8}};
  CHECK((converted(testdata("good/coo_code2.btf"), options) ==
         converted(testdata("good/coo_code2.dense.btf"), options)));
}

TEST_CASE("file: the output may be the input") {
  const ScratchDir dir;
  fs::copy_file(testdata("good/layouts_f16.btf"), dir / "file");
  const auto size = try_convert(dir / "file", dir / "file", {.layout = Layout::linear});
  REQUIRE(size);
  CHECK((read_file(dir / "file") == read_file(testdata("good/layouts_f16.linear.btf"))));
  CHECK(dir.names() == std::vector<std::string>{"file"});
}

TEST_CASE("file: syncing changes nothing") {
  CHECK((converted(testdata("good/mixed.btf"), {.sync = true}) ==
         read_file(testdata("good/mixed.btf"))));
}

TEST_CASE("file: an error leaves the old output") {
  const ScratchDir dir;
  write_file(dir / "out", Bytes(3, kJunk));
  const auto refusal = [&](const std::string& input, const ConvertOptions& options) {
    const auto result = try_convert(testdata(input), dir / "out", options);
    REQUIRE(!result);
    CHECK((read_file(dir / "out") == Bytes(3, kJunk)));
    CHECK(dir.names() == std::vector<std::string>{"out"});
    return result.error();
  };

  // Tensor 2 of mixed.btf has rank 1.
  const btf::Error rank = refusal("good/mixed.btf", {.layout = Layout::hwc8});
  CHECK(rank.code == btf::ErrorCode::unsupported);
  CHECK(rank.text() ==
        testdata("good/mixed.btf") + ": tensor 2: kHWC8 needs rank 3 or more, found rank 1");

  CHECK(said(refusal("good/mixed.btf", {.tensors = std::vector<std::uint64_t>{4}})) ==
        "there is no tensor 4, the file has 4");
  CHECK(said(refusal("good/layouts_f16.btf", {.edits = {btf::Permute{{0, 1}}}})) ==
        "tensor 0: permute names 2 dims, but the tensor has rank 4");
  CHECK(said(refusal("good/layouts_f16.btf", {.edits = {btf::Permute{{0, 1, 2, 2}}}})) ==
        "tensor 0: permute must name every dim from 0 to 3 once");
  CHECK(refusal("odd/coo_duplicate_index.btf", {}).code == btf::ErrorCode::refused);

  // Known only when the last tensor is read.
  const btf::Error lossless =
      refusal("good/layouts_f32.btf",
              {.dtype = DType::int4, .layout = Layout::linear, .policy = {.lossless = true}});
  CHECK(lossless.code == btf::ErrorCode::refused);
  CHECK_THAT(said(lossless), Catch::StartsWith("tensor 0: element [0, 0, 1, 0] = 8 "));

  const std::atomic<bool> cancel = true;
  ConvertOptions cancelled;
  cancelled.execution.cancel = &cancel;
  CHECK(refusal("good/mixed.btf", cancelled).code == btf::ErrorCode::cancelled);
}

TEST_CASE("file: tensors are selected in the order asked for, and more than once") {
  const ScratchDir dir;
  const std::string input = testdata("good/mixed.btf");
  REQUIRE(try_convert(input, dir / "out", {.tensors = std::vector<std::uint64_t>{2, 0, 2}}));
  const std::vector<btf::TensorInfo> tensors = tensors_of(dir / "out");
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].dims == Dims{4});
  CHECK(tensors[1].dims == Dims{1, 3, 8, 8});
  CHECK(tensors[2].dims == Dims{4});
  CHECK((converted(input, {.tensors = std::vector<std::uint64_t>{}}) == Bytes(8)));
}

TEST_CASE("file: where possible, and the reports") {
  const ScratchDir dir;
  std::vector<btf::TensorReport> reports;
  REQUIRE(try_convert(testdata("good/mixed.btf"), dir / "out",
                      {.layout = Layout::hwc8,
                       .tensors = std::vector<std::uint64_t>{3, 2, 0},
                       .where_possible = true},
                      [&](const btf::TensorReport& report) { reports.push_back(report); }));
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].source == 3);
  CHECK(reports[0].target == 0);
  CHECK(reports[0].target_layout == Layout::coo);
  CHECK(reports[0].nnz == 20);
  CHECK(reports[0].kept == "kHWC8 needs rank 3 or more, found rank 2");
  CHECK(reports[1].source == 2);
  CHECK(reports[1].target_layout == Layout::linear);
  CHECK(reports[1].kept == "kHWC8 needs rank 3 or more, found rank 1");
  CHECK(reports[1].loss.elements == 4);
  CHECK(reports[2].source == 0);
  CHECK(reports[2].source_layout == Layout::linear);
  CHECK(reports[2].target_layout == Layout::hwc8);
  CHECK(reports[2].data_bytes == 8 * 8 * 8 * 4);
  CHECK(!reports[2].kept);
  REQUIRE(reports[2].objections.size() == 1);
  CHECK_THAT(reports[2].objections[0], Catch::Contains("does not hold float32 in kHWC8"));
  CHECK(tensors_of(dir / "out")[2].layout == Layout::hwc8);
}

TEST_CASE("file: plain writes the stored array as a dense record") {
  const ScratchDir dir;
  const std::string input = testdata("good/layouts_f16.btf");
  REQUIRE(try_convert(input, dir / "out", {.plain = true}));
  const std::vector<btf::TensorInfo> before = tensors_of(input);
  const std::vector<btf::TensorInfo> after = tensors_of(dir / "out");
  const Bytes bytes_before = read_file(input);
  const Bytes bytes_after = read_file(dir / "out");
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    CAPTURE(i);
    CHECK(after[i].layout == Layout::linear);
    CHECK(after[i].dims == before[i].storage->storage_shape());
    REQUIRE(after[i].data_bytes == before[i].data_bytes);
    CHECK(std::memcmp(bytes_after.data() + after[i].data_offset,
                      bytes_before.data() + before[i].data_offset, after[i].data_bytes) == 0);
  }
}

TEST_CASE("file: permute, for every layout") {
  const ScratchDir dir;
  const Dims dims{3, 3, 3, 5};
  const Bytes elements = random_bytes(count_of(dims) * 2, 17);
  for (const naive::Name& name : naive::names()) {
    write_file(dir / "in",
               one_record(DType::int16, layout_of(name), dims,
                          naive::store(naive::layout(name.name, dims, 2), elements, 2)));
    for (const std::vector<std::uint32_t>& order :
         {std::vector<std::uint32_t>{0, 2, 3, 1}, std::vector<std::uint32_t>{3, 1, 0, 2}}) {
      Dims turned;
      for (const std::uint32_t d : order) turned.push_back(dims[d]);
      CAPTURE(name.name, order);
      CHECK(
          (converted(dir / "in", {.layout = Layout::linear, .edits = {btf::Permute{order}}}) ==
           one_record(DType::int16, Layout::linear, turned, transposed(dims, elements, order, 2))));
    }
  }
}

TEST_CASE("file: large tensors by any number of threads, in tiles") {
  const ScratchDir dir;
  const Dims dims{1700, 1900};
  const Bytes elements = random_bytes(count_of(dims) * 4, 18);
  write_file(dir / "in", one_record(DType::float32, Layout::linear, dims, elements));
  const Bytes golden = one_record(DType::float32, Layout::linear, {1900, 1700},
                                  transposed(dims, elements, {1, 0}, 4));
  for (const unsigned jobs : {1U, 3U}) {
    ConvertOptions options{.edits = {btf::Permute{{1, 0}}}};
    options.execution.jobs = jobs;
    CAPTURE(jobs);
    CHECK((converted(dir / "in", options) == golden));
  }
  CHECK((converted_through_pipe(dir / "in", {.edits = {btf::Permute{{1, 0}}}}) == golden));
}

// Rows of an odd length, so that slabs begin in the middle of a byte.
TEST_CASE("file: 4-bit tensors by any number of threads") {
  const ScratchDir dir;
  const Dims dims{1033, 2049};
  const Bytes codes = random_nibbles(count_of(dims), 22);
  Bytes elements(codes.size() * 2);
  for (std::size_t i = 0; i < codes.size(); ++i) elements[2 * i] = codes[i];
  write_file(dir / "in", one_record(DType::uint16, Layout::linear, dims, elements));
  REQUIRE(try_convert(dir / "in", dir / "coo", {.layout = Layout::coo}));
  const Bytes golden = one_record(DType::uint4, Layout::linear, dims, pack(codes));
  const Bytes turned = one_record(DType::uint4, Layout::linear, {2049, 1033},
                                  pack(transposed(dims, codes, {1, 0}, 1)));
  const auto npy = [&](const ConvertOptions& options) {
    REQUIRE(try_convert(dir / "in", dir / "out.npy", options));
    const Bytes file = read_file(dir / "out.npy");
    return Bytes(file.end() - static_cast<std::ptrdiff_t>(codes.size()), file.end());
  };
  for (const std::uint64_t memory : {std::uint64_t{0}, btf::Execution{}.memory}) {
    for (const unsigned jobs : {1U, 2U, 3U, 8U}) {
      ConvertOptions options{.dtype = DType::uint4, .layout = Layout::linear};
      options.execution.jobs = jobs;
      options.execution.memory = memory;
      CAPTURE(memory, jobs);
      CHECK((converted(dir / "in", options) == golden));
      CHECK((converted_through_pipe(dir / "in", options) == golden));
      CHECK((converted(dir / "coo", options) == golden));
      CHECK((npy(options) == codes));
      options.edits = {btf::Permute{{1, 0}}};
      CHECK((converted(dir / "in", options) == turned));
    }
  }
}

TEST_CASE("file: planes out of interleaved channels, written front to back") {
  const ScratchDir dir;
  const Dims dims{740, 740, 3};
  const std::vector<std::uint32_t> order{2, 0, 1};
  const Bytes elements = random_bytes(count_of(dims) * 8, 21);
  write_file(dir / "in", one_record(DType::float64, Layout::linear, dims, elements));
  CHECK((converted_through_pipe(dir / "in", {.edits = {btf::Permute{order}}}) ==
         one_record(DType::float64, Layout::linear, {3, 740, 740},
                    transposed(dims, elements, order, 8))));
}

// Planes so large that a slab is less than one block of channels: what is written front to back is
// read out of the middle of blocks.
TEST_CASE("file: large planes in blocks of channels, written front to back") {
  const ScratchDir dir;
  const Dims dims{37, 130, 131};
  const std::uint64_t count = count_of(dims);
  Bytes elements(count * 8);
  Bytes codes = random_bytes(count, 19);
  for (std::size_t i = 0; i < count; ++i) elements[8 * i] = codes[i] &= std::byte{7};
  const Bytes blocks = naive::store(naive::layout("kCHW32", dims, 8), elements, 8);
  write_file(dir / "in", one_record(DType::int64, Layout::chw32, dims, blocks));
  write_file(dir / "linear", one_record(DType::int64, Layout::linear, dims, elements));

  CHECK((converted(dir / "in", {.layout = Layout::linear}) == read_file(dir / "linear")));
  CHECK((converted_through_pipe(dir / "in", {.layout = Layout::linear}) ==
         read_file(dir / "linear")));
  CHECK((converted_through_pipe(dir / "in", {.layout = Layout::chw4}) ==
         one_record(DType::int64, Layout::chw4, dims,
                    naive::store(naive::layout("kCHW4", dims, 8), elements, 8))));
  CHECK((converted(dir / "in", {.dtype = DType::int4, .layout = Layout::linear}) ==
         one_record(DType::int4, Layout::linear, dims, pack(codes))));
  CHECK((converted(dir / "in", {.layout = Layout::coo}) ==
         converted(dir / "linear", {.layout = Layout::coo})));
}

TEST_CASE("file: progress adds up to the bytes of the elements") {
  const ScratchDir dir;
  const Bytes data = random_bytes(8U << 20, 5);
  write_file(dir / "in", one_record(DType::int8, Layout::linear, {8, 64, 128, 128}, data));
  std::uint64_t seen = 0;
  ConvertOptions options{.layout = Layout::hwc8};
  options.execution = {.jobs = 1, .memory = 1U << 20};
  options.execution.progress = [&](std::uint64_t bytes) { seen += bytes; };
  REQUIRE(try_convert(dir / "in", dir / "out", options));
  CHECK(seen <= data.size());
  CHECK(seen >= data.size() / 100 * 99);
}

// The C interface: errors as structures, names, sets, regions, statistics, validation, layers.
#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "capi_cases.h"
#include "support/scratch_dir.h"

using namespace capi;

namespace {

btf_error last() {
  auto error = sized<btf_error>();
  REQUIRE(btf_last_error_info(&error) == BTF_OK);
  return error;
}

}  // namespace

TEST_CASE("capi: an error has its number of the system, file, tensor and place", "[capi]") {
  CHECK(btf_open("/nonexistent/x.btf") == nullptr);
  btf_error error = last();
  CHECK(error.status == BTF_IO);
  CHECK(error.system == ENOENT);
  CHECK(std::string(error.file) == "/nonexistent/x.btf");
  CHECK(std::string(error.message) == btf_last_error());
  CHECK(error.tensor == BTF_NONE);
  CHECK(btf_open(BTF_TESTDATA_DIR) == nullptr);
  CHECK(last().system == EISDIR);

  const std::string path = BTF_TESTDATA_DIR "/bad/data-past-end.btf";
  const File bad = open(path);
  auto info = sized<btf_tensor_info>();
  REQUIRE(btf_info(bad.get(), 1, &info) == BTF_MALFORMED);
  error = last();
  CHECK(error.status == BTF_MALFORMED);
  CHECK(error.system == 0);
  CHECK(error.tensor == 1);
  CHECK(std::string(error.file) == path);
  CHECK(std::string(error.finding) == "data-past-end");
  CHECK(error.offset > 0);

  const File good = open(kMixed);
  CHECK(btf_convert(good.get(), "/dev/full", nullptr, nullptr, nullptr) == BTF_NO_SPACE);
  CHECK(last().system == ENOSPC);
  CHECK(btf_info(good.get(), 99, &info) == BTF_INVALID_ARGUMENT);
  CHECK(last().system == 0);
  CHECK(btf_last_error_info(nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: tensors by their names", "[capi]") {
  const File file = open(BTF_TESTDATA_DIR "/names/names.btf");
  for (std::uint64_t i = 0; i < btf_count(file.get()); ++i) {
    auto info = sized<btf_tensor_info>();
    REQUIRE(btf_info(file.get(), i, &info) == BTF_OK);
    const char* const name = btf_name(file.get(), i);
    REQUIRE(name != nullptr);
    if (*info.name != '\0') CHECK(std::string(name) == info.name);
    std::uint64_t index = BTF_NONE;
    REQUIRE(btf_find(file.get(), name, &index) == BTF_OK);
    CHECK(index == i);
  }
  std::uint64_t index = 7;
  CHECK(btf_find(file.get(), "no such name", &index) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_last_error()).ends_with("names.btf: there is no tensor 'no such name'"));
  CHECK(index == 7);
  CHECK(btf_name(file.get(), 1000) == nullptr);
  CHECK(btf_find(file.get(), nullptr, &index) == BTF_INVALID_ARGUMENT);
  const File unnamed = open(kMixed);
  CHECK(std::string(btf_name(unnamed.get(), 0)) == "mixed#0");
  CHECK(std::string(btf_name(unnamed.get(), 1)) == "mixed#1");
  REQUIRE(btf_find(unnamed.get(), "mixed#1", &index) == BTF_OK);
  CHECK(index == 1);
}

// Found by the fuzzer: the only tensor's name was given for any number, and readers without names
// of their own to look up read past the end of those they had.
TEST_CASE("capi: there is no name past the last tensor, whatever the format", "[capi]") {
  std::uint64_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BTF_TESTDATA_DIR)) {
    if (!entry.is_regular_file()) continue;
    const File file(btf_open(entry.path().c_str()));
    if (!file || btf_count(file.get()) == 0) continue;
    INFO(entry.path());
    const std::uint64_t count = btf_count(file.get());
    for (const std::uint64_t index : {count, count + 3, std::uint64_t{UINT64_MAX}}) {
      CHECK(btf_name(file.get(), index) == nullptr);
      CHECK(std::string(btf_last_error()).contains("there is no tensor"));
    }
    ++files;
  }
  CHECK(files > 100);
}

// Found by the fuzzer: the name of one, cut at its NUL, found the other.
TEST_CASE("capi: a name that a C string cuts short finds no other tensor", "[capi]") {
  const ScratchDir scratch;
  const std::string path = scratch / "nul.safetensors";
  const std::string header = R"({"a\u0000b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                             R"("c\u0000d":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})";
  const auto size = static_cast<char>(header.size());
  std::ofstream(path, std::ios::binary) << size << std::string(7, '\0') << header << "123";
  const File file = open(path);
  REQUIRE(btf_count(file.get()) == 3);
  std::uint64_t index = 7;
  CHECK(btf_find(file.get(), "a", &index) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_last_error()).ends_with("are called 'a'"));
  CHECK(index == 7);
  REQUIRE(btf_find(file.get(), "c", &index) == BTF_OK);
  CHECK(std::string(btf_name(file.get(), index)) == "c");
}

TEST_CASE("capi: sets of files", "[capi]") {
  const ScratchDir scratch;
  save(scratch / "fc10.btf", {1, 2});
  save(scratch / "fc2.btf", {3});
  const std::string directory = scratch / ".";
  const Set set = open_set({directory.c_str()});
  REQUIRE(btf_set_member_count(set.get()) == 2);
  auto member = sized<btf_member_info>();
  REQUIRE(btf_set_member(set.get(), 1, &member) == BTF_OK);
  CHECK(std::string(member.place) == "fc10.btf");
  const char* const place = member.place;
  REQUIRE(btf_set_member(set.get(), 0, &member) == BTF_OK);
  CHECK(std::string(member.place) == "fc2.btf");  // natural order
  CHECK(std::string(place) == "fc10.btf");        // still there
  CHECK(member.bytes > 8);
  CHECK(btf_set_member(set.get(), 2, &member) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_set_error(set.get())) == "there is no member 2, the set has 2");

  std::uint64_t count = 0;
  REQUIRE(btf_set_tensor_count(set.get(), &count) == BTF_OK);
  CHECK(count == 2);
  std::uint64_t index = 9;
  std::uint64_t number = 9;
  REQUIRE(btf_set_tensor(set.get(), 1, &number, &index) == BTF_OK);
  CHECK(number == 1);
  CHECK(index == 0);
  std::vector<std::uint64_t> numbers(2, 9);
  REQUIRE(btf_set_select(set.get(), "fc10", numbers.data(), 2, &count) == BTF_OK);
  CHECK(count == 1);
  CHECK(numbers == std::vector<std::uint64_t>{1, 9});
  REQUIRE(btf_set_select(set.get(), "fc*", numbers.data(), 1, &count) == BTF_OK);
  CHECK(count == 2);
  CHECK(numbers == std::vector<std::uint64_t>{0, 9});
  REQUIRE(btf_set_select(set.get(), "fc*", nullptr, 0, &count) == BTF_OK);
  CHECK(btf_set_select(set.get(), "nothing", nullptr, 0, &count) == BTF_INVALID_ARGUMENT);

  File file(btf_set_file(set.get(), 1));
  REQUIRE(file);
  CHECK(btf_set_file(set.get(), 5) == nullptr);
  std::vector<float> values(2);
  REQUIRE(btf_read(file.get(), 0, nullptr, values.data(), 8, nullptr) == BTF_OK);
  CHECK(values == std::vector<float>{1, 2});
  CHECK(std::string(btf_name(file.get(), 0)) == "fc10");

  const std::string one = scratch / "fc2.btf";
  const Set several = open_set({one.c_str(), kMixed.c_str()});
  REQUIRE(btf_set_tensor_count(several.get(), &count) == BTF_OK);
  CHECK(count == 5);
  CHECK(btf_set_open(nullptr, 1) == nullptr);
  const char* const none[] = {nullptr};
  CHECK(btf_set_open(none, 1) == nullptr);
  CHECK(btf_set_member_count(nullptr) == 0);
  btf_set_close(nullptr);
}

TEST_CASE("capi: a set outlived by the file that was taken out of it", "[capi]") {
  Set set = open_set({kMixed.c_str()});
  const File file(btf_set_file(set.get(), 0));
  set.reset();
  std::vector<std::byte> bytes(768);
  CHECK(btf_read(file.get(), 0, nullptr, bytes.data(), bytes.size(), nullptr) == BTF_OK);
}

TEST_CASE("capi: a box of a tensor", "[capi]") {
  const File file = open(kMixed);  // tensor 0: 1 x 3 x 8 x 8 float32
  std::vector<float> whole(192);
  REQUIRE(btf_read(file.get(), 0, nullptr, whole.data(), 768, nullptr) == BTF_OK);
  const std::uint64_t begin[] = {0, 1, 2, 1};
  const std::uint64_t end[] = {1, 3, 5, 8};
  const std::uint64_t step[] = {1, 1, 1, 3};
  auto options = sized<btf_read_options>();
  options.region_rank = 4;
  options.begin = begin;
  options.end = end;
  options.step = step;
  std::uint64_t bytes = 0;
  REQUIRE(btf_read_size(file.get(), 0, &options, &bytes) == BTF_OK);
  REQUIRE(bytes == 4 * 2 * 3 * 3);
  std::vector<float> box(18);
  REQUIRE(btf_read(file.get(), 0, &options, box.data(), bytes, nullptr) == BTF_OK);
  std::vector<float> wanted;
  for (std::size_t c = 1; c < 3; ++c)
    for (std::size_t h = 2; h < 5; ++h)
      for (std::size_t w = 1; w < 8; w += 3) wanted.push_back(whole[c * 64 + h * 8 + w]);
  CHECK(box == wanted);
  std::vector<std::uint64_t> strides(4);
  REQUIRE(btf_read_strides(file.get(), 0, &options, strides.data(), 4) == BTF_OK);
  CHECK(strides == std::vector<std::uint64_t>{18, 9, 3, 1});
  options.begin = options.end = nullptr;
  REQUIRE(btf_read_size(file.get(), 0, &options, &bytes) == BTF_OK);
  CHECK(bytes == 4 * 3 * 8 * 3);
  options.region_rank = 3;
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_INVALID_ARGUMENT);
  options.region_rank = 0;
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_INVALID_ARGUMENT);
  options.region_rank = 60000;  // of which there are no such dims to read
  CHECK(btf_read_size(file.get(), 0, &options, &bytes) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: statistics", "[capi]") {
  const ScratchDir scratch;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  save(scratch / "x.btf", {1, 2, 3, 6, kInf, -kInf, std::nanf(""), 0, 1e-40F});
  const File file = open(scratch / "x.btf");
  auto stats = sized<btf_tensor_stats>();
  REQUIRE(btf_stats(file.get(), 0, 1, &stats) == BTF_OK);
  CHECK(stats.elements == 9);
  CHECK(stats.finite == 6);
  CHECK(stats.nan == 1);
  CHECK(stats.positive_inf == 1);
  CHECK(stats.negative_inf == 1);
  CHECK(stats.zeros == 1);
  CHECK(stats.subnormals == 1);
  CHECK(stats.min == 0);
  CHECK(stats.max == 6);
  CHECK(stats.mean == Approx(2));
  CHECK(stats.std == Approx(std::sqrt((1.0 + 0 + 1 + 16 + 4 + 4) / 6)));
  save(scratch / "nan.btf", {std::nanf("")});
  const File nan = open(scratch / "nan.btf");
  REQUIRE(btf_stats(nan.get(), 0, 0, &stats) == BTF_OK);
  CHECK(std::isnan(stats.min));
  CHECK(std::isnan(stats.mean));
  CHECK(btf_stats(nan.get(), 1, 0, &stats) == BTF_INVALID_ARGUMENT);
  CHECK(btf_stats(nan.get(), 0, 0, nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: findings of a file", "[capi]") {
  struct Found {
    std::vector<std::string> codes;
    std::vector<std::uint64_t> tensors;
    std::uint64_t errors = 0;
  };
  const auto take = [](void* user, const btf_finding* finding) {
    auto& found = *static_cast<Found*>(user);
    found.codes.emplace_back(finding->code);
    found.tensors.push_back(finding->tensor);
    found.errors += static_cast<std::uint64_t>(finding->error);
    CHECK(*finding->message != '\0');
  };
  Found found;
  std::uint64_t errors = 9;
  REQUIRE(btf_validate(kMixed.c_str(), nullptr, take, &found, &errors) == BTF_OK);
  CHECK(errors == 0);
  CHECK(found.codes.empty());
  REQUIRE(btf_validate(BTF_TESTDATA_DIR "/bad/data-past-end.btf", nullptr, take, &found, &errors) ==
          BTF_OK);
  CHECK(errors == found.errors);
  CHECK(found.codes == std::vector<std::string>{"data-past-end"});
  CHECK(found.tensors == std::vector<std::uint64_t>{1});
  REQUIRE(btf_validate(BTF_TESTDATA_DIR "/bad/empty-file.btf", nullptr, nullptr, nullptr,
                       &errors) == BTF_OK);
  CHECK(errors > 0);

  const ScratchDir scratch;
  save(scratch / "nan.btf", {1, std::nanf("")});
  auto options = sized<btf_validate_options>();
  REQUIRE(btf_validate((scratch / "nan.btf").c_str(), &options, nullptr, nullptr, &errors) ==
          BTF_OK);
  CHECK(errors == 0);
  options.finite = 1;
  REQUIRE(btf_validate((scratch / "nan.btf").c_str(), &options, nullptr, nullptr, &errors) ==
          BTF_OK);
  CHECK(errors == 1);
  options.recipient = "nobody";
  CHECK(btf_validate(kMixed.c_str(), &options, nullptr, nullptr, nullptr) == BTF_INVALID_ARGUMENT);
  CHECK(btf_validate("/nonexistent", nullptr, nullptr, nullptr, nullptr) == BTF_IO);
  CHECK(btf_validate(nullptr, nullptr, nullptr, nullptr, nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: which layer broke", "[capi]") {
  const std::string folder = BTF_TESTDATA_DIR "/layers/";
  const std::string graph = folder + "model.onnx";
  const std::string golden_path = folder + "golden.npz";
  const auto verdict_of = [&](const std::string& name, const btf_layers_options& options) {
    const std::string path = folder + name;
    const Set actual = open_set({path.c_str()});
    const Set golden = open_set({golden_path.c_str()});
    Layers layers(btf_layers_compare(actual.get(), golden.get(), nullptr, nullptr, &options));
    INFO(btf_last_error());
    REQUIRE(layers);
    return layers;
  };
  auto options = sized<btf_layers_options>();
  options.graph = graph.c_str();
  auto verdict = sized<btf_layers_verdict>();
  const Layers healthy = verdict_of("healthy.npz", options);
  REQUIRE(btf_layers_result(healthy.get(), &verdict) == BTF_OK);
  CHECK(std::string(verdict.kind) == "clean");
  CHECK(verdict.well == 1);
  CHECK(verdict.layer == BTF_NONE);
  CHECK(std::string(verdict.order) == "graph");
  const Layers broken = verdict_of("scale.npz", options);
  REQUIRE(btf_layers_result(broken.get(), &verdict) == BTF_OK);
  CHECK(std::string(verdict.kind) == "broke");
  CHECK(verdict.well == 0);
  REQUIRE(verdict.layer < verdict.layers);
  auto info = sized<btf_layer_info>();
  REQUIRE(btf_layer(broken.get(), verdict.layer, &info) == BTF_OK);
  CHECK(std::string(info.state) == "root");
  CHECK(std::string(verdict.words).find(info.golden_name) != std::string::npos);
  CHECK(info.error_to_noise > 2);
  CHECK(info.error > info.noise);
  CHECK(info.pairs > 0);
  for (std::uint64_t i = 0; i < verdict.layer; ++i) {
    REQUIRE(btf_layer(broken.get(), i, &info) == BTF_OK);
    CHECK(std::string(info.state) != "root");
  }
  CHECK(btf_layer(broken.get(), verdict.layers, &info) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_layers_error(broken.get())).starts_with("there is no layer"));
  options.growth = 0.5;
  const Set set = open_set({golden_path.c_str()});
  CHECK(btf_layers_compare(set.get(), set.get(), nullptr, nullptr, &options) == nullptr);
  options.growth = 0;
  options.graph = "/nonexistent.onnx";
  CHECK(btf_layers_compare(set.get(), set.get(), nullptr, nullptr, &options) == nullptr);
  CHECK(last().system == ENOENT);
  CHECK(btf_layers_compare(set.get(), nullptr, nullptr, nullptr, nullptr) == nullptr);
  btf_layers_free(nullptr);
}

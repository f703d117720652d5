// The C interface: two sets compared, and reports of comparisons and of layers.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "capi_cases.h"
#include "support/printed_reports.h"
#include "support/scratch_dir.h"

using namespace capi;

namespace {

// Lines break elsewhere where words or paths are longer.
std::string unbroken(std::string text) {
  for (const char* const space : {"<wbr>", "\\\n", "\n", " "}) text = replaced(text, space, "");
  return text;
}

// The words of the command line, whose cases have another path to the test data.
std::string as_printed(const char* text) {
  REQUIRE(text != nullptr);
  return replaced(unbroken(in_options(text)), BTF_TESTDATA_DIR, "../testdata");
}

struct Seen {
  std::vector<std::pair<std::string, std::int32_t>> files;
  std::vector<std::string> reasons;
  std::vector<std::pair<std::string, std::string>> tensors;  // files, of each pair of tensors
  std::vector<std::string> warnings;
};

void tensor(void* user, const btf_tensor_diff* diff) {
  CHECK(diff->size == sizeof(btf_tensor_diff));
  static_cast<Seen*>(user)->tensors.emplace_back(diff->actual_file, diff->golden_file);
}

void file(void* user, const btf_file_diff* pair) {
  CHECK(pair->size == sizeof(btf_file_diff));
  auto& seen = *static_cast<Seen*>(user);
  seen.files.emplace_back(pair->name, pair->result);
  seen.reasons.emplace_back(pair->reason);
}

void warning(void* user, const char* text) {
  static_cast<Seen*>(user)->warnings.emplace_back(text);
}

// fc1 is the same, fc2 is 0.5 off, fc3 is on one side only, fc4 cannot be read.
class Directories {
 public:
  Directories() {
    std::filesystem::create_directory(actual());
    std::filesystem::create_directory(golden());
    save(actual() + "/fc1.btf", {1, 2});
    save(golden() + "/fc1.btf", {1, 2});
    save(actual() + "/fc2.btf", {1, 2.5F, 4});
    save(golden() + "/fc2.btf", {1, 2, 4});
    save(golden() + "/fc3.btf", {1});
    save(actual() + "/fc4.btf", {1});
    save(golden() + "/fc4.btf", {1});
    std::filesystem::resize_file(golden() + "/fc4.btf", 20);
  }

  std::string actual() const { return scratch_ / "actual"; }
  std::string golden() const { return scratch_ / "golden"; }

 private:
  ScratchDir scratch_;
};

}  // namespace

TEST_CASE("capi: two directories, their files and tensors", "[capi]") {
  const Directories directories;
  const Set actual = open_set({directories.actual().c_str()});
  const Set golden = open_set({directories.golden().c_str()});
  Seen seen;
  auto options = sized<btf_diff_options>();
  options.report = tensor;
  options.user = &seen;
  auto sets = sized<btf_set_diff_options>();
  sets.file = file;
  sets.warning = warning;
  sets.user = &seen;
  auto result = sized<btf_set_diff_result>();
  REQUIRE(btf_diff_sets(actual.get(), golden.get(), &options, &sets, &result, nullptr) == BTF_OK);
  CHECK(result.same == 0);
  CHECK(result.files == 4);
  CHECK(result.different_files == 2);
  CHECK(result.troubled_files == 1);
  CHECK(result.tensors == 2);
  CHECK(result.different == 1);
  CHECK(result.troubled == 1);
  CHECK(result.compared == 5);
  CHECK(seen.files == std::vector<std::pair<std::string, std::int32_t>>{{"fc1.btf", BTF_SAME},
                                                                        {"fc2.btf", BTF_DIFFERENT},
                                                                        {"fc3.btf", BTF_MISSING},
                                                                        {"fc4.btf", BTF_TROUBLE}});
  CHECK(seen.reasons[0].empty());
  CHECK(seen.reasons[3].find("fc4.btf") != std::string::npos);
  const auto paths = [&](const char* name) {
    return std::pair(directories.actual() + name, directories.golden() + name);
  };
  CHECK(seen.tensors == std::vector{paths("/fc1.btf"), paths("/fc2.btf"), paths("/fc4.btf")});
  CHECK(seen.warnings.empty());

  // Once more, without what is trouble; globs that match nothing are said.
  const char* const include[] = {"fc[12]*"};
  const char* const exclude[] = {"none*"};
  const btf_tensor_tolerance tolerance{"fc2", 0, 0.5, 0};
  sets.include = include;
  sets.include_count = 1;
  sets.exclude = exclude;
  sets.exclude_count = 1;
  sets.tolerances = &tolerance;
  sets.tolerance_count = 1;
  REQUIRE(btf_diff_sets(actual.get(), golden.get(), &options, &sets, &result, nullptr) == BTF_OK);
  CHECK(result.same == 1);
  CHECK(result.files == 2);
  CHECK(seen.warnings.size() == 1);
  sets.tensors = "fc1";
  sets.tolerance_count = 0;
  REQUIRE(btf_diff_sets(actual.get(), golden.get(), &options, &sets, &result, nullptr) == BTF_OK);
  CHECK(result.tensors == 1);
  CHECK(result.same == 1);
  REQUIRE(btf_diff_sets(golden.get(), golden.get(), nullptr, &sets, &result, nullptr) == BTF_OK);
  CHECK(result.same == 1);
}

TEST_CASE("capi: sets that cannot be compared, and options that are wrong", "[capi]") {
  const Set set = open_set({kMixed.c_str()});
  Report report;
  btf_report* made = nullptr;
  auto sets = sized<btf_set_diff_options>();
  const auto compare = [&](const btf_diff_options* options) {
    made = reinterpret_cast<btf_report*>(&sets);
    const btf_status status = btf_diff_sets(set.get(), set.get(), options, &sets, nullptr, &made);
    report.reset(made);
    return status;
  };
  CHECK(btf_diff_sets(nullptr, set.get(), nullptr, nullptr, nullptr, nullptr) ==
        BTF_INVALID_ARGUMENT);
  CHECK(btf_diff_sets(set.get(), nullptr, nullptr, nullptr, nullptr, nullptr) ==
        BTF_INVALID_ARGUMENT);
  auto options = sized<btf_diff_options>();
  const std::uint64_t number = 0;
  options.actual_tensors = &number;
  options.actual_count = 1;
  CHECK(compare(&options) == BTF_INVALID_ARGUMENT);
  CHECK(made == nullptr);
  sets.formats = "text,yaml";
  CHECK(compare(nullptr) == BTF_INVALID_ARGUMENT);
  sets.formats = nullptr;
  sets.pair_count = 1;
  CHECK(compare(nullptr) == BTF_INVALID_ARGUMENT);
  sets.pair_count = 0;
  for (const btf_tensor_tolerance& tolerance :
       {btf_tensor_tolerance{nullptr, 1, 0, 0}, btf_tensor_tolerance{"x", -1, 0, 0},
        btf_tensor_tolerance{"x", 0, 0, 0}}) {
    sets.tolerances = &tolerance;
    sets.tolerance_count = 1;
    CHECK(compare(nullptr) == BTF_INVALID_ARGUMENT);
  }
  sets.tolerance_count = 0;
  sets.tensors = "no such name";
  CHECK(compare(nullptr) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_set_error(set.get())).find("no such name") != std::string::npos);
  sets.tensors = nullptr;
  REQUIRE(compare(nullptr) == BTF_OK);
  REQUIRE(report);
  CHECK(btf_report_text(report.get(), "json", nullptr) == nullptr);
  CHECK(std::string(btf_report_error(report.get())) ==
        "btf_diff_sets() was not called with the format json");
  CHECK(btf_report_text(report.get(), nullptr, nullptr) == nullptr);
  CHECK(btf_report_text(nullptr, "text", nullptr) == nullptr);
  btf_report_free(nullptr);
}

TEST_CASE("capi: reports of a comparison are those of the command line", "[capi]") {
  const std::string noisy = BTF_TESTDATA_DIR "/good/mixed_noisy.btf";
  for (const char* const format : {"text", "summary", "json", "junit", "html"}) {
    CAPTURE(format);
    const Set actual = open_set({noisy.c_str()});
    const Set golden = open_set({kMixed.c_str()});
    const btf_gate mae{"mae", 1e-9, 0};
    auto options = sized<btf_diff_options>();
    options.rtol = 1e-6;
    options.gates = &mae;
    options.gate_count = 1;
    options.hints = 1;
    auto sets = sized<btf_set_diff_options>();
    sets.formats = format;
    btf_report* made = nullptr;
    REQUIRE(btf_diff_sets(actual.get(), golden.get(), &options, &sets, nullptr, &made) == BTF_OK);
    const Report report(made);
    const std::string& text = printed().at(format);
    CHECK(as_printed(without_program(btf_report_text(report.get(), format, nullptr)).c_str()) ==
          unbroken(std::string(format) == "text" ? without_next(text) : text));
  }
}

TEST_CASE("capi: a report of directories says which files are trouble", "[capi]") {
  const Directories directories;
  const Set actual = open_set({directories.actual().c_str()});
  const Set golden = open_set({directories.golden().c_str()});
  auto sets = sized<btf_set_diff_options>();
  sets.formats = "text,junit";
  btf_report* made = nullptr;
  REQUIRE(btf_diff_sets(actual.get(), golden.get(), nullptr, &sets, nullptr, &made) == BTF_OK);
  const Report report(made);
  auto options = sized<btf_text_options>();
  options.columns = 200;
  const char* text = btf_report_text(report.get(), "text", &options);
  REQUIRE(text != nullptr);
  CHECK(std::string(text).find("trouble: 1 of 4 files; different: 2 of 3 files, 1 of 2 tensors") !=
        std::string::npos);
  text = btf_report_text(report.get(), "junit", nullptr);
  REQUIRE(text != nullptr);
  CHECK(std::string(text).find("<testsuite name=\"fc4.btf\" tests=\"1\" failures=\"0\" "
                               "errors=\"1\">") != std::string::npos);
}

TEST_CASE("capi: reports of layers are those of the command line", "[capi]") {
  const std::string dead = BTF_TESTDATA_DIR "/layers/dead_channel.npz";
  const std::string good = BTF_TESTDATA_DIR "/layers/golden.npz";
  const Set actual = open_set({dead.c_str()});
  const Set golden = open_set({good.c_str()});
  const Layers layers(btf_layers_compare(actual.get(), golden.get(), nullptr, nullptr, nullptr));
  REQUIRE(layers);
  for (const char* const format : {"json", "text", "junit", "html"}) {
    CAPTURE(format);
    CHECK(as_printed(without_program(btf_layers_text(layers.get(), format, nullptr)).c_str()) ==
          unbroken(printed().at(std::string("layers-") + format)));
  }
  CHECK(btf_layers_text(layers.get(), "summary", nullptr) == nullptr);
  CHECK(std::string(btf_layers_error(layers.get())) == "there is no summary of layers");
}

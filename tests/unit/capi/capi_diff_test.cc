// Comparisons by the C interface: tolerances, gates, what is reported of a pair.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capi_cases.h"
#include "support/scratch_dir.h"

using namespace capi;

namespace {

const std::vector<std::uint64_t> kFour{4};

btf_array floats(const std::array<float, 4>& values) {
  return array_of(values.data(), sizeof values, "float32", kFour);
}

// What report() was called with.
struct Reported {
  std::vector<std::int32_t> results;
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::uint64_t> worst;
  std::vector<double> worst_values;
  std::vector<std::pair<std::string, double>> figures;
  std::vector<std::pair<std::string, std::int32_t>> criteria;
  std::vector<std::string> causes;
  std::vector<std::string> reasons;
  std::uint64_t nan_actual = 0;
  double required_atol = 0;
};

void report(void* user, const btf_tensor_diff* diff) {
  auto& all = *static_cast<Reported*>(user);
  CHECK(diff->size == sizeof(btf_tensor_diff));
  all.results.push_back(diff->result);
  all.names.emplace_back(diff->actual_name, diff->golden_name);
  all.reasons.emplace_back(diff->reason);
  if (diff->worst != nullptr) {
    all.worst.assign(diff->worst, diff->worst + diff->worst_rank);
    all.worst_values = {diff->worst_actual, diff->worst_golden};
  }
  for (std::size_t i = 0; i < diff->figure_count; ++i)
    all.figures.emplace_back(diff->figures[i].name, diff->figures[i].value);
  for (std::size_t i = 0; i < diff->criterion_count; ++i)
    all.criteria.emplace_back(diff->criteria[i].name, diff->criteria[i].passed);
  for (std::size_t i = 0; i < diff->hint_count; ++i) all.causes.emplace_back(diff->hints[i].cause);
  all.nan_actual = diff->nan_actual;
  all.required_atol = diff->required_atol;
}

bool same(const std::array<float, 4>& actual, const std::array<float, 4>& golden,
          const btf_diff_options& options) {
  const auto left = floats(actual);
  const auto right = floats(golden);
  auto result = sized<btf_diff_result>();
  const btf_status status = btf_diff_arrays(&left, &right, &options, &result);
  INFO(btf_last_error());
  REQUIRE(status == BTF_OK);
  return result.same == 1;
}

}  // namespace

TEST_CASE("capi: arrays are compared by their values, whatever they are stored as", "[capi]") {
  const std::array<float, 6> rows{1, 2, 3, 4, 5, 6};
  const std::array<std::int16_t, 6> columns{1, 4, 2, 5, 3, 6};
  const std::vector<std::uint64_t> dims{2, 3};
  const std::array<std::int64_t, 2> strides{1, 2};
  const auto actual = array_of(rows.data(), sizeof rows, "float32", dims);
  auto golden = array_of(columns.data(), sizeof columns, "int16", dims);
  golden.strides = strides.data();
  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff_arrays(&actual, &golden, nullptr, &result) == BTF_OK);
  CHECK(result.same == 1);
  CHECK(result.tensors == 1);
  CHECK(result.compared == 6);
  golden.strides = nullptr;
  REQUIRE(btf_diff_arrays(&actual, &golden, nullptr, &result) == BTF_OK);
  CHECK(result.same == 0);
  CHECK(result.mismatched == 4);
  CHECK(result.max_abs == 2);
  CHECK(std::string(result.reason).empty());
  golden.rank = 1;
  REQUIRE(btf_diff_arrays(&actual, &golden, nullptr, &result) == BTF_OK);
  CHECK(result.same == 0);
  CHECK_FALSE(std::string(result.reason).empty());
  CHECK(btf_diff_arrays(&actual, nullptr, nullptr, &result) == BTF_INVALID_ARGUMENT);
  CHECK(btf_diff_arrays(&actual, &golden, nullptr, nullptr) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: each tolerance decides", "[capi]") {
  const std::array<float, 4> golden{1, 2, 3, 4};
  std::array<float, 4> actual = golden;
  actual[2] = std::nextafter(std::nextafter(3.0F, 4.0F), 4.0F);
  auto options = sized<btf_diff_options>();
  CHECK_FALSE(same(actual, golden, options));
  options.ulp = 1;
  CHECK_FALSE(same(actual, golden, options));
  options.ulp = 2;
  CHECK(same(actual, golden, options));
  options = sized<btf_diff_options>();
  actual[2] = 3.001F;  // less than half a step of float16 there
  options.close = 1;
  CHECK_FALSE(same(actual, golden, options));
  options.close_as = "fp16";
  CHECK(same(actual, golden, options));
  options.close = 0;
  auto result = sized<btf_diff_result>();
  const auto array = floats(golden);
  CHECK(btf_diff_arrays(&array, &array, &options, &result) == BTF_INVALID_ARGUMENT);
  CHECK(std::string(btf_last_error()) == "close_as is given without close");
}

// Errors 0, 0, 0, 1 of 1, 2, 3, 4: rmse .5; dot product 34 of norms sqrt(30) and sqrt(39).
TEST_CASE("capi: each gate decides, on both sides of its limit", "[capi]") {
  const std::array<float, 4> golden{1, 2, 3, 4};
  const std::array<float, 4> actual{1, 2, 3, 5};
  struct Row {
    btf_gate passes;
    btf_gate fails;
  };
  const std::vector<Row> rows{
      {{"cosine", 0.99, 0}, {"cosine", 0.995, 0}},
      {{"psnr", 18.0, 0}, {"psnr", 18.1, 0}},
      {{"snr", 14.7, 0}, {"snr", 14.8, 0}},
      {{"rmse", 0.5, 0}, {"RMSE", 0.49, 0}},
      {{"mae", 0.25, 0}, {"mae", 0.24, 0}},
      {{"bias", 0.25, 0}, {"bias", 0.24, 0}},
      {{"max-abs", 1, 0}, {"max-abs", 0.99, 0}},
      {{"max-mismatch", 1, 0}, {"max-mismatch", 0, 0}},
      {{"max-mismatch-percent", 25, 0}, {"max-mismatch-percent", 24, 0}},
      {{"quantile", 0, 0.5}, {"quantile", 0.5, 1}},
      {{"top-k", 2, 0}, {"rmse", 0, 0}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.passes.name, row.fails.limit);
    auto options = sized<btf_diff_options>();
    options.gate_count = 1;
    options.gates = &row.passes;
    CHECK(same(actual, golden, options));
    options.gates = &row.fails;
    CHECK_FALSE(same(actual, golden, options));
  }
  auto result = sized<btf_diff_result>();
  const auto array = floats(golden);
  for (const btf_gate& gate :
       {btf_gate{"cosinus", 1, 0}, btf_gate{"rmse", std::nan(""), 0}, btf_gate{"quantile", 1, 1.5},
        btf_gate{"top-k", 1.5, 0}, btf_gate{"max-mismatch", -1, 0}, btf_gate{nullptr, 1, 0}}) {
    auto options = sized<btf_diff_options>();
    options.gates = &gate;
    options.gate_count = 1;
    CHECK(btf_diff_arrays(&array, &array, &options, &result) == BTF_INVALID_ARGUMENT);
  }
}

TEST_CASE("capi: a report says what a pair is like", "[capi]") {
  const std::array<float, 4> golden{1, 2, 3, 4};
  const std::array<float, 4> actual{1, 2.5F, std::numeric_limits<float>::quiet_NaN(), 6};
  Reported reported;
  auto options = sized<btf_diff_options>();
  options.report = report;
  options.user = &reported;
  options.figures = 1;
  CHECK_FALSE(same(actual, golden, options));
  CHECK(reported.results == std::vector<std::int32_t>{BTF_DIFFERENT});
  CHECK(reported.worst == std::vector<std::uint64_t>{3});
  CHECK(reported.worst_values == std::vector<double>{6, 4});
  CHECK(reported.nan_actual == 1);
  CHECK(std::isnan(reported.required_atol));
  CHECK(reported.criteria == std::vector<std::pair<std::string, std::int32_t>>{{"elements", 0}});
  const std::map<std::string, double> figures(reported.figures.begin(), reported.figures.end());
  CHECK(figures.size() == 6);
  CHECK(figures.at("rmse") == Approx(std::sqrt(4.25 / 3)));
  CHECK(figures.at("mae") == Approx(2.5 / 3));
  CHECK(figures.at("bias") == Approx(2.5 / 3));
}

TEST_CASE("capi: causes, and what the dims are compared as", "[capi]") {
  std::vector<float> values(512);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i) * 1.7F) + static_cast<float>(i % 7);
  std::vector<float> scaled = values;
  for (float& value : scaled) value *= 2;
  const std::vector<std::uint64_t> dims{8, 64};
  const auto golden = array_of(values.data(), 2048, "float32", dims);
  const auto actual = array_of(scaled.data(), 2048, "float32", dims);
  Reported reported;
  auto options = sized<btf_diff_options>();
  options.report = report;
  options.user = &reported;
  options.hints = 1;
  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff_arrays(&actual, &golden, &options, &result) == BTF_OK);
  CHECK(reported.causes == std::vector<std::string>{"scale"});

  const std::vector<std::uint64_t> turned{64, 8};
  const std::array<std::int64_t, 2> strides{1, 64};
  auto view = array_of(values.data(), 2048, "float32", turned);
  view.strides = strides.data();
  const std::array<std::uint32_t, 2> order{1, 0};
  options = sized<btf_diff_options>();
  options.permute = order.data();
  options.permute_count = 2;
  REQUIRE(btf_diff_arrays(&view, &golden, &options, &result) == BTF_OK);
  CHECK(result.same == 1);
  const std::vector<std::uint64_t> ones{1, 8, 1, 64};
  const auto wide = array_of(values.data(), 2048, "float32", ones);
  options = sized<btf_diff_options>();
  REQUIRE(btf_diff_arrays(&wide, &golden, &options, &result) == BTF_OK);
  CHECK(result.same == 0);
  options.squeeze = 1;
  REQUIRE(btf_diff_arrays(&wide, &golden, &options, &result) == BTF_OK);
  CHECK(result.same == 1);
  const std::vector<std::uint64_t> flat{512};
  const auto line = array_of(values.data(), 2048, "float32", flat);
  options.squeeze = 0;
  options.reshape_actual = 1;
  REQUIRE(btf_diff_arrays(&line, &golden, &options, &result) == BTF_OK);
  CHECK(result.same == 1);
}

TEST_CASE("capi: tensors of files are paired by number, by name or by a map", "[capi]") {
  const std::string base = BTF_TESTDATA_DIR "/names/names.btf";
  const File actual = open(base);
  const File golden = open(base);
  Reported reported;
  auto options = sized<btf_diff_options>();
  options.report = report;
  options.user = &reported;
  options.pair_by = "number";
  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 1);
  CHECK(reported.results.size() == btf_count(actual.get()));
  CHECK(reported.names[0].first == btf_name(actual.get(), 0));
  options.pair_by = "chance";
  CHECK(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_INVALID_ARGUMENT);
  options.pair_by = nullptr;
  options.map = "a\tb\na\tc\n";
  CHECK(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_INVALID_ARGUMENT);
}

TEST_CASE("capi: codes of files by a scale", "[capi]") {
  const ScratchDir scratch;
  const std::array<std::int8_t, 4> codes{2, 4, 6, 8};
  const Writer writer(btf_writer_new());
  const auto array = array_of(codes.data(), 4, "int8", kFour);
  REQUIRE(btf_writer_add(writer.get(), &array, nullptr) == BTF_OK);
  REQUIRE(btf_writer_save(writer.get(), (scratch / "q.btf").c_str(), nullptr, nullptr) == BTF_OK);
  save(scratch / "f.btf", {0, 1, 2, 3});
  const File actual = open(scratch / "q.btf");
  const File golden = open(scratch / "f.btf");
  const double half = 0.5;
  const std::int64_t two = 2;
  auto scale = sized<btf_scale>();
  scale.count = 1;
  scale.scales = &half;
  scale.zero_points = &two;
  auto options = sized<btf_diff_options>();
  options.actual_scale = &scale;
  auto result = sized<btf_diff_result>();
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 1);
  scale.zero_points = nullptr;
  REQUIRE(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_OK);
  CHECK(result.same == 0);
  CHECK(result.max_abs == 1);
  scale.count = 0;
  CHECK(btf_diff(actual.get(), golden.get(), &options, &result) == BTF_INVALID_ARGUMENT);
}

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "unit/diff/diff_cases.h"

using namespace diff_cases;

TEST_CASE("diff: shapes") {
  const Files files;
  const auto shape = [&](const Words& actual, const Words& golden) {
    const FileDiff diff = files.diff({linear({DType::int8, actual, Words(product(actual), 1)})},
                                     {linear({DType::int8, golden, Words(product(golden), 1)})});
    REQUIRE(diff.same);
    CHECK(*diff.same == (actual == golden));
    CHECK((diff.tensors.front().result == DiffResult::shape) == (actual != golden));
    return diff.tensors.front();
  };
  CHECK(shape({2, 3}, {3, 2}).reason == "shape [2, 3] against [3, 2]");
  CHECK(shape({6}, {2, 3}).compared == 0);
  shape({1, 6}, {6});
  shape({}, {1});
  shape({2, 0}, {0, 2});
  shape({0}, {0, 0});
  shape({2, 3}, {2, 3});
  // A broadcast would fit; it is not what was asked for.
  shape({1}, {4});
}

TEST_CASE("diff: a tensor on one side only is a difference") {
  const Files files;
  const Bytes one = linear(f32({1}));
  for (const bool more_actual : {true, false}) {
    const std::vector<Bytes> two{one, one};
    const FileDiff diff = more_actual ? files.diff(two, {one}) : files.diff({one}, two);
    REQUIRE(diff.same);
    CHECK_FALSE(*diff.same);
    REQUIRE(diff.tensors.size() == 2);
    CHECK(diff.tensors[0].result == DiffResult::same);
    CHECK(diff.tensors[1].result == DiffResult::missing);
    CHECK(diff.tensors[1].actual.has_value() == more_actual);
    CHECK(diff.tensors[1].golden.has_value() == !more_actual);
    CHECK_FALSE(diff.tensors[1].reason.empty());
  }
  const FileDiff none = files.diff({}, {one});
  REQUIRE(none.same);
  CHECK_FALSE(*none.same);
}

TEST_CASE("diff: comparing nothing is an error") {
  const Files files;
  CHECK(files.diff({}, {}).same.error().code == ErrorCode::refused);
  DiffOptions nothing;
  nothing.actual_tensors.emplace();
  nothing.golden_tensors.emplace();
  CHECK(files.diff({linear(f32({1}))}, {linear(f32({1}))}, nothing).same.error().code ==
        ErrorCode::refused);
  // Tensors without elements beside others are fine; nothing but such is nothing compared.
  const Bytes empty = linear({DType::float32, {0, 3}, {}});
  CHECK(files.diff({empty, empty}, {empty, empty}).same.error().code == ErrorCode::refused);
  CHECK(files.diff({empty, linear(f32({1}))}, {empty, linear(f32({1}))}).same.value());
  CHECK_FALSE(files.diff({empty}, {linear({DType::float32, {3, 0}, {}})}).same.value());
}

TEST_CASE("diff: selected tensors are paired in their order") {
  const Files files;
  const std::vector<Bytes> actual{linear(f32({1})), linear(f32({2})), linear(f32({3}))};
  const std::vector<Bytes> golden{linear(f32({3})), linear(f32({9})), linear(f32({1}))};
  DiffOptions options;
  options.actual_tensors = {0, 2};
  options.golden_tensors = {2, 0};
  const FileDiff diff = files.diff(actual, golden, options);
  REQUIRE(diff.same);
  CHECK(*diff.same);
  REQUIRE(diff.tensors.size() == 2);
  CHECK(diff.tensors[1].actual->index == 2);
  CHECK(diff.tensors[1].golden->index == 0);
  options.golden_tensors = {2, 3};
  CHECK(files.diff(actual, golden, options).same.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("diff: what cannot be compared is an error") {
  const Files files;
  const Bytes good = linear(f32({1, 2}));
  const auto refused = [&](const std::vector<Bytes>& bad, ErrorCode code) {
    for (const bool as_actual : {true, false}) {
      const auto diff = as_actual ? files.diff(bad, {good}) : files.diff({good}, bad);
      REQUIRE_FALSE(diff.same);
      CHECK(diff.same.error().code == code);
      CHECK(diff.same.error().text().find(as_actual
                                              ? "actual.btf: tensor 0: "
                                              : "golden.btf: tensor 0: ") != std::string::npos);
    }
  };
  refused({bytes::dense(42, Layout::linear, {2}, Bytes(8))}, ErrorCode::unsupported);
  refused({bytes::dense(DType::float32, 77, {2}, Bytes(8))}, ErrorCode::unsupported);
  refused({bytes::dense(DType::float32, Layout::linear, {20}, Bytes(8))}, ErrorCode::malformed);
  refused({bytes::dense(DType::float32, Layout::hwc8, {2}, Bytes(8))}, ErrorCode::malformed);
}

TEST_CASE("diff: strict sees dtype and layout") {
  const Files files;
  const Tensor tensor{DType::int8, {1, 2, 3}, {1, 2, 3, 4, 5, 6}};
  DiffOptions strict;
  strict.strict = true;
  CHECK(files.one(linear(tensor), linear(tensor), strict).result == DiffResult::same);
  const Tensor wide{DType::int16, tensor.dims, tensor.codes};
  const TensorDiff dtype = files.one(linear(tensor), linear(wide), strict);
  CHECK(dtype.result == DiffResult::different);
  CHECK(dtype.reason == "dtype int8 against int16");
  CHECK(dtype.mismatched == 0);
  for (const naive::Name& name : naive::names()) {
    const bool same = name.code == 0;
    if (!naive::can_hold(name, 3, 1)) continue;
    const TensorDiff layout = files.one(stored(name, tensor), linear(tensor), strict);
    CHECK((layout.result == DiffResult::same) == same);
    CHECK(layout.reason.empty() == same);
  }
  CHECK(files.one(sparse(tensor), linear(tensor), strict).result == DiffResult::different);
  CHECK(files.one(sparse(tensor), linear(tensor)).result == DiffResult::same);
}

TEST_CASE("diff: the number of threads changes nothing") {
  Random random(6);
  const Files files;
  const Words dims{2, 37, 130, 150};
  Tensor golden = random_tensor(DType::float32, dims, random);
  for (std::uint64_t& code : golden.codes) code = (code & 0x007fffff) | 0x3f800000;
  Tensor actual = golden;
  for (std::uint64_t& code : actual.codes)
    code ^= random.below(100) == 0 ? random.below(1 << 16) : 0;
  actual.codes[1'000'000] = 0x7fc00000;
  DiffOptions options = tolerance(1e-4, 0);
  for (const char* actual_layout : {"kLINEAR", "kCHW32"}) {
    for (const char* golden_layout : {"kLINEAR", "kHWC8"}) {
      const auto named = [](const char* name) {
        return *std::ranges::find(naive::names(), std::string_view(name), &naive::Name::name);
      };
      const Bytes left = stored(named(actual_layout), actual);
      const Bytes right = stored(named(golden_layout), golden);
      std::vector<std::string> texts;
      for (const unsigned jobs : {1U, 2U, 3U}) {
        options.execution.jobs = jobs;
        const TensorDiff diff = files.one(left, right, options);
        CHECK(diff.mismatched > 1000);
        texts.push_back(text(diff));
      }
      CHECK(texts[1] == texts[0]);
      CHECK(texts[2] == texts[0]);
    }
  }
  options.execution.jobs = 2;
  const TensorDiff diff = diff_of(actual, golden, options);
  check_against(diff, actual, golden, options);
}

TEST_CASE("diff: many tensors are told in their order, by any number of threads") {
  Random random(8);
  const Files files;
  std::vector<Bytes> actual;
  std::vector<Bytes> golden;
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < 700; ++i) {
    // One is large: those before and behind it are not.
    const std::uint64_t elements = i == 333 ? 5U << 20 : 1 + random.below(700);
    const Tensor tensor = random_tensor(DType::int8, {elements}, random);
    const Tensor other = i % 3 == 0 ? tensor : disturbed(tensor, random);
    golden.push_back(i % 7 == 1 ? sparse(tensor) : linear(tensor));
    actual.push_back(i % 11 == 2 ? linear({DType::int8, {1, elements}, other.codes})
                                 : linear(other));
  }
  const auto told = [&](unsigned jobs) {
    DiffOptions options;
    options.execution.jobs = jobs;
    const FileDiff all = files.diff(actual, golden, options);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < all.tensors.size(); ++i) {
      CHECK(all.tensors[i].actual->index == i);
      texts.push_back(text(all.tensors[i]));
    }
    texts.push_back(all.same ? "no error" : all.same.error().text());
    return texts;
  };
  const std::vector<std::string> by_one = told(1);
  CHECK(by_one.size() == 701);
  CHECK(told(2) == by_one);
  CHECK(told(5) == by_one);
  // What comes before a tensor that cannot be compared is told nevertheless.
  actual[500] = bytes::dense(42, Layout::linear, {2}, Bytes(8));
  const std::vector<std::string> cut = told(1);
  CHECK(cut.size() == 501);
  CHECK(cut.back().find("actual.btf: tensor 500: ") != std::string::npos);
  CHECK(told(2) == cut);
  CHECK(told(5) == cut);
}

TEST_CASE("diff: as many first mismatches as asked for") {
  const Tensor actual = line(DType::int16, Words(5000, 1));
  const Tensor golden = line(DType::int16, Words(5000, 2));
  for (const std::uint64_t show : {0ULL, 1ULL, 5ULL, 4999ULL, 5000ULL, ~0ULL}) {
    DiffOptions options;
    options.show = show;
    const TensorDiff diff = diff_of(actual, golden, options);
    CHECK(diff.first.size() == std::min<std::uint64_t>(show, 5000));
    CHECK(diff.worst_abs->index == Words{0});
    CHECK(diff.mismatched == 5000);
  }
}

TEST_CASE("diff: a mismatch says what the tolerance allows there") {
  const TensorDiff diff = diff_of(f32({10}), f32({-4}), tolerance(0.5, 0.25));
  CHECK(diff.worst_abs->allowed == 2.25);
  CHECK(diff.worst_abs->abs_error == 14);
  CHECK(diff.worst_abs->rel_error == 3.5);
}

TEST_CASE("diff: no elements are the same, whatever the type") {
  const TensorDiff diff = diff_of({DType::float32, {0, 3}, {}}, {DType::int4, {0, 3}, {}});
  CHECK(diff.result == DiffResult::same);
  CHECK(diff.compared == 0);
  CHECK(diff.required_atol == 0.0);
}

TEST_CASE("diff: a buffer that is too short is refused") {
  const Bytes data(11);
  const auto layout = btf::resolve(Layout::linear, Words{3}, DType::float32).value();
  const Bytes whole(12);
  const btf::TensorView cut{DType::float32, layout, data};
  const btf::TensorView full{DType::float32, layout, whole};
  CHECK(btf::diff(cut, full).error().code == ErrorCode::invalid_argument);
  CHECK(btf::diff(full, cut).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("diff: can be stopped") {
  const std::atomic<bool> cancel = true;
  DiffOptions options;
  options.execution.cancel = &cancel;
  CHECK(try_diff(f32({1}), f32({1}), options).error().code == ErrorCode::cancelled);
}

// What other comparers let pass: each of these must fail here.

TEST_CASE("diff: no silent pass of values") {
  CHECK_FALSE(passes(f32({NAN}), f32({6.0F}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32({6.0F}), f32({NAN}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32(std::vector<float>(1000, NAN)), f32(std::vector<float>(1000, 1))));
  CHECK_FALSE(passes(f32({1}), f32({INFINITY}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32({INFINITY}), f32({1}), tolerance(1e30, 1e30)));
  CHECK_FALSE(passes(f32({INFINITY}), f32({-INFINITY}), tolerance(1e30, 1e30)));
  // Below any absolute threshold.
  CHECK_FALSE(passes(f32({1e-20F}), f32({2e-20F}), tolerance(1e-6, 0)));
  CHECK_FALSE(passes(f64({1e-320}), f64({2e-320}), tolerance(1e-6, 0)));
  CHECK_FALSE(passes(f32({0x1p-149F}), f32({0})));
  // One bad element in many with a good mean.
  std::vector<float> many(1000, 1);
  const Tensor golden = f32(many);
  many[500] += 5;
  CHECK_FALSE(passes(f32(many), golden, tolerance(0, 1e-2)));
  // Differences that do not fit the tensors' own type.
  CHECK(diff_of(line(DType::uint8, {0}), line(DType::uint8, {1})).max_abs == 1);
  CHECK(diff_of(line(DType::int8, {0x80}), line(DType::int8, {0x7f})).max_abs == 255);
  CHECK_FALSE(passes(line(DType::int8, {0x80}), line(DType::int8, {0x7f}), tolerance(0, 1)));
  CHECK_FALSE(
      passes(line(DType::int32, {0x80000000}), line(DType::int32, {0x7fffffff}), tolerance(0, 1)));
  CHECK_FALSE(passes(line(DType::int64, {1ULL << 63}), line(DType::int64, {(1ULL << 63) - 1}),
                     tolerance(0, 1)));
  // 60000 against -60000 overflows float16, and Inf <= Inf.
  CHECK(diff_of(line(DType::float16, {0x7b53}), line(DType::float16, {0xfb53})).max_abs == 120000);
  CHECK_FALSE(
      passes(line(DType::float16, {0x7b53}), line(DType::float16, {0xfb53}), tolerance(1.9, 0)));
}

TEST_CASE("diff: no silent pass of tensors") {
  const Files files;
  const Bytes one = linear(f32({1, 2}));
  // Missing, on either side.
  CHECK_FALSE(*files.diff({one}, {one, one}).same);
  CHECK_FALSE(*files.diff({one, one}, {one}).same);
  // Twice the size: the first half is the same.
  CHECK_FALSE(*files.diff({linear(f32({1, 2, 1, 2}))}, {one}).same);
  CHECK_FALSE(*files.diff({one}, {linear(f32({1, 2, 1, 2}))}).same);
  // float32 bits read as float16, and the other way round.
  const Bytes halves = linear(line(DType::float16, {0, 0x3f80, 0, 0x4000}));
  CHECK_FALSE(*files.diff({halves}, {one}).same);
  // A vectorised dump taken for a linear tensor: the same elements in another order.
  const Tensor image{DType::int8, {4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Bytes dump = stored(naive::names()[3], image);
  REQUIRE(naive::names()[3].name == "kCHW4");
  const Bytes mislabelled =
      bytes::dense(DType::int8, Layout::linear, image.dims, Bytes(dump.end() - 8, dump.end()));
  CHECK(*files.diff({dump}, {linear(image)}).same);
  CHECK_FALSE(*files.diff({mislabelled}, {linear(image)}).same);
  // An unknown type is not skipped.
  CHECK_FALSE(files.diff({one, bytes::dense(42, Layout::linear, {1}, Bytes(4))}, {one, one}).same);
  // A malformed record behind good ones, nor is that.
  CHECK_FALSE(
      files.diff({one, bytes::dense(DType::int8, Layout::linear, {100}, {})}, {one, one}).same);
}

TEST_CASE("diff: tensors that cannot be compared, and the others all the same") {
  const Files files;
  const Bytes one = linear(f32({1, 2}));
  const Bytes other = linear(f32({1, 3}));
  const Bytes unknown = bytes::dense(42, Layout::linear, {1}, Bytes(4));
  const Bytes cut = bytes::dense(DType::int8, Layout::linear, {100}, {});
  for (const unsigned jobs : {1U, 4U}) {
    DiffOptions options;
    options.execution.jobs = jobs;
    options.hints = false;
    CHECK_FALSE(files.diff({unknown, one}, {one, one}, options).same);
    options.go_on = true;
    const auto found = files.diff({unknown, one, other, one, cut}, {one, one, one, cut}, options);
    REQUIRE(found.same);
    CHECK_FALSE(*found.same);
    REQUIRE(found.tensors.size() == 5);
    const auto result = [&](std::size_t i) { return found.tensors[i].result; };
    CHECK(result(0) == DiffResult::trouble);
    CHECK(result(1) == DiffResult::same);
    CHECK(result(2) == DiffResult::different);
    CHECK(result(3) == DiffResult::trouble);
    CHECK(result(4) == DiffResult::trouble);
    CHECK(found.tensors[0].error->message.contains("unknown dtype code 42"));
    CHECK(found.tensors[0].error->tensor == 0);
    CHECK_FALSE(found.tensors[0].actual->known);
    CHECK(found.tensors[0].golden->dtype == DType::float32);
    CHECK(found.tensors[3].error->tensor == 3);
    CHECK_FALSE(found.tensors[4].golden);
    // Trouble alone is not the same.
    CHECK_FALSE(*files.diff({unknown, one}, {one, one}, options).same);
  }
}

// Reports judged again: the oracle is a loop over the elements.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "btf/file.h"
#include "btf/report.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"

namespace {

using btf::PairResult;
using btf::SetDiffResult;

constexpr std::uint64_t kElements = 40;

struct Case {
  std::vector<std::vector<float>> actual;
  std::vector<std::vector<float>> golden;
  SetDiffResult report;
};

bytes::Bytes record_of(const std::vector<float>& values) {
  bytes::Words codes;
  for (const float value : values) codes.push_back(std::bit_cast<std::uint32_t>(value));
  return bytes::dense(btf::DType::float32, btf::Layout::linear, {kElements},
                      bytes::pack(32, codes));
}

// Three tensors, compared with an atol.
Case compared(Random& random, const ScratchDir& scratch, double atol) {
  Case made;
  std::vector<bytes::Bytes> left;
  std::vector<bytes::Bytes> right;
  for (int tensor = 0; tensor < 3; ++tensor) {
    const double noise = std::pow(10, -static_cast<double>(random.below(7)));
    auto& golden = made.golden.emplace_back();
    auto& actual = made.actual.emplace_back();
    for (std::uint64_t i = 0; i < kElements; ++i) {
      golden.push_back(static_cast<float>(random.below(2000)) / 1000 - 1);
      actual.push_back(
          golden.back() +
          static_cast<float>(noise * (static_cast<double>(random.below(2001)) - 1000) / 1000));
    }
    left.push_back(record_of(actual));
    right.push_back(record_of(golden));
  }
  const auto a = bytes::open(bytes::save(scratch, "a.btf", bytes::file(left)));
  const auto g = bytes::open(bytes::save(scratch, "g.btf", bytes::file(right)));
  made.report.begin({.name = "a.btf", .actual = "a.btf", .golden = "g.btf"});
  btf::DiffOptions options;
  options.tolerance.atol = atol;
  const auto same =
      btf::diff(a, g, options, [&](const btf::TensorDiff& diff) { made.report.take(diff); });
  REQUIRE(same);
  made.report.end(made.report.pairs.back().files,
                  {.result = *same ? PairResult::same : PairResult::different});
  return made;
}

bool within(const Case& made, std::size_t tensor, double atol, double rtol) {
  for (std::uint64_t i = 0; i < kElements; ++i)
    if (std::abs(double{made.actual[tensor][i]} - double{made.golden[tensor][i]}) >
        atol + rtol * std::abs(double{made.golden[tensor][i]}))
      return false;
  return true;
}

}  // namespace

TEST_CASE("rejudge: a tensor is judged as its elements are, or left out", "[report]") {
  const ScratchDir scratch;
  Random random(11);
  std::uint64_t judged = 0;
  std::uint64_t undecided = 0;
  for (int round = 0; round < 60; ++round) {
    const Case made =
        compared(random, scratch, std::pow(10, -static_cast<double>(random.below(8))));
    for (int exponent = -8; exponent <= 0; ++exponent) {
      const double limit = std::pow(10, exponent);
      const double atol = round % 3 == 0 ? 0 : limit / (round % 3);
      const double rtol = round % 3 == 1 ? 0 : limit / 2;
      SetDiffResult again;
      REQUIRE(btf::rejudge(made.report, {.tolerance = {.rtol = rtol, .atol = atol}}, again));
      REQUIRE(again.pairs.size() == 1);
      const SetDiffResult::Pair& pair = again.pairs[0];
      bool all = true;
      for (const btf::TensorDiff& diff : pair.tensors) {
        const bool same = within(made, diff.actual->index, atol, rtol);
        CAPTURE(round, atol, rtol, diff.actual->index);
        CHECK((diff.result == btf::DiffResult::same) == same);
        CHECK(diff.tolerance.atol == atol);
        all = all && same;
        ++judged;
      }
      if (pair.tensors.size() == 3) {
        CHECK(pair.outcome.result == (all ? PairResult::same : PairResult::different));
        continue;
      }
      undecided += 3 - pair.tensors.size();
      CHECK(pair.outcome.result == PairResult::trouble);
      REQUIRE(pair.outcome.cause);
      CHECK(pair.outcome.cause->finding == btf::kUndecided);
    }
  }
  CHECK(judged > 1000);
  CHECK(undecided > 50);
}

TEST_CASE("rejudge: limits of single tensors take precedence, and must be for one", "[report]") {
  const ScratchDir scratch;
  Random random(12);
  const Case made = compared(random, scratch, 0);
  btf::RejudgeOptions options{.tolerance = {.atol = 0.0}};
  btf::TensorTolerance own;
  own.tensor = 1;
  own.tolerance.atol = 4;
  own.source = "the second";
  options.tensor_tolerances = {own};
  SetDiffResult again;
  REQUIRE(btf::rejudge(made.report, options, again));
  REQUIRE(again.pairs[0].tensors.size() == 3);
  for (const btf::TensorDiff& diff : again.pairs[0].tensors)
    CHECK((diff.result == btf::DiffResult::same) == (diff.actual->index == 1));
  options.tensor_tolerances[0].tensor = 3;
  const btf::Status status = btf::rejudge(made.report, options, again);
  REQUIRE(!status);
  CHECK(status.error().message.contains("the second: the report has no tensor"));
}

// Shares of fit: all together judge as one run, and what is not of the plan is refused.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "btf/fit.h"
#include "btf/report.h"
#include "fit/items.h"

namespace btf::test {
namespace {

const std::string kGraph = BTF_TESTDATA_DIR "/fit/model.onnx";

// Keeps what it measures, of one of several shares, and gives it back.
class Kept final : public FitShare {
 public:
  Kept(std::uint64_t share, std::uint64_t of) : share_(share), of_(of) {}

  Status plan(std::span<const PlannedFit> items) override {
    planned = {items.begin(), items.end()};
    return {};
  }
  bool is_own(std::uint64_t number) const override { return number % of_ == share_; }
  const MeasuredFit* known(std::uint64_t number) const override {
    const auto at = items.find(number);
    return at == items.end() ? nullptr : &at->second;
  }
  void take(std::uint64_t number, const MeasuredFit& item) override { items[number] = item; }

  std::vector<PlannedFit> planned;
  std::map<std::uint64_t, MeasuredFit> items;

 private:
  std::uint64_t share_;
  std::uint64_t of_;
};

std::vector<TensorSet> dumps() {
  std::vector<TensorSet> sets;
  auto set = TensorSet::open(BTF_TESTDATA_DIR "/fit/golden.npz");
  REQUIRE(set);
  sets.push_back(*std::move(set));
  return sets;
}

FitOptions options(bool graph) {
  FitOptions options{.dtypes = {DType::float16, DType::int8}};
  if (graph) options.graph = kGraph;
  return options;
}

Kept measured_by(std::uint64_t shares, bool graph) {
  Kept all(0, 1);
  for (std::uint64_t share = 0; share < shares; ++share) {
    auto sets = dumps();
    Kept one(share, shares);
    REQUIRE(measure_fit(sets, options(graph), one));
    all.planned = one.planned;
    for (auto& [number, item] : one.items) REQUIRE(all.items.emplace(number, item).second);
  }
  REQUIRE(all.items.size() == all.planned.size());
  return all;
}

// Why it is refused, after one item was changed.
std::string refused(const Kept& right, std::uint64_t number,
                    const std::function<void(FitMeasures&)>& change) {
  Kept wrong = right;
  auto measures = std::make_shared<FitMeasures>(*wrong.items.at(number).measures);
  change(*measures);
  wrong.items.at(number).measures = measures;
  auto sets = dumps();
  const auto report = judge_measured(sets, options(true), wrong);
  REQUIRE(!report);
  return report.error().message;
}

std::uint64_t number_of(const Kept& kept, const std::string& name) {
  for (std::uint64_t i = 0; i < kept.planned.size(); ++i)
    if (kept.planned[i].name == name) return i;
  FAIL(name);
  return 0;
}

}  // namespace

TEST_CASE("shares judge as one run", "[fit]") {
  for (const bool graph : {true, false}) {
    auto sets = dumps();
    const auto one = fit(sets, options(graph));
    REQUIRE(one);
    for (const std::uint64_t shares : {1, 3}) {
      Kept all = measured_by(shares, graph);
      auto again = dumps();
      const auto report = judge_measured(again, options(graph), all);
      REQUIRE(report);
      CHECK(json(*report) == json(*one));
    }
  }
}

TEST_CASE("an item of a share says what it is of", "[fit]") {
  const Kept all = measured_by(1, true);
  const PlannedFit& pow = all.planned[number_of(all, "pow")];
  CHECK(pow.signature == "pow\nPow\nhidden\ntwo");
  CHECK(pow.bytes == 288 * 4);
  CHECK(pow.read_bytes == 288 * 4 + 4);
  const PlannedFit& input = all.planned[number_of(all, "input")];
  CHECK(input.signature == "input");
  REQUIRE(all.items.at(number_of(all, "pow")).files.size() == 2);
  CHECK(all.items.at(number_of(all, "pow")).files[1].first == kGraph);
}

TEST_CASE("what is not of the plan's items is refused", "[fit]") {
  const Kept all = measured_by(1, true);
  const std::uint64_t pow = number_of(all, "pow");
  const std::string why = "the measures of item " + std::to_string(pow);
  const auto type = [](FitMeasures& measures) -> FitMeasures::TypeMeasures& {
    return measures.runs[0].types[0];
  };
  CHECK(refused(all, pow, [&](FitMeasures& m) { m.runs.clear(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { m.runs[0].types.pop_back(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { type(m).values.clear(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { type(m).node.reset(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) {
          type(m).node->plain.inputs[0].input = 2;
        }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) {
          type(m).node->typical = type(m).node->plain;
          type(m).node->typical->inputs.pop_back();
        }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { m.runs[0].gains.clear(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { type(m).node->plain.terms = 1; }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { m.runs[0].gains[0].resize(9); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) { m.scales.clear(); }).contains(why));
  CHECK(refused(all, pow, [&](FitMeasures& m) {
          m.scales[0].types.push_back(m.scales[0].types[0]);
        }).contains(why));
  Kept lacking = all;
  lacking.items.erase(pow);
  auto sets = dumps();
  const auto report = judge_measured(sets, options(true), lacking);
  REQUIRE(!report);
  CHECK(report.error().message.contains(why));
}

}  // namespace btf::test

// Lists of names, whole and not, and what is said of layers that an order has no place for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/layers.h"
#include "unit/layers/given_layers.h"

using btf::Layer;
using btf::LayerReport;
using btf::LayerState;
using btf::VerdictKind;
using namespace layered;

namespace {

std::vector<std::string> names(const LayerReport& report) {
  std::vector<std::string> found;
  for (const Layer& one : report.layers) found.push_back(one.name());
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("layers: what a list leaves out stays behind what it follows without the list") {
  LayerReport report = chain(std::vector<double>(5, 5e-4));
  REQUIRE(btf::order_by_list(report, "l3\n# l0\nl1\nl3\nnone\nnor this\n", "list"));
  CHECK(names(report) == Names{"l0", "l3", "l4", "l1", "l2"});
  CHECK(report.order == btf::OrderSource::file);
  CHECK(report.order_left_out == Names{"l0", "l2", "l4"});
  CHECK(report.order_left_out_by == btf::OrderSource::stored);
  CHECK(report.order_unknown == Names{"none", "nor this"});
  CHECK_FALSE(btf::order_by_list(report, "none\n", "list"));
}

TEST_CASE(
    "layers: a list gives the order, and what is computed from what stays that of the graph") {
  // Two branches of l0, which a list puts side by side.
  LayerReport report = graph(with(std::vector<double>(6, 5e-4), 2, 3, 0.1));
  report.order_path = "model.onnx";
  report.layers[3].inputs = {0};
  report.layers[4].inputs = {3};
  report.layers[5].inputs = {4};
  REQUIRE(btf::order_by_list(report, "l0\nl3\nl1\nl4\nl2\nl5\n", "list"));
  CHECK(names(report) == Names{"l0", "l3", "l1", "l4", "l2", "l5"});
  CHECK(report.order == btf::OrderSource::file);
  CHECK(report.graph_path == "model.onnx");
  CHECK(report.linked());
  using Numbers = std::vector<std::uint64_t>;
  CHECK(report.layers[1].inputs == Numbers{0});
  CHECK(report.layers[2].inputs == Numbers{0});
  CHECK(report.layers[3].inputs == Numbers{1});
  CHECK(report.layers[4].inputs == Numbers{2});
  CHECK(report.layers[5].inputs == Numbers{3});
  CHECK(report.warnings.empty());
  // By order alone l5, which agrees, would tell of l2's dump.
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 4U);
  CHECK(report.layers[5].input_error == Approx(5e-4));
  // What a list puts in front of its inputs has them no more.
  REQUIRE(btf::order_by_list(report, "l3\nl0\n", "other"));
  CHECK(names(report).front() == "l3");
  CHECK(report.layers[0].inputs.empty());
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0] ==
        "other: 'l3' precedes 'l0', its input in model.onnx: this input is ignored; 1 more");
  CHECK(report.graph_path == "model.onnx");
}

TEST_CASE("layers: a list of some of the names hides no fault in the others") {
  for (const char* const list : {"l0\nl1\nl2\n", "l11\n", "l2\nl9\n"}) {
    CAPTURE(list);
    LayerReport report = chain(with(kHealthy, 5, 12, 0.3));
    REQUIRE(btf::order_by_list(report, list, "list"));
    CHECK(judged(report) == VerdictKind::broke);
    if (std::string(list) == "l0\nl1\nl2\n") CHECK(report.verdict.layer == 5U);
    LayerReport healthy = chain(kHealthy);
    REQUIRE(btf::order_by_list(healthy, list, "list"));
    CHECK(judged(healthy) == VerdictKind::clean);
  }
}

TEST_CASE("layers: what has no place in the order is not passed in silence") {
  LayerReport report = graph(kHealthy);
  Layer& lost = report.layers.emplace_back(layer("lost", 0.4));
  lost.placed = false;
  CHECK(judged(report) == VerdictKind::cannot_tell);
  CHECK(report.verdict.words.find("'lost'") != std::string::npos);
  CHECK(report.verdict.words.find("40 %") != std::string::npos);
  CHECK(report.layers.back().state == LayerState::unjudged);
  report.layers.back().figures->relative_error = 0.002;
  CHECK(judged(report) == VerdictKind::clean);
  report.layers.back().figures->nan.actual = 1;
  CHECK(judged(report) == VerdictKind::cannot_tell);
  report.layers.back().figures.reset();
  report.layers.back().fault = btf::LayerFault::shape;
  CHECK(judged(report) == VerdictKind::broke);
}

TEST_CASE("layers: a guess where the list leaves names out is doubted as names are") {
  std::vector<double> errors = kHealthy;
  for (const std::size_t i : {1U, 2U, 3U, 4U, 6U, 8U, 10U}) errors[i] = 0.3;
  LayerReport report = chain(errors);
  report.order = btf::OrderSource::natural;
  REQUIRE(btf::order_by_list(report, "l0\n", "list"));
  CHECK(judged(report) == VerdictKind::cannot_tell);
}

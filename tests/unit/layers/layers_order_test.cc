// Lists of names, whole and not, and what is said of layers that an order has no place for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/layers/layers.h"
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
  report.layers.back().figures->e = 0.002;
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

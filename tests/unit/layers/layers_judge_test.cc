// The verdict out of figures: chains and graphs of layers with errors that are given.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "btf/layers.h"
#include "unit/layers/given_layers.h"

using btf::Layer;
using btf::LayerLimits;
using btf::LayerReport;
using btf::LayerState;
using btf::VerdictKind;
using namespace layered;

TEST_CASE("layers: nothing broke where errors are those of the dtype") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(kHealthy);
    CHECK(judged(report) == VerdictKind::clean);
    CHECK(btf::all_well(report, {}));
    CHECK(report.noise_source == "float16");
    for (const Layer& one : report.layers) CHECK(one.state == LayerState::healthy);
  }
}

TEST_CASE("layers: the first whose error its inputs do not explain, and not those behind it") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(kHealthy, 5, 12, 0.1));
    CHECK(judged(report) == VerdictKind::broke);
    CHECK(report.verdict.layer == 5U);
    CHECK(report.roots == std::vector<std::uint64_t>{5});
    CHECK(report.layers[5].error_to_noise > 8);
    CHECK(report.layers[6].error_to_noise < 1);
    CHECK_FALSE(btf::all_well(report, {}));
  }
}

TEST_CASE("layers: what is computed from a wrong dump agrees, and is judged by the dump's inputs") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(kHealthy, 5, 6, 1.4));
    CHECK(judged(report) == VerdictKind::dump_wrong);
    CHECK(report.verdict.layer == 5U);
    CHECK(report.roots.empty());
    CHECK(report.layers[6].state == LayerState::healthy);
    CHECK(report.layers[6].input_error == Approx(5e-4));
  }
}

TEST_CASE("layers: what is computed from it agrees in every slice, or the dump is right") {
  // A dead channel of which a ReLU lets a little through.
  LayerReport report = chain(with(kHealthy, 5, 6, 0.1));
  report.layers[6].figures->slice_error = 0.03;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 5U);
}

TEST_CASE("layers: codes are as coarse as their scale") {
  LayerReport report = chain(with(kHealthy, 3, 12, 0.02));
  for (Layer& one : report.layers) {
    one.actual_dtype = btf::DType::int8;
    one.figures->actual.scale = 0.03;  // of numbers whose rms is 1
  }
  CHECK(judged(report) == VerdictKind::clean);
  for (Layer& one : report.layers) one.figures->actual.scale = 0.001;
  report.layers[3].figures->relative_error = 0.2;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 3U);
}

TEST_CASE("layers: a few numbers on a grid show that a run is quantised") {
  LayerReport report = chain(with(kHealthy, 1, 12, 0.02));
  for (Layer& one : report.layers) {
    one.actual_dtype = btf::DType::float32;
    one.figures->elements = one.figures->pairs = 192;
    one.figures->actual.bits = 24;
    one.figures->actual.step = 0.03;
  }
  CHECK(judged(report) == VerdictKind::clean);
  // Positions and the like are a grid on both sides: then it is an error for bfloat16 at most.
  for (Layer& one : report.layers) one.figures->golden.step = 0.03;
  report.layers[1].figures->golden.step = 0;
  judged(report);
  CHECK(report.noise_source == "bfloat16, estimated from the first product");
  for (Layer& one : report.layers)
    if (&one != &report.layers[0]) one.figures->relative_error = 0.1;
  CHECK(judged(report) != VerdictKind::clean);
}

TEST_CASE("layers: the last layer has nobody to speak for it") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(kHealthy, 11, 12, 1.4));
    CHECK(judged(report) == VerdictKind::broke);
    CHECK(report.verdict.layer == 11U);
  }
}

TEST_CASE("layers: by order alone an error that comes back was not of the dump") {
  LayerReport report = chain(with(with(kHealthy, 3, 4, 0.2), 8, 12, 0.2));
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 3U);
}

TEST_CASE("layers: NaN is born where no input has one; what follows is not judged") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(kHealthy);
    for (std::size_t i = 4; i < 12; ++i) report.layers[i].figures->nan.actual = i;
    CHECK(judged(report) == VerdictKind::broke);
    CHECK(report.verdict.layer == 4U);
    CHECK(report.layers[4].fault == btf::LayerFault::born);
    for (std::size_t i = 5; i < 12; ++i) CHECK(report.layers[i].state == LayerState::unjudged);
  }
}

TEST_CASE("layers: a sum that only its dump in float16 cannot hold, where it is one number") {
  const auto with_inf = [](double errors) {
    LayerReport report = chain(std::vector<double>(12, errors));
    btf::LayerFigures& figures = *report.layers[4].figures;
    figures = {};
    figures.elements = 1;
    figures.inf.actual = 1;
    return report;
  };
  LayerReport half = with_inf(5e-4);
  CHECK(judged(half) == VerdictKind::clean);
  CHECK(half.layers[4].note.starts_with("Inf in the dump alone"));
  LayerReport single = with_inf(1e-7);
  for (btf::Layer& layer : single.layers) {
    layer.actual_dtype = btf::DType::float32;
    layer.figures->actual.bits = 24;
  }
  CHECK(judged(single) == VerdictKind::broke);
}

TEST_CASE("layers: below its normal range float16 is off by a step, whatever part that is") {
  LayerReport report = chain(kHealthy);
  btf::LayerFigures& figures = *report.layers[11].figures;
  figures.relative_error = figures.slice_error = 0.05;
  figures.golden.peak = 6e-7;
  figures.max_error = 0x1p-25;
  CHECK(judged(report) == VerdictKind::clean);
  figures.max_error = 0x1p-23;
  CHECK(judged(report) == VerdictKind::broke);
}

TEST_CASE("layers: NaN that only golden has is no reason to say that nothing broke") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(kHealthy);
    for (std::size_t i = 4; i < 12; ++i) report.layers[i].figures->nan.golden = 3;
    CHECK(judged(report) == VerdictKind::broke);
    CHECK(report.verdict.layer == 4U);
    CHECK(report.verdict.words.find("3 NaN of 1024 elements of golden are numbers in actual: ") !=
          std::string::npos);
    CHECK(report.roots.size() == 1);
  }
}

TEST_CASE("layers: what follows an Inf may come and go, and the order is right all the same") {
  LayerReport report = chain(kHealthy);
  report.order = btf::OrderSource::natural;
  for (std::size_t i = 4; i < 12; ++i) {
    report.layers[i].figures->inf.actual = 1;
    if (i % 2 == 0) report.layers[i].figures->relative_error = 0.4;
  }
  CHECK(judged(report) == VerdictKind::broke);
  CHECK_FALSE(report.order_doubtful);
}

TEST_CASE("layers: NaN in the inputs of the network are what is said of them") {
  LayerReport report = chain(kHealthy);
  report.layers[0].role = "input";
  report.layers[0].figures->nan.actual = 2;
  CHECK(judged(report) == VerdictKind::inputs);
  CHECK(report.verdict.words.find("2 NaN of 1024 elements") != std::string::npos);
}

TEST_CASE("layers: inputs that are half wrong explain anything") {
  LayerReport report = chain(with(kHealthy, 5, 12, 0.9));
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 5U);
  for (std::size_t i = 6; i < 12; ++i) CHECK(report.layers[i].state == LayerState::unjudged);
}

TEST_CASE("layers: a scale that is off is seen below the noise, by its going along") {
  LayerReport report = chain(with(kHealthy, 5, 12, 1.5e-3));
  CHECK(judged(report) == VerdictKind::clean);
  for (std::size_t i = 5; i < 12; ++i) report.layers[i].figures->gain_share = 0.97;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 5U);
  CHECK(report.layers[5].fault == btf::LayerFault::gain);
}

TEST_CASE("layers: one slice may be off where the whole is not") {
  LayerReport report = chain(kHealthy);
  for (std::size_t i = 5; i < 12; ++i) report.layers[i].figures->slice_error = 0.5;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 5U);
  CHECK(report.layers[5].fault == btf::LayerFault::local);
  // Of a few numbers that is chance.
  for (Layer& one : report.layers) one.figures->pairs = one.figures->elements = 20;
  CHECK(judged(report) == VerdictKind::clean);
}

TEST_CASE("layers: the inputs of the network come first") {
  LayerReport report = chain(with(kHealthy, 0, 12, 0.1));
  report.layers[0].role = "input";
  CHECK(judged(report) == VerdictKind::inputs);
  CHECK(report.verdict.layer == 0U);
}

TEST_CASE("layers: a scale of the network's input that is off is no fault of a layer") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(kHealthy, 0, 12, 0.0018));
    report.layers[0].role = "input";
    CHECK(judged(report) == VerdictKind::clean);
    for (std::size_t i = 0; i < 12; ++i) report.layers[i].figures->gain_share = 0.99;
    CHECK(judged(report) == VerdictKind::inputs);
    CHECK(report.verdict.layer == 0U);
  }
}

TEST_CASE("layers: a wrong dump of the network's input is that, where what follows is right") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(kHealthy, 0, 1, 0.8));
    report.layers[0].role = "input";
    CHECK(judged(report) == VerdictKind::dump_wrong);
    CHECK(report.verdict.layer == 0U);
    CHECK(report.roots.empty());
  }
}

TEST_CASE("layers: by order alone what follows an input need not be computed from it") {
  // Another input, by its role or by its name, or one that only golden has.
  LayerReport two = chain(with(kHealthy, 0, 1, 0.8));
  two.layers[0].role = "input";
  two.layers[2].role = "input";
  CHECK(judged(two) == VerdictKind::inputs);
  two.layers[2].role.clear();
  two.layers[2].golden = "attention_mask";
  CHECK(judged(two) == VerdictKind::inputs);
  two.layers[2].golden = "/attn/mask/Add_output_0";
  CHECK(judged(two) == VerdictKind::dump_wrong);
  two.layers[2].golden = "l2";
  CHECK(judged(two) == VerdictKind::dump_wrong);
  two.golden_only = {"input_ids"};
  CHECK(judged(two) == VerdictKind::inputs);
  // Little, or a scale, which noise and normalisations take out.
  two.golden_only.clear();
  two.layers[0].figures->relative_error = 0.01;
  CHECK(judged(two) == VerdictKind::inputs);
  two.layers[0].figures->relative_error = 0.1;
  CHECK(judged(two) == VerdictKind::dump_wrong);
  two.layers[0].figures->gain_share = 0.9;
  CHECK(judged(two) == VerdictKind::inputs);
  // However late its error turns up.
  LayerReport late = chain(with(with(std::vector<double>(40, 5e-4), 0, 1, 0.8), 35, 40, 0.1));
  late.layers[0].role = "input";
  CHECK(judged(late) == VerdictKind::inputs);
}

TEST_CASE("layers: NaN in a dump alone, where what is computed from it could not but have them") {
  const auto dumped = [](auto make, const std::string& op) {
    LayerReport report = make(kHealthy);
    report.layers[4].figures->nan.actual = 3;
    report.layers[4].figures->pairs -= 3;
    report.layers[5].op = op;
    return report;
  };
  for (const char* const op : {"MatMul", "Add", "LayerNormalization"}) {
    LayerReport report = dumped(graph, op);
    CHECK(judged(report) == VerdictKind::dump_wrong);
    CHECK(report.verdict.layer == 4U);
    CHECK(report.layers[5].input_error == Approx(5e-4));
    CHECK(report.verdict.words.find("3 NaN of 1024 elements") != std::string::npos);
  }
  // What may hide them, or stands behind what may.
  for (const char* const op : {"Relu", "MaxPool", "Clip", "Sigmoid", "Gather", ""}) {
    CAPTURE(op);
    LayerReport report = dumped(graph, op);
    CHECK(judged(report) == VerdictKind::broke);
    CHECK(report.verdict.layer == 4U);
  }
  LayerReport report = dumped(graph, "MatMul");
  report.layers[5].unseen = {"relu"};
  CHECK(judged(report) == VerdictKind::broke);
  // A second reader that has them, that is off, or of which nothing is known.
  report = dumped(graph, "MatMul");
  report.layers[7].inputs.push_back(4);
  CHECK(judged(report) == VerdictKind::dump_wrong);
  report.layers[7].figures->relative_error = 0.1;
  CHECK(judged(report) == VerdictKind::broke);
  report.layers[7].figures->relative_error = 5e-4;
  report.layers[7].figures->nan.actual = 1;
  CHECK(judged(report) == VerdictKind::broke);
  report.layers[7].figures.reset();
  CHECK(judged(report) == VerdictKind::broke);
  // Codes have no NaN.
  report = dumped(graph, "MatMul");
  CHECK(judged(report, {.compute = btf::DType::int8}) == VerdictKind::broke);
  CHECK(judged(report, {.compute = btf::DType::float8_e4m3fn}) == VerdictKind::broke);
  // A convolution with strides leaves numbers out.
  report = dumped(graph, "Conv");
  for (const std::size_t i : {4U, 5U}) report.layers[i].actual_dims = {1, 4, 16, 16};
  CHECK(judged(report) == VerdictKind::dump_wrong);
  report.layers[5].actual_dims = {1, 16, 8, 8};
  CHECK(judged(report) == VerdictKind::broke);
  // By order alone nothing tells what is computed from it, and that is said.
  report = dumped(chain, "");
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.words.find("the next layer has none") != std::string::npos);
  // What comes behind is judged all the same.
  for (std::size_t i = 5; i < 12; ++i) CHECK(report.layers[i].state == LayerState::healthy);
  for (std::size_t i = 9; i < 12; ++i) report.layers[i].figures->relative_error = 0.2;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.roots == std::vector<std::uint64_t>{4, 9});
  // Inputs of the network.
  report = dumped(graph, "");
  report.layers[0].role = "input";
  report.layers[0].figures->nan.actual = 1;
  report.layers[1].op = "MatMul";
  report.layers[4] = layer("l4", 5e-4);
  report.layers[4].inputs = {3};
  CHECK(judged(report) == VerdictKind::dump_wrong);
  CHECK(report.verdict.layer == 0U);
}

TEST_CASE("layers: files of small tensors have the dtype that they have") {
  LayerReport report = chain(kHealthy);
  for (Layer& one : report.layers) one.figures->elements = one.figures->pairs = 32;
  CHECK(judged(report) == VerdictKind::clean);
  CHECK(report.noise_source == "float16");
  CHECK(report.unit_roundoff == std::ldexp(1.0, -11));
}

TEST_CASE("layers: a grid that a float has of itself is none of codes") {
  const auto noted = [](double peak, double step, double before) {
    LayerReport report = chain(with(kHealthy, 5, 12, 0.2));
    report.layers[5].figures->actual.peak = peak;
    report.layers[5].figures->actual.step = step;
    report.layers[4].figures->actual.peak = before;
    judged(report);
    return !report.sanity.empty() && report.sanity.back().code == "quantised";
  };
  // float16 has steps of 1/8 from 128 on; differences of such numbers have them too.
  CHECK_FALSE(noted(220, 0.125, 4));
  CHECK_FALSE(noted(220, 0.17, 4));
  CHECK_FALSE(noted(8, 0.125, 220));
  CHECK(noted(220, 220 / 127.0, 4));
  CHECK(noted(8, 0.125, 4));
}

TEST_CASE("layers: two faults are two roots, the first first") {
  LayerReport report = graph(with(with(kHealthy, 3, 12, 0.02), 8, 12, 0.5));
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.roots == std::vector<std::uint64_t>{3, 8});
}

TEST_CASE("layers: a sum has the errors of what is added, and a difference may cancel") {
  LayerReport report = graph(kHealthy);
  Layer& sub = report.layers[6];
  sub.op = "Sub";
  sub.inputs = {4, 5};
  // The errors of both, over a hundredth of the norm.
  sub.figures->golden.norm = 0.32;
  sub.figures->relative_error = sub.figures->slice_error = 0.09;
  sub.figures->error = 0.09 * 0.32;
  for (std::size_t i = 7; i < 12; ++i) report.layers[i].figures->relative_error = 0.09;
  CHECK(judged(report) == VerdictKind::clean);
  sub.op = "Relu";
  CHECK(judged(report) == VerdictKind::broke);
}

TEST_CASE("layers: a baseline says what is usual; isolated layers have golden's inputs") {
  LayerReport report = chain(with(kHealthy, 5, 12, 0.1));
  for (Layer& one : report.layers) one.baseline = one.figures->relative_error / 1.2;
  CHECK(judged(report) == VerdictKind::clean);
  report.layers[7].baseline = 0.05;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 7U);
  CHECK(report.noise_source == "the baseline");
  LayerReport unmeasured = chain({});
  unmeasured.layers.emplace_back();
  judged(unmeasured);
  CHECK(unmeasured.noise_source != "the baseline");
  // A fault is one, and not all that follows from it.
  report = chain(with(kHealthy, 5, 12, 0.1));
  for (Layer& one : report.layers) one.baseline = 5e-4;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.roots == std::vector<std::uint64_t>{5});
  for (Layer& one : report.layers) one.baseline.reset();
  CHECK(judged(report, {.isolated = true}) == VerdictKind::broke);
  CHECK(report.roots.size() == 7);
  CHECK(report.layers[6].input_error == 0);
}

TEST_CASE("layers: the dtype that is said, or that the first products show") {
  std::vector<double> errors(20, 3e-4);
  LayerReport report = chain(errors);
  for (Layer& one : report.layers) {
    one.actual_dtype = btf::DType::float32;
    one.figures->actual.bits = 24;
  }
  CHECK(judged(report) == VerdictKind::clean);
  CHECK(report.noise_source.find("estimated") != std::string::npos);
  CHECK(judged(report, {.compute = btf::DType::float32}) == VerdictKind::broke);
  CHECK(judged(report, {.compute = btf::DType::float16}) == VerdictKind::clean);
  CHECK(report.noise_source.find("float16") != std::string::npos);
}

TEST_CASE("layers: a few numbers, or one again and again, show no dtype by their bits") {
  LayerReport report = chain(std::vector<double>(20, 0));
  for (Layer& one : report.layers) {
    one.actual_dtype = btf::DType::float32;
    one.figures->actual.bits = one.figures->golden.bits = 2;
    one.figures->pairs = one.figures->elements = 20;
  }
  CHECK(judged(report) == VerdictKind::clean);
  CHECK(report.noise_source == "float32");
  for (Layer& one : report.layers) {
    one.figures->pairs = one.figures->elements = 1024;
    one.figures->actual.norm = 32 * one.figures->actual.peak;
  }
  CHECK(judged(report) == VerdictKind::clean);
  CHECK(report.noise_source == "float32");
}

TEST_CASE("layers: integers are judged where inputs are exact") {
  LayerReport report = chain(kHealthy);
  Layer& top = report.layers[11];
  top.actual_dtype = top.golden_dtype = btf::DType::int64;
  top.figures->equal = 1000;
  CHECK(judged(report) == VerdictKind::clean);
  CHECK(top.state == LayerState::unjudged);
  for (std::size_t i = 0; i < 11; ++i) {
    report.layers[i].figures->relative_error = report.layers[i].figures->slice_error =
        report.layers[i].figures->error = 0;
    report.layers[i].figures->equal = 1024;
  }
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.verdict.layer == 11U);
}

TEST_CASE("layers: names alone are no order that errors may contradict") {
  std::vector<double> errors = kHealthy;
  for (const std::size_t i : {1U, 2U, 3U, 4U, 6U, 8U, 10U}) errors[i] = 0.3;
  LayerReport report = chain(errors);
  report.order = btf::OrderSource::natural;
  CHECK(judged(report) == VerdictKind::cannot_tell);
  CHECK(report.order_doubtful);
  report.order = btf::OrderSource::stored;
  CHECK(judged(report) == VerdictKind::broke);
  CHECK(report.order_doubtful);
}

TEST_CASE("layers: an output that is far off without anything that broke has drifted") {
  std::vector<double> errors;
  for (int i = 0; i < 12; ++i) errors.push_back(5e-4 * std::pow(1.9, i));
  LayerReport report = graph(errors);
  CHECK(judged(report) == VerdictKind::drift);
  CHECK(report.verdict.layer == 11U);
  CHECK(judged(report, {.most_error = 0.9}) == VerdictKind::clean);
}

TEST_CASE("layers: a buffer that was used again is a wrong dump") {
  LayerReport report = chain(with(kHealthy, 4, 5, 1.2));
  report.layers[4].figures->actual = report.layers[6].figures->actual;
  CHECK(judged(report) == VerdictKind::dump_wrong);
  CHECK(report.verdict.layer == 4U);
  REQUIRE_FALSE(report.sanity.empty());
  CHECK(report.sanity[0].code == "reused-buffer");
  CHECK(report.sanity[0].layers == std::vector<std::uint64_t>{4, 6});
}

TEST_CASE("layers: a number of a grid may fall to the next step, not further") {
  LayerReport report = chain(with(kHealthy, 5, 12, 0.05));
  for (std::size_t i = 5; i < 12; ++i) {
    report.layers[i].figures->golden.step = 0.1;
    report.layers[i].figures->max_error = 0.1;
  }
  CHECK(judged(report) == VerdictKind::clean);
  report.layers[5].figures->max_error = 0.3;
  CHECK(judged(report) == VerdictKind::broke);
}

TEST_CASE("layers: judging twice says the same") {
  for (const auto make : {chain, graph}) {
    LayerReport report = make(with(with(kHealthy, 3, 4, 1.2), 8, 12, 0.3));
    btf::judge_layers(report, {});
    const std::string words = report.verdict.words;
    const auto roots = report.roots;
    btf::judge_layers(report, {});
    CHECK(report.verdict.words == words);
    CHECK(report.roots == roots);
  }
}

TEST_CASE("layers: nothing in a report brings the judge down") {
  LayerReport report = chain(kHealthy);
  const double inf = std::numeric_limits<double>::infinity();
  report.layers[1].figures.reset();
  report.layers[2].figures->relative_error = inf;
  report.layers[3].figures->golden.norm = 0;
  report.layers[4].figures->pairs = 0;
  report.layers[5].fault = btf::LayerFault::shape;
  report.layers[6].actual_dtype.reset();
  report.layers[7].figures->golden.norm = inf;
  report.layers[8].figures->golden.sum = inf;
  report.layers[9].baseline = 0;
  report.layers[10].placed = false;
  for (const bool isolated : {false, true}) {
    btf::judge_layers(report, {.isolated = isolated});
    CHECK_FALSE(report.verdict.words.empty());
  }
  LayerReport none;
  btf::judge_layers(none, {});
  CHECK(none.verdict.kind == VerdictKind::cannot_tell);
}

TEST_CASE("layers: of many dumps with one another's numbers each is told of, with whose they are") {
  constexpr std::uint64_t kLayers = 4000;
  LayerReport report = chain(std::vector<double>(kLayers, 0.7));
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> part(-1, 1);
  const auto vary = [&](btf::LayerSide& side) {
    side.norm = 32 * (1 + 0.05 * part(random));
    side.peak = 4 + part(random);
    for (double& sample : side.samples) sample = part(random);
  };
  for (Layer& one : report.layers) vary(one.figures->golden);
  // Every third holds numbers of its own.
  const auto whose = [](std::uint64_t i) { return (i + 1234) % kLayers; };
  for (std::uint64_t i = 0; i < kLayers; ++i) {
    btf::LayerSide& actual = report.layers[i].figures->actual;
    if (i % 3 == 0)
      vary(actual);
    else
      actual = report.layers[whose(i)].figures->golden;
    actual.fingerprint = i;
    actual.norm *= 1.001;  // rounding
    for (double& sample : actual.samples) sample *= 0.999;
  }
  btf::judge_layers(report, {});
  std::vector<bool> told(kLayers, false);
  std::uint64_t by_chance = 0;
  for (const btf::SanityFinding& finding : report.sanity) {
    if (finding.code != "shifted") continue;
    const std::uint64_t i = finding.layers.at(0);
    told[i] = true;
    if (i % 3 == 0)
      ++by_chance;
    else
      CHECK(finding.message.contains("'l" + std::to_string(whose(i)) + "'"));
  }
  CHECK(by_chance == 0);
  for (std::uint64_t i = 0; i < kLayers; ++i) CHECK((i % 3 == 0 || told[i]));
}

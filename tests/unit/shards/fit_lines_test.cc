// Lines of parts of `fit`: what is written is read to the last bit, and no line is trusted.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "btf/part.h"
#include "fit/items.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// No two numbers are the same, and few have a short decimal form.
btf::FitMeasures some_measures() {
  btf::ValueNoise value{.measure = {.elements = 18'446'744'073'709'551'615U,
                                    .nan = 2,
                                    .infinite = 3,
                                    .largest = 1.0 / 3,
                                    .smallest = 5e-324,
                                    .squares = 0x1.fffffffffffffp+1023,
                                    .error_squares = 2.0 / 7,
                                    .above = 4,
                                    .beyond = 5,
                                    .lost = 6},
                        .known = true,
                        .floating = true};
  value.noise = value.measure.noise();
  const btf::InputEffect effect{.input = 1,
                                .noise = 1.0 / 9,
                                .error = std::nan(""),
                                .nonfinite = 7,
                                .nan = 8,
                                .infinite_from = 1.0 / 11,
                                .zeroed = 9,
                                .rms = 1.0 / 13,
                                .gain = kInf,
                                .carried = -1.0 / 17,
                                .passes_on = true};
  btf::NodeMeasure plain{.trouble = {}, .inputs = {effect}, .with_infinite = {}};
  plain.averages = true;
  plain.terms = 1.0 / 19;
  plain.rms = 1.0 / 23;
  plain.inside = 1.0 / 29;
  plain.variance_error = 1.0 / 31;
  plain.work = 37;
  btf::NodeMeasure typical{.trouble = "\xff is no text", .inputs = {}, .with_infinite = {}};
  btf::FitScaledTensor scaled{.name = {},
                              .elements = 10,
                              .nan = 11,
                              .infinite = 12,
                              .zeros = 13,
                              .largest = 1.0 / 37,
                              .rms = 1.0 / 41,
                              .state = btf::FitScaling::poor,
                              .scales = {{.method = btf::FitScaleMethod::maximum,
                                          .scale = 1.0 / 43,
                                          .snr = -kInf,
                                          .clipped = 14,
                                          .lost = 15},
                                         {.method = btf::FitScaleMethod::least_squares,
                                          .scale = 1.0 / 47,
                                          .snr = kInf,
                                          .clipped = 16,
                                          .lost = 17}},
                              .best = 1};
  scaled.channels = {.axis = 3,
                     .count = 18,
                     .snr = 1.0 / 53,
                     .gain = 1.0 / 59,
                     .outlier = btf::FitOutlier{19, 1.0 / 61, 1.0 / 67, 1.0 / 71}};
  btf::FitMeasures measures;
  measures.runs.push_back(
      {.types = {{.values = {value, {}}, .node = btf::NodeVariants{plain, typical}},
                 {.values = {}, .trouble = "cannot read"}},
       .gains = {{1.0 / 73, std::nullopt}, {}}});
  measures.runs.push_back({.types = {}});
  measures.scales = {{.types = {scaled}}, {.types = {}, .trouble = "no numbers"}};
  return measures;
}

btf::FitPartItem some_item() {
  return {.number = 5,
          .name = "conv",
          .measured = {.measures = std::make_shared<btf::FitMeasures>(some_measures()),
                       .files = {{"a.npy", std::nullopt}}}};
}

}  // namespace

TEST_CASE("a line of fit has what was measured, to the last bit", "[shards]") {
  const btf::PartLine line = part_line(some_item());
  CHECK(line.result == "measured");
  const auto read = btf::read_fit_item(line.found);
  REQUIRE(read);
  CHECK(read->number == 5);
  CHECK(read->name == "conv");
  const btf::FitMeasures& measures = *read->measured.measures;
  REQUIRE(measures.runs.size() == 2);
  REQUIRE(measures.runs[0].types.size() == 2);
  const btf::FitMeasures::TypeMeasures& type = measures.runs[0].types[0];
  REQUIRE(type.values.size() == 2);
  CHECK(!type.values[1].known);
  const btf::ValueNoise& value = type.values[0];
  CHECK(value.known);
  CHECK(value.floating);
  CHECK(value.measure.elements == 18'446'744'073'709'551'615U);
  CHECK(value.measure.nan == 2);
  CHECK(value.measure.infinite == 3);
  CHECK(value.measure.largest == 1.0 / 3);
  CHECK(value.measure.smallest == 5e-324);
  CHECK(value.measure.squares == 0x1.fffffffffffffp+1023);
  CHECK(value.measure.error_squares == 2.0 / 7);
  CHECK(value.measure.above == 4);
  CHECK(value.measure.beyond == 5);
  CHECK(value.measure.lost == 6);
  CHECK(value.noise == value.measure.noise());
  REQUIRE(type.node);
  const btf::NodeMeasure& plain = type.node->plain;
  CHECK(plain.trouble.empty());
  CHECK(plain.averages);
  CHECK(plain.terms == 1.0 / 19);
  CHECK(plain.rms == 1.0 / 23);
  CHECK(plain.inside == 1.0 / 29);
  CHECK(plain.variance_error == 1.0 / 31);
  CHECK(plain.work == 37);
  REQUIRE(plain.inputs.size() == 1);
  const btf::InputEffect& effect = plain.inputs[0];
  CHECK(effect.input == 1);
  CHECK(effect.noise == 1.0 / 9);
  CHECK(std::isnan(effect.error));
  CHECK(effect.nonfinite == 7);
  CHECK(effect.nan == 8);
  CHECK(effect.infinite_from == 1.0 / 11);
  CHECK(effect.zeroed == 9);
  CHECK(effect.rms == 1.0 / 13);
  CHECK(effect.gain == kInf);
  CHECK(effect.carried == -1.0 / 17);
  CHECK(effect.passes_on);
  REQUIRE(type.node->typical);
  CHECK(type.node->typical->trouble == "\xff is no text");
  CHECK(measures.runs[0].types[1].trouble == "cannot read");
  CHECK(measures.runs[0].gains == some_measures().runs[0].gains);
}

TEST_CASE("a line of fit has the scales of a tensor", "[shards]") {
  const auto read = btf::read_fit_item(part_line(some_item()).found);
  REQUIRE(read);
  const auto& scales = read->measured.measures->scales;
  REQUIRE(scales.size() == 2);
  CHECK(scales[1].trouble == "no numbers");
  REQUIRE(scales[0].types.size() == 1);
  const btf::FitScaledTensor& tensor = scales[0].types[0];
  CHECK(tensor.elements == 10);
  CHECK(tensor.nan == 11);
  CHECK(tensor.infinite == 12);
  CHECK(tensor.zeros == 13);
  CHECK(tensor.largest == 1.0 / 37);
  CHECK(tensor.rms == 1.0 / 41);
  CHECK(tensor.state == btf::FitScaling::poor);
  CHECK(tensor.best == 1);
  REQUIRE(tensor.scales.size() == 2);
  CHECK(tensor.scales[0].method == btf::FitScaleMethod::maximum);
  CHECK(tensor.scales[0].snr == -kInf);
  CHECK(tensor.scales[1].method == btf::FitScaleMethod::least_squares);
  CHECK(tensor.scales[1].scale == 1.0 / 47);
  CHECK(tensor.scales[1].snr == kInf);
  CHECK(tensor.scales[1].clipped == 16);
  CHECK(tensor.scales[1].lost == 17);
  REQUIRE(tensor.channels);
  CHECK(tensor.channels->axis == 3);
  CHECK(tensor.channels->count == 18);
  CHECK(tensor.channels->snr == 1.0 / 53);
  CHECK(tensor.channels->gain == 1.0 / 59);
  REQUIRE(tensor.channels->outlier);
  CHECK(tensor.channels->outlier->channel == 19);
  CHECK(tensor.channels->outlier->largest == 1.0 / 61);
  CHECK(tensor.channels->outlier->median == 1.0 / 67);
  CHECK(tensor.channels->outlier->snr == 1.0 / 71);
}

TEST_CASE("a line of fit that contradicts itself is refused", "[shards]") {
  const std::string line = part_line(some_item()).found;
  const auto refused = [&](const std::string& from, const std::string& to) {
    const auto read = btf::read_fit_item(replaced(line, from, to));
    REQUIRE(!read);
    return read.error().message;
  };
  CHECK(refused("\"18446744073709551615\"", "4").contains("more than all elements"));
  CHECK(refused("\"nan\":2", "\"nan\":-2").contains("runs[0].types[0].tensors[0].nan"));
  CHECK(refused("\"largest\":0.3", "\"largest\":-0.3").contains("tensors[0].largest"));
  CHECK(refused("\"best\":\"squares\"", "\"best\":null").contains("none of the scales"));
  CHECK(refused("\"best\":\"squares\"", "\"best\":\"p99.9\"").contains("none of the scales"));
  CHECK(refused("\"best\":\"squares\"", "\"best\":\"median\"").contains("none of the scales"));
  CHECK(refused("\"state\":\"poor\"", "\"state\":\"rich\"").contains("scales[0].types[0].state"));
  CHECK(refused("\"axis\":3", "\"axis\":4294967296").contains("channels.axis"));
  CHECK(refused("\"runs\":[", "\"ruins\":[").contains("runs"));
  CHECK(refused("\"passes_on\":true", "\"passes_on\":1").contains("inputs[0].passes_on"));
}

// Chains and graphs of layers with errors that are given.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "btf/layers.h"

namespace layered {

// float16 against float32: 4u is 0.2 %.
inline btf::Layer layer(const std::string& name, double e) {
  btf::Layer layer;
  layer.actual = layer.golden = name;
  layer.actual_dtype = btf::DType::float16;
  layer.golden_dtype = btf::DType::float32;
  layer.actual_dims = layer.golden_dims = {32, 32};
  btf::LayerFigures f;
  f.elements = f.pairs = 1024;
  f.relative_error = f.slice_error = e;
  f.gain_share = f.offset_share = 0.05;
  f.golden = {.norm = 32,
              .sum = 0,
              .peak = 4,
              .bits = 24,
              .step = 0,
              .fingerprint = std::hash<std::string>()(name),
              .samples = {}};
  f.golden.samples[0] = static_cast<double>(f.golden.fingerprint % 1000);
  f.actual = f.golden;
  f.actual.bits = 11;
  f.actual.fingerprint += 1;
  f.error = e * f.golden.norm;
  layer.figures = f;
  return layer;
}

inline btf::LayerReport chain(const std::vector<double>& errors) {
  btf::LayerReport report;
  report.order = btf::OrderSource::stored;
  for (const double e : errors)
    report.layers.push_back(layer("l" + std::to_string(report.layers.size()), e));
  report.paired = report.layers.size();
  return report;
}

inline btf::LayerReport graph(const std::vector<double>& errors) {
  btf::LayerReport report = chain(errors);
  report.order = btf::OrderSource::graph;
  for (std::uint64_t i = 1; i < errors.size(); ++i) report.layers[i].inputs = {i - 1};
  return report;
}

inline btf::VerdictKind judged(btf::LayerReport& report, const btf::LayerLimits& options = {}) {
  btf::judge_layers(report, options);
  return report.verdict.kind;
}

inline const std::vector<double> kHealthy(12, 5e-4);

inline std::vector<double> with(std::vector<double> errors, std::size_t from, std::size_t to,
                                double e) {
  for (std::size_t i = from; i < to; ++i) errors[i] = e;
  return errors;
}

}  // namespace layered

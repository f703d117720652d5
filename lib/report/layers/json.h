// Writes and reads the JSON report of layers, "btftool/layers/1".
#pragma once

#include <optional>
#include <string_view>

#include "btf/layers.h"
#include "btf/report.h"
#include "report/text/fields.h"

namespace btf::report {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

// Returns an item of "pairs".
Json layer_json(const LayerRun& run, const Layer& layer);

template <>
struct Fields<LayerSide> {
  static void visit(auto& fields, auto& side) {
    fields.amount("norm", side.norm);
    fields("sum", side.sum);
    fields.amount("peak", side.peak);
    fields("bits", side.bits);
    fields.amount("step", side.step);
    fields.added_amount("scale", side.scale);
    fields("fingerprint", side.fingerprint);
    fields("samples", side.samples);
  }
  static void check(const JsonNode& node, const LayerSide& side) {
    if (side.bits > 64) node["bits"].fail("is more than any dtype has");
  }
};

template <>
struct Fields<LayerFigures> {
  static void visit(auto& fields, auto& figures) {
    fields("elements", figures.elements);
    fields("numbers", figures.pairs);
    fields("equal", figures.equal);
    fields.amount("e", figures.relative_error);
    fields.amount("w", figures.slice_error);
    fields.amount("rho", figures.gain_share);
    fields.amount("mu", figures.offset_share);
    fields("gain", figures.gain);
    fields.amount("error", figures.error);
    fields.amount("max_error", figures.max_error);
    fields("scale_fitted", figures.scale_fitted);
    fields("nan", figures.nan);
    fields("inf", figures.inf);
    fields("at_limit", figures.at_limit);
    fields("masked", figures.masked);
    fields.object("sides", [&](auto& sides) {
      sides("actual", figures.actual);
      sides("golden", figures.golden);
    });
  }
  static void check(const JsonNode& node, const LayerFigures& figures) {
    if (figures.pairs > figures.elements || figures.equal > figures.pairs)
      node["numbers"].fail("contradicts elements and equal");
  }
};

// The figures are members of the pair itself, which are null if there are none.
void visit_figures(auto& fields, auto& figures) {
  if constexpr (kReads<decltype(fields)>) {
    if (!fields.node()["elements"].null()) read(fields.node(), figures.emplace());
  } else {
    Json members = json_of(figures.value_or(LayerFigures()));
    if (!figures)
      for (auto& [name, value] : members.items()) value = Json();
    fields.members(std::move(members));
  }
}

}  // namespace btf::report

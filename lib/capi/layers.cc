#include "capi/layers.h"

#include <map>
#include <string>
#include <vector>

#include "btf/layers.h"
#include "btf/report.h"
#include "btf/try.h"
#include "capi/support.h"
#include "core/errors.h"
#include "report/layers/story.h"

struct btf_layers {
  btf::LayerRun run;
  bool well = false;
  std::map<std::uint64_t, std::vector<btf_hint>> hints;  // of each layer passed to btf_layer()
  std::string text;                                      // of the last report
  btf::capi::ErrorText error;
};

namespace btf::capi {
namespace {

// Zero leaves the default.
Status take_number(const char* what, double number, double least, double& target) {
  if (number == 0) return {};
  if (!(number >= least))
    return wrong(std::string(what) + " is " + number_text(number) + ", but must be at least " +
                 number_text(least));
  target = number;
  return {};
}

Result<LayerOptions> layer_options(const btf_layers_options* from) {
  BTF_ASSIGN(const btf_layers_options options, copy_in(from));
  LayerOptions layers;
  BTF_ASSIGN(layers.map, name_map_of(options.map));
  if (options.order != nullptr) layers.order = options.order;
  if (options.graph != nullptr) layers.graph = options.graph;
  LayerLimits& judge = layers.judge;
  BTF_ASSIGN(judge.compute, dtype_named(options.compute));
  BTF_TRY(take_number("growth", options.growth, 1, judge.growth));
  BTF_TRY(take_number("limit", options.limit, 1, judge.limit));
  double most = kMaxError;
  BTF_TRY(take_number("max_error", options.max_error, 0, most));
  if (options.max_error != 0) judge.most_error = most;
  judge.isolated = options.isolated != 0;
  judge.require_all = options.require_all != 0;
  layers.hints = options.no_hints == 0;
  layers.dequantize = options.dequantize != 0;
  BTF_ASSIGN(layers.actual_scale, scale_of(options.actual_scale));
  BTF_ASSIGN(layers.golden_scale, scale_of(options.golden_scale));
  layers.execution.jobs = options.jobs;
  return layers;
}

btf_layer_info info_of(const Layer& layer, const std::vector<btf_hint>& hints) {
  btf_layer_info info{};
  info.actual_name = layer.actual.c_str();
  info.golden_name = layer.golden.c_str();
  info.op = layer.op.c_str();
  info.state = name_in(layer_state_names(), layer.state);
  info.fault = name_in(layer_fault_names(), layer.fault);
  info.note = layer.trouble.empty() ? layer.note.c_str() : layer.trouble.c_str();
  const bool measured = layer.figures.has_value();
  const LayerFigures figures = layer.figures.value_or(LayerFigures{});
  const auto number = [&](double value) { return measured ? value : kNaN; };
  info.pairs = figures.pairs;
  info.equal = figures.equal;
  info.nonfinite = figures.one_sided();
  info.error = number(figures.relative_error);
  info.slice_error = number(figures.slice_error);
  info.max_error = number(figures.max_error);
  info.gain_share = number(figures.gain_share);
  info.offset_share = number(figures.offset_share);
  info.gain = number(figures.gain);
  info.input_error = number(layer.input_error);
  info.noise = number(layer.noise);
  info.error_to_noise = number(layer.error_to_noise);
  info.slice_error_to_noise = number(layer.slice_error_to_noise);
  info.hints = hints.data();
  info.hint_count = hints.size();
  return info;
}

Result<std::string> text_of(const LayerRun& run, ReportFormat format, const TextOptions& options) {
  switch (format) {
    case ReportFormat::text:
      return text(run, options);
    case ReportFormat::json:
      return json(run);
    case ReportFormat::junit:
      return junit(run);
    case ReportFormat::html:
      return html(run);
    case ReportFormat::summary:
      break;
  }
  return wrong("there is no summary of layers");
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_layers* btf_layers_compare(btf_set* actual, btf_set* golden, btf_set* baseline,
                               btf_set* expected, const btf_layers_options* options) {
  btf_layers* made = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    if (actual == nullptr || golden == nullptr)
      return null_argument(actual == nullptr ? "actual" : "golden");
    BTF_ASSIGN(const btf::LayerOptions layers, layer_options(options));
    BTF_ASSIGN(btf::LayerReport report,
               btf::compare_layers(actual->set, golden->set,
                                   baseline == nullptr ? nullptr : &baseline->set,
                                   expected == nullptr ? nullptr : &expected->set, layers));
    const bool well = btf::all_well(report, layers.judge);
    btf::LayerRun run{.actual = actual->set.path(),
                      .golden = golden->set.path(),
                      .judge = layers.judge,
                      .searched = layers.hints,
                      .scales = btf::report::scale_words(layers),
                      .others = paths_of_others(actual->set, golden->set),
                      .report = std::move(report)};
    made =
        new btf_layers{.run = std::move(run), .well = well, .hints = {}, .text = {}, .error = {}};
    return {};
  });
  return made;
}

void btf_layers_free(btf_layers* layers) { delete layers; }

const char* btf_layers_error(const btf_layers* layers) {
  return layers == nullptr ? "" : layers->error.c_str();
}

btf_status btf_layers_result(btf_layers* layers, btf_layers_verdict* verdict) {
  return with_handle(layers, [&]() -> btf::Status {
    if (verdict == nullptr) return null_argument("verdict");
    const btf::LayerReport& report = layers->run.report;
    return copy_out(verdict, {.size = 0,
                              .well = layers->well ? 1 : 0,
                              .kind = name_in(btf::verdict_kind_names(), report.verdict.kind),
                              .words = report.verdict.words.c_str(),
                              .layer = report.verdict.layer.value_or(BTF_NONE),
                              .order = name_in(btf::order_source_names(), report.order),
                              .layers = report.layers.size(),
                              .paired = report.paired});
  });
}

btf_status btf_layer(btf_layers* layers, uint64_t index, btf_layer_info* info) {
  return with_handle(layers, [&]() -> btf::Status {
    if (info == nullptr) return null_argument("info");
    const std::uint64_t count = layers->run.report.layers.size();
    if (index >= count)
      return wrong(btf::concat("there is no layer ", index, ", the report has ", count));
    const btf::Layer& layer = layers->run.report.layers[index];
    std::vector<btf_hint>& hints = layers->hints[index];
    if (hints.empty())
      for (const btf::Hint& hint : layer.hints)
        hints.push_back({btf::cause_name(hint.cause).data(), hint.evidence.c_str()});
    return copy_out(info, info_of(layer, hints));
  });
}

const char* btf_layers_text(btf_layers* layers, const char* format,
                            const btf_text_options* options) {
  const btf_status status = with_handle(layers, [&]() -> btf::Status {
    BTF_ASSIGN(const btf::ReportFormat as, report_format_named(format));
    BTF_ASSIGN(const btf::TextOptions text, text_options_of(options));
    BTF_ASSIGN(layers->text, text_of(layers->run, as, text));
    return {};
  });
  return status == BTF_OK ? layers->text.c_str() : nullptr;
}
}

// Any text as a report of `btftool diff --json` or `btftool layers --json`, or as a line of a part:
// what is read can be written and read again, and judged by other limits. The input is the text.
#include <array>

#include "btf/part.h"
#include "btf/report.h"
#include "input.h"
#include "report/diff/reports.h"
#include "shards/part_lines.h"

namespace fuzz {
namespace {

std::string report_of(const btf::TensorDiff& diff) {
  btf::report::Json tensor = btf::report::json_tensor_diff(diff, btf::JsonSchema::sets);
  tensor["member"] = 0;
  return btf::report::dump({{"schema", btf::report::schema_name(btf::JsonSchema::sets)},
                            {"actual", "a"},
                            {"golden", "b"},
                            {"members",
                             {{{"name", "a"},
                               {"actual", "a"},
                               {"golden", "b"},
                               {"result", "same"},
                               {"error", nullptr}}}},
                            {"tensors", {std::move(tensor)}}});
}

void check(const btf::TensorDiff& diff) {
  const std::string written = report_of(diff);
  const auto again = btf::read_diff_report(written);
  if (!again) broken("a report that was written cannot be read: " + again.error().message);
  require(again->pairs.size() == 1 && again->pairs.front().tensors.size() == 1,
          "a report of one tensor has others");
  require(report_of(again->pairs.front().tensors.front()) == written,
          "a report that is written and read again is another");
  static const std::array<btf::Tolerance, 4> kTolerances{{
      {},
      {.rtol = 1e-3, .atol = 1e-5},
      {.ulp = 2},
      {.close = true, .equal_nan = false},
  }};
  static const std::array<btf::Gates, 3> kGates{{
      {},
      {.max_mismatch = {{1, true}}, .cosine = 0.99, .snr = 20},
      {.psnr = 30,
       .rmse = 0.1,
       .mae = 0.1,
       .bias = 0.1,
       .max_abs = 1,
       .quantiles = {{0.5, 0.1}},
       .top_k = 2},
  }};
  for (const btf::Tolerance& tolerance : kTolerances)
    for (const btf::Gates& gates : kGates) {
      btf::TensorDiff judged = diff;
      const auto status = btf::rejudge(judged, tolerance, gates);
      require(status || !status.error().message.empty(), "an error says nothing");
    }
}

void check_layers(btf::LayerRun run) {
  static const std::array<btf::LayerLimits, 3> kLimits{{
      {},
      {.compute = btf::DType::int8, .growth = 3, .limit = 4, .most_error = 0.01},
      {.isolated = true, .require_all = true},
  }};
  for (const btf::LayerLimits& limits : kLimits) {
    run.judge = limits;
    btf::judge_layers(run.report, limits);
    require(!run.report.verdict.words.empty(), "a verdict says nothing");
    const std::string written = btf::json(run);
    const auto again = btf::read_layer_report(written);
    if (!again) broken("a report that was written cannot be read: " + again.error().message);
    require(again->report.layers.size() == run.report.layers.size(), "pairs were lost");
  }
}

// A line of a part.
bool check_part(const std::string& text) {
  namespace shards = btf::shards;
  if (const auto head = shards::read_head(text)) {
    const std::string written = shards::head_line(*head);
    const auto again = shards::read_head(written);
    require(again && shards::head_line(*again) == written, "a head is read as another one");
    require(!shards::shard_command(*head, 1, text).empty(), "there is no command");
    return true;
  }
  if (const auto item = shards::read_item(text)) {
    const std::string written = btf::text(part_line(*item));
    const auto again = shards::read_item(written);
    require(again && btf::text(part_line(*again)) == written, "an item is read as another");
    const auto line = btf::read_part_line(written);
    require(line && btf::text(*line) == written, "an item is read as another line");
    require(shards::files_of(written).size() == line->files.size(), "an item has other files");
    require(!item->pair.files.number || shards::number_of(written), "an item has no number");
    return true;
  }
  if (const auto item = btf::read_fit_item(text)) {
    const std::string written = part_line(*item).found;
    const auto again = btf::read_fit_item(written);
    require(again && part_line(*again).found == written, "an item of fit is read as another");
    return true;
  }
  return shards::read_tail(text).has_value();
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text(fuzz::view(data, size)));
  if (fuzz::check_part(text)) return 0;
  if (auto layers = btf::read_layer_report(text)) {
    fuzz::check_layers(*std::move(layers));
    return 0;
  }
  const auto report = btf::read_diff_report(text);
  if (!report) {
    fuzz::require(!report.error().message.empty(), "an error says nothing");
    return 0;
  }
  for (const btf::SetDiffResult::Pair& pair : report->pairs)
    for (const btf::TensorDiff& diff : pair.tensors) fuzz::check(diff);
  return 0;
}

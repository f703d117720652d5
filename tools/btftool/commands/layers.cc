// btftool layers: compares the layers that two runs dumped.
#include "btf/layers.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/output.h"
#include "btf/part.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/text.h"
#include "parts/shard.h"

namespace btftool {
namespace {

class LayerPart final : public btf::LayerShare {
 public:
  LayerPart(const Context& context, const LayersCommand& command);

  btf::Status plan(std::span<const btf::PlannedLayer> layers) override;
  bool is_own(std::uint64_t number) const override { return own_.contains(number); }
  const btf::MeasuredLayer* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const btf::MeasuredLayer& layer) override;

  btf::Status finish() { return part_.finish(); }

 private:
  struct Own {
    std::string name;
    ReadFile actual;
    ReadFile golden;
  };

  const LayersCommand& command_;
  ShardPart part_;
  std::unordered_map<std::uint64_t, Own> own_;  // this shard's layers by number
};

// Files named by options, whose contents the result depends on.
std::vector<std::optional<std::string>> files_of(const LayersCommand& command) {
  return {command.map, command.order};
}

LayerPart::LayerPart(const Context& context, const LayersCommand& command)
    : command_(command),
      part_(context, *command.part,
            {.command = "layers", .operands = {command.actual, command.golden}}) {}

btf::Status LayerPart::plan(std::span<const btf::PlannedLayer> layers) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own,
             part_.pick(btf::plan_of(layers), "layer", files_of(command_)));
  for (const std::uint64_t number : own) {
    const btf::PlannedLayer& layer = layers[number];
    own_[number] = {layer.name, ReadFile::now(layer.actual_path), ReadFile::now(layer.golden_path)};
  }
  return {};
}

void LayerPart::take(std::uint64_t number, const btf::MeasuredLayer& layer) {
  const Own& own = own_.at(number);
  std::vector<ReadFile> read{own.actual, own.golden};
  for (const auto& [path, state] : layer.inputs) read.push_back({path, state});
  part_.add_measured(part_line(btf::LayerItem{.number = number,
                                              .name = own.name,
                                              .actual_path = own.actual.path,
                                              .golden_path = own.golden.path,
                                              .measured = layer}),
                     own.name, layer.trouble, read);
}

btf::Result<std::uint64_t> bytes_of(const btf::TensorSet& set) {
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < set.member_count(); ++i) {
    BTF_ASSIGN(const std::uint64_t own, set.bytes(i));
    bytes += own;
  }
  return bytes;
}

btf::Result<std::string> text_of(const std::string& path) {
  auto text = read_text(path);
  if (!text) return std::unexpected(text.error().in_file(path));
  return text;
}

btf::Result<std::optional<btf::TensorSet>> open_other(const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  BTF_ASSIGN(btf::TensorSet set, btf::TensorSet::open(*path));
  return std::optional(std::move(set));
}

// Reads the files of --map and --order.
btf::Status read_names(const Context& context, const LayersCommand& command,
                       btf::LayerOptions& options) {
  if (command.map) {
    BTF_ASSIGN(options.map, read_name_map(context, *command.map));
    options.map_path = *command.map;
  }
  if (command.order) {
    BTF_ASSIGN(options.order, text_of(*command.order));
    options.order_path = *command.order;
  }
  return {};
}

struct LayerInputs {
  btf::LayerOptions options;
  btf::TwoSets sets;
  std::optional<btf::TensorSet> baseline;
  std::optional<btf::TensorSet> expected;
  std::vector<std::string> others;
};

btf::Result<LayerInputs> open_inputs(const Context& context, const LayersCommand& command) {
  btf::LayerOptions options = command.layers;
  options.execution.cancel = &watch_interrupts();
  BTF_TRY(read_names(context, command, options));
  btf::SetDiffOptions sides{.actual = options.actual, .golden = options.golden};
  sides.each.execution = options.execution;
  BTF_ASSIGN(btf::TwoSets sets, btf::open_sets(command.actual, command.golden, sides));
  std::vector<std::string> others;
  for (const btf::TensorSet* set : {&sets.actual, &sets.golden}) BTF_TRY(set->check_named_specs());
  for (const btf::TensorSet* set : {&sets.actual, &sets.golden}) {
    note_others(context, *set);
    add_others(*set, others);
  }
  BTF_ASSIGN(std::optional<btf::TensorSet> baseline, open_other(command.baseline));
  BTF_ASSIGN(std::optional<btf::TensorSet> expected, open_other(command.expected));
  return LayerInputs{.options = std::move(options),
                     .sets = std::move(sets),
                     .baseline = std::move(baseline),
                     .expected = std::move(expected),
                     .others = std::move(others)};
}

// Fails if an option was given that needs elements.
btf::Status check_for_statistics(const Context& context, const LayersCommand& command,
                                 const std::string& path) {
  const btf::LayerOptions& options = command.layers;
  const bool scaled = options.dequantize || options.actual_scale || options.golden_scale;
  std::string option = command.part                              ? "--shard"
                       : command.baseline                        ? "--baseline"
                       : command.expected                        ? "--expect-output"
                       : scaled || !options.scale_blocks.empty() ? "an option on scales"
                       : options.judge.most_own_error            ? "--max-own-error"
                                                                 : "";
  for (const NamedFile& file : context.files)
    if (option.empty() && file.traits.any(kOfFiles)) option = file.option;
  if (option.empty()) return {};
  return std::unexpected(btf::Error{btf::ErrorCode::invalid_argument,
                                    "holds only statistics, but " + option + " needs elements"}
                             .in_file(path));
}

btf::Result<btf::LayerRun> compare_statistics(const Context& context, const LayersCommand& command,
                                              const StatisticsPair& dumps) {
  BTF_TRY(check_for_statistics(context, command,
                               (dumps.actual.has_elements ? dumps.golden : dumps.actual).path));
  btf::LayerOptions options = command.layers;
  BTF_TRY(read_names(context, command, options));
  BTF_ASSIGN(btf::LayerReport report, btf::compare_statistics(dumps.actual, dumps.golden, options));
  return btf::LayerRun{.actual = command.actual,
                       .golden = command.golden,
                       .judge = command.layers.judge,
                       .searched = false,
                       .scales = command.reading_options,
                       .others = {},
                       .report = std::move(report),
                       .origin = {}};
}

btf::TensorSet* pointer_to(std::optional<btf::TensorSet>& set) { return set ? &*set : nullptr; }

// `share` has the measurements of shards. If it is nullptr, everything is measured here.
btf::Result<btf::LayerRun> compare(const Context& context, const LayersCommand& command,
                                   btf::LayerShare* share) {
  BTF_ASSIGN(LayerInputs inputs, open_inputs(context, command));
  auto& [options, sets, baseline, expected, others] = inputs;
  auto& [actual, golden] = sets;
  std::uint64_t bytes = 0;
  for (const btf::TensorSet* const set : {&actual, &golden}) {
    if (!Progress::shown(context.global)) break;
    BTF_ASSIGN(const std::uint64_t own, bytes_of(*set));
    bytes = std::max(bytes, own);
  }
  Progress progress(context.global, bytes);
  progress.attach(options.execution);
  auto report = share != nullptr ? btf::judge_measured(actual, golden, pointer_to(baseline),
                                                       pointer_to(expected), options, *share)
                                 : btf::compare_layers(actual, golden, pointer_to(baseline),
                                                       pointer_to(expected), options);
  progress.clear();
  if (!report) return std::unexpected(report.error());
  btf::PageOrigin origin;
  if (command.html)
    for (const btf::TensorSet* set : {&actual, &golden}) BTF_TRY(origin.add_inputs(*set));
  return btf::LayerRun{.actual = command.actual,
                       .golden = command.golden,
                       .judge = command.layers.judge,
                       .searched = command.layers.hints,
                       .scales = command.reading_options,
                       .others = std::move(others),
                       .report = *std::move(report),
                       .origin = std::move(origin)};
}

// Measures this command's shard.
btf::Result<int> run_shard(const Context& context, const LayersCommand& command) {
  BTF_ASSIGN(LayerInputs inputs, open_inputs(context, command));
  LayerPart part(context, command);
  BTF_ASSIGN(const std::uint64_t actual_bytes, bytes_of(inputs.sets.actual));
  BTF_ASSIGN(const std::uint64_t golden_bytes, bytes_of(inputs.sets.golden));
  Progress progress(context.global, (actual_bytes + golden_bytes) / 2 / command.part->shard.of);
  progress.attach(inputs.options.execution);
  const btf::Status measured =
      btf::measure_layers(inputs.sets.actual, inputs.sets.golden, pointer_to(inputs.baseline),
                          pointer_to(inputs.expected), inputs.options, part);
  progress.clear();
  BTF_TRY(measured);
  BTF_TRY(part.finish());
  return kSame;
}

btf::Result<btf::LayerRun> judge_again(const LayersCommand& command) {
  BTF_ASSIGN(const std::string report, text_of(*command.from_json));
  auto read = btf::read_layer_report(report);
  if (!read) return std::unexpected(read.error().in_file(*command.from_json));
  btf::LayerRun run = *std::move(read);
  run.judge = command.layers.judge;
  if (command.order) {
    BTF_ASSIGN(const std::string text, text_of(*command.order));
    BTF_TRY(btf::order_by_list(run.report, text, *command.order));
  }
  btf::judge_layers(run.report, run.judge);
  return run;
}

void log_limited(const std::vector<std::string>& texts, auto&& log) {
  MessageLimit shown;
  for (const std::string& text : texts)
    if (shown.pass()) log(text);
  if (shown.held_back() > 0) log("and " + std::to_string(shown.held_back()) + " more");
}

// Returns messages about files that could not be read and layers that could not be measured.
std::vector<std::string> errors_of(const btf::LayerReport& report) {
  std::vector<std::string> texts = report.troubles;
  std::map<std::string, std::uint64_t> more;  // counts by reason, for statistics
  for (const btf::Layer& layer : report.layers) {
    if (layer.state != btf::LayerState::unmeasured) continue;
    // With statistics many layers have the same reason, such as a dump with only checksums.
    if (report.statistics_only && more[layer.note]++ > 0) continue;
    texts.push_back("'" + printable(layer.name()) + "' could not be measured: " + layer.note);
  }
  for (const auto& [why, count] : more)
    if (count > 1)
      texts.push_back(std::to_string(count) + " layers in all could not be measured: " + why);
  return texts;
}

int exit_code(const btf::LayerRun& run) {
  const btf::LayerReport& report = run.report;
  if (!errors_of(report).empty() || report.watching_changed_result) return kTrouble;
  return btf::all_well(report, run.judge) ? kSame : kDifferent;
}

btf::Result<int> report_run(const Context& context, const LayersCommand& command,
                            btf::LayerRun run) {
  run.report = context.names.translate(std::move(run.report));
  run.member_names = [&context](std::string text) {
    return context.names.translate(std::move(text));
  };
  const btf::LayerReport& report = run.report;
  if (command.pairs) {
    for (const btf::Layer& layer : report.layers)
      context.out.text((layer.actual.empty() ? "#" : layer.actual) + "\t" + layer.golden + "\n");
  } else if (command.json) {
    BTF_TRY(btf::write_json(run, [&](std::string_view text) -> btf::Status {
      context.out.text(text);
      return {};
    }));
  } else if (!context.global.quiet) {
    context.out.text(btf::text(run, {.all = command.all,
                                     .figures = context.global.verbose,
                                     .columns = output_columns(),
                                     .whole_lines = !fits_columns(),
                                     .color = context.out.colored()}));
  }
  bool unwritten = false;
  const auto written = [&](const btf::Status& status) {
    if (status) return;
    unwritten = true;
    context.log.error(status.error());
  };
  if (command.junit) written(btf::write_text(*command.junit, btf::junit(run)));
  if (command.html) {
    const std::vector<std::string> operands{command.actual, command.golden};
    const auto newest = run.origin.newest_input;
    run.origin = page_origin(command_line("layers", command.result_options,
                                          std::span(operands).first(command.from_json ? 0 : 2)));
    run.origin.newest_input = newest;
    set_date_from_environment(run.origin);
    written(btf::write_text(*command.html, btf::html(run)));
  }
  log_limited(report.warnings, [&](const std::string& text) { context.log.warning(text); });
  const std::vector<std::string> errors = errors_of(report);
  log_limited(errors, [&](const std::string& text) { context.log.error(text); });
  if (unwritten) return kTrouble;
  return command.pairs && errors.empty() ? kSame : exit_code(run);
}

}  // namespace

btf::Result<int> run_layers(const Context& context, const LayersCommand& command) {
  if (!command.from_json) {
    BTF_ASSIGN(const auto statistics, read_statistics_pair(command.actual, command.golden));
    if (statistics) {
      BTF_ASSIGN(btf::LayerRun run, compare_statistics(context, command, *statistics));
      return report_run(context, command, std::move(run));
    }
  }
  if (command.part) return run_shard(context, command);
  BTF_ASSIGN(btf::LayerRun run,
             command.from_json ? judge_again(command) : compare(context, command, nullptr));
  return report_run(context, command, std::move(run));
}

btf::Result<int> merge_layers(const Context& context, const btf::Parts& parts,
                              const LayersCommand& command) {
  BTF_ASSIGN(std::vector<std::string> words,
             result_options(parts.head().options, files_of(command)));
  BTF_ASSIGN(auto merged,
             btf::read_measured_layers(parts, std::move(words), context.global.execution()));
  BTF_ASSIGN(btf::LayerRun run, compare(context, command, &merged));
  return report_run(context, command, std::move(run));
}

}  // namespace btftool

// btftool fit: which layers can run in a smaller dtype, and which must stay in float32.
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/output.h"
#include "btf/part.h"
#include "btf/report.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/text.h"
#include "parts/shard.h"

namespace btftool {
namespace {

class FitPart final : public btf::FitShare {
 public:
  FitPart(const Context& context, const FitCommand& command);

  btf::Status plan(std::span<const btf::PlannedFit> items) override;
  bool is_own(std::uint64_t number) const override { return own_.contains(number); }
  const btf::MeasuredFit* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const btf::MeasuredFit& item) override;

  btf::Status finish() { return part_.finish(); }

 private:
  ShardPart part_;
  std::unordered_map<std::uint64_t, std::string> own_;  // names of this shard's items by number
};

FitPart::FitPart(const Context& context, const FitCommand& command)
    : part_(context, *command.part, {.command = "fit", .operands = command.dumps}) {}

btf::Status FitPart::plan(std::span<const btf::PlannedFit> items) {
  BTF_ASSIGN(const std::vector<std::uint64_t> own, part_.pick(btf::plan_of(items), "item"));
  for (const std::uint64_t number : own) own_[number] = items[number].name;
  return {};
}

void FitPart::take(std::uint64_t number, const btf::MeasuredFit& item) {
  const std::string& name = own_.at(number);
  std::vector<ReadFile> read;
  for (const auto& [path, state] : item.files) read.push_back({path, state});
  part_.add_measured(part_line(btf::FitPartItem{.number = number, .name = name, .measured = item}),
                     name, item.trouble, read);
}

btf::Result<std::uint64_t> bytes_of(const std::vector<btf::TensorSet>& dumps) {
  std::uint64_t bytes = 0;
  for (const btf::TensorSet& set : dumps) {
    for (std::uint64_t i = 0; i < set.member_count(); ++i) {
      BTF_ASSIGN(const std::uint64_t own, set.bytes(i));
      bytes += own;
    }
  }
  return bytes;
}

btf::Result<std::vector<btf::TensorSet>> open_dumps(const Context& context,
                                                    const FitCommand& command) {
  std::vector<btf::TensorSet> dumps;
  for (const std::string& path : command.dumps) {
    BTF_ASSIGN(btf::TensorSet set, btf::TensorSet::open(path, command.open));
    BTF_TRY(set.check_named_specs());
    if (set.member_count() == 0) return std::unexpected(btf::no_files(set));
    note_others(context, set);
    dumps.push_back(std::move(set));
  }
  return dumps;
}

// `share` has the measurements of shards. If it is nullptr, everything is measured here.
btf::Result<btf::FitReport> judge(const Context& context, const FitCommand& command,
                                  btf::FitShare* share, btf::PageOrigin& origin) {
  BTF_ASSIGN(std::vector<btf::TensorSet> dumps, open_dumps(context, command));
  btf::FitOptions options = command.fit;
  options.execution.cancel = &watch_interrupts();
  std::uint64_t bytes = 0;
  if (Progress::shown(context.global)) {
    BTF_ASSIGN(bytes, bytes_of(dumps));
  }
  Progress progress(context.global, bytes * options.dtypes.size());
  progress.attach(options.execution);
  auto report =
      share != nullptr ? btf::judge_measured(dumps, options, *share) : btf::fit(dumps, options);
  progress.clear();
  if (command.html)
    for (const btf::TensorSet& set : dumps) BTF_TRY(origin.add_inputs(set));
  return report;
}

// Measures this command's shard.
btf::Result<int> run_shard(const Context& context, const FitCommand& command) {
  BTF_ASSIGN(std::vector<btf::TensorSet> dumps, open_dumps(context, command));
  FitPart part(context, command);
  btf::FitOptions options = command.fit;
  options.execution.cancel = &watch_interrupts();
  BTF_ASSIGN(const std::uint64_t bytes, bytes_of(dumps));
  Progress progress(context.global, bytes * options.dtypes.size() / command.part->shard.of);
  progress.attach(options.execution);
  const btf::Status measured = btf::measure_fit(dumps, options, part);
  progress.clear();
  BTF_TRY(measured);
  BTF_TRY(part.finish());
  return kSame;
}

void warn_of_names(const Context& context, const btf::FitOfType& type) {
  std::uint64_t unnamed = 0;
  for (const btf::FitLayer& layer : type.layers)
    unnamed += layer.state == btf::FitState::wide && !layer.named ? 1 : 0;
  if (unnamed > 0)
    context.log.warning(counted(unnamed, "layer") +
                        " of the list have no name in the model: the name of their first output is "
                        "used");
}

btf::Result<int> judge_and_report(const Context& context, const FitCommand& command,
                                  btf::FitShare* share) {
  if (command.html) {
    BTF_TRY(btf::check_output(*command.html));
  }
  btf::PageOrigin origin = page_origin(command_line("fit", command.result_options, command.dumps));
  BTF_ASSIGN(const btf::FitReport report, judge(context, command, share, origin));
  if (command.json)
    context.out.text(btf::json(report));
  else if (!context.global.quiet)
    context.out.text(btf::text(report, {.all = command.all,
                                        .columns = output_columns(),
                                        .whole_lines = !fits_columns(),
                                        .color = context.out.colored()}));
  bool trouble = !report.troubles.empty();
  if (command.html) {
    set_date_from_environment(origin);
    if (const btf::Status written = btf::write_text(*command.html, btf::html(report, origin));
        !written) {
      trouble = true;
      context.log.error(written.error());
    }
  }
  for (const FitListFile& emit : command.emit) {
    const auto list = report.types.empty() ? btf::fit_list(report.scaled[0], emit.form)
                                           : btf::fit_list(report.types[0], emit.form);
    const btf::Status written =
        list ? btf::write_text(emit.path, *list) : std::unexpected(list.error());
    if (written) continue;
    trouble = true;
    context.log.error(written.error().in_file(emit.path));
  }
  if (!command.emit.empty() && !report.types.empty()) warn_of_names(context, report.types[0]);
  MessageLimit warned;
  for (const std::string& warning : report.warnings)
    if (warned.pass()) context.log.warning(warning);
  if (warned.held_back() > 0)
    context.log.warning("and " + std::to_string(warned.held_back()) + " more");
  for (const std::string& text : report.troubles) context.log.error(text);
  if (trouble) return kTrouble;
  return btf::fits(report) ? kSame : kDifferent;
}

// A model among the dumps is most likely their network.
void warn_of_model(const Context& context, const FitCommand& command) {
  if (command.fit.graph || command.dumps.size() < 2) return;
  for (const std::string& dump : command.dumps)
    if (dump.ends_with(".onnx"))
      context.log.warning(dump +
                          " is read as a dump, like the others; to use it as the network "
                          "of the dumps, write --graph " +
                          dump);
}

}  // namespace

btf::Result<int> run_fit(const Context& context, const FitCommand& command) {
  warn_of_model(context, command);
  return command.part ? run_shard(context, command) : judge_and_report(context, command, nullptr);
}

btf::Result<int> merge_fit(const Context& context, const btf::Parts& parts,
                           const FitCommand& command) {
  BTF_ASSIGN(auto merged,
             btf::read_measured_fit(parts, parts.head().options, context.global.execution()));
  return judge_and_report(context, command, &merged);
}

}  // namespace btftool

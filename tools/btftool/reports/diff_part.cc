#include "reports/diff_part.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "io/text.h"
#include "reports/diff.h"

namespace btftool {
namespace {

using btf::SetDiffResult;

class Merging {
 public:
  Merging(const Context& context, const DiffCommand& command, const btf::Parts& parts)
      : context_(context),
        command_(command),
        parts_(parts),
        directories_(parts.head().directories),
        reports_(context, command, directories_) {}

  btf::Result<int> run() {
    BTF_TRY(reports_.check_files());
    const std::vector<std::string>& others = parts_.head().others;
    for (const std::string& operand : parts_.head().operands)
      note_others(context_, operand, others);
    reports_.set_others(others);
    BTF_TRY(parts_.each_pair(
        [this](const btf::PartItem& item) -> btf::Status {
          take(item);
          return {};
        },
        context_.global.execution()));
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (reports_.compared_nothing())
      context_.log.error("nothing was compared: no tensor in " + command_.actual + " and " +
                         command_.golden + " has an element");
    const int exit_code = reports_.finish();
    if (cause_) return std::unexpected(*cause_);
    return exit_code;
  }

 private:
  void take(const btf::PartItem& item) {
    const SetDiffResult::Pair& pair = item.pair;
    reports_.begin(pair.files, item.actual, item.golden);
    for (const btf::TensorDiff& diff : pair.tensors) take(diff);
    if (reports_.lists_missing())
      for (const btf::TensorDiff& diff : pair.missing) reports_.missing(diff);
    reports_.end(pair.outcome);
    const bool whole = pair.outcome.result == btf::PairResult::trouble &&
                       std::ranges::none_of(pair.tensors, [](const btf::TensorDiff& diff) {
                         return diff.error.has_value();
                       });
    // With only two files the error of the pair is that of the command.
    if (whole && !directories_ && pair.outcome.cause)
      cause_ = pair.outcome.cause;
    else if (whole && errors_.pass())
      context_.log.error(pair.outcome.error);
  }

  void take(const btf::TensorDiff& found) {
    if (found.error && errors_.pass()) context_.log.error(*found.error);
    btf::TensorDiff diff = found;
    // Parts always have a heatmap, in case merge makes a page.
    if (!command_.diff.heatmap && !command_.html) diff.heatmap.reset();
    reports_.take(diff);
  }

  const Context& context_;
  const DiffCommand& command_;
  const btf::Parts& parts_;
  bool directories_;
  DiffReports reports_;
  MessageLimit errors_;
  std::optional<btf::Error> cause_;
};

}  // namespace

btf::Result<int> merge_diff(const Context& context, const btf::Parts& parts, DiffCommand& command) {
  command.tensor_criteria = parts.head().tensor_criteria;
  return Merging(context, command, parts).run();
}

using btf::FileState;

PartReport::PartReport(const Context& context, const DiffCommand& command, bool directories,
                       std::vector<std::string> tensor_criteria)
    : command_(command),
      part_(context, *command.part,
            {.command = "diff",
             .operands = {command.actual, command.golden},
             .directories = directories,
             .tensor_criteria = std::move(tensor_criteria)}) {}

btf::Result<std::vector<std::uint64_t>> PartReport::pick(std::span<const btf::PlannedPair> pairs) {
  for (const btf::PlannedPair& pair : pairs)
    planned_.push_back({pair.actual_bytes, pair.golden_bytes});
  return part_.pick(pairs, "pair", {command_.map, command_.rules});
}

void PartReport::begin(const btf::FilePair& pair) {
  item_ = {};
  item_.pair.files = pair;
  const auto state = [](const std::string& path, const std::optional<FileState>& opened) {
    return opened ? btf::Result<std::optional<FileState>>(opened) : FileState::of(path);
  };
  actual_ = {pair.actual, state(pair.actual, pair.actual_state)};
  golden_ = {pair.golden, state(pair.golden, pair.golden_state)};
  began_ = std::chrono::steady_clock::now();
}

void PartReport::end(const btf::FilePair& pair, const btf::PairOutcome& outcome) {
  if (!part_.begun()) return;
  item_.pair.outcome = outcome;
  item_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  const Sizes& sizes = planned_[pair.number];
  btf::PartLine line = part_line(item_);
  line.files.clear();
  actual_.planned = sizes.actual;
  golden_.planned = sizes.golden;
  part_.add(std::move(line), std::array{actual_, golden_});
}

}  // namespace btftool

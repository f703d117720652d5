// btftool diff: are two files, or the files of two directories, the same, and if not, where and
// why?
#include <algorithm>
#include <optional>

#include "btf/diff.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "diff/file_pairs.h"
#include "diff/rejudge.h"
#include "diff/reports.h"
#include "diff/reports/heatmap_scale.h"
#include "diff/selection.h"
#include "io/exit_code.h"
#include "io/interrupt.h"
#include "io/progress.h"

namespace btftool {
namespace {

class Comparison {
 public:
  Comparison(const Context& context, const DiffCommand& command, FilePairs pairs)
      : context_(context),
        command_(command),
        pairs_(std::move(pairs)),
        selection_(command),
        options_(needed_by_reports(context.global, command)),
        reports_(context, command, pairs_.directories) {}

  btf::Result<int> run() {
    if (btf::Status status = reports_.check_files(); !status)
      return std::unexpected(status.error());
    options_.execution.cancel = &watch_interrupts();
    return pairs_.directories ? directories() : single();
  }

 private:
  btf::Result<int> single() {
    const FilePair& files = pairs_.pairs.front().files;
    reports_.begin(files);
    const auto same = compare(files);
    // Whoever interrupts wants no report.
    if (!same && same.error().code == btf::ErrorCode::cancelled)
      return std::unexpected(same.error());
    reports_.end(outcome_of(same));
    const int exit_code = reports_.finish();
    if (!same) return std::unexpected(same.error());
    return exit_code;
  }

  btf::Result<int> directories() {
    if (const btf::Status status = check_tolerances(); !status) {
      reports_.refuse({command_.actual, command_.actual, command_.golden}, status.error());
      return std::unexpected(status.error());
    }
    std::uint64_t bytes = 0;
    for (const Candidate& candidate : pairs_.pairs) bytes += candidate.files.bytes;
    start_progress(bytes);
    for (const Candidate& candidate : pairs_.pairs) {
      reports_.begin(candidate.files);
      const FilePair& files = candidate.files;
      if (!candidate.error && (files.actual.empty() || files.golden.empty())) {
        reports_.end({.result = PairResult::missing});
        continue;
      }
      const btf::Result<bool> same =
          candidate.error ? std::unexpected(*candidate.error) : compare(files);
      if (!same && same.error().code == btf::ErrorCode::cancelled)
        return std::unexpected(same.error());
      if (!same && errors_.pass()) context_.log.error(same.error());
      reports_.end(outcome_of(same));
    }
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    return reports_.finish();
  }

  // Is there a tensor for every tolerance of a single one? Asked before the reports begin.
  btf::Status check_tolerances() {
    if (command_.tensor_tolerances.empty()) return {};
    for (const Candidate& candidate : pairs_.pairs) {
      const FilePair& files = candidate.files;
      if (!candidate.error && (files.actual.empty() || files.golden.empty())) continue;
      // What cannot be opened is trouble by itself, and might have the tensor.
      if (candidate.error) return {};
      const auto actual = btf::TensorFile::open(files.actual);
      const auto golden = btf::TensorFile::open(files.golden);
      if (!actual || !golden) return {};
      btf::DiffOptions unused;
      if (!selection_.apply(*actual, *golden, unused)) return {};
      if (selection_.check_used()) return {};
    }
    return selection_.check_used();
  }

  static PairOutcome outcome_of(const btf::Result<bool>& same) {
    if (!same) return {.result = PairResult::trouble, .error = same.error().text()};
    return {.result = *same ? PairResult::same : PairResult::different};
  }

  btf::Result<bool> compare(const FilePair& files) {
    BTF_ASSIGN(const auto actual, btf::TensorFile::open(files.actual, command_.open_actual));
    BTF_ASSIGN(const auto golden, btf::TensorFile::open(files.golden, command_.open_golden));
    btf::DiffOptions options = options_;
    btf::Status status = selection_.apply(actual, golden, options);
    if (status && !pairs_.directories) status = selection_.check_used();
    if (status && !pairs_.directories) status = check_axes(actual, golden, options);
    if (!status) return std::unexpected(status.error());
    if (!progress_) start_progress(std::max(actual.size(), golden.size()));
    progress_->attach(options.execution);
    auto same = btf::diff(actual, golden, options,
                          [&](const btf::TensorDiff& diff) { reports_.take(diff); });
    progress_->clear();
    return same;
  }

  // Of several tensors those without the axes get others; the only one is to have them.
  btf::Status check_axes(const btf::TensorFile& actual, const btf::TensorFile& golden,
                         const btf::DiffOptions& options) const {
    if (!command_.diff.heatmap) return {};
    const auto only = [](const btf::TensorFile& file, const auto& selected) {
      const std::uint64_t count = selected ? selected->size() : file.tensor_count();
      return count == 1 ? std::optional(selected ? selected->front() : 0) : std::nullopt;
    };
    const auto left = only(actual, options.actual_tensors);
    const auto right = only(golden, options.golden_tensors);
    if (!left || !right) return {};
    const auto a = actual.tensor(*left);
    const auto g = golden.tensor(*right);
    // What else is wrong is found by the comparison.
    if (!a || !g || a->dims != g->dims) return {};
    const std::string trouble = axes_trouble(command_.diff.heatmap->axes, g->dims.size());
    if (trouble.empty()) return {};
    return std::unexpected(btf::Error{btf::ErrorCode::invalid_argument, "--heatmap: " + trouble}
                               .within("tensor " + std::to_string(*left))
                               .in_file(actual.path()));
  }

  void start_progress(std::uint64_t bytes) { progress_.emplace(context_.global, bytes); }

  const Context& context_;
  const DiffCommand& command_;
  FilePairs pairs_;
  DiffSelection selection_;
  btf::DiffOptions options_;
  DiffReports reports_;
  std::optional<Progress> progress_;
  Limited errors_;
};

}  // namespace

btf::Result<int> run_diff(const Context& context, const DiffCommand& command) {
  if (command.from_json) return run_rejudge(context, command);
  BTF_ASSIGN(FilePairs pairs, find_pairs(command));
  return Comparison(context, command, std::move(pairs)).run();
}

}  // namespace btftool

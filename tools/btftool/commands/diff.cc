// btftool diff: are two files, or the files of two directories, the same, and if not, where and
// why?
#include "btf/diff.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "commands/commands.h"
#include "commands/name_map_file.h"
#include "commands/other_files.h"
#include "diff/byte_pairs.h"
#include "diff/file_pairs.h"
#include "diff/globs.h"
#include "diff/rejudge.h"
#include "diff/reports.h"
#include "diff/rules.h"
#include "diff/selection.h"
#include "io/exit_code.h"
#include "io/interrupt.h"
#include "io/progress.h"

namespace btftool {
namespace {

class Comparison {
 public:
  Comparison(const Context& context, const DiffCommand& command, FilePairs sets)
      : context_(context),
        command_(command),
        sets_(std::move(sets)),
        selection_(command),
        options_(needed_by_reports(context.global, command)),
        reports_(context, command, sets_.directories),
        lines_(!context.global.quiet && !command.json && !command.summary),
        most_waiting_(btf::most_side_by_side(options_.execution)) {}

  btf::Result<int> run() {
    BTF_TRY(reports_.check_files());
    options_.execution.cancel = &watch_interrupts();
    options_.may_compare_nothing = sets_.directories;
    options_.go_on = true;
    if (!command_.tensor_tolerances.empty())
      options_.pair_tolerance = [this](const btf::TensorDiff& diff) {
        return tolerance_by_name(command_, diff);
      };
    if (sets_.directories) {
      const btf::Status status = check_selection();
      if (!status) {
        reports_.refuse({command_.actual, command_.actual, command_.golden}, status.error());
        return std::unexpected(status.error());
      }
    }
    std::vector<std::string> others;
    add_others(sets_.actual, others);
    add_others(sets_.golden, others);
    reports_.tell_others(std::move(others));
    start_progress();
    btf::open_pairs_ahead(sets_.actual, sets_.golden, sets_.pairs, options_.execution);
    for (const btf::MemberPair& pair : sets_.pairs) {
      btf::DiffOptions options = options_;
      if (names_.narrow(pair, options)) BTF_TRY(take(pair, std::move(options)));
    }
    BTF_TRY(compare_waiting());
    if (options_.strict)
      for (const FilePair& pair : sets_.others) {
        const auto result = compare_bytes(pair);
        if (result && result->result == PairResult::same) continue;
        reports_.begin(pair);
        BTF_TRY(end(result));
      }
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (reports_.compared_nothing())
      context_.log.error("nothing was compared: no tensor in " + command_.actual + " and " +
                         command_.golden + " has an element");
    return reports_.finish();
  }

 private:
  FilePair files_of(const btf::MemberPair& pair) const {
    // Names in one index are each of one tensor; so are those that made a pair of tensors.
    const bool tells_file = !sets_.index && !pair.actual_tensor && !pair.golden_tensor;
    FilePair files{.name = pair.name, .actual = {}, .golden = {}, .tells_file = tells_file};
    if (pair.actual) files.actual = sets_.actual.path(*pair.actual);
    if (pair.golden) files.golden = sets_.golden.path(*pair.golden);
    if (pair.tier)
      if (const auto file = sets_.actual.file(*pair.actual))
        files.actual_name = (*file)->name(*pair.actual_tensor).value_or("");
    return files;
  }

  // What shows without opening anything.
  const btf::Error* trouble(const btf::MemberPair& pair) const {
    if (pair.error) return pair.error.get();
    const btf::Error* found = pair.actual ? sets_.actual.trouble(*pair.actual) : nullptr;
    if (found == nullptr && pair.golden) found = sets_.golden.trouble(*pair.golden);
    return found;
  }

  // Two files that are open, and how they are compared.
  struct Job {
    const btf::MemberPair* pair;
    std::shared_ptr<const btf::TensorFile> actual;
    std::shared_ptr<const btf::TensorFile> golden;
    btf::DiffOptions options;
  };

  // An error ends the command; what is wrong with the pair is told.
  btf::Status take(const btf::MemberPair& pair, btf::DiffOptions options) {
    const btf::Error* const unusable = trouble(pair);
    if (unusable == nullptr && pair.actual && pair.golden) {
      btf::Result<Job> job = prepare(pair, std::move(options));
      if (job && may_wait(*job)) {
        waiting_.push_back(*std::move(job));
        return waiting_.size() < most_waiting_ ? btf::Status() : compare_waiting();
      }
      BTF_TRY(compare_waiting());
      reports_.begin(files_of(pair));
      return end(job ? compare(*job) : btf::Result<PairResult>(std::unexpected(job.error())));
    }
    BTF_TRY(compare_waiting());
    reports_.begin(files_of(pair));
    return end(unusable != nullptr ? btf::Result<PairResult>(std::unexpected(*unusable))
                                   : one_sided(pair, options));
  }

  btf::Status end(const btf::Result<PairResult>& result) {
    if (!result) return end(btf::Result<PairOutcome>(std::unexpected(result.error())));
    last_differed_ = *result != PairResult::same;
    return end(btf::Result<PairOutcome>({.result = *result, .error = reports_.trouble()}));
  }

  btf::Status end(const btf::Result<PairOutcome>& result) {
    if (result) {
      reports_.end(*result);
      return {};
    }
    // Whoever interrupts wants no report.
    if (result.error().code == btf::ErrorCode::cancelled) return std::unexpected(result.error());
    reports_.end({.result = PairResult::trouble, .error = result.error().text()});
    // Of two files the error is the result of the whole.
    if (!sets_.directories) {
      reports_.finish();
      return std::unexpected(result.error());
    }
    if (errors_.pass()) context_.log.error(result.error());
    return {};
  }

  // Small files that are the same cost little more than opening them. Where one differs, looking
  // for causes takes far longer, and the next ones will differ as well.
  bool may_wait(const Job& job) const {
    constexpr std::uint64_t kSmall = 4U << 20;
    constexpr std::uint64_t kFewTensors = 64;
    const auto small = [](const btf::TensorFile& file) {
      return file.size() <= kSmall && file.tensor_count() <= kFewTensors;
    };
    // What made a pair of tensors is in one file with others.
    return last_differed_ && most_waiting_ > 1 && !job.pair->actual_tensor &&
           !job.pair->golden_tensor && small(*job.actual) && small(*job.golden);
  }

  btf::Status compare_waiting() {
    std::vector<Job> jobs = std::exchange(waiting_, {});
    if (jobs.empty()) return {};
    if (jobs.size() == 1) {
      reports_.begin(files_of(*jobs[0].pair));
      return end(compare(jobs[0]));
    }
    std::vector<btf::FilesToDiff> pairs;
    for (const Job& job : jobs) pairs.push_back({job.actual.get(), job.golden.get(), job.options});
    const std::vector<btf::FilesDiff> found = btf::diff_side_by_side(pairs, options_.execution);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      progress_->clear();
      reports_.begin(files_of(*jobs[i].pair));
      for (const btf::TensorDiff& diff : found[i].tensors) take(diff);
      BTF_TRY(end(result_of(found[i].same)));
      progress_->advance(std::max(jobs[i].actual->size(), jobs[i].golden->size()));
    }
    progress_->clear();
    return {};
  }

  btf::Result<PairResult> one_sided(const btf::MemberPair& pair, const btf::DiffOptions& options) {
    // A tensor that is missing is told of by itself, a file as a whole.
    const bool tensor = pair.actual_tensor || pair.golden_tensor;
    if (tensor || reports_.lists_missing()) {
      const btf::Status listed = list_missing(pair, options, tensor);
      if (tensor && !listed) return std::unexpected(listed.error());
    }
    return tensor ? PairResult::different : PairResult::missing;
  }

  // The tensors of a file that only one side has.
  btf::Status list_missing(const btf::MemberPair& pair, const btf::DiffOptions& options,
                           bool take) {
    const auto& list = pair.actual ? options.actual_tensors : options.golden_tensors;
    BTF_ASSIGN(const auto file,
               pair.actual ? sets_.actual.file(*pair.actual) : sets_.golden.file(*pair.golden));
    std::vector<std::uint64_t> selected;
    if (list) {
      selected = *list;
    } else {
      BTF_ASSIGN(selected, btf::TensorSet::of(*file).select(command_.tensors.value_or("*")));
    }
    for (const std::uint64_t index : selected) {
      BTF_ASSIGN(const btf::TensorInfo tensor, file->tensor(index));
      if (!tensor.known()) continue;
      btf::TensorDiff diff = btf::missing_tensor(tensor, !pair.actual);
      diff.note = pair.note;
      take ? reports_.take(diff) : reports_.missing(diff);
    }
    return {};
  }

  // Is there what is selected by name, and a tensor for every tolerance of a single one? Asked
  // before the reports begin.
  btf::Status check_selection() {
    BTF_ASSIGN(names_, NameSelection::of(command_, sets_.actual, sets_.golden, sets_.pairs));
    if (command_.tensor_tolerances.empty()) return {};
    for (const btf::MemberPair& pair : sets_.pairs) {
      if (!pair.actual || !pair.golden) continue;
      // What cannot be opened is trouble by itself, and might have the tensor.
      if (trouble(pair) != nullptr || !complete_specs(pair)) return {};
      const auto actual = sets_.actual.file(*pair.actual);
      const auto golden = sets_.golden.file(*pair.golden);
      if (!actual || !golden) return {};
      btf::DiffOptions unused;
      if (!names_.narrow(pair, unused)) continue;
      if (!selection_.apply(**actual, **golden, unused)) return {};
      if (selection_.check_used()) return {};
    }
    return selection_.check_used();
  }

  // Specs that leave the dims out get them from the other side.
  btf::Status complete_specs(const btf::MemberPair& pair) {
    const bool left = sets_.actual_specs.waits(*pair.actual, sets_.actual);
    const bool right = sets_.golden_specs.waits(*pair.golden, sets_.golden);
    if (left && right && sets_.actual_specs.is_list(*pair.actual) &&
        sets_.golden_specs.is_list(*pair.golden))
      return {};
    if (left && right)
      return std::unexpected(sets_.actual_specs.no_dims(*pair.actual, sets_.actual));
    if (left) {
      BTF_ASSIGN(const auto golden, sets_.golden.file(*pair.golden));
      return sets_.actual_specs.complete(
          *pair.actual, sets_.actual, command_,
          {*golden, pair, &btf::MemberPair::golden_tensor, true});
    }
    if (!right) return {};
    BTF_ASSIGN(const auto actual, sets_.actual.file(*pair.actual));
    return sets_.golden_specs.complete(
        *pair.golden, sets_.golden, command_,
        {*actual, pair, &btf::MemberPair::actual_tensor, false});
  }

  // Those that are files of their own.
  btf::Status take_scales(const btf::MemberPair& pair, btf::DiffOptions& options) const {
    if (!options.actual_scale) {
      BTF_ASSIGN(options.actual_scale,
                 sets_.actual_scales.given(sets_.actual, *pair.actual, options.execution));
    }
    if (!options.golden_scale) {
      BTF_ASSIGN(options.golden_scale,
                 sets_.golden_scales.given(sets_.golden, *pair.golden, options.execution));
    }
    return {};
  }

  btf::Result<Job> prepare(const btf::MemberPair& pair, btf::DiffOptions options) {
    BTF_TRY(complete_specs(pair));
    const auto actual_opened = sets_.actual.file(*pair.actual);
    const auto golden_opened = sets_.golden.file(*pair.golden);
    if (!actual_opened)
      return std::unexpected(with_likely_specs(actual_opened.error(), sets_.actual.bytes(*pair.actual),
                                        golden_opened, "--actual-spec"));
    if (!golden_opened)
      return std::unexpected(with_likely_specs(golden_opened.error(), sets_.golden.bytes(*pair.golden),
                                        actual_opened, "--golden-spec"));
    const btf::TensorFile& actual = **actual_opened;
    const btf::TensorFile& golden = **golden_opened;
    BTF_TRY(selection_.apply(actual, golden, options));
    if (!options.map.empty())
      BTF_TRY(check_map_use(context_, *command_.map, selection_.map()));
    if (!sets_.directories) {
      BTF_TRY(selection_.check_used());
      BTF_TRY(check_axes(actual, golden, options));
    }
    BTF_TRY(take_scales(pair, options));
    if (!progress_) progress_.emplace(context_.global, std::max(actual.size(), golden.size()));
    options.figures = options.figures || (lines_ && several(actual, golden, options));
    return Job{&pair, *actual_opened, *golden_opened, std::move(options)};
  }

  btf::Result<PairResult> compare(Job& job) {
    progress_->attach(job.options.execution);
    const auto same = btf::diff(*job.actual, *job.golden, job.options,
                                [&](const btf::TensorDiff& diff) { take(diff); });
    progress_->clear();
    return result_of(same);
  }

  void take(const btf::TensorDiff& diff) {
    if (diff.error && errors_.pass()) context_.log.error(*diff.error);
    reports_.take(diff);
  }

  btf::Result<PairResult> result_of(const btf::Result<bool>& same) const {
    if (!same) return std::unexpected(same.error());
    if (reports_.troubled() > 0) return PairResult::trouble;
    return *same ? PairResult::same : PairResult::different;
  }

  using Selected = std::optional<std::vector<std::uint64_t>>;

  // The only tensor of a file that is compared.
  static std::optional<std::uint64_t> only(const btf::TensorFile& file, const Selected& selected) {
    const std::uint64_t count = selected ? selected->size() : file.tensor_count();
    return count == 1 ? std::optional(selected ? selected->front() : 0) : std::nullopt;
  }

  // Does a line for each tensor tell of them?
  bool several(const btf::TensorFile& actual, const btf::TensorFile& golden,
               const btf::DiffOptions& options) const {
    return sets_.directories || !only(actual, options.actual_tensors) ||
           !only(golden, options.golden_tensors);
  }

  // Of several tensors those without the axes get others; the only one is to have them.
  btf::Status check_axes(const btf::TensorFile& actual, const btf::TensorFile& golden,
                         const btf::DiffOptions& options) const {
    if (!command_.diff.heatmap) return {};
    const auto left = only(actual, options.actual_tensors);
    const auto right = only(golden, options.golden_tensors);
    if (!left || !right) return {};
    const auto a = actual.tensor(*left);
    const auto g = golden.tensor(*right);
    // What else is wrong is found by the comparison.
    if (!a || !g || a->dims != g->dims) return {};
    const std::string trouble = btf::axes_trouble(command_.diff.heatmap->axes, g->dims.size());
    if (trouble.empty()) return {};
    return std::unexpected(btf::Error{btf::ErrorCode::invalid_argument, "--heatmap: " + trouble}
                               .of_tensor(*left)
                               .in_file(actual.path()));
  }

  // Of two files it is known when they are open.
  void start_progress() {
    if (!sets_.directories) return;
    std::uint64_t bytes = 0;
    if (Progress::shown(context_.global))
      for (const btf::MemberPair& pair : sets_.pairs)
        bytes += std::max(pair.actual ? sets_.actual.bytes(*pair.actual) : 0,
                          pair.golden ? sets_.golden.bytes(*pair.golden) : 0);
    progress_.emplace(context_.global, bytes);
  }

  const Context& context_;
  const DiffCommand& command_;
  FilePairs sets_;
  NameSelection names_;
  DiffSelection selection_;
  btf::DiffOptions options_;
  DiffReports reports_;
  bool lines_;  // the screen may get a line for each tensor
  std::optional<Progress> progress_;
  Limited errors_;
  std::size_t most_waiting_;
  std::vector<Job> waiting_;  // to be compared at the same time
  bool last_differed_ = false;
};

}  // namespace

btf::Result<int> run_diff(const Context& context, const DiffCommand& given) {
  BTF_ASSIGN(DiffCommand command, with_rules(given));
  if (command.from_json) return run_rejudge(context, command);
  if (command.map) {
    BTF_ASSIGN(command.diff.map, read_name_map(context, *command.map));
  }
  BTF_ASSIGN(FilePairs sets, find_pairs(command));
  if (sets.directories && command.map) {  // all that it names is a pair by now
    BTF_TRY(check_map_use(context, *command.map, sets.map));
    command.diff.map = {};
  }
  for (const std::string& glob : sets.idle_excludes)
    context.log.warning("no file matches --exclude '" + glob + "'");
  note_others(context, sets.actual);
  note_others(context, sets.golden);
  return Comparison(context, command, std::move(sets)).run();
}

}  // namespace btftool

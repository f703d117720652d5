// btftool diff: compares two files, or the files of two directories.
#include "reports/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/layers.h"
#include "btf/output.h"
#include "btf/set_diff.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "io/text.h"
#include "reports/diff_rules.h"

namespace btftool {

btf::Result<btf::NameMap> read_name_map(const Context& context, const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::unexpected(text.error().in_file(path));
  auto map = btf::parse_name_map(*text);
  if (!map) return std::unexpected(map.error().in_file(path));
  if (map->empty()) context.log.warning(path + ": the map has no lines");
  return map;
}

btf::Status check_map_use(const Context& context, const std::string& path, const btf::MapUse& use) {
  if (!use.used && !use.unused.empty()) return std::unexpected(btf::no_use(use, path));
  for (const std::string& unused : use.unused) context.log.warning(path + ": " + unused);
  return {};
}

namespace {

btf::SetDiffOptions set_options(const GlobalOptions& global, const DiffCommand& command) {
  btf::SetDiffOptions options{.each = needed_by_reports(global, command),
                              .actual = {command.open_actual, command.actual_specs},
                              .golden = {command.open_golden, command.golden_specs},
                              .tensors = command.tensors,
                              .pairs = command.pairs,
                              .tensor_tolerances = command.tensor_tolerances,
                              .include = command.include,
                              .exclude = command.exclude,
                              .map_path = command.map.value_or("")};
  // Needed for the lines of single tensors on the terminal.
  options.figures_of_several = command.part || (!global.quiet && !command.json && !command.summary);

  options.pick_tensors = command.part && command.part->by_tensor;
  if (command.diff.heatmap) options.heatmap_axes = command.diff.heatmap->axes;
  return options;
}

// Passes results to the reports, and errors to the log.
class Comparison final : public btf::SetDiffSink {
 public:
  Comparison(const Context& context, const DiffCommand& command, btf::TwoSets sets)
      : context_(context),
        command_(command),
        sets_(std::move(sets)),
        several_(!sets_.actual.one_file() || !sets_.golden.one_file()),
        reports_(context, command, several_),
        picture_(command, several_) {}

  // Compares tensors of a file with files of a directory that hold one tensor each. Returns
  // std::nullopt, and reports nothing, if there is no such pair.
  btf::Result<std::optional<int>> run_if_paired() {
    only_if_paired_ = true;
    auto exit_code = run();
    // Of files that the system did not let it read, nothing is known.
    for (const btf::TensorSet* const set : {&sets_.actual, &sets_.golden})
      for (std::uint64_t i = 0; unpaired_ && i < set->member_count(); ++i)
        if (const btf::Error* const error = set->trouble(i);
            error != nullptr && error->system != 0 && error->system != ENOENT &&
            error->system != EACCES && error->system != ELOOP)
          return std::unexpected(*error);
    if (unpaired_) return std::nullopt;
    if (!exit_code) return std::unexpected(exit_code.error());
    return *exit_code;
  }

  btf::Result<int> run() {
    btf::Result<int> exit_code = compare();
    if (!exit_code) return exit_code;
    const btf::Status drawn = picture_.write(context_);
    if (drawn) return exit_code;
    context_.log.error(drawn.error());
    return kTrouble;
  }

  // Reports that a file cannot be opened.
  btf::Result<int> refuse(const btf::Error& error) {
    BTF_TRY(reports_.check_files());
    const std::string& actual = sets_.actual.path();
    reports_.refuse({actual, actual, sets_.golden.path()}, error);
    return std::unexpected(error);
  }

  void warn(const std::string& text) override { context_.log.warning(text); }

  btf::Status found(const btf::PairsFound& pairs) override {
    unpaired_ = only_if_paired_ && pairs.whole == 0;
    if (unpaired_) return btf::fail(btf::ErrorCode::refused, "nothing is paired");
    note_others(context_, sets_.actual);
    note_others(context_, sets_.golden);
    BTF_TRY(reports_.check_files());
    std::vector<std::string> others;
    add_others(sets_.actual, others);
    add_others(sets_.golden, others);
    reports_.set_others(std::move(others));
    const std::uint64_t shards = command_.part ? command_.part->shard.of : 1;
    progress_.emplace(context_.global, pairs.bytes / shards);
    ready_ = true;
    return {};
  }

  void begin(const btf::FilePair& pair) override {
    // For two files the sizes are known once they are open.
    if (!several_ && Progress::shown(context_.global)) start_progress();
    begun_ = true;
    progress_->clear();
    reports_.begin(pair);
    files_ = pair;
  }

  void take(const btf::TensorDiff& diff) override {
    progress_->clear();
    if (diff.error && errors_.pass()) context_.log.error(*diff.error);
    reports_.take(diff);
    picture_.note(files_, diff);
  }

  bool lists_missing() const override { return reports_.lists_missing(); }
  void missing(const btf::TensorDiff& diff) override { reports_.missing(diff); }

  std::optional<std::uint64_t> again() override { return picture_.pair(); }

  void files(btf::Result<btf::ComparedFiles> found) override { picture_.draw(context_, found); }

  void end(const btf::FilePair&, const btf::PairOutcome& outcome) override {
    progress_->clear();
    reports_.end(outcome);
    if (several_ && outcome.cause && errors_.pass()) context_.log.error(*outcome.cause);
  }

 private:
  btf::Result<int> compare() {
    btf::SetDiffOptions options = set_options(context_.global, command_);
    options.each.execution.cancel = &watch_interrupts();
    if (Progress::shown(context_.global))
      options.each.execution.progress = [this](std::uint64_t bytes) { progress_->advance(bytes); };
    if (command_.part)
      options.pick = [this](std::span<const btf::PlannedPair> pairs) {
        return reports_.pick(pairs);
      };
    const btf::Result<bool> same = btf::diff(sets_.actual, sets_.golden, options, *this);
    if (progress_) progress_->clear();
    if (command_.part) return end_part(same);
    if (!same && (!ready_ || same.error().code == btf::ErrorCode::cancelled))
      return std::unexpected(same.error());
    if (!same && !several_) {
      reports_.finish();
      return std::unexpected(same.error());
    }
    if (!same && !begun_) {
      reports_.refuse({command_.actual, command_.actual, command_.golden}, same.error());
      return std::unexpected(same.error());
    }
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (!same) context_.log.error(same.error());
    return reports_.finish();
  }

  // An error of a pair is recorded in the part. Any other error leaves the part unfinished.
  btf::Result<int> end_part(const btf::Result<bool>& same) {
    const bool failed_pair =
        !same && !several_ && begun_ && same.error().code != btf::ErrorCode::cancelled;
    if (!same && !failed_pair) return std::unexpected(same.error());
    if (!same) context_.log.error(same.error());
    return reports_.finish();
  }

  void start_progress() {
    const auto actual = sets_.actual.file(0);
    const auto golden = sets_.golden.file(0);
    if (actual && golden)
      progress_.emplace(context_.global, std::max((*actual)->size(), (*golden)->size()));
  }

  const Context& context_;
  const DiffCommand& command_;
  btf::TwoSets sets_;
  bool several_;
  DiffReports reports_;
  DifferencePicture picture_;
  btf::FilePair files_;  // the current pair
  std::optional<Progress> progress_;
  MessageLimit errors_;
  bool only_if_paired_ = false;
  bool unpaired_ = false;
  bool ready_ = false;  // the reports can take results
  bool begun_ = false;
};

std::string in_directory(const std::string& directory, const std::string& file) {
  return directory + (directory.ends_with('/') ? "" : "/") + file.substr(file.rfind('/') + 1);
}

// Returns true if tensors of the file may be single files in the directory: the directory has no
// file of the same name, and the file has several tensors, a named one, or options say how to pair
// them.
btf::Result<bool> may_be_split(const DiffCommand& command, bool actual_is_directory) {
  const std::string& directory = actual_is_directory ? command.actual : command.golden;
  const std::string& file = actual_is_directory ? command.golden : command.actual;
  const auto& open = actual_is_directory ? command.open_golden : command.open_actual;
  BTF_ASSIGN(const auto same_name, btf::FileState::of(in_directory(directory, file)));
  BTF_ASSIGN(const auto there, btf::FileState::of(file));
  std::error_code unknown;
  if (same_name || !there || !std::filesystem::is_regular_file(file, unknown)) return false;
  if (command.map || !command.pairs.empty() || command.diff.pair_by == btf::PairBy::number)
    return true;
  // Opened once more as what it is found to be; only an error of the system may not come again.
  const auto opened = btf::TensorFile::open(file, open);
  if (!opened && opened.error().code == btf::ErrorCode::io) return std::unexpected(opened.error());
  if (!opened || opened->tensor_count() != 1) return opened && opened->tensor_count() > 1;
  BTF_ASSIGN(const auto name, opened->own_name(0));
  return name.has_value();
}

btf::Result<int> compare_sets(const Context& context, const DiffCommand& command) {
  BTF_ASSIGN(btf::TwoSets sets,
             btf::open_sets(command.actual, command.golden, set_options(context.global, command)));
  return Comparison(context, command, std::move(sets)).run();
}

btf::Result<int> compare_files(const Context& context, const DiffCommand& command, bool left,
                               bool right) {
  std::string no_names;
  BTF_ASSIGN(const bool split, left != right ? may_be_split(command, left) : false);
  if (split) {
    BTF_ASSIGN(btf::TwoSets sets, btf::open_sets(command.actual, command.golden,
                                                 set_options(context.global, command)));
    Comparison single(context, command, std::move(sets));
    if (command.map) return single.run();
    BTF_ASSIGN(const std::optional<int> exit_code, single.run_if_paired());
    if (exit_code) return *exit_code;
    no_names = "; and no tensor of " + (left ? command.golden : command.actual) +
               " has the name of a tensor there: --pair-by number pairs them in their order, "
               "--map FILE gives the pairs";
  }
  if ((left || right) && (command.golden == "-" || command.actual == "-"))
    return btf::fail(btf::ErrorCode::invalid_argument,
                     "- (stdin) cannot be compared with a directory");
  const std::string actual = left ? in_directory(command.actual, command.golden) : command.actual;
  const std::string golden = right ? in_directory(command.golden, command.actual) : command.golden;
  BTF_ASSIGN(btf::TwoSets sets,
             btf::open_two_sets({actual, command.open_actual}, {golden, command.open_golden}));
  if (!no_names.empty())
    if (const auto file = (left ? sets.actual : sets.golden).file(0); !file) {
      btf::Error error = file.error();
      error.message += no_names;
      return Comparison(context, command, std::move(sets)).refuse(error);
    }
  return Comparison(context, command, std::move(sets)).run();
}

}  // namespace

btf::Result<std::optional<StatisticsPair>> read_statistics_pair(const std::string& actual_path,
                                                                const std::string& golden_path) {
  BTF_ASSIGN(auto actual, btf::read_statistics(actual_path));
  BTF_ASSIGN(auto golden, btf::read_statistics(golden_path));
  const auto without_elements = [](const auto& dump) { return dump && !dump->has_elements; };
  if (!without_elements(actual) && !without_elements(golden)) return std::nullopt;
  if (actual && golden) return StatisticsPair{*std::move(actual), *std::move(golden)};
  return std::unexpected(
      btf::Error{btf::ErrorCode::refused,
                 "holds only statistics, which can be compared with a dump of msprobe; " +
                     (actual ? golden_path : actual_path) + " is none"}
          .in_file((actual ? actual : golden)->path));
}

namespace {

// Returns the statistics that differ: "max 1.5 against 1.25, norm 3 against 2".
std::string differing_statistics(const btf::TensorStatistics& actual,
                                 const btf::TensorStatistics& golden) {
  std::string text;
  const auto add = [&](const char* what, const auto& left, const auto& right) {
    if (!left || !right || *left == *right || (std::isnan(*left) && std::isnan(*right))) return;
    text +=
        (text.empty() ? "" : ", ") + fmt::format("{} {:.6g} against {:.6g}", what, *left, *right);
  };
  add("max", actual.max, golden.max);
  add("min", actual.min, golden.min);
  add("mean", actual.mean, golden.mean);
  add("norm", actual.norm, golden.norm);
  return text.empty() ? "its bits, by their checksums" : text;
}

// Fails if options were given that need elements.
btf::Status check_statistics_options(const DiffCommand& command, const std::string& path) {
  if (command.comparison_options.empty() && !command.json && !command.summary && !command.junit &&
      !command.html && !command.image.path && !command.part && !command.map && !command.listed)
    return {};
  return std::unexpected(
      btf::Error{btf::ErrorCode::invalid_argument,
                 "holds only statistics: diff prints which of them differ, without tolerances and "
                 "reports; use btftool layers to judge the differences, with --json, --html and "
                 "--junit"}
          .in_file(path));
}

btf::Result<int> compare_statistics(const Context& context, const DiffCommand& command,
                                    const StatisticsPair& pair) {
  BTF_TRY(check_statistics_options(command,
                                   (pair.actual.has_elements ? pair.golden : pair.actual).path));
  BTF_ASSIGN(const btf::LayerReport report, btf::compare_statistics(pair.actual, pair.golden, {}));
  const auto by_name = [](const btf::StatisticsDump& dump) {
    std::map<std::string, const btf::TensorStatistics*> tensors;
    for (const btf::TensorStatistics& tensor : dump.tensors) tensors.emplace(tensor.name, &tensor);
    return tensors;
  };
  const auto actual = by_name(pair.actual);
  const auto golden = by_name(pair.golden);
  std::uint64_t differ = 0;
  std::uint64_t unknown = 0;
  std::string lines;
  const auto line = [&](const std::string& name, const std::string& text) {
    lines += printable(name) + ": " + text + "\n";
  };
  for (const btf::Layer& layer : report.layers) {
    const btf::TensorStatistics& left = *actual.at(layer.actual);
    const btf::TensorStatistics& right = *golden.at(layer.golden);
    if (layer.fault == btf::LayerFault::shape) {
      line(layer.golden, "different: shape " + btf::dims_text(left.dims) + " against " +
                             btf::dims_text(right.dims));
      ++differ;
    } else if (btf::statistics_differ(left, right)) {
      std::string least;
      if (layer.figures && layer.figures->relative_error > 0)
        least = ": an error of at least " + btf::percent_text(layer.figures->relative_error);
      line(layer.golden, "different: " + differing_statistics(left, right) + least);
      ++differ;
    } else if (!layer.figures) {
      line(layer.golden, "not compared: " + layer.trouble);
      ++unknown;
    } else if (command.all) {
      line(layer.golden, "same statistics");
    }
  }
  for (const auto* side : {&report.actual_only, &report.golden_only})
    for (const std::string& name : *side)
      line(name, side == &report.actual_only ? "only in actual" : "only in golden");
  const bool same = differ + report.actual_only.size() + report.golden_only.size() == 0;
  lines += same && unknown == 0
               ? fmt::format("same statistics: {} tensors; no elements were compared\n",
                             report.layers.size())
               : fmt::format(
                     "{}: {} of {} tensors differ by their statistics, {} could not be "
                     "compared, {} are on one side only; no elements were compared\n",
                     same ? "not all compared" : "different", differ, report.layers.size(), unknown,
                     report.actual_only.size() + report.golden_only.size());
  if (!context.global.quiet) context.out.text(lines);
  for (const std::string& text : report.warnings) context.log.warning(text);
  if (unknown > 0 && same) return kTrouble;
  return same ? kSame : kDifferent;
}

}  // namespace

btf::Result<int> run_diff(const Context& context, const DiffCommand& given) {
  BTF_ASSIGN(DiffCommand command, with_rules(given));
  if (command.image.path) {
    BTF_TRY(PictureTarget(command.image).check());
  }
  if (command.from_json) return run_rejudge(context, command);
  BTF_ASSIGN(const auto statistics, read_statistics_pair(command.actual, command.golden));
  if (statistics) return compare_statistics(context, command, *statistics);
  if (command.map) {
    BTF_ASSIGN(command.diff.map, read_name_map(context, *command.map));
  }
  BTF_ASSIGN(const bool left, btf::is_directory(command.actual));
  BTF_ASSIGN(const bool right, btf::is_directory(command.golden));
  BTF_ASSIGN(const bool actual_index, btf::is_index(command.actual));
  BTF_ASSIGN(const bool golden_index, btf::is_index(command.golden));
  return (left && right) || actual_index || golden_index
             ? compare_sets(context, command)
             : compare_files(context, command, left, right);
}

}  // namespace btftool

// diff() of two sets: compares the selected pairs.
#include "btf/set_diff.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "btf/share.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/resources.h"
#include "diff/sets/file_pairs.h"
#include "diff/sets/pair_preparation.h"
#include "diff/sides/tensor_pairs.h"
#include "elements/cast.h"
#include "formats/io/file_names.h"
#include "kernels/compare/compare_runs.h"
#include "sets/pairs/pair_queue.h"
#include "sets/pairs/pairs.h"

namespace btf {
namespace {

// What a shard compares of a pair: all of it, as item `number`, or some of its tensors.
struct SelectedPair {
  struct Tensor {
    std::uint64_t tensor = 0;
    std::uint64_t number = 0;  // of the item
  };
  std::uint64_t number = 0;
  std::vector<Tensor> tensors{};
};

class ShardSelection {
 public:
  ShardSelection(const TensorSet& actual, const TensorSet& golden, const SetDiffOptions& asked,
                 FilePairs& found)
      : actual_(actual), golden_(golden), requested_(asked), found_(found) {}

  // Keeps the pairs that `pick` chooses. `options`: those of each pair.
  Status choose(PairPreparation& preparation, const DiffOptions& options);
  // The choice for `pair`, which must be one of those kept.
  const SelectedPair& of(const MemberPair& pair) const;

 private:
  Result<PlannedPair> planned(const MemberPair& pair) const;
  Result<std::vector<PlannedTensor>> tensors_of(const MemberPair& pair,
                                                PairPreparation& preparation,
                                                DiffOptions options) const;

  const TensorSet& actual_;
  const TensorSet& golden_;
  const SetDiffOptions& requested_;
  FilePairs& found_;
  std::vector<SelectedPair> selected_;  // for each pair
};

// Replaces the number of a tensor.
constexpr std::uint64_t kWholePair = UINT64_MAX;

// All shards must make the same plan, so an error of the system, which another one may not get,
// ends a shard; any other comes to all of them alike, and is reported with its item.
Result<std::uint64_t> bytes_of_tensor(const TensorSet& set,
                                      const std::optional<std::uint64_t>& member,
                                      const std::optional<std::uint64_t>& tensor) {
  if (!member || !tensor) return 0;
  const auto file = set.file(*member);
  const auto info = file ? (*file)->tensor(*tensor) : std::unexpected(file.error());
  if (!info && is_system_error(info.error())) return std::unexpected(info.error());
  return info ? info->data_bytes : 0;
}

Result<PlannedPair> planned(const FilePair& other) {
  PlannedPair plan{.name = other.name};
  BTF_ASSIGN(const auto actual, FileState::of(other.actual));
  BTF_ASSIGN(const auto golden, FileState::of(other.golden));
  if (actual) plan.actual_bytes = actual->bytes;
  if (golden) plan.golden_bytes = golden->bytes;
  plan.bytes = plan.actual_bytes + plan.golden_bytes;
  return plan;
}

Result<PlannedPair> ShardSelection::planned(const MemberPair& pair) const {
  PlannedPair plan{.name = found_.several ? pair.name : std::string_view()};
  if (pair.actual) {
    BTF_ASSIGN(plan.actual_bytes, actual_.bytes(*pair.actual));
  }
  if (pair.golden) {
    BTF_ASSIGN(plan.golden_bytes, golden_.bytes(*pair.golden));
  }
  plan.bytes = plan.actual_bytes + plan.golden_bytes;
  if (!pair.of_tensors()) return plan;
  BTF_ASSIGN(const auto actual, bytes_of_tensor(actual_, pair.actual, pair.actual_tensor));
  BTF_ASSIGN(const auto golden, bytes_of_tensor(golden_, pair.golden, pair.golden_tensor));
  plan.bytes = actual + golden;
  return plan;
}

// The pairs of tensors of two files. Empty if they are a single item, as when they cannot be
// compared.
Result<std::vector<PlannedTensor>> ShardSelection::tensors_of(const MemberPair& pair,
                                                              PairPreparation& preparation,
                                                              DiffOptions options) const {
  std::vector<PlannedTensor> tensors;
  if (!requested_.pick_tensors || pair.of_tensors() || !pair.actual || !pair.golden ||
      preparation.trouble(pair) != nullptr || !preparation.narrow(pair, options))
    return tensors;
  Result<PreparedPair> ready = preparation.prepare(pair, std::move(options));
  if (!ready && is_system_error(ready.error())) return std::unexpected(ready.error());
  if (!ready) return tensors;
  ready->options.pick = [&](std::span<const PlannedTensor> all) {
    tensors.assign(all.begin(), all.end());
    return std::vector<std::uint64_t>();
  };
  const auto compared = diff(*ready->actual, *ready->golden, ready->options, {});
  if (!compared && is_system_error(compared.error())) return std::unexpected(compared.error());
  return compared ? tensors : std::vector<PlannedTensor>();
}

Status ShardSelection::choose(PairPreparation& preparation, const DiffOptions& options) {
  std::vector<PlannedPair> all;
  std::vector<SelectedPair::Tensor>
      of;  // for each item that is not another file: its tensor and pair
  std::deque<std::string> names;
  for (std::uint64_t i = 0; i < found_.pairs.size(); ++i) {
    BTF_ASSIGN(const PlannedPair whole, planned(found_.pairs[i]));
    BTF_ASSIGN(const std::vector<PlannedTensor> tensors,
               tensors_of(found_.pairs[i], preparation, options));
    for (std::uint64_t t = 0; t < tensors.size(); ++t) {
      PlannedPair& item = all.emplace_back(whole);
      item.name = names.emplace_back(std::string(whole.name) + "\n" + tensors[t].name);
      item.bytes = tensors[t].bytes;
      of.push_back({.tensor = t, .number = i});
    }
    if (!tensors.empty()) continue;
    all.push_back(whole);
    of.push_back({.tensor = kWholePair, .number = i});
  }
  if (options.strict)
    for (const FilePair& other : found_.others) {
      BTF_ASSIGN(const PlannedPair plan, btf::planned(other));
      all.push_back(plan);
    }
  BTF_ASSIGN(const std::vector<std::uint64_t> picked, requested_.pick(all));
  const bool ascending = std::ranges::is_sorted(picked, std::ranges::less_equal());
  if (!ascending || (!picked.empty() && picked.back() >= all.size()))
    return fail(ErrorCode::invalid_argument,
                "numbers of pairs ascend, and are below " + std::to_string(all.size()));
  std::vector<MemberPair> kept;
  std::vector<FilePair> others;
  std::uint64_t last = UINT64_MAX;
  for (const std::uint64_t number : picked) {
    if (number >= of.size()) {
      others.push_back(std::move(found_.others[number - of.size()]));
      others.back().number = number;
      continue;
    }
    const auto [tensor, pair] = of[number];
    if (std::exchange(last, pair) != pair) {
      kept.push_back(std::move(found_.pairs[pair]));
      selected_.push_back({.number = number});
    }
    if (tensor != kWholePair) selected_.back().tensors.push_back({tensor, number});
  }
  found_.pairs = std::move(kept);
  found_.others = std::move(others);
  return {};
}

const SelectedPair& ShardSelection::of(const MemberPair& pair) const {
  static const SelectedPair kWhole;
  return requested_.pick ? selected_[static_cast<std::size_t>(&pair - found_.pairs.data())]
                         : kWhole;
}

class Comparison {
 public:
  Comparison(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options, FilePairs found,
             SetDiffSink& sink)
      : actual_(actual),
        golden_(golden),
        requested_(options),
        found_(std::move(found)),
        sink_(sink),
        index_(found_.several && golden.order_given()),
        preparation_(actual, golden, options, found_),
        picked_(actual, golden, options, found_),
        options_(options.each),
        workers_(worker_count(options.each.execution, UINT64_MAX, UINT64_MAX)),
        queue_(limits(workers_), options.each.execution) {}

  Result<bool> run() {
    BTF_TRY(begin());
    options_.may_compare_nothing = found_.several;
    options_.go_on = true;
    if (!requested_.tensor_tolerances.empty())
      options_.pair_tolerance = [this](const TensorDiff& diff) { return tolerance_of(diff); };
    if (found_.several) BTF_TRY(preparation_.check_selection());
    if (requested_.pick) BTF_TRY(picked_.choose(preparation_, options_));
    open_pairs_ahead(actual_, golden_, found_.pairs, options_.execution);
    for (const MemberPair& pair : found_.pairs) {
      DiffOptions options = options_;
      if (!preparation_.narrow(pair, options)) continue;
      const SelectedPair& chosen = picked_.of(pair);
      BTF_TRY(chosen.tensors.empty() ? take(pair, std::move(options))
                                     : take_tensors(pair, std::move(options), chosen));
    }
    BTF_TRY(queue_.drain());
    if (options_.strict) BTF_TRY(take_others());
    if (found_.several && !requested_.pick && same_ && compared_ == 0)
      return fail(ErrorCode::refused, "nothing was compared: no tensor in " + actual_.path() +
                                          " and " + golden_.path() + " has an element");
    if (const auto wanted = requested_.pick ? std::nullopt : sink_.again())
      sink_.files(files(*wanted));
    return same_;
  }

 private:
  // Opens a pair's files again, with the options by which it was compared.
  Result<ComparedFiles> files(std::uint64_t number) {
    const auto& pairs = found_.pairs;
    if (number >= pairs.size() || !pairs[number].actual || !pairs[number].golden)
      return fail(ErrorCode::invalid_argument,
                  "no pair " + std::to_string(number) + " has both files");
    DiffOptions options = options_;
    preparation_.narrow(pairs[number], options);
    BTF_ASSIGN(PreparedPair ready, preparation_.prepare(pairs[number], std::move(options)));
    ready.options.execution.progress = {};
    return ComparedFiles{std::move(ready.actual), std::move(ready.golden),
                         std::move(ready.options)};
  }

  // A pair that is compared on a thread; its tensors are kept until earlier pairs are reported.
  class Job final : public QueuedPair {
   public:
    Job(Comparison& of, PreparedPair pair)
        : of_(of), pair_(std::move(pair)), bytes_(pair_.bytes()) {}

    Status compare() override {
      DiffOptions options = pair_.options;
      options.execution = {.jobs = 1,
                           .memory = of_.options_.execution.memory / of_.workers_,
                           .cancel = of_.options_.execution.cancel};
      tensors_.clear();
      Result<FileDifferences> found = about(pair_);
      if (found) {
        about_ = *std::move(found);
        same_ = diff(*pair_.actual, *pair_.golden, options,
                     [this](const TensorDiff& diff) { tensors_.push_back(diff); });
      } else {
        same_ = std::unexpected(found.error());
      }
      pair_.actual.reset();
      pair_.golden.reset();
      return {};
    }

    Status deliver(const Status& compared) override {
      if (!compared && compared.error().code != ErrorCode::no_space)
        return std::unexpected(compared.error());
      // Memory may suffice for one pair at a time.
      if (!compared) return of_.compare(pair_);
      of_.begin(pair_.files);
      for (const TensorDiff& diff : tensors_) of_.take(diff);
      BTF_TRY(of_.end(same_, std::move(about_)));
      if (of_.options_.execution.progress) of_.options_.execution.progress(bytes_);
      return {};
    }

   private:
    Comparison& of_;
    PreparedPair pair_;
    std::uint64_t bytes_;
    Result<bool> same_ = false;
    FileDifferences about_;
    std::vector<TensorDiff> tensors_;
  };

  // Files of waiting pairs are open.
  static PairQueueLimits limits(unsigned workers) {
    constexpr std::size_t kForEach = 8;  // so that a slow pair does not make others wait
    constexpr std::size_t kUnreported = 4;
    const std::size_t waiting = workers > 1 ? open_files(kForEach * workers) : 1;
    return {.workers = waiting > 1 ? workers : 1,
            .max_waiting = waiting,
            .max_undelivered = kUnreported * waiting};
  }

  Status begin() {
    BTF_TRY(preparation_.check_map(found_.map));
    BTF_ASSIGN(const PairsFound all, all_pairs());
    BTF_TRY(sink_.found(all));
    warn_of(found_.map);
    if (found_.several) options_.map = {};  // all its pairs exist by now
    for (const std::string& glob : found_.idle_excludes)
      sink_.warn("no file matches `exclude` '" + glob + "'");
    return {};
  }

  Result<PairsFound> all_pairs() const {
    PairsFound all{.several = found_.several};
    for (const MemberPair& pair : found_.pairs) {
      all.whole += pair.actual && pair.golden ? 1 : 0;
      if (!found_.several || !options_.execution.progress) continue;
      std::uint64_t larger = 0;
      for (const auto& [set, member] :
           {std::pair(&actual_, pair.actual), {&golden_, pair.golden}}) {
        if (!member) continue;
        BTF_ASSIGN(const std::uint64_t bytes, set->bytes(*member));
        larger = std::max(larger, bytes);
      }
      all.bytes += larger;
    }
    return all;
  }

  void warn_of(const MapUse& use) {
    for (const std::string& unused : use.unused)
      sink_.warn((requested_.map_path.empty() ? "" : requested_.map_path + ": ") + unused);
  }

  Tolerance tolerance_of(const TensorDiff& diff) const {
    const Tolerance all =
        requested_.each.pair_tolerance ? requested_.each.pair_tolerance(diff) : Tolerance();
    return overlaid(all, tolerance_by_name(requested_.tensor_tolerances, diff));
  }

  FilePair files_of(const MemberPair& pair) const {
    // Names in one index belong to one tensor each, and so do those that made a pair of tensors.
    const bool tells_file = !index_ && !pair.of_tensors();
    FilePair files{.name = pair.name, .actual = {}, .golden = {}, .tells_file = tells_file};
    const auto at = static_cast<std::uint64_t>(&pair - found_.pairs.data());
    files.number = requested_.pick ? picked_.of(pair).number : at;
    if (pair.actual) files.actual = actual_.path(*pair.actual);
    if (pair.golden) files.golden = golden_.path(*pair.golden);
    // An error here is that of the pair, or occurs again in opened_files_of().
    if (pair.tier)
      if (const auto file = actual_.file(*pair.actual))
        files.actual_name = (*file)->name(*pair.actual_tensor).value_or("");
    return files;
  }

  // The same for files that were opened, with what is known by that.
  Result<FilePair> opened_files_of(const MemberPair& pair) const {
    FilePair files = files_of(pair);
    if (pair.actual) {
      BTF_ASSIGN(files.actual_state, actual_.state(*pair.actual));
    }
    if (pair.golden) {
      BTF_ASSIGN(files.golden_state, golden_.state(*pair.golden));
    }
    if (pair.tier) {
      BTF_ASSIGN(const auto file, actual_.file(*pair.actual));
      BTF_ASSIGN(files.actual_name, file->name(*pair.actual_tensor));
    }
    return files;
  }

  // An error ends the comparison; trouble with this pair is only reported.
  Status take(const MemberPair& pair, DiffOptions options) {
    const Error* const unusable = preparation_.trouble(pair);
    if (unusable == nullptr && pair.actual && pair.golden) {
      const bool maps = !options.map.empty();
      Result<PreparedPair> ready = preparation_.prepare(pair, std::move(options));
      if (maps && preparation_.map().used) warn_of(preparation_.map());
      if (ready) {
        BTF_ASSIGN(ready->files, opened_files_of(pair));
      }
      if (ready && may_wait(pair, *ready))
        return queue_.add(std::make_unique<Job>(*this, *std::move(ready)), 0);
      BTF_TRY(queue_.drain());
      if (ready) return compare(*ready);
      begin(files_of(pair));
      return end(ready.error());
    }
    BTF_TRY(queue_.drain());
    if (unusable != nullptr) {
      begin(files_of(pair));
      return end(*unusable);
    }
    BTF_ASSIGN(const FilePair files, opened_files_of(pair));
    begin(files);
    return one_sided(pair, options);
  }

  // Compares each tensor as a pair of its own.
  Status take_tensors(const MemberPair& pair, DiffOptions options, const SelectedPair& chosen) {
    BTF_TRY(queue_.drain());
    Result<PreparedPair> ready = preparation_.prepare(pair, std::move(options));
    FilePair files = files_of(pair);
    if (ready) {
      BTF_ASSIGN(files, opened_files_of(pair));
    }
    auto next = chosen.tensors.begin();
    const auto begin_next = [&] {
      files.number = next->number;
      files.tensor = next->tensor;
      ++next;
      begin(files);
    };
    Result<bool> same = std::unexpected(ready ? Error() : ready.error());
    Status ended;
    if (ready) {
      ready->options.pick = [&](std::span<const PlannedTensor>) {
        std::vector<std::uint64_t> numbers;
        for (const SelectedPair::Tensor& one : chosen.tensors) numbers.push_back(one.tensor);
        return numbers;
      };
      Result<FileDifferences> found = about(*ready);
      const auto take_next = [&](const TensorDiff& diff) {
        begin_next();
        take(diff);
        // Differences of the files are reported once, with their first tensor.
        FileDifferences own = files.tensor == 0 ? *std::move(found) : FileDifferences();
        const bool alike = diff.result == DiffResult::same && own.all.empty();
        if (ended) ended = end(alike, std::move(own));
      };
      same = found ? diff(*ready->actual, *ready->golden, ready->options, take_next)
                   : std::unexpected(found.error());
    }
    BTF_TRY(ended);
    while (!same && next != chosen.tensors.end()) {
      begin_next();
      BTF_TRY(end(same.error()));
    }
    return {};
  }

  void begin(const FilePair& pair) {
    pair_ = pair;
    troubled_ = 0;
    sink_.begin(pair_);
  }

  static Result<FileDifferences> about(const PreparedPair& pair) {
    return file_differences(*pair.actual, *pair.golden, pair.options.strict);
  }

  // Compares the tensors of a pair and reports each as it is found.
  Status compare(const PreparedPair& pair) {
    begin(pair.files);
    Result<FileDifferences> found = about(pair);
    if (!found) return end(found.error());
    const auto same = diff(*pair.actual, *pair.golden, pair.options,
                           [this](const TensorDiff& diff) { take(diff); });
    return end(same, *std::move(found));
  }

  void take(const TensorDiff& diff) {
    if (diff.error && troubled_++ == 0) first_trouble_ = diff.error->text();
    if (!diff.error) compared_ += diff.compared;
    sink_.take(diff);
  }

  Status end(const Result<bool>& same, FileDifferences about = {}) {
    if (!same) return end(same.error());
    compared_ += about.all.empty() ? 0 : 1;
    if (troubled_ > 0)
      return end(PairOutcome{.result = PairResult::trouble,
                             .error = trouble_of_tensors(first_trouble_, troubled_),
                             .files = std::move(about)});
    return end(
        {.result = *same ? PairResult::same : PairResult::different, .files = std::move(about)});
  }

  // No report after an interrupt. With a single pair, its error is the result.
  Status end(const Error& error) {
    if (error.code == ErrorCode::cancelled) return std::unexpected(error);
    BTF_TRY(end({.result = PairResult::trouble, .error = error.text(), .cause = error}));
    return found_.several ? Status() : std::unexpected(error);
  }

  Status end(const PairOutcome& outcome) {
    const bool same = outcome.result == PairResult::same;
    same_in_a_row_ = same ? same_in_a_row_ + 1 : 0;
    same_ = same_ && same;
    sink_.end(pair_, outcome);
    return {};
  }

  // Whether the pair may be compared concurrently. Equal small files cost little more than opening
  // them. If one differs, searching for causes takes far longer, and the next ones will probably
  // differ too.
  bool may_wait(const MemberPair& pair, const PreparedPair& ready) const {
    constexpr std::uint64_t kMaxSame = 16;
    constexpr std::uint64_t kSmall = 4U << 20;
    constexpr std::uint64_t kFewTensors = 64;
    const auto small = [](const TensorFile& file) {
      return file.size() <= kSmall && file.tensor_count() <= kFewTensors;
    };
    // Pairs of tensors share their files with others.
    return same_in_a_row_ < kMaxSame && workers_ > 1 && !pair.of_tensors() &&
           small(*ready.actual) && small(*ready.golden);
  }

  // A missing tensor is reported by itself, a missing file as a whole.
  Status one_sided(const MemberPair& pair, const DiffOptions& options) {
    const bool tensor = pair.of_tensors();
    if (tensor || sink_.lists_missing()) {
      const Status listed = list_missing(pair, options, tensor);
      if (tensor && !listed) return end(listed.error());
    }
    return end({.result = tensor ? PairResult::different : PairResult::missing});
  }

  // The tensors of a file that only one side has.
  Status list_missing(const MemberPair& pair, const DiffOptions& options, bool compared) {
    const auto& list = pair.actual ? options.actual_tensors : options.golden_tensors;
    BTF_ASSIGN(const auto file,
               pair.actual ? actual_.file(*pair.actual) : golden_.file(*pair.golden));
    std::vector<std::uint64_t> selected;
    if (list) {
      selected = *list;
    } else {
      BTF_ASSIGN(selected, TensorSet::of(*file).select(requested_.tensors.value_or("*")));
    }
    for (const std::uint64_t index : selected) {
      BTF_ASSIGN(const TensorInfo tensor, file->tensor(index));
      if (!tensor.known()) continue;
      TensorDiff diff = missing_tensor(tensor, !pair.actual, pair.note);
      compared ? take(diff) : sink_.missing(diff);
    }
    return {};
  }

  Status take_others() {
    for (std::size_t i = 0; i < found_.others.size(); ++i) {
      FilePair& pair = found_.others[i];
      if (!requested_.pick) pair.number = found_.pairs.size() + i;
      const Result<PairOutcome> outcome = compare_bytes(pair);
      if (outcome && outcome->result == PairResult::same) continue;
      begin(pair);
      BTF_TRY(outcome ? end(*outcome) : end(outcome.error()));
    }
    return {};
  }

  TensorSet& actual_;
  TensorSet& golden_;
  const SetDiffOptions& requested_;
  FilePairs found_;
  SetDiffSink& sink_;
  bool index_;  // golden is an index
  PairPreparation preparation_;
  ShardSelection picked_;
  DiffOptions options_;
  unsigned workers_;
  FilePair pair_;               // the pair being reported
  std::uint64_t troubled_ = 0;  // how many of its tensors have trouble
  std::string first_trouble_;
  std::uint64_t same_in_a_row_ = UINT64_MAX / 2;  // pairs; no pair has differed yet
  bool same_ = true;
  std::uint64_t compared_ = 0;  // elements
  PairQueue queue_;             // last member, so that it is destroyed first
};

}  // namespace

SetDiffSink::~SetDiffSink() = default;

std::string FilePair::both_names() const {
  return actual_name.empty() ? name : actual_name + " against " + name;
}

Error no_element_compared(const std::string& actual_path) {
  return Error{ErrorCode::refused, "nothing was compared: no tensor has an element"}.in_file(
      actual_path);
}

std::string trouble_of_tensors(const std::string& first, std::uint64_t count) {
  if (count == 1) return first;
  return first + "; " + std::to_string(count - 1) +
         (count == 2 ? " more tensor" : " more tensors") + " cannot be compared";
}

bool is_for(const TensorTolerance& given, const TensorDiff& diff) {
  if (!given.glob)
    return diff.actual && diff.actual->index == static_cast<std::uint64_t>(given.tensor);
  return (diff.actual && glob_matches(*given.glob, diff.actual->name)) ||
         (diff.golden && glob_matches(*given.glob, diff.golden->name));
}

Tolerance tolerance_by_name(const std::vector<TensorTolerance>& given, const TensorDiff& diff) {
  Tolerance tolerance;
  for (const TensorTolerance& one : given)
    if (one.glob && is_for(one, diff)) tolerance = overlaid(tolerance, one.tolerance);
  return tolerance;
}

Result<bool> diff(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options,
                  SetDiffSink& sink) {
  BTF_ASSIGN(FilePairs found, find_pairs(actual, golden, options));
  return Comparison(actual, golden, options, std::move(found), sink).run();
}

}  // namespace btf

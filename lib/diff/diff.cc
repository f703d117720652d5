// diff() of two tensors and of two files, and how files differ in attributes besides their tensors.
#include "btf/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/file.h"
#include "btf/set_diff.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/layout.h"
#include "diff/graphs/model_differences.h"
#include "diff/loaded_pair.h"
#include "diff/score/compare_walk.h"
#include "diff/score/figures.h"
#include "diff/sides/tensor_pairs.h"
#include "diff/verdict.h"
#include "elements/cast.h"
#include "formats/io/byte_source.h"
#include "kernels/compare/compare_runs.h"
#include "sets/pairs/pair_queue.h"

namespace btf {
namespace {

// How two files differ in links with scales and zero points, roles and metadata, as text; empty if
// nothing differs. Files of two formats are compared only in what both have. The program that wrote
// a file and the order of entries are not compared.
class AttributeDifferences {
 public:
  // Fails if a file's attributes cannot be read. The files must outlive this.
  static Result<AttributeDifferences> of(const TensorFile& actual, const TensorFile& golden);

  std::string of_tensors(std::uint64_t actual, std::uint64_t golden) const;
  std::vector<FileDifference> of_files() const;

 private:
  struct Side {
    const TensorFile* file = nullptr;
    FileAttributes attributes{};

    const TensorAttributes& tensor(std::uint64_t index) const;
    std::string name(const std::optional<std::uint64_t>& index) const;
  };

  Side actual_;
  Side golden_;
};

constexpr std::size_t kLongest = 60;
constexpr std::size_t kBefore = 10;

// Collects differences like "axis 0 against 1".
class Differences {
 public:
  // `both`: ignores what only one side has.
  explicit Differences(bool both) : both_(both) {}

  // An empty text means that the side does not have it.
  void compare(const std::string& what, const std::string& actual, const std::string& golden) {
    if (actual == golden || (both_ && (actual.empty() || golden.empty()))) return;
    const auto said = [](const std::string& text) { return text.empty() ? "none" : text; };
    add(what + " " + said(actual) + " against " + said(golden));
  }

  void compare(const std::string& what, const std::map<std::string, std::string>& actual,
               const std::map<std::string, std::string>& golden) {
    for (const auto& [key, value] : actual) {
      const auto other = golden.find(key);
      if (other == golden.end())
        compare(of(what, key), quoted(value, 0), "");
      else if (value != other->second)
        compare_values(of(what, key), value, other->second);
    }
    for (const auto& [key, value] : golden)
      if (!actual.contains(key)) compare(of(what, key), "", quoted(value, 0));
  }

  static std::string quoted(const std::string& value, std::size_t begin) {
    const std::string part = value.substr(begin, kLongest);
    return (begin > 0 ? "'..." : "'") + part + (begin + part.size() < value.size() ? "...'" : "'");
  }

  // Cuts long texts to the part where they begin to differ.
  static std::pair<std::string, std::string> differing_parts(const std::string& actual,
                                                             const std::string& golden) {
    const auto alike =
        static_cast<std::size_t>(std::ranges::mismatch(actual, golden).in1 - actual.begin());
    const bool is_long = std::max(actual.size(), golden.size()) > kLongest;
    const std::size_t begin = is_long && alike > kBefore ? alike - kBefore : 0;
    return {quoted(actual, begin), quoted(golden, begin)};
  }

  std::string take() {
    if (more_ > 0) text_ += ", and " + std::to_string(more_) + " more";
    return std::move(text_);
  }

 private:
  static constexpr std::size_t kMax = 5;

  static std::string of(const std::string& what, const std::string& key) {
    return what + " '" + key + "'";
  }

  void compare_values(const std::string& what, const std::string& actual,
                      const std::string& golden) {
    const auto [left, right] = differing_parts(actual, golden);
    compare(what, left, right);
  }

  void add(const std::string& text) {
    if (++count_ > kMax)
      ++more_;
    else
      text_ += (text_.empty() ? "" : ", ") + text;
  }

  bool both_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t more_ = 0;
};

std::string kind_text(ScaleOf kind) {
  return std::string(std::ranges::find(scale_of_names(), kind, &Named<ScaleOf>::value)->name);
}

std::string number_or_none(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "";
}

std::string layout_name(Layout layout) {
  const LayoutSpec& row = spec(layout);
  return std::string(row.name) + (row.dla.empty() ? "" : " of " + std::string(row.dla));
}

// Prepends a difference of dtypes or layouts to the pair's reason.
void note_types(TensorDiff& diff) {
  const DiffTensor& actual = *diff.actual;
  const DiffTensor& golden = *diff.golden;
  std::string types;
  if (actual.dtype != golden.dtype)
    types = "dtype " + std::string(info(actual.dtype).name) + " against " +
            std::string(info(golden.dtype).name);
  if (actual.layout != golden.layout)
    types += (types.empty() ? "layout " : ", layout ") + layout_name(actual.layout) + " against " +
             layout_name(golden.layout);
  if (!types.empty()) diff.reason = types + (diff.reason.empty() ? "" : ", ") + diff.reason;
}

Result<AttributeDifferences> AttributeDifferences::of(const TensorFile& actual,
                                                      const TensorFile& golden) {
  AttributeDifferences found;
  found.actual_.file = &actual;
  found.golden_.file = &golden;
  BTF_ASSIGN(found.actual_.attributes, actual.attributes());
  BTF_ASSIGN(found.golden_.attributes, golden.attributes());
  return found;
}

const TensorAttributes& AttributeDifferences::Side::tensor(std::uint64_t index) const {
  static const TensorAttributes kNone;
  const auto found = attributes.tensors.find(index);
  return found == attributes.tensors.end() ? kNone : found->second;
}

std::string AttributeDifferences::Side::name(const std::optional<std::uint64_t>& index) const {
  if (!index) return "";
  const auto own = file->own_name(*index);
  return own && *own ? "'" + **own + "'" : "tensor " + std::to_string(*index);
}

std::string AttributeDifferences::of_tensors(std::uint64_t actual, std::uint64_t golden) const {
  Differences found(actual_.file->format() != golden_.file->format());
  const TensorAttributes& left = actual_.tensor(actual);
  const TensorAttributes& right = golden_.tensor(golden);
  found.compare("role", left.role, right.role);
  found.compare("attribute", left.others, right.others);
  const QuantizedBy none;
  const QuantizedBy& a = left.quantized ? *left.quantized : none;
  const QuantizedBy& b = right.quantized ? *right.quantized : none;
  found.compare("scales", left.quantized ? actual_.name(a.scale) : "",
                right.quantized ? golden_.name(b.scale) : "");
  if (!left.quantized || !right.quantized) return found.take();
  if (a.kind != b.kind) found.compare("scales for each", kind_text(a.kind), kind_text(b.kind));
  found.compare("axis of the scales", number_or_none(a.axis), number_or_none(b.axis));
  found.compare("block of the scales", number_or_none(a.block), number_or_none(b.block));
  found.compare("scale of all blocks", actual_.name(a.global_scale), golden_.name(b.global_scale));
  if (a.global_reciprocal != b.global_reciprocal)
    found.compare("scale of all blocks is", a.global_reciprocal ? "divided by" : "multiplied",
                  b.global_reciprocal ? "divided by" : "multiplied");
  found.compare("zero points", actual_.name(a.zero_point), golden_.name(b.zero_point));
  found.compare("attribute of the scales", a.others, b.others);
  return found.take();
}

std::vector<FileDifference> AttributeDifferences::of_files() const {
  std::vector<FileDifference> all;
  const bool both = actual_.file->format() != golden_.file->format();
  const auto compare = [&](const std::string& part,
                           const std::map<std::string, std::string>& actual,
                           const std::map<std::string, std::string>& golden) {
    for (const auto& [key, value] : actual) {
      const auto other = golden.find(key);
      if (other == golden.end()) {
        if (!both) all.push_back({part, key, "", Differences::quoted(value, 0), ""});
        continue;
      }
      if (value == other->second) continue;
      const auto [left, right] = Differences::differing_parts(value, other->second);
      all.push_back({part, key, "", left, right});
    }
    for (const auto& [key, value] : golden)
      if (!both && !actual.contains(key))
        all.push_back({part, key, "", "", Differences::quoted(value, 0)});
  };
  compare("metadata", actual_.attributes.metadata, golden_.attributes.metadata);
  compare("attribute", actual_.attributes.others, golden_.attributes.others);
  return all;
}

}  // namespace

std::string FileDifference::text() const {
  const auto said = [](const std::string& value) { return value.empty() ? "none" : value; };
  std::string text = part;
  if (!subject.empty()) text += " '" + subject + "'";
  if (!subject.empty() || !what.empty()) text += ":";
  if (!what.empty()) text += " " + what;
  return text + " " + said(actual) + " against " + said(golden);
}

Result<FileDifferences> file_differences(const TensorFile& actual, const TensorFile& golden,
                                         bool strict) {
  FileDifferences found;
  auto models = ModelDifferences::of(actual, golden);
  if (!models && is_read_error(models.error())) return std::unexpected(models.error());
  if (!strict) {
    found.uncompared =
        models ? models->summary()
               : "only tensors were compared; the graphs cannot be: " + models.error().text();
    return found;
  }
  if (!models) return std::unexpected(models.error());
  BTF_ASSIGN(const auto attributes, AttributeDifferences::of(actual, golden));
  found.graphs = models->models;
  found.all = attributes.of_files();
  std::ranges::move(models->all, std::back_inserter(found.all));
  return found;
}

namespace {

// The tolerance for this pair.
Tolerance tolerance_for(const DiffOptions& options, const TensorDiff& diff) {
  Tolerance asked = options.tolerance;
  if (options.pair_tolerance) asked = overlaid(asked, options.pair_tolerance(diff));
  const auto special = options.tensor_tolerance.find(diff.actual->index);
  if (special != options.tensor_tolerance.end()) asked = overlaid(asked, special->second);
  return asked;
}

// Keeps the properties of the grid that are needed to judge a saved report again.
void note_grid(const Grid& grid, DiffTensor& tensor) {
  tensor.text_digits = grid.digits;
  tensor.text_fixed = grid.fixed;
  if (grid.codes && grid.scales.size() == 1) tensor.scale = grid.scales.front();
}

Status compare(const DiffSide& actual, const DiffSide& golden, const Tolerance& asked,
               const DiffOptions& options, TensorDiff& diff) {
  diff.tolerance = effective(asked, actual.grid(), golden.grid());
  note_grid(actual.grid(), *diff.actual);
  note_grid(golden.grid(), *diff.golden);
  const Judge judge = judge_of(diff.tolerance, actual, golden);
  if (asked.ulp && (judge.actual.scale() == 0.0 || judge.golden.scale() == 0.0))
    return fail(ErrorCode::invalid_argument,
                "steps of a scale: the tensor has several scales; use `tolerance.atol` or "
                "`tolerance.rtol`");
  if (options.gates.top_k) {
    const Status fits = check_top_k(actual, golden, *options.gates.top_k, options.execution);
    if (!fits) return std::unexpected(fits.error().of_tensor(diff.actual->index));
  }
  BTF_ASSIGN(const CompareScore score, score_pairs(actual, golden, judge, options.execution));
  diff.compared = score.compared;
  diff.mismatched = score.mismatched;
  diff.max_abs = score.max_abs;
  diff.max_rel = score.max_rel;
  diff.max_ulp = score.max_ulp;
  diff.nan = score.nan;
  diff.inf = score.inf;
  if (score.tolerable && std::isfinite(score.least_atol)) diff.required_atol = score.least_atol;
  if (score.tolerable && std::isfinite(score.least_rtol)) diff.required_rtol = score.least_rtol;
  return complete(actual, golden, judge, options, score, diff);
}

// For sides whose dims are equal after the edits.
Status compare_edited(const MakeSide& actual, const MakeSide& golden, const Tolerance& asked,
                      const DiffOptions& options, TensorDiff& diff) {
  BTF_ASSIGN(const ShapeEdits edits, shape_edits(diff.actual->dims, diff.golden->dims, options));
  const Dims actual_dims = diff.actual->dims;
  BTF_ASSIGN(diff.actual->dims, edited_dims(actual_dims, edits.actual));
  BTF_ASSIGN(diff.golden->dims, edited_dims(diff.golden->dims, edits.golden));
  if (options.strict) note_types(diff);
  if (diff.actual->dims == diff.golden->dims) {
    BTF_ASSIGN(const auto left, actual(edits.actual));
    BTF_ASSIGN(const auto right, golden(edits.golden));
    return compare(*left, *right, asked, options, diff);
  }
  diff.result = DiffResult::shape;
  diff.reason =
      "shape " + dims_text(diff.actual->dims) + " against " + dims_text(diff.golden->dims);
  if (!options.hints) return {};
  BTF_ASSIGN(diff.hints, find_shape_hints(actual, golden, edits, asked, diff, options.execution));
  return {};
}

// Pairs of fewer bytes are compared concurrently, since a single one would keep only one thread
// busy.
constexpr std::uint64_t kSmall = 4U << 20;

// Pairs of fewer bytes are not worth a thread by themselves.
constexpr std::uint64_t kTiny = 128U << 10;

class FileDiff {
 public:
  FileDiff(const TensorFile& actual, const TensorFile& golden, const DiffOptions& options,
           const TensorDiffSink& report, PairLoader loader)
      : actual_(actual),
        golden_(golden),
        options_(options),
        report_(report),
        loader_(std::move(loader)) {}

  Result<bool> run() {
    if (options_.strict) {
      BTF_ASSIGN(attributes_, AttributeDifferences::of(actual_, golden_));
      BTF_ASSIGN(const FileDifferences files, file_differences(actual_, golden_, true));
      graphs_ = files.graphs;
      same_ = files.all.empty();
    }
    TensorPairs::Candidates candidates;
    if (options_.dequantize) {
      loader_.actual_scales().leave_out(actual_, golden_, candidates.actual);
      loader_.golden_scales().leave_out(golden_, actual_, candidates.golden);
    }
    BTF_ASSIGN(const TensorPairs pairs, TensorPairs::of(actual_, golden_, options_, candidates));
    const bool may_be_none = options_.may_compare_nothing || options_.pick || graphs_;
    if (pairs.size() == 0 && !may_be_none)
      return std::unexpected(
          Error{ErrorCode::refused, "nothing was compared: there is no tensor on either side"}
              .in_file(actual_.path()));
    BTF_ASSIGN(const std::vector<std::uint64_t> picked, pairs.pick(options_.pick));
    workers_ = worker_count(options_.execution, pairs.size(), UINT64_MAX);
    one_thread_ = for_one_thread();
    PairQueue queue({.workers = workers_, .max_batch = 16, .small = kTiny, .max_waiting = 4},
                    options_.execution);
    bool permuted = !options_.permute || options_.may_compare_nothing;
    const auto is_permuted = [&](const Pair& pair) {
      return pair.diff.error ||
             (pair.diff.actual && pair.a.dims.size() == options_.permute->order.size());
    };
    for (const std::uint64_t i : picked) {
      auto pair = load_or_trouble(pairs.at(i));
      if (!pair) {
        BTF_TRY(queue.drain());
        return std::unexpected(pair.error());
      }
      if (attributes_ && !pair->diff.error) note_attributes(*pair);
      permuted = permuted || is_permuted(*pair);
      if (workers_ > 1 && pair->bytes() < kSmall) {
        const std::uint64_t bytes = pair->bytes();
        BTF_TRY(queue.add(std::make_unique<Job>(*this, *std::move(pair)), bytes));
        continue;
      }
      BTF_TRY(queue.drain());
      BTF_TRY(compare(*pair, options_));
      report(pair->diff);
    }
    BTF_TRY(queue.drain());
    // Options may be meant for pairs that other shards compare.
    const auto unused = [&](const FileScales& scales) {
      return scales.unused() && !troubled_ && !options_.may_compare_nothing;
    };
    const std::uint64_t others = options_.pick ? pairs.size() : 0;
    for (std::uint64_t i = 0; i < others; ++i) {
      if (permuted && !unused(loader_.actual_scales()) && !unused(loader_.golden_scales())) break;
      const auto pair = load_or_trouble(pairs.at(i));
      if (!pair) break;
      troubled_ = troubled_ || pair->diff.error;
      permuted = permuted || is_permuted(*pair);
    }
    for (const FileScales* scales : {&loader_.actual_scales(), &loader_.golden_scales()})
      if (unused(*scales))
        return std::unexpected(
            Error{ErrorCode::invalid_argument, "no compared tensor has codes to scale"}.in_file(
                (scales == &loader_.actual_scales() ? actual_ : golden_).path()));
    if (!permuted)
      return std::unexpected(
          Error{ErrorCode::invalid_argument, "no tensor has rank " +
                                                 std::to_string(options_.permute->order.size()) +
                                                 ", that of the permutation"}
              .in_file(actual_.path()));
    if (!options_.actual_tensors) BTF_TRY(check_complete(actual_));
    if (!options_.golden_tensors) BTF_TRY(check_complete(golden_));
    BTF_TRY(actual_.check_unchanged());
    BTF_TRY(golden_.check_unchanged());
    if (same_ && compared_ == 0 && !may_be_none)
      return std::unexpected(no_element_compared(actual_.path()));
    return same_;
  }

 private:
  struct Pair : LoadedPair {
    Tolerance asked{};
  };

  class Job final : public QueuedPair {
   public:
    Job(FileDiff& of, Pair pair) : of_(of), pair_(std::move(pair)) {}

    Status compare() override { return of_.compare(pair_, of_.one_thread_); }
    Status deliver(const Status& compared) override {
      if (compared) of_.report(pair_.diff);
      return compared;
    }

   private:
    FileDiff& of_;
    Pair pair_;
  };

  static Status check_complete(const TensorFile& file) {
    Status complete = file.check_complete();
    if (!complete)
      complete.error().message +=
          ", so the comparison would be incomplete; `tensors` '*' compares the listed tensors";
    return complete;
  }

  Result<Pair> load_or_trouble(const TensorPair& tensors) const {
    const std::scoped_lock lock(files_);
    auto loaded = loader_.load(tensors);
    if (!loaded && is_of_pair(loaded.error())) return in_trouble(tensors, loaded.error());
    if (!loaded) return std::unexpected(loaded.error());
    Pair pair{*std::move(loaded)};
    if (tensors.actual && tensors.golden) pair.asked = tolerance_for(options_, pair.diff);
    return pair;
  }

  // Whether the error concerns one pair only, so that the others are compared.
  bool is_of_pair(const Error& error) const {
    return options_.go_on && error.code != ErrorCode::cancelled;
  }

  Pair in_trouble(const TensorPair& tensors, const Error& error) const {
    Pair pair;
    pair.diff.tier = tensors.tier;
    if (tensors.actual) pair.diff.actual = what_is_known(actual_, *tensors.actual);
    if (tensors.golden) pair.diff.golden = what_is_known(golden_, *tensors.golden);
    set_trouble(pair.diff, error);
    return pair;
  }

  // Adds the tensor's name to the error.
  void set_trouble(TensorDiff& diff, const Error& error) const {
    diff.result = DiffResult::trouble;
    diff.error = error;
    const bool of_golden = error.file == golden_.path() && error.file != actual_.path();
    const std::optional<DiffTensor>& tensor = of_golden ? diff.golden : diff.actual;
    if (!tensor || !tensor->named || error.tensor != tensor->index) return;
    const std::string name = "'" + tensor->name + "'";
    if (error.message.contains(name)) return;
    diff.error->tensor.reset();
    diff.error = diff.error->within("tensor " + std::to_string(tensor->index) + " " + name);
  }

  static DiffTensor what_is_known(const TensorFile& file, std::uint64_t index) {
    if (const auto record = file.tensor(index); record && record->known())
      return tensor_of(*record);
    DiffTensor tensor;
    tensor.index = index;
    tensor.known = false;
    if (auto own = file.own_name(index); own && *own) {
      tensor.name = **std::move(own);
      tensor.named = true;
    } else if (auto name = file.name(index)) {
      tensor.name = *std::move(name);
    }
    return tensor;
  }

  Status compare(Pair& pair, const DiffOptions& options) const {
    if (pair.diff.error) return {};
    if (!pair.diff.actual || !pair.diff.golden) {
      std::string note = std::move(pair.diff.note);
      pair.diff =
          missing_tensor(pair.diff.actual ? pair.a : pair.b, !pair.diff.actual, std::move(note));
      return {};
    }
    const Status compared = compare_edited(
        [&](std::span<const Edit> edits) {
          const std::scoped_lock lock(files_);
          return loader_.actual(pair, edits, options.execution);
        },
        [&](std::span<const Edit> edits) {
          const std::scoped_lock lock(files_);
          return loader_.golden(pair, edits, options.execution);
        },
        pair.asked, options, pair.diff);
    if (compared) {
      if (pair.diff.result != DiffResult::same)
        if (auto hint = other_axes(pair.left, pair.right))
          pair.diff.hints.insert(pair.diff.hints.begin(), *std::move(hint));
      return {};
    }
    const Error error = actual_.about(pair.a.index, compared.error());
    if (!is_of_pair(error)) return std::unexpected(error);
    TensorDiff trouble;
    trouble.tier = pair.diff.tier;
    trouble.actual = std::move(pair.diff.actual);
    trouble.golden = std::move(pair.diff.golden);
    set_trouble(trouble, error);
    pair.diff = std::move(trouble);
    return {};
  }

  // Serialised, since the caller may use the files.
  void report(const TensorDiff& diff) {
    same_ = same_ && diff.result == DiffResult::same;
    troubled_ = troubled_ || diff.error;
    compared_ += diff.compared;
    const std::scoped_lock lock(files_);
    if (report_) report_(diff);
  }

  DiffOptions for_one_thread() {
    DiffOptions options = options_;
    options.execution.jobs = 1;
    options.execution.memory = options_.execution.memory / workers_;
    if (options_.execution.progress)
      options.execution.progress = [this](std::uint64_t bytes) {
        const std::scoped_lock lock(reporting_);
        options_.execution.progress(bytes);
      };
    return options;
  }

  void note_attributes(Pair& pair) const {
    if (!pair.diff.actual || !pair.diff.golden) return;
    pair.diff.reason = attributes_->of_tensors(pair.a.index, pair.b.index);
  }

  const TensorFile& actual_;
  const TensorFile& golden_;
  const DiffOptions& options_;
  const TensorDiffSink& report_;
  PairLoader loader_;
  std::optional<AttributeDifferences> attributes_;
  unsigned workers_ = 1;
  DiffOptions one_thread_;  // for pairs that are compared concurrently
  bool same_ = true;
  bool graphs_ = false;  // the graphs were compared
  bool troubled_ = false;
  std::uint64_t compared_ = 0;
  mutable std::mutex files_;  // a file may be used by one thread at a time, its sides by several
  std::mutex reporting_;
};

}  // namespace

Result<bool> diff(const TensorFile& actual, const TensorFile& golden, const DiffOptions& options,
                  const TensorDiffSink& report) {
  BTF_ASSIGN(PairLoader loader, PairLoader::of(actual, golden, options));
  return FileDiff(actual, golden, options, report, std::move(loader)).run();
}

Result<TensorDiff> diff(const TensorView& actual, const TensorView& golden,
                        const DiffOptions& options) {
  TensorDiff diff;
  diff.actual = DiffTensor{0, actual.dtype, Layout::linear, actual.storage.dims, {}, false};
  diff.golden = DiffTensor{0, golden.dtype, Layout::linear, golden.storage.dims, {}, false};
  BTF_TRY(check_buffer(actual.bytes.size(), actual.storage, actual.dtype));
  BTF_TRY(check_buffer(golden.bytes.size(), golden.storage, golden.dtype));
  BTF_TRY(compare_edited([&](std::span<const Edit> edits) { return memory_side(actual, edits); },
                         [&](std::span<const Edit> edits) { return memory_side(golden, edits); },
                         tolerance_for(options, diff), options, diff));
  return diff;
}

}  // namespace btf

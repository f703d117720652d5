// The C interface to comparisons of files, arrays and sets, and to their reports.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "btf/btf.h"
#include "btf/diff.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "btf/try.h"
#include "capi/layers.h"
#include "capi/support.h"

struct btf_report {
  btf::SetDiffResult result;
  btf::ReportOptions options;
  std::set<btf::ReportFormat> formats;
  std::string text;  // of the last report
  btf::capi::ErrorText error;
};

namespace btf::capi {
namespace {

struct DiffRequest {
  DiffOptions diff;
  btf_diff_report report = nullptr;
  void* user = nullptr;
};

// Calls the caller's report function, if there is one. `files`: of sets.
void report_pair(const TensorDiff& pair, const DiffRequest& request, const FilePair& files = {});

static_assert(static_cast<int>(DiffResult::same) == BTF_SAME &&
              static_cast<int>(DiffResult::different) == BTF_DIFFERENT &&
              static_cast<int>(DiffResult::shape) == BTF_SHAPE &&
              static_cast<int>(DiffResult::missing) == BTF_MISSING &&
              static_cast<int>(DiffResult::trouble) == BTF_TROUBLE);

Status add_gate(const btf_gate& gate, Gates& gates) {
  const std::string name = gate.name == nullptr ? "" : gate.name;
  if (std::isnan(gate.limit)) return wrong("the limit of '" + name + "' is NaN");
  for (const FigureInfo* const figure : figure_gates()) {
    if (!same_name(figure->name, name)) continue;
    gates.*figure->limit = gate.limit;
    return {};
  }
  const bool percent = same_name("max-mismatch-percent", name);
  if (percent || same_name("max-mismatch", name)) {
    if (gate.limit < 0 || (percent && gate.limit > 100))
      return wrong("the limit of '" + name + "' is " + number_text(gate.limit));
    gates.max_mismatch = MismatchLimit{gate.limit, percent};
  } else if (same_name("quantile", name)) {
    if (!(gate.q >= 0 && gate.q <= 1)) return wrong("a quantile must be a number from 0 to 1");
    gates.quantiles.push_back({gate.q, gate.limit});
  } else if (same_name("top-k", name)) {
    // Above 2^53 not every whole number is a double.
    if (!(gate.limit >= 1 && gate.limit <= 9007199254740992.0) ||
        std::floor(gate.limit) != gate.limit)
      return wrong("k of 'top-k' must be a whole number of at least 1");
    gates.top_k = static_cast<std::uint64_t>(gate.limit);
  } else {
    std::string known;
    for (const FigureInfo* const figure : figure_gates()) known += std::string(figure->name) + ", ";
    return wrong("unknown gate '" + name + "'; there are " + known +
                 "max-mismatch, max-mismatch-percent, quantile, top-k");
  }
  return {};
}

Result<Tolerance> tolerance_of(const btf_diff_options& options) {
  if (!(options.rtol >= 0 && options.atol >= 0)) return wrong("a tolerance is negative or NaN");
  Tolerance tolerance;
  if (options.rtol > 0) tolerance.rtol = options.rtol;
  if (options.atol > 0) tolerance.atol = options.atol;
  if (options.ulp > 0) tolerance.ulp = options.ulp;
  tolerance.close = options.close != 0;
  BTF_ASSIGN(tolerance.close_as, dtype_named(options.close_as));
  if (tolerance.close_as && !tolerance.close) return wrong("close_as is given without close");
  tolerance.equal_nan = options.nan_differs == 0;
  return tolerance;
}

// The structure that describes a pair, with the memory that it points to.
class PairStruct {
 public:
  PairStruct(const TensorDiff& pair, const FilePair& files) : pair_(pair) {
    out_.size = sizeof out_;
    side(pair.actual, out_.actual, out_.actual_name);
    side(pair.golden, out_.golden, out_.golden_name);
    out_.result = static_cast<std::int32_t>(pair.result);
    reason_ = pair.error ? pair.error->text() : pair.reason;
    out_.reason = reason_.c_str();
    out_.actual_file = files.actual.c_str();
    out_.golden_file = files.golden.c_str();
    counts();
    worst();
    lists();
  }
  PairStruct(const PairStruct&) = delete;
  PairStruct& operator=(const PairStruct&) = delete;

  const btf_tensor_diff* get() const { return &out_; }

 private:
  static void side(const std::optional<DiffTensor>& tensor, std::uint64_t& number,
                   const char*& name) {
    number = tensor ? tensor->index : BTF_NONE;
    name = tensor ? tensor->name.c_str() : "";
  }

  void counts() {
    out_.compared = pair_.compared;
    out_.mismatched = pair_.mismatched;
    out_.max_abs = pair_.max_abs;
    out_.max_rel = pair_.max_rel;
    out_.max_ulp = pair_.max_ulp;
    out_.nan_both = pair_.nan.both;
    out_.nan_actual = pair_.nan.actual;
    out_.nan_golden = pair_.nan.golden;
    out_.inf_both = pair_.inf.both;
    out_.inf_opposite = pair_.inf.opposite;
    out_.inf_actual = pair_.inf.actual;
    out_.inf_golden = pair_.inf.golden;
    out_.required_atol = pair_.required_atol.value_or(kNaN);
    out_.required_rtol = pair_.required_rtol.value_or(kNaN);
  }

  void worst() {
    out_.worst_actual = out_.worst_golden = kNaN;
    if (!pair_.worst_abs) return;
    out_.worst = pair_.worst_abs->index.data();
    out_.worst_rank = pair_.worst_abs->index.size();
    out_.worst_actual = value_double(pair_.actual->dtype, pair_.worst_abs->actual_code);
    out_.worst_golden = value_double(pair_.golden->dtype, pair_.worst_abs->golden_code);
  }

  void lists() {
    if (pair_.figures)
      for (const FigureInfo* const figure : figure_gates())
        if (figure->value != nullptr)
          figures_.push_back({figure->name.data(),
                              pair_.figures->pairs > 0 ? (*pair_.figures).*figure->value : kNaN});
    for (const CriterionResult& criterion : pair_.criteria)
      criteria_.push_back(
          {criterion.name.c_str(), criterion.text.c_str(), criterion.passed ? 1 : 0});
    for (const Hint& hint : pair_.hints)
      hints_.push_back({cause_name(hint.cause).data(), hint.evidence.c_str()});
    out_.figures = figures_.data();
    out_.figure_count = figures_.size();
    out_.criteria = criteria_.data();
    out_.criterion_count = criteria_.size();
    out_.hints = hints_.data();
    out_.hint_count = hints_.size();
  }

  const TensorDiff& pair_;
  std::string reason_;
  std::vector<btf_figure> figures_;
  std::vector<btf_criterion> criteria_;
  std::vector<btf_hint> hints_;
  btf_tensor_diff out_{};
};

Result<DiffRequest> request_of(const btf_diff_options* from) {
  BTF_ASSIGN(const btf_diff_options options, copy_in(from));
  DiffRequest request{.diff = {}, .report = options.report, .user = options.user};
  DiffOptions& diff = request.diff;
  BTF_ASSIGN(diff.tolerance, tolerance_of(options));
  if (options.gate_count > 0 && options.gates == nullptr) return null_argument("gates");
  for (std::size_t i = 0; i < options.gate_count; ++i)
    BTF_TRY(add_gate(options.gates[i], diff.gates));
  if (options.actual_tensors != nullptr)
    diff.actual_tensors.emplace(options.actual_tensors,
                                options.actual_tensors + options.actual_count);
  if (options.golden_tensors != nullptr)
    diff.golden_tensors.emplace(options.golden_tensors,
                                options.golden_tensors + options.golden_count);
  BTF_ASSIGN(diff.pair_by,
             parse_enum("pair_by", pair_by_names(), options.pair_by, PairBy::automatic));
  BTF_ASSIGN(diff.map, name_map_of(options.map));
  if (options.permute != nullptr)
    diff.permute = Permute{{options.permute, options.permute + options.permute_count}};
  diff.squeeze = options.squeeze != 0;
  diff.reshape_actual = options.reshape_actual != 0;
  diff.dequantize = options.dequantize != 0;
  BTF_ASSIGN(diff.actual_scale, scale_of(options.actual_scale));
  BTF_ASSIGN(diff.golden_scale, scale_of(options.golden_scale));
  diff.strict = options.strict != 0;
  diff.figures = options.figures != 0;
  diff.hints = options.hints != 0;
  diff.details = diff.hints || options.report != nullptr;
  diff.show = 1;
  diff.go_on = options.go_on != 0;
  diff.execution.jobs = options.jobs;
  return request;
}

void report_pair(const TensorDiff& pair, const DiffRequest& request, const FilePair& files) {
  if (request.report != nullptr) request.report(request.user, PairStruct(pair, files).get());
}

void take(const TensorDiff& pair, const DiffRequest& request, btf_diff_result& total,
          std::string& reason) {
  if (pair.result != DiffResult::same && total.different++ == 0) {
    total.first = total.tensors;
    reason = pair.error ? pair.error->text() : pair.reason;
  }
  ++total.tensors;
  total.compared += pair.compared;
  total.mismatched += pair.mismatched;
  total.max_abs = std::max(total.max_abs, pair.max_abs);
  total.max_rel = std::max(total.max_rel, pair.max_rel);
  total.max_ulp = std::max(total.max_ulp, pair.max_ulp);
  report_pair(pair, request);
}

Status copy_result(btf_diff_result* result, btf_diff_result total, bool same,
                   const std::string& reason) {
  total.same = same ? 1 : 0;
  total.reason = reason.c_str();
  return copy_out(result, total);
}

Status check_result(btf_diff_result* result) {
  if (result == nullptr) return null_argument("result");
  return check_out(result);
}

constexpr auto kFormats = std::to_array<Named<ReportFormat>>({
    {ReportFormat::text, "text"},
    {ReportFormat::summary, "summary"},
    {ReportFormat::json, "json"},
    {ReportFormat::junit, "junit"},
    {ReportFormat::html, "html"},
});

Result<std::vector<std::string>> texts_of(const char* of, const char* const* from,
                                          std::size_t count) {
  if (count > 0 && (from == nullptr || std::ranges::count(from, from + count, nullptr) > 0))
    return wrong(std::string("one of '") + of + "' is NULL");
  return std::vector<std::string>(from, from + count);
}

Result<TensorTolerance> tolerance_of(const btf_tensor_tolerance& from) {
  if (from.glob == nullptr) return wrong("a tolerance for single tensors has no glob");
  if (!(from.rtol >= 0 && from.atol >= 0))
    return wrong(std::string("a tolerance for '") + from.glob + "' is negative or NaN");
  TensorTolerance given{.glob = from.glob, .source = from.glob};
  const auto add = [&](const char* name, std::string value) {
    given.text += (given.text.empty() ? "" : ", ") + (name + (" " + value));
  };
  if (from.rtol > 0) {
    given.tolerance.rtol = from.rtol;
    add("rtol", number_text(from.rtol));
  }
  if (from.atol > 0) {
    given.tolerance.atol = from.atol;
    add("atol", number_text(from.atol));
  }
  if (from.ulp > 0) {
    given.tolerance.ulp = from.ulp;
    add("ulp", std::to_string(from.ulp));
  }
  if (given.text.empty()) return wrong("the tolerance for '" + *given.glob + "' has no limit");
  return given;
}

struct SetRequest {
  DiffRequest each;
  SetDiffOptions sets;
  std::set<ReportFormat> formats;
  btf_file_report file = nullptr;
  btf_warning warning = nullptr;
  void* user = nullptr;
};

Result<std::set<ReportFormat>> formats_of(const char* names) {
  std::set<ReportFormat> formats;
  std::istringstream list(names == nullptr ? "text" : names);
  for (std::string name; std::getline(list, name, ',');) {
    BTF_ASSIGN(const ReportFormat format, report_format_named(name.c_str()));
    formats.insert(format);
  }
  return formats;
}

Result<SetRequest> set_request(const btf_diff_options* each, const btf_set_diff_options* from,
                               bool kept) {
  SetRequest request;
  BTF_ASSIGN(request.each, request_of(each));
  BTF_ASSIGN(const btf_set_diff_options options, copy_in(from));
  DiffOptions& diff = request.each.diff;
  if (diff.actual_tensors || diff.golden_tensors)
    return wrong("actual_tensors and golden_tensors are for two files; for sets use tensors");
  if (kept) {
    BTF_ASSIGN(request.formats, formats_of(options.formats));
    for (const ReportFormat format : request.formats) ask_for(format, diff);
    diff.show = options.show == 0 ? DiffOptions{}.show : options.show;
  }
  SetDiffOptions& sets = request.sets;
  sets.figures_of_several = request.formats.contains(ReportFormat::text);
  if (options.tensors != nullptr) sets.tensors = options.tensors;
  BTF_ASSIGN(sets.pairs, texts_of("pairs", options.pairs, options.pair_count));
  BTF_ASSIGN(sets.include, texts_of("include", options.include, options.include_count));
  BTF_ASSIGN(sets.exclude, texts_of("exclude", options.exclude, options.exclude_count));
  if (options.tolerance_count > 0 && options.tolerances == nullptr)
    return null_argument("tolerances");
  for (std::size_t i = 0; i < options.tolerance_count; ++i) {
    BTF_ASSIGN(TensorTolerance tolerance, tolerance_of(options.tolerances[i]));
    sets.tensor_tolerances.push_back(std::move(tolerance));
  }
  sets.each = diff;
  request.file = options.file;
  request.warning = options.warning;
  request.user = options.user;
  return request;
}

// Reports each pair and sums up the results; if a report is wanted, keeps the pairs.
class SetComparison final : public SetDiffSink {
 public:
  SetComparison(const SetRequest& request, SetDiffResult* kept) : request_(request), kept_(kept) {}

  const DiffTotals& totals() const { return totals_; }

  void warn(const std::string& text) override {
    if (request_.warning != nullptr) request_.warning(request_.user, text.c_str());
  }

  Status found(const PairsFound& pairs) override {
    totals_.directories = pairs.several;
    return {};
  }

  void begin(const FilePair& pair) override {
    files_ = pair;
    totals_.begin();
    if (kept_ != nullptr) kept_->begin(pair);
  }

  void take(const TensorDiff& diff) override {
    totals_.take(diff);
    if (kept_ != nullptr) kept_->take(diff);
    report_pair(diff, request_.each, files_);
  }

  bool lists_missing() const override { return kept_ != nullptr; }
  void missing(const TensorDiff& diff) override { kept_->missing(diff); }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    totals_.end(pair, outcome);
    if (kept_ != nullptr) kept_->end(pair, outcome);
    if (request_.file == nullptr) return;
    const btf_file_diff file{.size = sizeof file,
                             .name = pair.name.c_str(),
                             .actual = pair.actual.c_str(),
                             .golden = pair.golden.c_str(),
                             .result = code_of(outcome.result),
                             .reason = outcome.error.c_str()};
    request_.file(request_.user, &file);
  }

 private:
  static std::int32_t code_of(PairResult result) {
    switch (result) {
      case PairResult::same:
        return BTF_SAME;
      case PairResult::different:
      case PairResult::bytes:
        return BTF_DIFFERENT;
      case PairResult::missing:
        return BTF_MISSING;
      case PairResult::trouble:
        break;
    }
    return BTF_TROUBLE;
  }

  const SetRequest& request_;
  SetDiffResult* kept_;
  FilePair files_;
  DiffTotals totals_;
};

ReportOptions report_options(const SetRequest& request) {
  ReportOptions options;
  options.criteria = request.sets.each;
  for (const TensorTolerance& tolerance : request.sets.tensor_tolerances)
    options.tensor_criteria.push_back(tolerance.text + " for " + *tolerance.glob);
  return options;
}

}  // namespace

Result<ReportFormat> report_format_named(const char* name) {
  if (name == nullptr) return null_argument("format");
  return parse_enum<ReportFormat>("format", kFormats, name, ReportFormat::text);
}

Result<TextOptions> text_options_of(const btf_text_options* from) {
  BTF_ASSIGN(const btf_text_options options, copy_in(from));
  TextOptions text{.all = options.all != 0, .color = options.color != 0};
  if (options.columns > 0) text.columns = options.columns;
  return text;
}

std::vector<std::string> paths_of_others(const TensorSet& actual, const TensorSet& golden) {
  std::vector<std::string> paths;
  for (const TensorSet* const set : {&actual, &golden})
    for (const SetMember& other : set->others()) paths.push_back(other.path);
  return paths;
}

}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                    btf_diff_result* result) {
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return null_argument("golden");
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    btf_diff_result total{};
    actual->reason.clear();
    BTF_ASSIGN(const bool same, btf::diff(actual->file, golden->file, request.diff,
                                          [&](const btf::TensorDiff& pair) {
                                            take(pair, request, total, actual->reason);
                                          }));
    return copy_result(result, total, same, actual->reason);
  });
}

btf_status btf_diff_arrays(const btf_array* actual, const btf_array* golden,
                           const btf_diff_options* options, btf_diff_result* result) {
  return guarded(nullptr, [&]() -> btf::Status {
    thread_local std::string reason;
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    BTF_ASSIGN(const Array left, array_of(actual));
    BTF_ASSIGN(const Array right, array_of(golden));
    BTF_ASSIGN(const btf::TensorDiff pair, btf::diff(left.view, right.view, request.diff));
    btf_diff_result total{};
    reason.clear();
    take(pair, request, total, reason);
    return copy_result(result, total, pair.result == btf::DiffResult::same, reason);
  });
}

btf_status btf_diff_sets(btf_set* actual, btf_set* golden, const btf_diff_options* options,
                         const btf_set_diff_options* sets, btf_set_diff_result* result,
                         btf_report** report) {
  if (report != nullptr) *report = nullptr;
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return null_argument("golden");
    BTF_TRY(check_out(result));
    BTF_ASSIGN(const SetRequest request, set_request(options, sets, report != nullptr));
    auto kept = report == nullptr ? nullptr : std::make_unique<btf_report>();
    SetComparison comparison(request, kept ? &kept->result : nullptr);
    BTF_TRY(btf::diff(actual->set, golden->set, request.sets, comparison));
    const btf::DiffTotals& totals = comparison.totals();
    if (kept) {
      kept->result.actual = actual->set.path();
      kept->result.golden = golden->set.path();
      kept->result.directories = totals.directories;
      kept->result.others = paths_of_others(actual->set, golden->set);
      kept->options = report_options(request);
      kept->formats = request.formats;
    }
    BTF_TRY(copy_out(result, {.size = 0,
                              .same = totals.result() == btf::PairResult::same ? 1 : 0,
                              .files = totals.files,
                              .different_files = totals.different_files,
                              .troubled_files = totals.troubled_files,
                              .tensors = totals.tensors,
                              .different = totals.different_tensors,
                              .troubled = totals.troubled_tensors,
                              .compared = totals.compared}));
    if (kept) *report = kept.release();
    return {};
  });
}

void btf_report_free(btf_report* report) { delete report; }

const char* btf_report_error(const btf_report* report) {
  return report == nullptr ? "" : report->error.c_str();
}

const char* btf_report_text(btf_report* report, const char* format,
                            const btf_text_options* options) {
  const btf_status status = with_handle(report, [&]() -> btf::Status {
    BTF_ASSIGN(const btf::ReportFormat as, report_format_named(format));
    if (!report->formats.contains(as))
      return wrong(std::string("btf_diff_sets() was not called with the format ") + format);
    btf::ReportOptions all = report->options;
    BTF_ASSIGN(all.text, text_options_of(options));
    report->text = btf::report_text(as, report->result, std::move(all));
    return {};
  });
  return status == BTF_OK ? report->text.c_str() : nullptr;
}
}

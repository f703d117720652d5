// Comparing two sets, and reports.
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "btf/diff/set_diff.h"
#include "btf/report/report.h"
#include "btf/try.h"
#include "btf/value.h"
#include "capi/diff_request.h"
#include "capi/handles.h"
#include "capi/report_formats.h"

struct btf_report {
  btf::SetDiffResult result;
  btf::ReportOptions options;
  std::set<btf::ReportFormat> formats;
  std::string text;  // of the last report
  btf::capi::ErrorText error;
};

namespace btf::capi {
namespace {

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
    return wrong(std::string("NULL among ") + of);
  return std::vector<std::string>(from, from + count);
}

Result<TensorTolerance> tolerance_of(const btf_tensor_tolerance& from) {
  if (from.glob == nullptr) return wrong("a tolerance of single tensors without a glob");
  if (!(from.rtol >= 0 && from.atol >= 0))
    return wrong(std::string("a tolerance of '") + from.glob + "' is negative or NaN");
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
  if (given.text.empty()) return wrong("a tolerance of '" + *given.glob + "' without a limit");
  return given;
}

// Everything that is asked for.
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
  BTF_ASSIGN(const btf_set_diff_options options, given(from));
  DiffOptions& diff = request.each.diff;
  if (diff.actual_tensors || diff.golden_tensors)
    return wrong("actual_tensors and golden_tensors are of two files; sets have tensors");
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
  if (options.tolerance_count > 0 && options.tolerances == nullptr) return wrong("no tolerances");
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

// Hands out what is found, sums it up and, if a report is wanted, keeps it.
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
    hand_out(diff, request_.each, files_);
  }

  bool lists_missing() const override { return kept_ != nullptr; }
  void missing(const TensorDiff& diff) override { kept_->missing(diff); }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    totals_.end(pair, outcome);
    if (kept_ != nullptr) kept_->end(pair, outcome);
    if (request_.file == nullptr) return;
    const btf_file_diff handed{.size = sizeof handed,
                               .name = pair.name.c_str(),
                               .actual = pair.actual.c_str(),
                               .golden = pair.golden.c_str(),
                               .result = code_of(outcome.result),
                               .reason = outcome.error.c_str()};
    request_.file(request_.user, &handed);
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
  if (name == nullptr) return wrong("no format");
  return choose<ReportFormat>("format", kFormats, name, ReportFormat::text);
}

Result<TextOptions> text_options_of(const btf_text_options* from) {
  BTF_ASSIGN(const btf_text_options options, given(from));
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

btf_status btf_diff_sets(btf_set* actual, btf_set* golden, const btf_diff_options* options,
                         const btf_set_diff_options* sets, btf_set_diff_result* result,
                         btf_report** report) {
  if (report != nullptr) *report = nullptr;
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return wrong("no golden set");
    BTF_TRY(can_give(result));
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
    BTF_TRY(give(result, {.size = 0,
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
      return wrong(std::string("the comparison was not asked for a report as ") + format);
    btf::ReportOptions all = report->options;
    BTF_ASSIGN(all.text, text_options_of(options));
    report->text = btf::report_text(as, report->result, std::move(all));
    return {};
  });
  return status == BTF_OK ? report->text.c_str() : nullptr;
}
}

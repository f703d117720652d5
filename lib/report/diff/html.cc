// The page of a comparison: a table for each result, a chart, and the details of the first tensors
// that differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/report.h"
#include "report/diff/heatmap.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/diff/sets.h"
#include "report/diff/text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr PageColumn kFileColumn{"file", "file", "name", "path"};
constexpr PageColumn kTensorColumn{"tensor", "tensor", "name", "path"};
constexpr PageColumn kTypeColumn{"type and shape", "type", "text", "type"};
constexpr PageColumn kResultColumn{"result", "result", "result"};
constexpr PageColumn kWhyColumn{"why", "why", "text", "why"};

// For the chart, and for links to the details.
constexpr auto kHiddenColumns = std::to_array<PageColumn>({
    {"", "order"},
    {"", "error"},
    {"", "mark"},
    {"", "told"},
    {"", "section"},
});

constexpr auto kFigureColumns = std::to_array<PageColumn>({
    {"mismatched", "count", "count"},
    {"share", "share", "share"},
    {"max abs", "max_abs", "number"},
    {"max rel", "max_rel", "number", "less"},
    {"max steps", "max_ulp", "count", "less"},
    {"cosine", "figures.cosine", "number"},
});

std::vector<PageColumn> page_columns(DiffResult result, bool directories) {
  std::vector<PageColumn> columns;
  if (directories) columns.push_back(kFileColumn);
  columns.insert(columns.end(), {kTensorColumn, kTypeColumn, kResultColumn});
  if (result == DiffResult::different)
    columns.push_back({"likely cause", kWhyColumn.member, kWhyColumn.kind, kWhyColumn.style});
  else if (result != DiffResult::same)
    columns.push_back(kWhyColumn);
  if (result == DiffResult::different || result == DiffResult::same)
    columns.insert(columns.end(), kFigureColumns.begin(), kFigureColumns.end());
  columns.insert(columns.end(), kHiddenColumns.begin(), kHiddenColumns.end());
  return columns;
}

constexpr std::size_t kMaxRank = 16;  // of a shape; the middle is left out

std::string shape_text(const Dims& dims) {
  if (dims.size() <= kMaxRank) return btf::dims_text(dims);
  const auto half = static_cast<std::ptrdiff_t>(kMaxRank / 2);
  const std::string left = btf::dims_text(Dims(dims.begin(), dims.begin() + half));
  const std::string right = btf::dims_text(Dims(dims.end() - half, dims.end()));
  return fmt::format("{}, …, {} (rank {})", left.substr(0, left.size() - 1), right.substr(1),
                     dims.size());
}

// Dtype and layout, and the shape: of both sides where they differ.
Json type_of(const TensorDiff& diff) {
  const auto type = [](const DiffTensor& tensor) {
    return tensor.known ? dtype_text(tensor) + " " + layout_text(tensor.layout) : "–";
  };
  const auto side = [&](const DiffTensor& tensor) {
    return Json::array({type(tensor), tensor.known ? Json(shape_text(tensor.dims)) : Json()});
  };
  if (!diff.actual || (diff.golden && !diff.actual->known)) return side(*diff.golden);
  if (!diff.golden || !diff.golden->known) return side(*diff.actual);
  const auto both = [](const std::string& actual, const std::string& golden) {
    return actual == golden ? actual : actual + " against " + golden;
  };
  return Json::array({both(type(*diff.actual), type(*diff.golden)),
                      both(shape_text(diff.actual->dims), shape_text(diff.golden->dims))});
}

// The tensors' indices: "3", "3 / 5"; "3 / –" where one side has none.
std::string indices_of(const TensorDiff& diff) {
  const std::string actual = diff.actual ? std::to_string(diff.actual->index) : "–";
  const std::string golden = diff.golden ? std::to_string(diff.golden->index) : "–";
  return actual == golden ? actual : actual + " / " + golden;
}

// Empty where there is none, or it is the file's.
std::string own_name(const TensorDiff& diff, const FilePair& pair) {
  const auto named = [](const std::optional<DiffTensor>& side) { return side && side->named; };
  if (!named(diff.actual) && !named(diff.golden)) return "";
  std::string name = set_name(diff, pair, false);
  return name == printable(pair.name) ? "" : name;
}

// Returns which tolerances would do, if it is the elements that failed.
Json passing(const TensorDiff& diff, const MemberNames& names) {
  const auto failed = [&](bool by_count) {
    return std::ranges::any_of(diff.criteria, [&](const CriterionResult& criterion) {
      const bool counts = criterion.name == "elements" || criterion.name == "max-mismatch";
      return !criterion.passed && counts == by_count;
    });
  };
  if (!failed(true)) return {};
  const std::vector<std::string> options = passing_options(diff, names);
  if (options.empty())
    return {{"words", "No tolerance would accept it: NaN or Inf do not agree"}};
  return {{"words", failed(false) ? "The elements alone would pass with" : "Would pass with"},
          {"options", options}};
}

// The texts of a heat map. `axes` are those that were asked for.
Json heat_words(const Heatmap& map, const Dims& dims, const std::vector<std::int32_t>& axes) {
  std::string title = "Share of mismatches";
  if (map.down) title += " by " + axis_title(map.down->dim, dims.size()) + " (down)";
  if (map.across)
    title += (map.down ? " and " : " by ") + axis_title(map.across->dim, dims.size()) +
             (map.down ? " (across)" : "");
  Json words{{"title", title}, {"coverage", coverage_text(map, dims)}};
  const std::string trouble = axes_trouble(axes, dims.size());
  if (!trouble.empty()) words["picked"] = picked_text(trouble);
  if (map.down) words["down_name"] = axis_name(map.down->dim, dims.size());
  if (map.across) words["across_name"] = axis_name(map.across->dim, dims.size());
  return words;
}

// Of all elements, by golden; below 0 if it is not known.
double relative_error(const TensorDiff& diff) {
  const bool judged = diff.result == DiffResult::same || diff.result == DiffResult::different;
  if (!judged || !diff.figures || diff.figures->pairs == 0 || std::isnan(diff.figures->snr))
    return -1;
  return diff.max_abs == 0 ? 0 : std::pow(10.0, -diff.figures->snr / 20);
}

// "3 of 12 tensors differ"
std::string sum_text(const DiffTotals& totals) {
  const std::uint64_t all = totals.tensors;
  const std::uint64_t different = totals.different_tensors;
  std::string text;
  if (all == 0)
    text = "no tensors were compared";
  else if (all == 1)
    text = different == 1 ? "the only tensor differs" : "the only tensor is the same";
  else if (different == 0)
    text = "all " + html_count(all) + " tensors are the same";
  else
    text = html_count(different) + " of " + html_count(all) + " tensors " +
           (different == 1 ? "differs" : "differ");
  if (totals.troubled_files > 0 && totals.directories)
    text += "; " + counted(totals.troubled_files, "file") + " could not be compared";
  else if (totals.partly())
    text += "; " + counted(totals.troubled_tensors, "tensor") + " could not be compared";
  return text;
}

constexpr std::uint64_t kMaxDetails = 1000;
constexpr std::size_t kMaxDetailBytes = 6U << 20;
constexpr std::size_t kMaxUncompared = 5;

class HtmlReport final : public DiffReport {
 public:
  HtmlReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)),
        sink_(std::move(sink)),
        columns_{page_columns(DiffResult::different, options_.directories),
                 page_columns(DiffResult::missing, options_.directories),
                 page_columns(DiffResult::trouble, options_.directories),
                 page_columns(DiffResult::same, options_.directories)} {}

  void begin(const FilePair& pair) override {
    pair_ = pair;
    troubled_ = false;
  }
  void take(const TensorDiff& diff) override;
  void end(const FilePair& pair, const PairOutcome& outcome) override;
  Status finish(const DiffTotals& totals) override;

 private:
  void pair_row(std::string_view result, const std::string& note);
  void add_detail(Json row, const TensorDiff& diff, const std::string& title);
  void add_facts(Page& page, const DiffTotals& totals) const;

  PageTable& table_of(DiffResult result) {
    if (result == DiffResult::same) return same_;
    if (result == DiffResult::missing) return missing_;
    return result == DiffResult::trouble ? trouble_ : different_;
  }

  ReportOptions options_;
  TextSink sink_;
  FilePair pair_;
  bool troubled_ = false;      // a tensor of it
  std::uint64_t detailed_ = 0;  // have details, or would have had some
  std::uint64_t sections_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t compared_ = 0;  // elements
  std::vector<std::string> uncompared_;  // sentences
  std::uint64_t mismatched_ = 0;
  bool counted_ = true;  // mismatched_ is known
  std::array<std::vector<PageColumn>, 4> columns_;
  PageTable different_{"different", columns_[0]};
  PageTable missing_{"missing", columns_[1]};
  PageTable trouble_{"trouble", columns_[2]};
  PageTable same_{"same", columns_[3]};
  std::vector<Json> details_;
  std::size_t detail_bytes_ = 0;
};

void HtmlReport::take(const TensorDiff& diff) {
  compared_ += diff.compared;
  mismatched_ += diff.mismatched;
  counted_ = counted_ && diff.mismatched_known;
  const bool same = diff.result == DiffResult::same;
  const bool trouble = diff.result == DiffResult::trouble;
  const bool valued = diff.actual && diff.golden && diff.result != DiffResult::shape && !trouble;
  const std::string indices = indices_of(diff);
  const std::string own = own_name(diff, pair_);
  const double error = relative_error(diff);
  Json row = json_tensor_diff(diff, JsonSchema::sets);
  row["file"] = pair_.name;
  row["tensor"] =
      own.empty() ? Json("Tensor " + indices) : Json::array({own, indices});
  row["type"] = type_of(diff);
  row["result"] = result_name(diff.result);
  row["order"] = order_++;
  if (error >= 0) row["error"] = json_number(error);
  if (!same)
    row["mark"] = diff.result == DiffResult::different || diff.result == DiffResult::shape
                      ? "root"
                      : "dump";
  row["told"] = (options_.directories ? pair_.name + " · " : "") + set_name(diff, pair_, false) +
                ": " + (error >= 0 ? fmt::format("relative error {:.3g} %", 100 * error)
                                   : result_name(diff.result));
  if (!valued) {
    row["why"] = headline(diff);
    for (const PageColumn& column : kFigureColumns) row[std::string(column.member)] = Json();
  } else {
    row["count"] = diff.mismatched_known ? json_number(diff.mismatched) : Json("some");
    if (diff.compared > 0 && diff.mismatched_known)
      row["share"] = static_cast<double>(diff.mismatched) / static_cast<double>(diff.compared);
    if (!diff.hints.empty())
      row["why"] = {cause_text(diff.hints.front()), diff.hints.front().evidence};
    else if (!diff.reason.empty())
      row["why"] = diff.reason;
  }
  if (!same && valued) {
    ++detailed_;
    if (sections_ < kMaxDetails && detail_bytes_ < kMaxDetailBytes) {
      row["section"] = ++sections_;
      add_detail(row, diff,
                 (options_.directories ? pair_.name + " · " : "") +
                     (own.empty() ? "Tensor " + indices : own));
    }
  }
  table_of(diff.result).add(row);
  troubled_ = troubled_ || trouble;
}

void HtmlReport::add_detail(Json row, const TensorDiff& diff, const std::string& title) {
  for (const char* const member : {"required", "tolerance", "actual_tensor", "told", "why"})
    row.erase(member);
  row["title"] = title;
  row["passing"] = passing(diff, options_.member_names);
  if (diff.heatmap)
    row["heat"] = heat_words(*diff.heatmap, diff.golden->dims,
                             options_.criteria.heatmap ? options_.criteria.heatmap->axes
                                                       : std::vector<std::int32_t>());
  trim(row);
  detail_bytes_ += dump(row).size();
  details_.push_back(std::move(row));
}

void HtmlReport::end(const FilePair& pair, const PairOutcome& outcome) {
  if (of_whole_files(outcome.result))
    pair_row(result_name(outcome.result), whole_files_text(pair, outcome));
  if (!outcome.files.all.empty()) pair_row("different", file_differences_text(outcome));
  if (!outcome.files.uncompared.empty() && uncompared_.size() < kMaxUncompared)
    uncompared_.push_back((options_.directories ? printable(pair.name) + ": " : "") +
                          printable(outcome.files.uncompared));
  if (outcome.result == PairResult::trouble && !troubled_) pair_row("trouble", outcome.error);
}

void HtmlReport::pair_row(std::string_view result, const std::string& note) {
  PageTable& table = result == "trouble"   ? trouble_
                     : result == "missing" ? missing_
                                           : different_;
  table.add({{"file", pair_.name},
             {"tensor", "–"},
             {"type", "–"},
             {"result", result},
             {"why", note},
             {"order", order_++},
             {"mark", result == "different" ? "root" : "dump"},
             {"told", pair_.name + ": " + std::string(result)}});
}

void HtmlReport::add_facts(Page& page, const DiffTotals& totals) const {
  page.fact("actual", html_name(options_.actual));
  page.fact("golden", html_name(options_.golden));
  page.fact_text("accepted", common_criteria_text(options_, totals.close));
  if (options_.directories)
    page.fact_text("files", fmt::format("{}, {} different", html_count(totals.files),
                                        html_count(totals.different_files)));
  if (totals.first_different && (totals.tensors > 1 || options_.directories))
    page.fact("first different", html_name(*totals.first_different));
  if (const std::string paired = pairing_text(totals.pairing); !paired.empty())
    page.fact_text("paired", paired);
  std::string elements = html_count(compared_) + " compared, ";
  if (mismatched_ == 0)
    elements += "none mismatched";
  else if (!counted_)
    elements += "some mismatched";
  else
    elements += html_count(mismatched_) + " mismatched (" + percent(mismatched_, compared_) + ")";
  page.fact_text("elements", elements);
  for (const std::string& what : uncompared_) page.fact_text("not compared", what);
}

Status HtmlReport::finish(const DiffTotals& totals) {
  const std::string result = result_name(totals.result());
  PageOrigin origin = options_.origin;
  if (totals.newest_input) origin.newest_input = totals.newest_input;
  Page page(origin, "btftool diff");
  page.verdict(result, result, sum_text(totals),
               result + ": " + options_.actual + " against " + options_.golden);
  add_facts(page, totals);

  page.view({{"view", "chart"},
             {"label", "relative error of each tensor"},
             {"tables", {"different", "missing", "trouble", "same"}},
             {"lines", {{"error", "error"}}},
             {"points", true},
             {"low", true},
             {"shares", true},
             {"least", 5},
             {"legend",
              {{"point", "relative error of each tensor, in their order: the root of the sum of "
                         "squared errors, by that of golden"},
               {"root", "different"},
               {"dump", "missing or trouble"}}}});
  if (different_.rows() + missing_.rows() + trouble_.rows() + same_.rows() > 1)
    page.view({{"view", "filter"}});
  if (different_.rows() > 0) {
    page.heading("Different");
    page.table(different_);
    if (detailed_ > sections_)
      page.note(fmt::format("The first {} of {} different tensors have details below; {}.",
                            html_count(sections_), html_count(detailed_),
                            in_words(options_.member_names, "`tensors` chooses others")));
  }
  if (missing_.rows() > 0) {
    page.heading("Missing");
    page.table(missing_);
  }
  if (trouble_.rows() > 0) {
    page.heading("Trouble");
    page.table(trouble_);
  }
  if (same_.rows() > 0)
    page.table(same_, fmt::format("{} {} the same", counted(same_.rows(), "tensor"),
                                  same_.rows() == 1 ? "is" : "are"));
  if (sections_ > 0) page.view({{"view", "details"}});
  for (const Json& detail : details_) page.detail(detail);
  Json figures = Json::array();
  for (const FigureInfo& row : btf::figures())
    if (row.value != nullptr) figures.push_back({row.name, row.label, row.unit});
  page.member("figures", std::move(figures));
  Json levels = Json::array();
  for (const DensityLevel& level : density_levels())
    levels.push_back({json_number(level.below), level.meaning});
  page.member("levels", std::move(levels));
  return sink_(page.html(
      "Errors are |actual − golden|, relative ones by |golden|. Largest errors, steps and figures "
      "are over the pairs of finite numbers; NaN and Inf are counted apart. Steps are of the "
      "coarser dtype."));
}

}  // namespace

std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink) {
  return std::make_unique<HtmlReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report

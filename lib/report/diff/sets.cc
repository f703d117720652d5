#include "report/diff/sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "report/diff/names.h"
#include "report/diff/text.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

// Never prints "1" for a cosine that is not 1.
std::string cosine_text(double cosine) {
  constexpr std::size_t kLongest = 12;
  const std::string text = short_number(cosine);
  if (text.size() <= kLongest) return text;
  return cosine > 0 ? fmt::format("1-{:.1e}", 1 - cosine) : fmt::format("{:.6g}", cosine);
}

std::string refused_text(const TensorDiff& diff) {
  if (!diff.mismatched_known) return "some";
  return diff.mismatched == 0 ? "0" : percent(diff.mismatched, diff.compared);
}

// Returns the cause if there is one, else NaN and Inf (those on one side first), else the criteria
// other than the tolerance that failed.
std::string why(const TensorDiff& diff) {
  if (!diff.hints.empty()) return printable(cause_text(diff.hints.front()));
  const std::string unlike = unlike_specials_text(diff);
  const std::string specials = unlike.empty() ? specials_text(diff) : unlike;
  if (!specials.empty()) return specials.substr(2);
  if (!diff.reason.empty()) return printable(diff.reason);
  const auto failed = std::ranges::find_if(diff.criteria, [](const CriterionResult& found) {
    return !found.passed && found.name != "elements";
  });
  return failed == diff.criteria.end() ? "" : failed->name;
}

std::string number_or_name(const DiffTensor& tensor) {
  return tensor.named ? printable(tensor.name) : "tensor " + std::to_string(tensor.index);
}

}  // namespace

std::string set_name(const TensorDiff& diff, const FilePair& pair, bool directories) {
  const DiffTensor& told = diff.golden ? *diff.golden : *diff.actual;
  if (directories) {
    // One that only a file's name gives it says which file that is.
    const bool file = pair.tells_file && told.named && pair.name != told.name;
    const bool other = diff.tier && diff.actual && diff.actual->name != told.name;
    return (file ? printable(pair.name) + ": " : "") +
           (other ? printable(diff.actual->name) + " against " : "") + printable(told.name);
  }
  const DiffTensor& other = diff.actual ? *diff.actual : told;
  const bool one_name = told.named != other.named || told.name == other.name;
  if (told.named || other.named) {
    if (one_name) return printable(told.named ? told.name : other.name);
  } else if (told.index == other.index) {
    return number_or_name(told);
  }
  return number_or_name(other) + " against " +
         (told.named ? printable(told.name) : std::to_string(told.index));
}

SetRow set_row(const TensorDiff& diff, std::string name) {
  SetRow row{.name = std::move(name), .different = diff.result != DiffResult::same};
  if (diff.result == DiffResult::missing || diff.result == DiffResult::shape ||
      diff.result == DiffResult::trouble) {
    row.instead = diff.error ? "trouble" : headline(diff);
    row.error_rank = row.cosine_rank = kWorst;
    return row;
  }
  row.refused = refused_text(diff);
  row.error = fmt::format("{:.4g}", diff.max_abs);
  row.why = why(diff);
  if (!diff.hints.empty()) row.evidence = printable(diff.hints.front().evidence);
  row.error_rank = diff.worst_error();
  // A report of an older version may have no cosine.
  if (diff.figures && diff.figures->pairs > 0 && !std::isnan(diff.figures->cosine)) {
    row.cosine = cosine_text(diff.figures->cosine);
    row.cosine_rank = diff.nonfinite_differs() ? kWorst : 1 - diff.figures->cosine;
  } else {
    row.cosine = "-";
    row.cosine_rank = row.different ? kWorst : 0;
  }
  return row;
}

SetRow set_row(const FilePair& pair, const PairOutcome& outcome) {
  SetRow row{.name = printable(pair.name), .different = outcome.result != PairResult::same};
  if (of_whole_files(outcome.result))
    row.instead = printable(whole_files_text(pair, outcome));
  else
    row.instead = outcome.result == PairResult::trouble ? "trouble" : "no tensors";
  row.error_rank = row.cosine_rank = row.different ? kWorst : 0;
  return row;
}

namespace {

// Number of rows that are collected before the first is printed, so that the columns fit all.
constexpr std::size_t kMaxWaiting = 4096;

constexpr std::string_view kSameMark = "  ";
constexpr std::string_view kDifferentMark = "x ";
constexpr std::string_view kGap = "  ";
constexpr std::string_view kNameTitle = "tensor";
constexpr std::string_view kErrorTitle = "max error";
constexpr std::string_view kCosineTitle = "cosine";
constexpr std::string_view kWhyTitle = "why";
constexpr std::size_t kRefused = 7;  // "<0.001%"
constexpr std::size_t kError = 9;    // "1.234e-05"
constexpr std::size_t kCosine = 12;  // "-0.999999993"
constexpr std::size_t kFigures = kSameMark.size() + kRefused + kError + kCosine + 4 * kGap.size();
constexpr std::size_t kMinName = 16;

}  // namespace

void SetTable::add(SetRow row) { rows_.push_back(std::move(row)); }

// Names get room first, as causes are short.
SetTable::Widths SetTable::measure() const {
  std::size_t name = kNameTitle.size();
  std::size_t why = kWhyTitle.size();
  for (const SetRow& row : rows_) {
    name = std::max(name, columns_of(row.name));
    why = std::max(why, columns_of(row.why));
  }
  const std::size_t room = columns_ > kFigures ? columns_ - kFigures : 0;
  const std::size_t least = std::min(name, std::max(room / 2, kMinName));
  Widths widths;
  if (whole_) {
    // Causes have the same room after long names as after short ones.
    widths.name = name;
    widths.why = std::max(std::min(why, room - least), room > name ? room - name : 0);
    return widths;
  }
  widths.name = std::max(least, std::min(name, room > why ? room - why : 0));
  widths.why = room > widths.name ? room - widths.name : 0;
  return widths;
}

void SetTable::print_title(std::vector<std::string>& lines) const {
  std::string line(kSameMark);
  line += fill_right(kNameTitle, widths_.name);
  for (const auto& [title, width] :
       {std::pair(std::string_view(refused_), kRefused), std::pair(kErrorTitle, kError),
        std::pair(kCosineTitle, kCosine)})
    line.append(kGap).append(fill_left(title, width));
  lines.push_back(line.append(kGap).append(without_end(kWhyTitle, widths_.why)));
}

// Leaves the evidence out if there is room for only a few characters of it.
std::string SetTable::why_text(const SetRow& row) const {
  constexpr std::size_t kMinEvidence = 12;
  const std::string all = row.why + ": " + row.evidence;
  const std::size_t least = std::min(columns_of(all), columns_of(row.why) + 2 + kMinEvidence);
  const bool told = !row.evidence.empty() && widths_.why >= least;
  return without_end(told ? all : row.why, widths_.why);
}

void SetTable::print(const SetRow& row, const std::string& name,
                     std::vector<std::string>& lines) const {
  std::string line(row.different ? paint_.red(kDifferentMark) : std::string(kSameMark));
  line += fill_right(name, widths_.name);
  if (row.instead.empty()) {
    line.append(kGap).append(fill_left(row.refused, kRefused));
    line.append(kGap).append(fill_left(row.error, kError));
    line.append(kGap).append(fill_left(row.cosine, kCosine));
    line.append(kGap).append(why_text(row));
    line.resize(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  } else {
    // Never shortened, as it is printed nowhere else.
    const std::size_t before = kSameMark.size() + widths_.name + kGap.size();
    const std::vector<std::string> pieces =
        whole_ ? std::vector{row.instead}
               : wrapped(row.instead, columns_ > before ? columns_ - before : 1, 0);
    lines.push_back(line.append(kGap).append(pieces.front()));
    for (std::size_t i = 1; i < pieces.size(); ++i)
      lines.push_back(std::string(before, ' ') + pieces[i]);
  }
  lines.insert(lines.end(), row.below.begin(), row.below.end());
}

std::vector<std::string> SetTable::lines(bool last) {
  std::vector<std::string> lines;
  if (rows_.empty() ||
      (!last && (sort_ != DiffSort::order || rows_.size() < (began_ && whole_ ? 1 : kMaxWaiting))))
    return lines;
  if (sort_ == DiffSort::error)
    std::ranges::stable_sort(rows_, std::greater{}, &SetRow::error_rank);
  if (sort_ == DiffSort::cosine)
    std::ranges::stable_sort(rows_, std::greater{}, &SetRow::cosine_rank);
  if (!std::exchange(began_, true)) {
    widths_ = measure();
    print_title(lines);
  }
  const std::vector<SetRow> rows = std::exchange(rows_, {});
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const SetRow& row : rows) names.push_back(row.name);
  if (!whole_) names = short_names(names, widths_.name);
  for (std::size_t i = 0; i < rows.size(); ++i) print(rows[i], names[i], lines);
  return lines;
}

}  // namespace btf::report

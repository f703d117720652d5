#include "report/diff/set_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/diff/names.h"
#include "report/diff/text.h"
#include "report/text/text.h"

namespace btf::report {
namespace {


constexpr double kWorst = std::numeric_limits<double>::infinity();

// A cosine that is not 1 does not look like it.
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

// The cause; else NaN and Inf, of these first what does not agree; else which of the criteria
// failed beside the elements.
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

}  // namespace btf::report

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/diff/lines.h"
#include "report/diff/names.h"
#include "report/diff/screen.h"
#include "report/diff/text.h"
#include "report/text/paint.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

class SummaryReport final : public DiffReport {
 public:
  SummaryReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), out_(std::move(sink)), paint_{options_.text.color} {}

  void begin(const FilePair&) override { sums_ = {}; }

  void take(const TensorDiff& diff) override {
    if (diff.result == DiffResult::trouble) {
      ++sums_.troubled;
      return;
    }
    ++sums_.tensors;
    if (diff.result != DiffResult::same) ++sums_.different;
    add_pairing(diff, sums_.pairing);
    sums_.compared += diff.compared;
    sums_.mismatched += diff.mismatched;
    // A report that is judged again does not hold every figure of the new limits.
    sums_.counted = sums_.counted && diff.mismatched_known;
    // A NaN that meets an Inf is one pair, though both sides count it.
    if (diff.figures)
      sums_.nonfinite += diff.compared - diff.figures->pairs - diff.nan.both - diff.inf.both;
    note_close(diff, sums_.close);
    sums_.worst = std::max(sums_.worst, diff.max_abs);
    const double cosine = diff.figures ? diff.figures->cosine : NAN;
    if (diff.figures ? diff.figures->pairs > 0 : diff.max_abs > 0) {
      sums_.every_cosine = sums_.every_cosine && !std::isnan(cosine);
      if (!std::isnan(cosine)) sums_.cosine = std::min(sums_.cosine.value_or(1), cosine);
    }
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    std::string text = printable(pair.both_names()) + ": ";
    if (of_whole_files(outcome.result))
      return put(text + paint_.red("different") + ": " +
                 printable(whole_files_text(pair, outcome)));
    if (outcome.result == PairResult::trouble) {
      text += paint_.red("trouble");
      if (sums_.tensors == 0 || sums_.troubled == 0) return put(text);
      text += fmt::format(": {} of {}; ", sums_.troubled,
                          counted(sums_.troubled + sums_.tensors, "tensor"));
    }
    text += !outcome.files.all.empty() && sums_.different == 0
                ? fmt::format("{}: {} the same", paint_.red("different"),
                              counted(sums_.tensors, "tensor"))
            : sums_.different > 0
                ? fmt::format("{}: {} of {}", paint_.red("different"), sums_.different,
                              counted(sums_.tensors, "tensor"))
                : fmt::format("{}: {}", paint_.green("same"), counted(sums_.tensors, "tensor"));
    const std::string paired = pairing_text(sums_.pairing);
    const std::string files = file_differences_text(outcome);
    if (!files.empty()) {
      put(text + figures() + (paired.empty() ? "" : ", paired " + paired) + "; " + files + " (" +
          criteria_text(options_, sums_.close) + ")");
      return;
    }
    if (!outcome.files.uncompared.empty())
      text += "; " + printable(outcome.files.uncompared) + ";";
    put(text + figures() + (paired.empty() ? "" : ", paired " + paired) + " (" +
        criteria_text(options_, sums_.close) + ")");
  }

  Status finish(const DiffTotals&) override { return out_.status(); }

 private:
  struct Sums {
    std::uint64_t tensors = 0;
    std::uint64_t troubled = 0;  // and the others are what the rest is of
    std::uint64_t different = 0;
    std::uint64_t compared = 0;
    std::uint64_t mismatched = 0;
    std::uint64_t nonfinite = 0;
    double worst = 0;
    bool counted = true;  // `mismatched` is of all tensors
    std::optional<double> cosine;
    bool every_cosine = true;  // likewise
    std::vector<Tolerance> close;
    PairingCounts pairing;
  };

  void put(const std::string& text) {
    constexpr std::size_t kIndent = 4;
    const std::size_t room = options_.text.whole_lines ? kAnyColumns : options_.text.columns;
    for (const std::string& line : wrapped(text, room, kIndent)) out_.line(line);
  }

  std::string figures() const {
    std::string text = ", ";
    if (sums_.mismatched > 0)
      text += (sums_.counted ? std::to_string(sums_.mismatched) : "some") + " of ";
    text += counted(sums_.compared, "element");
    if (sums_.worst > 0) text += ", worst error " + short_number(sums_.worst);
    if (sums_.worst > 0 && sums_.cosine && sums_.every_cosine)
      text += ", least cosine " + short_number(*sums_.cosine);
    if (sums_.nonfinite > 0)
      text += fmt::format(", {} NaN or Inf that do not agree", sums_.nonfinite);
    return text;
  }

  ReportOptions options_;
  Lines out_;
  Paint paint_;
  Sums sums_;  // of the pair of files
};

}  // namespace

std::unique_ptr<DiffReport> summary_report(ReportOptions options, TextSink sink) {
  return std::make_unique<SummaryReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diff/reports/screen.h"
#include "diff/reports/text.h"
#include "io/text.h"

namespace btftool {
namespace {

class SummaryReport final : public DiffReport {
 public:
  SummaryReport(Output& out, const DiffCommand& command) : out_(out), command_(command) {}

  void begin(const FilePair&) override { sums_ = {}; }

  void take(const btf::TensorDiff& diff) override {
    if (diff.result == btf::DiffResult::trouble) {
      ++sums_.troubled;
      return;
    }
    ++sums_.tensors;
    if (diff.result != btf::DiffResult::same) ++sums_.different;
    sums_.pairing.add(diff);
    sums_.compared += diff.compared;
    sums_.mismatched += diff.mismatched;
    // A NaN that meets an Inf is one pair, though both sides count it.
    if (diff.figures)
      sums_.nonfinite += diff.compared - diff.figures->pairs - diff.nan.both - diff.inf.both;
    note_close(diff, sums_.close);
    sums_.worst = std::max(sums_.worst, diff.max_abs);
    if (diff.figures && diff.figures->pairs > 0)
      sums_.cosine = std::min(sums_.cosine, diff.figures->cosine);
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    std::string text = printable(pair.both_names()) + ": ";
    if (of_whole_files(outcome.result))
      return out_.line(text + out_.red("different") + ": " +
                       printable(whole_files_text(pair, outcome)));
    if (outcome.result == PairResult::trouble) {
      text += out_.red("trouble");
      if (sums_.tensors == 0 || sums_.troubled == 0) return out_.line(text);
      text += fmt::format(": {} of {}; ", sums_.troubled,
                          counted(sums_.troubled + sums_.tensors, "tensor"));
    }
    text += sums_.different > 0
                ? fmt::format("{}: {} of {}", out_.red("different"), sums_.different,
                              counted(sums_.tensors, "tensor"))
                : fmt::format("{}: {}", out_.green("same"), counted(sums_.tensors, "tensor"));
    const std::string paired = sums_.pairing.text();
    out_.line(text + figures() + (paired.empty() ? "" : ", paired " + paired) + " (" +
              criteria_text(command_, sums_.close) + ")");
  }

  btf::Status finish(const Totals&) override { return {}; }

 private:
  struct Sums {
    std::uint64_t tensors = 0;
    std::uint64_t troubled = 0;  // and the others are what the rest is of
    std::uint64_t different = 0;
    std::uint64_t compared = 0;
    std::uint64_t mismatched = 0;
    std::uint64_t nonfinite = 0;
    double worst = 0;
    double cosine = 1;
    std::vector<btf::Tolerance> close;
    Pairing pairing;
  };

  std::string figures() const {
    std::string text = sums_.mismatched > 0 ? fmt::format(", {} of {}", sums_.mismatched,
                                                          counted(sums_.compared, "element"))
                                            : ", " + counted(sums_.compared, "element");
    if (sums_.worst > 0)
      text += fmt::format(", worst error {}, least cosine {}", short_number(sums_.worst),
                          short_number(sums_.cosine));
    if (sums_.nonfinite > 0)
      text += fmt::format(", {} NaN or Inf that do not agree", sums_.nonfinite);
    return text;
  }

  Output& out_;
  const DiffCommand& command_;
  Sums sums_;  // of the pair of files
};

}  // namespace

std::unique_ptr<DiffReport> summary_report(Output& out, const DiffCommand& command) {
  return std::make_unique<SummaryReport>(out, command);
}

}  // namespace btftool

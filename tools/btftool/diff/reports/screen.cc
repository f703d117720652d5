#include "diff/reports/screen.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "diff/reports/tensor_lines.h"
#include "diff/reports/text.h"
#include "io/text.h"

namespace btftool {
namespace {

using btf::TensorDiff;

std::string verdict(const Totals& totals, const Output& paint, const DiffCommand& command) {
  const auto of = [](std::uint64_t part, std::uint64_t all, const char* noun) {
    return part == 0 ? counted(all, noun) : fmt::format("{} of {}", part, counted(all, noun));
  };
  std::string text;
  if (totals.troubled_files > 0)
    text = paint.red("trouble") + ": " + of(totals.troubled_files, totals.files, "file") + "; ";
  else if (totals.unwritten)
    text = paint.red("trouble") + ": a report could not be written; ";
  if (totals.nothing()) return paint.red("trouble") + ": nothing was compared";
  if (totals.tensors == 0 && totals.troubled_files == totals.files)
    return text + "nothing was compared";
  text += (totals.same() ? paint.green("same") : paint.red("different")) + ": ";
  const std::uint64_t judged = totals.files - totals.troubled_files;
  std::string counts;
  if (totals.directories && judged > 0) counts = of(totals.different_files, judged, "file");
  if (totals.tensors > 0)
    counts += (counts.empty() ? "" : ", ") + of(totals.different_tensors, totals.tensors, "tensor");
  return text + counts + " (" + criteria_text(command, totals.close) + ")";
}

// A pair of files; what is known is printed at once.
class FileScreen final : public DiffReport {
 public:
  FileScreen(Output& out, const DiffCommand& command)
      : out_(out), command_(command), tensors_(out, command, 0) {}

  void begin(const FilePair&) override {}

  void take(const TensorDiff& diff) override {
    tensors_.take(diff);
    print();
  }

  void end(const FilePair&, const PairOutcome&) override {
    tensors_.end_run();
    print();
  }

  btf::Status finish(const Totals& totals) override {
    const std::string hidden = tensors_.not_shown();
    if (!hidden.empty()) out_.line("not shown: " + hidden + "; --all shows them");
    out_.line(verdict(totals, out_, command_));
    return {};
  }

 private:
  void print() {
    for (const std::string& line : tensors_.lines()) out_.line(line);
  }

  Output& out_;
  const DiffCommand& command_;
  TensorLines tensors_;
};

// Two directories: a line a pair of files, below it its tensors if it differs.
class DirectoryScreen final : public DiffReport {
 public:
  DirectoryScreen(Output& out, const DiffCommand& command)
      : out_(out), command_(command), tensors_(out, command, kFileLines) {}

  void begin(const FilePair&) override {
    count_ = different_ = 0;
    tensors_.section(tensors_.any_different() ? kNextFile : kFirstFile);
  }

  void take(const TensorDiff& diff) override {
    ++count_;
    if (diff.result != btf::DiffResult::same) ++different_;
    tensors_.take(diff);
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    if (outcome.result == PairResult::same && !command_.all) return same(pair);
    // What was the same before the trouble is not what is looked for.
    tensors_.end_run(outcome.result == PairResult::trouble && !command_.all);
    end_run();
    const std::vector<std::string> lines = tensors_.lines();
    if (!line(printable(pair.name) + ": " + what(pair, outcome))) {
      ++hidden_files_;
      return;
    }
    for (const std::string& text : lines) out_.line("  " + text);
  }

  btf::Status finish(const Totals& totals) override {
    end_run();
    std::string hidden = hidden_files_ > 0 ? counted(hidden_files_, "file") : "";
    const std::string more = tensors_.not_shown();
    if (!hidden.empty() && !more.empty()) hidden += ", ";
    hidden += more;
    if (!hidden.empty()) out_.line("not shown: " + hidden + "; --all shows them");
    out_.line(verdict(totals, out_, command_));
    return {};
  }

 private:
  // Pairs of files that are the same, one after the other.
  struct Run {
    std::vector<std::string> lines;
    std::string first;
    std::string last;
    std::uint64_t files = 0;
    std::uint64_t tensors = 0;
  };

  // Lines that are for files, and those of the tensors of one file.
  static constexpr std::uint64_t kFileLines = 12;
  static constexpr std::uint64_t kFirstFile = 20;
  static constexpr std::uint64_t kNextFile = 3;
  static constexpr std::uint64_t kKept = 16;  // files of a run that are named one by one

  bool line(const std::string& text, std::uint64_t reserve = 0) {
    const bool room = tensors_.use_line(reserve);
    if (room) out_.line(text);
    return room;
  }

  void same(const FilePair& pair) {
    const std::string name = printable(pair.name);
    if (run_.files++ == 0) run_.first = name;
    run_.last = name;
    run_.tensors += count_;
    const std::string text = tensors_.take_run().summary();
    if (run_.files <= kKept)
      run_.lines.push_back(name + ": " + out_.green("same") + ": " + text);
    else
      run_.lines.clear();
  }

  void end_run() {
    const Run run = std::exchange(run_, {});
    if (run.files == 0) return;
    // Files that differ go before files that do not.
    const std::uint64_t reserve = tensors_.any_different() ? kFileLines - 4 : 0;
    if (run.files <= kKept && (run.files <= 3 || !tensors_.any_different())) {
      for (const std::string& text : run.lines)
        if (!line(text, reserve)) ++hidden_files_;
      return;
    }
    if (!line(fmt::format("{} ... {}: {}: {}, {}", run.first, run.last, out_.green("same"),
                          counted(run.files, "file"), counted(run.tensors, "tensor")),
              reserve))
      hidden_files_ += run.files;
  }

  std::string what(const FilePair& pair, const PairOutcome& outcome) const {
    switch (outcome.result) {
      case PairResult::same:
        return out_.green("same") + ": " + counted(count_, "tensor");
      case PairResult::different:
        return fmt::format("{}: {} of {}", out_.red("different"), different_,
                           counted(count_, "tensor"));
      case PairResult::missing:
        return out_.red("different") + ": " + missing_side(pair);
      case PairResult::trouble:
        break;
    }
    return out_.red("trouble");
  }

  Output& out_;
  const DiffCommand& command_;
  TensorLines tensors_;
  Run run_;
  std::uint64_t count_ = 0;  // of the pair of files
  std::uint64_t different_ = 0;
  std::uint64_t hidden_files_ = 0;
};

}  // namespace

std::unique_ptr<DiffReport> screen_report(Output& out, const DiffCommand& command,
                                          bool directories) {
  if (directories) return std::make_unique<DirectoryScreen>(out, command);
  return std::make_unique<FileScreen>(out, command);
}

}  // namespace btftool

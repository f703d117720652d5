#include "diff/reports/tensor_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diff/reports/heatmap_scale.h"
#include "diff/reports/heatmap_text.h"
#include "diff/reports/text.h"
#include "io/text.h"

namespace btftool {
namespace {

// Lines of a report, its last two not counted.
constexpr std::uint64_t kLines = 36;
// Details are given while they leave room for so many tensors that get only a line.
constexpr std::uint64_t kHeadlines = 8;
constexpr std::uint64_t kFull = 16;  // lines of full details
constexpr std::uint64_t kMaps = 3;   // a heat map is a screen by itself

}  // namespace

TensorLines::TensorLines(const Output& paint, const DiffCommand& command, std::uint64_t reserve)
    : paint_(paint), command_(command), reserve_(reserve), section_(kLines) {}

void TensorLines::section(std::uint64_t lines) { section_ = lines; }

// Besides so many `more` that something else may need.
bool TensorLines::room(std::uint64_t lines, std::uint64_t more) const {
  return command_.all || (used_ + lines + more + reserve_ <= kLines && lines <= section_);
}

bool TensorLines::use_line(std::uint64_t reserve) {
  if (!command_.all && used_ + reserve >= kLines) return false;
  ++used_;
  return true;
}

void TensorLines::put(std::string line) {
  ++used_;
  section_ -= std::min<std::uint64_t>(section_, 1);
  lines_.push_back(std::move(line));
}

std::vector<std::string> TensorLines::lines() { return std::exchange(lines_, {}); }

void TensorLines::take(const btf::TensorDiff& diff) {
  if (diff.result == btf::DiffResult::same) {
    run_.add(diff, paint_);
    if (command_.all) end_run();
    return;
  }
  const bool first = std::exchange(first_, false);
  end_run();
  tell(diff, first);
}

SameRun TensorLines::take_run() { return std::exchange(run_, {}); }

void TensorLines::end_run(bool fold) {
  constexpr std::uint64_t kBesides = 3;  // single lines of a run, if there is something to tell of
  const SameRun run = take_run();
  if (run.count() == 0) return;
  const bool single = !fold && !run.lines().empty() && (first_ || run.count() <= kBesides);
  if (single && room(run.count(), first_ ? 0 : kHeadlines)) {
    for (const std::string& line : run.lines()) put(line);
  } else if (room(1, first_ ? 0 : 2)) {
    put(run.folded(paint_));
  } else {
    hidden_same_ += run.count();
  }
}

void TensorLines::tell(const btf::TensorDiff& diff, bool first) {
  if (!first && !room(1)) {
    ++hidden_different_;
    return;
  }
  put(pair_name(diff) + ": " + paint_.red("different") + ": " + headline(diff));
  if (!details(diff, first)) ++hidden_details_;
}

// False if there is more to say than was said.
bool TensorLines::details(const btf::TensorDiff& diff, bool first) {
  const std::vector<std::string> full = detail_lines(diff, Detail::full, command_);
  if (full.empty()) return true;
  if (first || room(full.size(), kHeadlines)) {
    const std::uint64_t used = used_ + kFull;
    const std::uint64_t section = section_ - std::min(section_, kFull);
    for (const std::string& line : full) put(line);
    heatmap(diff);
    // Rows and pictures that were asked for do not use up the screen.
    used_ = std::min(used_, used);
    section_ = std::max(section_, section);
    return true;
  }
  const std::vector<std::string> brief = detail_lines(diff, Detail::brief, command_);
  if (room(brief.size(), kHeadlines))
    for (const std::string& line : brief) put(line);
  return false;
}

void TensorLines::heatmap(const btf::TensorDiff& diff) {
  if (!diff.heatmap || !command_.diff.heatmap) return;
  if (!command_.all && maps_ == kMaps) return;
  ++maps_;
  const btf::Dims& dims = diff.golden->dims;
  const std::string picked = axes_trouble(command_.diff.heatmap->axes, dims.size());
  for (const std::string& line : heatmap_lines(*diff.heatmap, dims, picked, paint_.colored()))
    put(line);
}

std::string TensorLines::not_shown() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (hidden_different_ > 0) add(counted(hidden_different_, "different tensor"));
  if (hidden_same_ > 0) add(counted(hidden_same_, "same tensor"));
  if (hidden_details_ > 0) add(fmt::format("details of {}", counted(hidden_details_, "tensor")));
  return text;
}

}  // namespace btftool

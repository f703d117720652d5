#include "diff/reports/report.h"

#include <algorithm>

namespace btftool {

std::string result_name(PairResult result) {
  switch (result) {
    case PairResult::same:
      return "same";
    case PairResult::different:
    case PairResult::bytes:
      return "different";
    case PairResult::missing:
      return "missing";
    case PairResult::trouble:
      break;
  }
  return "trouble";
}

std::string result_name(btf::DiffResult result) {
  switch (result) {
    case btf::DiffResult::same:
      return "same";
    case btf::DiffResult::different:
      return "different";
    case btf::DiffResult::shape:
      return "shape";
    case btf::DiffResult::missing:
      return "missing";
    case btf::DiffResult::trouble:
      break;
  }
  return "trouble";
}

PairResult result_of(const Totals& totals) {
  if (totals.trouble()) return PairResult::trouble;
  return totals.same() ? PairResult::same : PairResult::different;
}

std::string missing_side(const FilePair& pair) {
  return pair.actual.empty() ? "no actual file" : "no golden file";
}

bool of_whole_files(PairResult result) {
  return result == PairResult::missing || result == PairResult::bytes;
}

std::string whole_files_text(const FilePair& pair, const PairOutcome& outcome) {
  return outcome.result == PairResult::missing ? missing_side(pair) : outcome.error;
}

void note_close(const btf::TensorDiff& diff, std::vector<btf::Tolerance>& close) {
  constexpr std::size_t kMost = 4;
  const btf::Tolerance& used = diff.tolerance;
  const auto alike = [&](const btf::Tolerance& other) {
    return used.rtol == other.rtol && used.atol == other.atol;
  };
  const bool judged =
      diff.result == btf::DiffResult::same || diff.result == btf::DiffResult::different;
  if (judged && close.size() < kMost && std::ranges::none_of(close, alike)) close.push_back(used);
}

}  // namespace btftool

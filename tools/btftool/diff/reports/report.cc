#include "diff/reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace btftool {
namespace {

// What names have in common that are not equal.
constexpr auto kTierWords = std::to_array<btf::Named<btf::PairTier>>({
    {btf::PairTier::map, "by the map"},
    {btf::PairTier::exact, "by equal names"},
    {btf::PairTier::prefix, "without a prefix that all names of one side have"},
    {btf::PairTier::stem, "without what programs put around a name"},
    {btf::PairTier::sanitised, "by letters and digits alone"},
    {btf::PairTier::module, "by the path of their module"},
    {btf::PairTier::tail, "by the last parts of their names"},
    {btf::PairTier::only, "as the only one of each side"},
    {btf::PairTier::order, "by their order, for arr_0 and the like are no names"},
});

}  // namespace

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

std::string_view tier_name(btf::PairTier tier) {
  return std::ranges::find(btf::pair_tier_names(), tier, &btf::Named<btf::PairTier>::value)->name;
}

void Pairing::add(const btf::TensorDiff& diff) {
  if (!diff.golden)
    ++actual_only;
  else if (!diff.actual)
    ++golden_only;
  else if (diff.tier)
    ++tiers[*diff.tier];
  else
    ++equal;
}

std::string Pairing::text() const {
  if (tiers.empty()) return {};
  std::string text = equal > 0 ? fmt::format("{} (name)", equal) : "";
  for (const auto& [tier, count] : tiers)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", count, tier_name(tier));
  return text;
}

std::string Pairing::sentence() const {
  if (tiers.empty() && (equal > 0 || actual_only == 0 || golden_only == 0)) return {};
  const bool none = equal == 0 && !tiers.contains(btf::PairTier::map);
  if (tiers.empty())
    return "no name is on both sides, and nothing is paired: --pair-by number pairs tensors in "
           "their order, --map FILE says which belong together";
  std::string text = none ? "no name is on both sides: " : "";
  bool first = true;
  const auto add = [&](std::uint64_t count, std::string_view words, std::string_view name) {
    text += fmt::format("{}{} {}{} ({})", first ? "" : ", ", count, first ? "paired " : "", words,
                        name);
    first = false;
  };
  if (equal > 0) add(equal, "by equal names", "name");
  for (const auto& [tier, count] : tiers)
    add(count, std::ranges::find(kTierWords, tier, &btf::Named<btf::PairTier>::value)->name,
        tier_name(tier));
  return text + (none ? "; --pair-by exact pairs equal names only" : "");
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
    return used.rtol == other.rtol && used.atol == other.atol &&
           used.half_step == other.half_step;
  };
  const bool judged =
      diff.result == btf::DiffResult::same || diff.result == btf::DiffResult::different;
  if (judged && close.size() < kMost && std::ranges::none_of(close, alike)) close.push_back(used);
}

}  // namespace btftool

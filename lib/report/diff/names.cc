#include "report/diff/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/text/text.h"

namespace btf::report {
namespace {

// How names that are not equal were matched.
constexpr auto kTierWords = std::to_array<Named<PairTier>>({
    {PairTier::map, "by the map"},
    {PairTier::exact, "by equal names"},
    {PairTier::qdq, "by what quantised models call them"},
    {PairTier::prefix, "without a prefix that all names of one side have"},
    {PairTier::stem, "without what programs add to a name"},
    {PairTier::sanitised, "by letters and digits alone"},
    {PairTier::module, "by the path of their module"},
    {PairTier::tail, "by the last parts of their names"},
    {PairTier::only, "as the only one of each side"},
    {PairTier::order, "by their order, as arr_0 and the like are not names"},
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

std::string_view tier_name(PairTier tier) {
  return std::ranges::find(btf::pair_tier_names(), tier, &Named<PairTier>::value)->name;
}

void add_pairing(const TensorDiff& diff, PairingCounts& counts) {
  if (!diff.golden)
    ++counts.actual_only;
  else if (!diff.actual)
    ++counts.golden_only;
  else if (diff.tier)
    ++counts.tiers[*diff.tier];
  else
    ++counts.equal;
}

std::string pairing_text(const PairingCounts& counts) {
  if (counts.tiers.empty()) return {};
  std::string text = counts.equal > 0 ? fmt::format("{} (name)", counts.equal) : "";
  for (const auto& [tier, count] : counts.tiers)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", count, tier_name(tier));
  return text;
}

std::string pairing_sentence(const PairingCounts& counts, const MemberNames& names) {
  const auto& [tiers, equal, actual_only, golden_only] = counts;
  if (tiers.empty() && (equal > 0 || actual_only == 0 || golden_only == 0)) return {};
  const bool none = equal == 0 && !tiers.contains(PairTier::map);
  if (tiers.empty())
    return in_words(names,
                    "no name is on both sides, and nothing is paired: `pair_by` number pairs "
                    "tensors in their order, `NameMap` says which belong together");
  std::string text = none ? "no name is on both sides: " : "";
  bool first = true;
  const auto add = [&](std::uint64_t count, std::string_view words, std::string_view name) {
    text += fmt::format("{}{} {}{} ({})", first ? "" : ", ", count, first ? "paired " : "", words,
                        name);
    first = false;
  };
  if (equal > 0) add(equal, "by equal names", "name");
  for (const auto& [tier, count] : tiers)
    add(count, std::ranges::find(kTierWords, tier, &Named<PairTier>::value)->name, tier_name(tier));
  return text + (tiers.contains(PairTier::map)
                     ? ""
                     : in_words(names, "; `pair_by` exact pairs equal names only"));
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

void note_close(const TensorDiff& diff, std::vector<Tolerance>& close) {
  constexpr std::size_t kMax = 4;
  const Tolerance& used = diff.tolerance;
  const auto alike = [&](const Tolerance& other) {
    return used.rtol == other.rtol && used.atol == other.atol && used.half_step == other.half_step;
  };
  const bool judged = diff.result == DiffResult::same || diff.result == DiffResult::different;
  if (judged && close.size() < kMax && std::ranges::none_of(close, alike)) close.push_back(used);
}

std::string file_differences_text(const PairOutcome& outcome) {
  constexpr std::size_t kMax = 3;
  const std::vector<FileDifference>& all = outcome.files.all;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMax, all.size()); ++i)
    text += (i == 0 ? "the files differ: " : "; ") + printable(all[i].text());
  if (all.size() > kMax) text += "; and in " + std::to_string(all.size() - kMax) + " more";
  return text;
}

}  // namespace btf::report

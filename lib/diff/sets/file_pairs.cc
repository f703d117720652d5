#include "diff/sets/file_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "diff/sets/other_files.h"
#include "sets/pairs/given_pairs.h"
#include "sets/pairs/globs.h"

namespace btf {
namespace {

bool wanted(const SetDiffOptions& options, const SetMember& member) {
  const auto match = [&](const std::string& glob) { return glob_matches_path(glob, member.place); };
  return (options.include.empty() || std::ranges::any_of(options.include, match)) &&
         std::ranges::none_of(options.exclude, match);
}

// Is there a file of that name, be it left out by another option?
bool found(const std::string& glob, const TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (glob_matches_path(glob, set.member(i).place)) return true;
  return std::ranges::any_of(
      set.others(), [&](const SetMember& other) { return glob_matches_path(glob, other.place); });
}

// Single tensors that are scales of others in their file.
class ScaleTensors {
 public:
  // `asked`: are scales of this side looked for?
  ScaleTensors(const TensorSet& set, bool asked) : set_(set), asked_(asked) {}

  bool holds(std::uint64_t member, std::uint64_t tensor) {
    if (!asked_) return false;
    const auto [found, added] = scales_.try_emplace(member);
    if (added) {
      const auto file = set_.file(member);
      if (auto scales = file ? scale_tensors(**file) : std::unexpected(file.error()))
        found->second = *std::move(scales);
    }
    return found->second.contains(tensor);
  }

 private:
  const TensorSet& set_;
  bool asked_;
  std::map<std::uint64_t, std::set<std::uint64_t>> scales_;  // by member
};

// They are then no tensors to compare, as those of a pair of files are not.
void leave_out_scales(std::vector<MemberPair>& pairs, ScaleTensors actual, ScaleTensors golden) {
  std::erase_if(pairs, [&](const MemberPair& pair) {
    if (!pair.of_tensors()) return false;
    return (!pair.actual_tensor || actual.holds(*pair.actual, *pair.actual_tensor)) &&
           (!pair.golden_tensor || golden.holds(*pair.golden, *pair.golden_tensor));
  });
}

// Numbers hold for every pair of files; names, and numbers where no files are pairs, are those of
// the sets.
Status take_given_pairs(const SetDiffOptions& options, const TensorSet& actual,
                        const TensorSet& golden, std::vector<MemberPair>& pairs) {
  const auto of_files = [](const MemberPair& pair) {
    return pair.actual && pair.golden && !pair.actual_tensor;
  };
  if (options.pairs.empty() ||
      (only_numbers(options.pairs) && std::ranges::any_of(pairs, of_files)))
    return {};
  pairs.clear();
  for (const std::string& word : options.pairs) {
    BTF_ASSIGN(const GivenPair given, find_pair(word, actual, golden));
    BTF_ASSIGN(const auto file, golden.file(given.golden.member));
    BTF_ASSIGN(std::string name, file->name(given.golden.index));
    pairs.push_back({.name = std::move(name),
                     .actual = given.actual.member,
                     .golden = given.golden.member,
                     .actual_tensor = given.actual.index,
                     .golden_tensor = given.golden.index});
  }
  return {};
}

Result<FilePairs> pair_several(const TensorSet& actual, const TensorSet& golden,
                               const SetDiffOptions& options, FilePairs found_pairs) {
  MemberFilter filter;
  if (!options.include.empty() || !options.exclude.empty())
    filter = [&](const SetMember& member) { return wanted(options, member); };
  BTF_ASSIGN(SetPairing pairing,
             pair_sets(actual, golden,
                       {.wanted = filter, .by = options.each.pair_by, .map = options.each.map}));
  std::vector<MemberPair>& pairs = pairing.pairs;
  BTF_TRY(take_given_pairs(options, actual, golden, pairs));
  for (const std::string& glob : options.include)
    if (!found(glob, actual) && !found(glob, golden))
      return fail(ErrorCode::refused, "no file matches `include` '" + glob + "'");
  const bool dequantize = options.each.dequantize;
  const bool actual_asked = dequantize && !options.each.actual_scale;
  const bool golden_asked = dequantize && !options.each.golden_scale;
  if (actual_asked) found_pairs.actual_scales = SetScales::of(actual);
  if (golden_asked) found_pairs.golden_scales = SetScales::of(golden);
  std::erase_if(pairs, [&](const MemberPair& pair) {
    return SetScales::only_scales(pair, found_pairs.actual_scales, found_pairs.golden_scales);
  });
  if (dequantize && !options.tensors && options.pairs.empty())
    leave_out_scales(pairs, ScaleTensors(actual, actual_asked), ScaleTensors(golden, golden_asked));
  found_pairs.others = pair_others(actual, golden, filter);
  if (pairs.empty())
    return fail(ErrorCode::refused,
                "nothing was compared: there is no file " +
                    std::string(found_pairs.others.empty() ? "" : "of tensors ") + "in " +
                    actual.path() + " or " + golden.path());
  for (const std::string& glob : options.exclude)
    if (!found(glob, actual) && !found(glob, golden)) found_pairs.idle_excludes.push_back(glob);
  found_pairs.pairs = std::move(pairs);
  found_pairs.map = std::move(pairing.map);
  return found_pairs;
}

// A file that a spec is given for by its name holds tensors, whatever it looks like.
MemberFilter named_by(const std::vector<SpecRule>& rules) {
  return [&rules](const SetMember& member) {
    return std::ranges::any_of(rules, [&](const SpecRule& rule) {
      return rule.glob != "*" && glob_matches(rule.glob, member);
    });
  };
}

// Text is of tensors where a spec says of all files that they are text.
OpenOptions listed_as(const SetDiffSide& side) {
  OpenOptions options = side.open;
  for (const SpecRule& rule : side.specs)
    if (auto spec = spec_without_dims(rule.spec); rule.glob == "*" && spec && spec->as_text)
      options.spec = std::move(spec);
  return options;
}

}  // namespace

Result<TwoSets> open_sets(const std::string& actual, const std::string& golden,
                          const SetDiffOptions& options) {
  const OpenOptions left = listed_as(options.actual);
  const OpenOptions right = listed_as(options.golden);
  return open_two_sets({actual, left, named_by(options.actual.specs)},
                       {golden, right, named_by(options.golden.specs)}, options.each.execution);
}

Result<FilePairs> find_pairs(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options) {
  FilePairs found{.several = !actual.one_file() || !golden.one_file()};
  if (!found.several && (!options.include.empty() || !options.exclude.empty()))
    return fail(ErrorCode::invalid_argument, "`include` and `exclude` need two directories");
  BTF_ASSIGN(found.actual_specs, FileSpecs::apply(options.actual, actual));
  BTF_ASSIGN(found.golden_specs, FileSpecs::apply(options.golden, golden));
  if (found.several) return pair_several(actual, golden, options, std::move(found));
  constexpr std::uint64_t kOnly = 0;
  found.pairs = {{.name = actual.path(), .actual = kOnly, .golden = kOnly}};
  return found;
}

}  // namespace btf

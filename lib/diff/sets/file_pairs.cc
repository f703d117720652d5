#include "diff/sets/file_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "core/errors.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "sets/pairs/explicit_pairs.h"

namespace btf {

std::vector<FilePair> pair_others(const TensorSet& actual, const TensorSet& golden,
                                  const MemberFilter& wanted) {
  std::map<std::string, FilePair> pairs;
  const auto take = [&](const TensorSet& set, std::string FilePair::* side) {
    for (const SetMember& other : set.others()) {
      if (wanted && !wanted(other)) continue;
      FilePair& pair = pairs[other.place];
      pair.name = other.place;
      pair.*side = other.path;
    }
  };
  take(actual, &FilePair::actual);
  take(golden, &FilePair::golden);
  std::vector<FilePair> list;
  for (auto& [place, pair] : pairs) list.push_back(std::move(pair));
  return list;
}

Result<PairOutcome> compare_bytes(const FilePair& pair) {
  if (pair.actual.empty() || pair.golden.empty()) return PairOutcome{.result = PairResult::missing};
  BTF_ASSIGN(const ByteDifference found, compare_files(pair.actual, pair.golden));
  const std::string byte = std::to_string(found.offset);
  switch (found.end) {
    case FileEnd::both:
      return PairOutcome{.result = PairResult::same};
    case FileEnd::neither:
      return PairOutcome{PairResult::bytes, "no tensors; byte " + byte + " differs"};
    case FileEnd::left:
      return PairOutcome{PairResult::bytes, "no tensors; actual ends at byte " + byte};
    case FileEnd::right:
      return PairOutcome{PairResult::bytes, "no tensors; golden ends at byte " + byte};
  }
  std::unreachable();
}

namespace {

// The tensor whose dims are used: the known partner, the selected tensor, the only one, or the one
// with the name of the file.
Result<std::uint64_t> partner(const std::string& name, const SetDiffOptions& options,
                              const OtherSide& other) {
  const std::uint64_t count = other.file.tensor_count();
  if (other.pair.*other.tensor) return *(other.pair.*other.tensor);
  const TensorSet set = TensorSet::of(other.file);
  if (options.pairs.size() == 1)
    if (const auto found = side_of_pair(options.pairs.front(), set, other.golden))
      return found->index;
  for (const std::string& text : {options.tensors.value_or(""), "@" + name}) {
    const auto found = text.empty() ? Result<std::vector<std::uint64_t>>() : set.select(text);
    if (found && found->size() == 1) return found->front();
  }
  if (count == 1) return 0;
  return fail(ErrorCode::invalid_argument,
              "the spec has no dims, and " + other.file.path() + " has " + std::to_string(count) +
                  " tensors, none named '" + name + "'; give `pairs` 0:G, or dims in the spec");
}

// Whether the file contradicts the spec.
Result<bool> contradicts(const std::string& path, const OpenOptions& open) {
  BTF_ASSIGN(const bool regular, is_regular_file(path));
  if (!regular) return false;
  const auto file = TensorFile::open(path, open);
  if (!file && is_system_error(file.error())) return std::unexpected(file.error());
  return file && file->says_dims();
}

bool matches_file(const SpecRule& rule, const TensorSet& set) {
  for (std::uint64_t member = 0; member < set.member_count(); ++member)
    if (glob_matches(rule.glob, set.member(member))) return true;
  return false;
}

// The glob may match a tensor within a file, as in an archive.
Status matches_tensor(const SpecRule& rule, const TensorSet& set) {
  const auto found = set.select_readable("@" + rule.glob);
  if (found && !found->empty()) return {};
  return fail(ErrorCode::invalid_argument, rule.source + ": no file of " + set.path() + " matches");
}

}  // namespace

Result<FileSpecs> FileSpecs::apply(const SetDiffSide& side, TensorSet& set) {
  FileSpecs specs;
  specs.open_ = side.open;
  std::vector<const SpecRule*> of_files;
  for (const SpecRule& rule : side.specs) {
    if (matches_file(rule, set)) {
      of_files.push_back(&rule);
    } else {
      BTF_TRY(matches_tensor(rule, set));
      BTF_ASSIGN(TensorSpec spec, parse_tensor_spec(rule.spec));
      specs.open_.named_specs.push_back({rule.glob, std::move(spec)});
    }
  }
  for (std::uint64_t member = 0; member < set.member_count() && !side.specs.empty(); ++member) {
    const SetMember file = set.member(member);
    const SpecRule* last = nullptr;
    for (const SpecRule* const rule : of_files)
      if (glob_matches(rule->glob, file)) last = rule;
    if (last == nullptr && specs.open_.named_specs.empty()) continue;
    OpenOptions options = specs.open_;
    if (last != nullptr) {
      options.spec = spec_without_dims(last->spec);
      if (options.spec) {
        specs.waiting_.emplace(member, *last);
      } else {
        BTF_ASSIGN(options.spec, parse_tensor_spec(last->spec));
      }
    }
    set.open_as(member, std::move(options));
  }
  return specs;
}

// Arrays of NumPy and outputs of trtexec lack only a dtype, and text may give its shape.
Result<bool> FileSpecs::waits(std::uint64_t member, const TensorSet& set) const {
  const auto waiting = waiting_.find(member);
  if (waiting == waiting_.end()) return false;
  // A stream can be read only once, so it is not opened here.
  if (set.member(member).path == "-")
    return is_list(member) || !parse_tensor_spec(waiting->second.spec);
  const auto file = set.file(member);
  if (file) return !(*file)->says_dims();
  BTF_ASSIGN(const bool other, contradicts(set.member(member).path, open_));
  return !other;
}

bool FileSpecs::is_list(std::uint64_t member) const {
  const auto spec = spec_without_dims(waiting_.at(member).spec);
  return spec && spec->as_text;
}

Status FileSpecs::complete(std::uint64_t member, TensorSet& set, const SetDiffOptions& options,
                           const OtherSide& other) {
  const auto waiting = waiting_.find(member);
  const SpecRule& rule = waiting->second;
  const SetMember file = set.member(member);
  const auto refuse = [&](const Error& error) {
    return std::unexpected(error.within(rule.source).in_file(file.path));
  };
  const auto index = partner(file.name, options, other);
  if (!index) return refuse(index.error());
  BTF_ASSIGN(const TensorInfo tensor, other.file.tensor(*index));
  const auto spec = spec_with_dims(rule.spec, tensor.dims);
  if (!spec) return refuse(spec.error());
  OpenOptions open = open_;
  open.spec = *spec;
  set.open_as(member, std::move(open));
  waiting_.erase(waiting);
  return {};
}

Error FileSpecs::no_dims(std::uint64_t member, const TensorSet& set) const {
  return Error{ErrorCode::invalid_argument, "neither side says the dims"}
      .within(waiting_.at(member).source)
      .in_file(set.member(member).path);
}

Error with_likely_specs(Error error, std::uint64_t bytes,
                        const Result<std::shared_ptr<const TensorFile>>& other,
                        const std::string& member) {
  constexpr std::size_t kMax = 3;
  const bool unknown = error.finding == "offset-table-too-long" || error.finding == "not-btf";
  if (!unknown || error.file.ends_with(".btf") || !other) return error;
  std::vector<std::string> specs;
  for (std::uint64_t i = 0; i < (*other)->tensor_count() && specs.size() < kMax; ++i) {
    const auto tensor = (*other)->tensor(i);
    if (!tensor || !tensor->dtype) continue;
    for (std::string& spec :
         specs_of_size(tensor->dims, bytes, *tensor->dtype, kMax - specs.size()))
      if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(std::move(spec));
  }
  std::string list;
  for (const std::string& spec : specs) list += (list.empty() ? "" : ", ") + spec;
  if (!specs.empty())
    error.message +=
        "; with the dims of " + (*other)->path() + " its size is that of " + member + " " + list;
  return error;
}

namespace {

bool wanted(const SetDiffOptions& options, const SetMember& member) {
  const auto match = [&](const std::string& glob) { return glob_matches_path(glob, member.place); };
  return (options.include.empty() || std::ranges::any_of(options.include, match)) &&
         std::ranges::none_of(options.exclude, match);
}

// Whether a file with that name exists, even if another option leaves it out.
bool found(const std::string& glob, const TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (glob_matches_path(glob, set.member(i).place)) return true;
  return std::ranges::any_of(
      set.others(), [&](const SetMember& other) { return glob_matches_path(glob, other.place); });
}

// Recognises tensors that are scales of others in their file.
class ScaleTensors {
 public:
  // `asked`: whether scales of this side are used.
  ScaleTensors(const TensorSet& set, bool asked) : set_(set), requested_(asked) {}

  bool holds(std::uint64_t member, std::uint64_t tensor) {
    if (!requested_) return false;
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
  bool requested_;
  std::map<std::uint64_t, std::set<std::uint64_t>> scales_;  // by member
};

// Such tensors are not compared, as for pairs of files.
void leave_out_scales(std::vector<MemberPair>& pairs, ScaleTensors actual, ScaleTensors golden) {
  std::erase_if(pairs, [&](const MemberPair& pair) {
    if (!pair.of_tensors()) return false;
    return (!pair.actual_tensor || actual.holds(*pair.actual, *pair.actual_tensor)) &&
           (!pair.golden_tensor || golden.holds(*pair.golden, *pair.golden_tensor));
  });
}

// Numbers apply to every pair of files; names, and numbers if no files are paired, refer to the
// sets.
Status add_explicit_pairs(const SetDiffOptions& options, const TensorSet& actual,
                          const TensorSet& golden, std::vector<MemberPair>& pairs) {
  const auto of_files = [](const MemberPair& pair) {
    return pair.actual && pair.golden && !pair.actual_tensor;
  };
  if (options.pairs.empty() ||
      (only_numbers(options.pairs) && std::ranges::any_of(pairs, of_files)))
    return {};
  pairs.clear();
  for (const std::string& word : options.pairs) {
    BTF_ASSIGN(const ExplicitPair given, find_pair(word, actual, golden));
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
  BTF_TRY(add_explicit_pairs(options, actual, golden, pairs));
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

// A file that is named by a rule for specs holds tensors, whatever it looks like.
MemberFilter has_rule(const std::vector<SpecRule>& rules) {
  return [&rules](const SetMember& member) {
    return std::ranges::any_of(rules, [&](const SpecRule& rule) {
      return rule.glob != "*" && glob_matches(rule.glob, member);
    });
  };
}

// Text files are tensors if a spec declares all files to be text.
OpenOptions open_options_of(const SetDiffSide& side) {
  OpenOptions options = side.open;
  for (const SpecRule& rule : side.specs)
    if (auto spec = spec_without_dims(rule.spec); rule.glob == "*" && spec && spec->as_text)
      options.spec = std::move(spec);
  return options;
}

}  // namespace

Result<TwoSets> open_sets(const std::string& actual, const std::string& golden,
                          const SetDiffOptions& options) {
  const OpenOptions left = open_options_of(options.actual);
  const OpenOptions right = open_options_of(options.golden);
  return open_two_sets({actual, left, has_rule(options.actual.specs)},
                       {golden, right, has_rule(options.golden.specs)}, options.each.execution);
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

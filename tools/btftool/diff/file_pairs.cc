#include "diff/file_pairs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "btf/try.h"
#include "cli/diff_arguments.h"
#include "diff/byte_pairs.h"
#include "diff/given_pairs.h"
#include "diff/globs.h"

namespace btftool {
namespace {

using btf::ErrorCode;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool wanted(const DiffCommand& command, const btf::SetMember& member) {
  const auto match = [&](const std::string& glob) { return glob_matches_path(glob, member.place); };
  return (command.include.empty() || std::ranges::any_of(command.include, match)) &&
         std::ranges::none_of(command.exclude, match);
}

// Is there a file of that name, be it left out by another option?
bool found(const std::string& glob, const btf::TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (glob_matches_path(glob, set.member(i).place)) return true;
  return std::ranges::any_of(set.others(), [&](const btf::SetMember& other) {
    return glob_matches_path(glob, other.place);
  });
}

// What a spec is given for by its name is a file of tensors, whatever it looks like.
btf::MemberFilter named_by(const std::vector<SpecRule>& rules) {
  return [&rules](const btf::SetMember& member) {
    return std::ranges::any_of(rules, [&](const SpecRule& rule) {
      return rule.glob != "*" && glob_matches(rule.glob, member);
    });
  };
}

// Text is of tensors where it is said of all files that they are text.
btf::OpenOptions listed_as(const btf::OpenOptions& open, const std::vector<SpecRule>& rules) {
  btf::OpenOptions options = open;
  for (const SpecRule& rule : rules)
    if (auto spec = spec_without_dims(rule.spec); rule.glob == "*" && spec && spec->as_text)
      options.spec = std::move(spec);
  return options;
}

// Single tensors that are scales of others in their file.
class FileScales {
 public:
  // `asked`: are scales of this side looked for?
  FileScales(const btf::TensorSet& set, bool asked) : set_(set), asked_(asked) {}

  bool holds(std::uint64_t member, std::uint64_t tensor) {
    if (!asked_) return false;
    const auto [found, added] = scales_.try_emplace(member);
    if (added) {
      const auto file = set_.file(member);
      if (auto scales = file ? btf::scale_tensors(**file) : std::unexpected(file.error()))
        found->second = *std::move(scales);
    }
    return found->second.contains(tensor);
  }

 private:
  const btf::TensorSet& set_;
  bool asked_;
  std::map<std::uint64_t, std::set<std::uint64_t>> scales_;  // by member
};

// They are then no tensors to compare, as those of a pair of files are not.
void leave_out_scales(std::vector<btf::MemberPair>& pairs, FileScales actual, FileScales golden) {
  std::erase_if(pairs, [&](const btf::MemberPair& pair) {
    if (!pair.actual_tensor && !pair.golden_tensor) return false;
    return (!pair.actual_tensor || actual.holds(*pair.actual, *pair.actual_tensor)) &&
           (!pair.golden_tensor || golden.holds(*pair.golden, *pair.golden_tensor));
  });
}

// Numbers of --pair hold for every pair of files; names, and numbers where no files are pairs, are
// those of the sets.
btf::Status take_given_pairs(const DiffCommand& command, const btf::TensorSet& actual,
                             const btf::TensorSet& golden, std::vector<btf::MemberPair>& pairs) {
  const auto of_files = [](const btf::MemberPair& pair) {
    return pair.actual && pair.golden && !pair.actual_tensor;
  };
  if (command.pairs.empty() ||
      (only_numbers(command.pairs) && std::ranges::any_of(pairs, of_files)))
    return {};
  pairs.clear();
  for (const std::string& word : command.pairs) {
    BTF_ASSIGN(const GivenPair given, find_pair(word, actual, golden));
    BTF_ASSIGN(const auto file, golden.file(given.golden.member));
    BTF_ASSIGN(std::string name, file->name(given.golden.index));
    pairs.push_back({.name = std::move(name),
                     .actual = given.actual.member,
                     .golden = given.golden.member,
                     .actual_tensor = given.actual.index,
                     .golden_tensor = given.golden.index,
                     .note = {}});
  }
  return {};
}

btf::Result<FilePairs> pair_directories(const DiffCommand& command) {
  BTF_ASSIGN(btf::TwoSets sets,
             btf::open_two_sets(
                 {command.actual, listed_as(command.open_actual, command.actual_specs),
                  named_by(command.actual_specs)},
                 {command.golden, listed_as(command.open_golden, command.golden_specs),
                  named_by(command.golden_specs)},
                 command.diff.execution));
  auto& [actual, golden] = sets;
  BTF_ASSIGN(FileSpecs actual_specs,
             FileSpecs::apply(command.actual_specs, command.open_actual, actual));
  BTF_ASSIGN(FileSpecs golden_specs,
             FileSpecs::apply(command.golden_specs, command.open_golden, golden));
  btf::MemberFilter filter;
  if (!command.include.empty() || !command.exclude.empty())
    filter = [&](const btf::SetMember& member) { return wanted(command, member); };
  BTF_ASSIGN(btf::SetPairing pairing, pair_sets(actual, golden, {.wanted = filter,
                                                                 .by = command.diff.pair_by,
                                                                 .map = command.diff.map}));
  std::vector<btf::MemberPair>& pairs = pairing.pairs;
  BTF_TRY(take_given_pairs(command, actual, golden, pairs));
  for (const std::string& glob : command.include)
    if (!found(glob, actual) && !found(glob, golden))
      return btf::fail(ErrorCode::refused, "no file matches --include '" + glob + "'");
  btf::SetScales actual_scales;
  btf::SetScales golden_scales;
  if (command.diff.dequantize && !command.diff.actual_scale)
    actual_scales = btf::SetScales::of(actual);
  if (command.diff.dequantize && !command.diff.golden_scale)
    golden_scales = btf::SetScales::of(golden);
  std::erase_if(pairs, [&](const btf::MemberPair& pair) {
    return btf::SetScales::only_scales(pair, actual_scales, golden_scales);
  });
  if (command.diff.dequantize && !command.tensors && command.pairs.empty())
    leave_out_scales(pairs, FileScales(actual, !command.diff.actual_scale),
                     FileScales(golden, !command.diff.golden_scale));
  std::vector<FilePair> others = pair_others(actual, golden, filter);
  if (pairs.empty())
    return btf::fail(ErrorCode::refused,
                     "nothing was compared: there is no file " +
                         std::string(others.empty() ? "" : "of tensors ") + "in " +
                         command.actual + " or " + command.golden);
  std::vector<std::string> idle;
  for (const std::string& glob : command.exclude)
    if (!found(glob, actual) && !found(glob, golden)) idle.push_back(glob);
  return FilePairs{.directories = true,
                   .index = btf::is_index(command.golden),
                   .actual = std::move(actual),
                   .golden = std::move(golden),
                   .actual_specs = std::move(actual_specs),
                   .golden_specs = std::move(golden_specs),
                   .pairs = std::move(pairs),
                   .map = std::move(pairing.map),
                   .actual_scales = std::move(actual_scales),
                   .golden_scales = std::move(golden_scales),
                   .idle_excludes = std::move(idle),
                   .others = std::move(others)};
}

std::string in_directory(const std::string& directory, const std::string& file) {
  return directory + (directory.ends_with('/') ? "" : "/") + base_name(file);
}

// The directory has no file of the other's name, whose tensors may be files there: it has several,
// or names the only one, or it is said how they are to be found.
bool may_meet_single_ones(const DiffCommand& command, bool actual_is_directory) {
  const std::string& directory = actual_is_directory ? command.actual : command.golden;
  const std::string& file = actual_is_directory ? command.golden : command.actual;
  const auto& open = actual_is_directory ? command.open_golden : command.open_actual;
  std::error_code unknown;
  if (std::filesystem::exists(in_directory(directory, file), unknown) ||
      !std::filesystem::is_regular_file(file, unknown))
    return false;
  if (command.map || !command.pairs.empty() || command.diff.pair_by == btf::PairBy::number)
    return true;
  const auto opened = btf::TensorFile::open(file, open);
  if (!opened || opened->tensor_count() != 1) return opened && opened->tensor_count() > 1;
  const auto name = opened->own_name(0);
  return name && *name;
}

}  // namespace

btf::Result<FilePairs> find_pairs(const DiffCommand& command) {
  BTF_ASSIGN(const bool left, btf::is_directory(command.actual));
  BTF_ASSIGN(const bool right, btf::is_directory(command.golden));
  const bool index = btf::is_index(command.actual) || btf::is_index(command.golden);
  if ((left && right) || index) return pair_directories(command);
  std::string unlike;
  if (left != right && may_meet_single_ones(command, left)) {
    BTF_ASSIGN(FilePairs single, pair_directories(command));
    const auto whole = [](const btf::MemberPair& pair) { return pair.actual && pair.golden; };
    if (command.map || std::ranges::any_of(single.pairs, whole)) return single;
    unlike = "; and no tensor of " + (left ? command.golden : command.actual) +
             " has a name that fits one there: --pair-by number takes them in their order, "
             "--map FILE says which belong together";
  }
  if (!command.include.empty() || !command.exclude.empty())
    return btf::fail(ErrorCode::invalid_argument,
                     "--include and --exclude go with two directories");
  if ((left && command.golden == "-") || (right && command.actual == "-"))
    return btf::fail(ErrorCode::invalid_argument, "- cannot be compared with a directory");
  const std::string actual = left ? in_directory(command.actual, command.golden) : command.actual;
  const std::string golden = right ? in_directory(command.golden, command.actual) : command.golden;
  BTF_ASSIGN(btf::TwoSets sets,
             btf::open_two_sets({actual, command.open_actual}, {golden, command.open_golden}));
  BTF_ASSIGN(FileSpecs actual_specs,
             FileSpecs::apply(command.actual_specs, command.open_actual, sets.actual));
  BTF_ASSIGN(FileSpecs golden_specs,
             FileSpecs::apply(command.golden_specs, command.open_golden, sets.golden));
  constexpr std::uint64_t kOnly = 0;
  std::vector<btf::MemberPair> pairs{
      {.name = actual, .actual = kOnly, .golden = kOnly, .note = {}}};
  if (!unlike.empty())
    if (const auto file = (left ? sets.actual : sets.golden).file(kOnly); !file) {
      btf::Error error = file.error();
      error.message += unlike;
      pairs.front().error = std::make_shared<const btf::Error>(std::move(error));
    }
  return FilePairs{.directories = false,
                   .index = false,
                   .actual = std::move(sets.actual),
                   .golden = std::move(sets.golden),
                   .actual_specs = std::move(actual_specs),
                   .golden_specs = std::move(golden_specs),
                   .pairs = std::move(pairs)};
}

}  // namespace btftool

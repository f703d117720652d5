#include "btf/tensor_set.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "btf/try.h"
#include "core/workers.h"
#include "formats/io/compressed_name.h"
#include "formats/io/globs.h"
#include "formats/other_kinds.h"
#include "formats/table/endings.h"
#include "formats/table/format_table.h"
#include "sets/directory.h"
#include "sets/indexes.h"
#include "sets/manifest.h"
#include "sets/open_ahead.h"
#include "sets/safetensors_index.h"
#include "sets/selection.h"
#include "sets/tensor_set_state.h"

namespace btf {
namespace {

// `first_tensors`: of each member, and behind them how many tensors there are. Members without
// tensors have the same number as the next.
SetTensor located(std::uint64_t number, std::span<const std::uint64_t> first_tensors) {
  const auto behind = std::ranges::upper_bound(first_tensors, number);
  const auto member = static_cast<std::uint64_t>(behind - first_tensors.begin()) - 1;
  return {member, number - first_tensors[member]};
}

Error no_directory(const std::string& path, const FileList& list) {
  return Error{ErrorCode::invalid_argument,
               "is no directory, and " + list.path + " lists files of one"}
      .in_file(path);
}

// By its name; a pipe has no files beside it.
bool may_have_data_beside(const std::string& path) {
  return std::ranges::any_of(formats(), [&](const FormatRow& format) {
    return format.has(kDataBeside) &&
           std::ranges::any_of(format.endings, [&](const NameEnding& name) {
             return !name.ending.empty() && ends_in(content_name(path), name.ending);
           });
  });
}

// A file with a spec for its name is a file of tensors, whatever its contents look like.
bool named_in(std::span<const NamedSpec> rules, const SetMember& member) {
  const std::string file = member.place.substr(member.place.rfind('/') + 1);
  return std::ranges::any_of(rules, [&](const NamedSpec& rule) {
    return rule.glob != "*" &&
           (glob_matches(rule.glob, file) || glob_matches(rule.glob, member.place) ||
            glob_matches(rule.glob, member.name));
  });
}

}  // namespace

TensorSet::TensorSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorSet::TensorSet(TensorSet&&) noexcept = default;
TensorSet& TensorSet::operator=(TensorSet&&) noexcept = default;
TensorSet::~TensorSet() = default;

Result<TensorSet> TensorSet::open(const std::string& path, const OpenOptions& options,
                                  const MemberFilter& keep) {
  return open(std::span(&path, 1), options, keep);
}

Result<TensorSet> TensorSet::open(std::span<const std::string> paths, const OpenOptions& options,
                                  const MemberFilter& keep) {
  if (paths.empty()) return fail(ErrorCode::invalid_argument, "a set needs at least one file");
  auto state = std::make_unique<State>();
  state->options = options;
  if (options.engine) state->engine.emplace(options.engine->list);
  for (const std::string& path : paths) {
    State::Root root{.path = path, .several = false, .files = {}, .first = state->members};
    BTF_ASSIGN(root.several, is_directory(path));
    if (root.several) {
      BTF_ASSIGN(DirectoryListing listing, options.listed
                                               ? take_list(path, *options.listed, options.may_lack)
                                               : list_directory(path));
      for (const std::string& place : listing.unfinished)
        state->unfinished.push_back({join_path(path, place), place, join_path(path, place)});
      root.files = take_indexes(
          path, std::move(listing), [&](const std::string& file, const std::string& place) {
            const SetMember member{file, place, std::string(name_in_path(place))};
            return !(keep && keep(member)) && !named_in(options.named_specs, member) &&
                   !(state->engine && state->engine->find(place)) &&
                   stands_beside_tensors(file, options);
          });
      for (const std::string& place : root.files.others)
        state->others.push_back({join_path(path, place), place, join_path(path, place)});
    } else if (options.listed && !options.may_lack) {
      return std::unexpected(no_directory(path, *options.listed));
    } else if (const IndexKind* const kind = find_index_kind(path, FoundBy::operand)) {
      root.several = true;
      BTF_ASSIGN(root.files, list_index(path, *kind));
    }
    std::ranges::copy(root.files.indexes, std::back_inserter(state->indexes));
    const std::uint64_t count = root.several ? root.files.listing.places.size() : 1;
    state->members += count;
    // root_of() finds those with members only.
    if (count > 0 || state->roots.empty()) state->roots.push_back(std::move(root));
  }
  BTF_TRY(state->check_engine());
  return TensorSet(std::move(state));
}

TensorSet TensorSet::of(const TensorFile& file) {
  auto state = std::make_unique<State>();
  state->only = OpenFile(OpenFile(), &file);
  state->members = 1;
  state->roots.push_back({.path = file.path(), .several = false, .files = {}, .first = 0});
  return TensorSet(std::move(state));
}

const std::string& TensorSet::path() const { return state_->roots.front().path; }

bool TensorSet::one_file() const { return state_->members == 1 && !state_->roots.front().several; }

bool TensorSet::order_given() const {
  return std::ranges::any_of(state_->roots,
                             [](const State::Root& root) { return is_index(root.path); });
}

std::string TensorSet::order_path() const {
  for (const State::Root& root : state_->roots)
    for (const auto& [member, file] : root.files.indexed)
      if (file.entry().tensor && file.entry().tensor->order) return file.index->path;
  return {};
}

const std::vector<SetMember>& TensorSet::others() const { return state_->others; }

const std::vector<SetMember>& TensorSet::unfinished() const { return state_->unfinished; }

std::vector<std::string> TensorSet::files_read() const {
  std::vector<std::string> paths = state_->indexes;
  for (std::uint64_t i = 0; i < member_count(); ++i) {
    paths.push_back(path(i));
    if (!may_have_data_beside(paths.back()) || !path_stamp(paths.back())) continue;
    if (const auto model = file(i))
      std::ranges::move((*model)->other_files(), std::back_inserter(paths));
  }
  return paths;
}

std::uint64_t TensorSet::member_count() const { return state_->members; }

SetMember TensorSet::member(std::uint64_t member) const {
  return {path(member), std::string(place(member)), state_->name_of(member)};
}

std::string TensorSet::path(std::uint64_t member) const { return state_->path_of(member); }

std::string_view TensorSet::place(std::uint64_t member) const { return state_->place_of(member); }

Result<OpenOptions> TensorSet::open_options(std::uint64_t member) const {
  return state_->options_of(member);
}

std::uint64_t TensorSet::bytes(std::uint64_t member) const {
  const auto stamp = path_stamp(state_->path_of(member));
  return stamp ? stamp->bytes : 0;
}

void TensorSet::open_ahead(std::vector<std::uint64_t> members) {
  std::erase_if(members, [&](std::uint64_t member) { return trouble(member) != nullptr; });
  state_->ahead = std::make_unique<OpenAhead>(
      std::move(members), member_count(),
      [state = state_.get()](std::uint64_t member) { return state->open_file(member); });
}

const Error* TensorSet::trouble(std::uint64_t member) const {
  const State::Root& root = state_->root_of(member);
  const auto found = root.files.listing.trouble.find(member - root.first);
  if (found != root.files.listing.trouble.end()) return &found->second;
  const auto unread = state_->unread.find(member);
  return unread == state_->unread.end() ? nullptr : &unread->second;
}

void TensorSet::note(std::uint64_t member, const Error& error) const {
  if (error.code == ErrorCode::io || error.code == ErrorCode::no_space)
    state_->unread.emplace(member, error);
}

Status TensorSet::check_index(std::uint64_t member, const FindingSink& report) const {
  const IndexedFile* const named = state_->indexed(member);
  if (named == nullptr || trouble(member) != nullptr) return {};
  // A missing tensor is a finding here, and no reason not to open it.
  BTF_ASSIGN(const TensorFile file, state_->open_file(member));
  return named->check(file, report);
}

Status TensorSet::check_named_specs() const {
  for (const NamedSpec& rule : state_->options.named_specs) {
    bool used = false;
    for (std::uint64_t i = 0; i < member_count() && !used; ++i)
      used = state_->told_by_name(std::span(&rule, 1), i) != nullptr;
    if (used) continue;
    const auto found = select_readable("@" + rule.glob);
    // A file that refuses a spec is trouble of its own, and may be what was meant.
    for (std::uint64_t i = 0; i < member_count() && !used; ++i) {
      const auto opened = file(i);
      used = !opened && opened.error().code == ErrorCode::invalid_argument;
    }
    if (!used && (!found || found->empty()))
      return fail(ErrorCode::invalid_argument, "no file or tensor of " + path() + " is called '" +
                                                   rule.glob + "', for which a spec was given");
  }
  return {};
}

void TensorSet::open_as(std::uint64_t member, OpenOptions options) {
  state_->open_as(member, std::move(options));
}

Result<OpenFile> TensorSet::file(std::uint64_t member) const {
  if (state_->only) return state_->only;
  if (const Error* const known = trouble(member)) return std::unexpected(*known);
  if (member < state_->settled.size()) state_->settled[member] = false;
  if (const auto found = state_->kept.find(member); found != state_->kept.end())
    return found->second;
  auto& recent = state_->recent;
  const auto found = std::ranges::find(recent, member, &std::pair<std::uint64_t, OpenFile>::first);
  if (found == recent.end()) {
    Result<OpenFile> opened = state_->open_checked(member);
    if (!opened) note(member, opened.error());
    return opened;
  }
  recent.splice(recent.begin(), recent, found);
  return found->second;
}

Result<std::string> TensorSet::manifest(
    const std::optional<std::vector<std::uint64_t>>& tensors) const {
  BTF_ASSIGN(const std::uint64_t all, tensor_count());
  const std::uint64_t count = tensors ? tensors->size() : all;
  ManifestText text;
  for (std::uint64_t i = 0; i < count; ++i) {
    BTF_ASSIGN(const SetTensor at, tensor(tensors ? (*tensors)[i] : i));
    BTF_ASSIGN(const OpenFile opened, file(at.member));
    if (opened->path() == "-")
      return fail(ErrorCode::invalid_argument, "a manifest cannot name standard input");
    BTF_ASSIGN(const IndexEntry entry, state_->entry_of(at.member, *opened, at.index));
    const Status added = text.add(entry);
    if (!added) return std::unexpected(opened->about(at.index, added.error()));
  }
  return std::move(text).finish();
}

Status TensorSet::check_unchanged() const {
  if (state_->only) return state_->only->check_unchanged();
  for (const auto& [member, opened] : state_->kept) BTF_TRY(opened->check_unchanged());
  for (const auto& [member, opened] : state_->recent) BTF_TRY(opened->check_unchanged());
  for (std::uint64_t i = 0; i < state_->opened.size(); ++i) {
    if (!state_->opened[i] || state_->settled[i] || state_->kept.contains(i)) continue;
    const std::string path = state_->path_of(i);
    if (path_stamp(path) != state_->stamps[i]) return changed_while_read(path);
  }
  return {};
}

Status TensorSet::check_unchanged(std::uint64_t member) const {
  if (state_->only) return state_->only->check_unchanged();
  if (const auto kept = state_->kept.find(member); kept != state_->kept.end())
    return kept->second->check_unchanged();
  if (member >= state_->opened.size() || !state_->opened[member]) return {};
  const std::string path = state_->path_of(member);
  if (path_stamp(path) != state_->stamps[member]) return changed_while_read(path);
  return {};
}

void TensorSet::settle(std::uint64_t member) {
  if (member < state_->settled.size()) state_->settled[member] = true;
}

Result<std::uint64_t> TensorSet::tensor_count() const {
  std::vector<std::uint64_t>& firsts = state_->first_tensors;
  if (firsts.empty()) {
    std::vector<std::uint64_t> found{0};
    for (std::uint64_t i = 0; i < member_count(); ++i) {
      BTF_ASSIGN(const OpenFile opened, file(i));
      found.push_back(found.back() + opened->tensor_count());
    }
    firsts = std::move(found);
  }
  return firsts.back();
}

Result<SetTensor> TensorSet::tensor(std::uint64_t number) const {
  BTF_ASSIGN(const std::uint64_t count, tensor_count());
  if (number >= count)
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "there is no tensor " + std::to_string(number) + ", " +
                                               (one_file() ? "the file" : "the set") + " has " +
                                               std::to_string(count)}
            .in_file(path()));
  return located(number, state_->first_tensors);
}

Result<std::vector<SetTensor>> TensorSet::copies() const {
  std::vector<SetTensor> found;
  std::map<std::string, std::vector<SetTensor>> holders;
  if (member_count() < 2) return found;
  for (std::uint64_t member = 0; member < member_count(); ++member) {
    if (!ShardIndexes::may_be_shard(path(member))) continue;
    const auto opened = file(member);
    for (std::uint64_t i = 0; opened && i < (*opened)->tensor_count(); ++i)
      if (auto name = (*opened)->own_name(i); name && *name)
        holders[**std::move(name)].push_back({member, i});
  }
  ShardIndexes indexes;
  for (const auto& [name, tensors] : holders) {
    if (tensors.size() < 2) continue;
    std::vector<SetTensor> others;
    for (const SetTensor& tensor : tensors)
      if (indexes.elsewhere(path(tensor.member), name)) others.push_back(tensor);
    if (others.size() < tensors.size()) found.insert(found.end(), others.begin(), others.end());
  }
  std::ranges::sort(found, {}, [](const SetTensor& tensor) {
    return std::pair(tensor.member, tensor.index);
  });
  return found;
}

Result<std::vector<std::uint64_t>> TensorSet::select(std::string_view text) const {
  BTF_TRY(tensor_count());
  return select(text, state_->first_tensors);
}

Result<std::vector<SetTensor>> TensorSet::select_readable(std::string_view text) const {
  std::vector<std::uint64_t> firsts{0};
  for (std::uint64_t i = 0; i < member_count(); ++i) {
    const auto opened = file(i);
    firsts.push_back(firsts.back() + (opened ? (*opened)->tensor_count() : 0));
  }
  BTF_ASSIGN(const std::vector<std::uint64_t> numbers, select(text, firsts));
  std::vector<SetTensor> tensors;
  for (const std::uint64_t number : numbers) tensors.push_back(located(number, firsts));
  return tensors;
}

Result<std::vector<std::uint64_t>> TensorSet::select(
    std::string_view text, std::span<const std::uint64_t> first_tensors) const {
  Status trouble;
  const auto name = [&](std::uint64_t number) -> std::string {
    const SetTensor at = located(number, first_tensors);
    const auto opened = file(at.member);
    const Result<std::string> found =
        opened ? (*opened)->name(at.index) : std::unexpected(opened.error());
    if (!found && trouble) trouble = std::unexpected(found.error());
    return found.value_or(std::string());
  };
  auto found =
      select_tensors(text, {first_tensors.back(), name, one_file() ? "the file" : "the set"});
  BTF_TRY(trouble);
  if (!found) return std::unexpected(found.error().in_file(path()));
  return found;
}

namespace {

// Each file of the list is in one of the directories at least.
Status check_listed(const TwoSets& sets, const FileList& list) {
  std::unordered_set<std::string> known;
  for (const TensorSet* set : {&sets.actual, &sets.golden}) {
    for (std::uint64_t i = 0; i < set->member_count(); ++i) known.emplace(set->place(i));
    for (const SetMember& other : set->others()) known.insert(other.place);
  }
  for (const std::string& file : list.files)
    if (!known.contains(file.starts_with("./") ? file.substr(2) : file))
      return std::unexpected(
          Error{ErrorCode::invalid_argument, "'" + file + "' is neither in " + sets.actual.path() +
                                                 " nor in " + sets.golden.path()}
              .in_file(list.path));
  return {};
}

}  // namespace

Result<TwoSets> open_two_sets(const SetOperand& actual, const SetOperand& golden,
                              const Execution& execution) {
  const auto is_listed = [](const SetOperand& operand) {
    return is_directory(operand.path).value_or(false);
  };
  const auto open = [](const SetOperand& operand) {
    OpenOptions options = operand.options;
    options.may_lack = true;
    return TensorSet::open(operand.path, options, operand.keep);
  };
  const std::shared_ptr<const FileList>& listed = actual.options.listed;
  if (listed && !is_listed(actual) && !is_listed(golden))
    return std::unexpected(no_directory(actual.path, *listed));
  std::optional<Result<TensorSet>> right;
  const auto open_golden = [&](unsigned = 0) { right = open(golden); };
  Workers thread;
  if (execution.jobs != 1 && is_listed(actual) && is_listed(golden)) thread.start(1, open_golden);
  BTF_ASSIGN(TensorSet left, open(actual));
  thread.join();
  if (!right) open_golden();
  if (!*right) return std::unexpected(std::move(*right).error());
  TwoSets sets{std::move(left), **std::move(right)};
  if (listed) BTF_TRY(check_listed(sets, *listed));
  return sets;
}

bool is_index(const std::string& path) {
  return find_index_kind(path, FoundBy::operand) != nullptr;
}

Error no_files(const TensorSet& set) {
  const std::size_t others = set.others().size() + set.unfinished().size();
  const bool statistics = std::ranges::any_of(set.files_read(), is_msprobe_dump);
  const std::string text = statistics ? "the dump of msprobe has statistics alone and no files of "
                                        "elements; layers and diff compare two such dumps"
                           : is_index(set.path()) ? "names no file"
                           : others == 0        ? "the directory is empty"
                                                : "no file of tensors in the directory, only " +
                                               std::to_string(others) +
                                               (others == 1 ? " other file" : " other files");
  return Error{ErrorCode::refused, text}.in_file(set.path());
}

}  // namespace btf

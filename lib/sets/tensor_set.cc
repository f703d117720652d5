#include "btf/tensor_set.h"

#include <sys/stat.h>

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_source.h"
#include "formats/io/file_endings.h"
#include "sets/directory.h"
#include "sets/indexes.h"
#include "sets/manifest.h"
#include "sets/open_ahead.h"
#include "sets/selection.h"

namespace btf {
namespace {

using OpenFile = std::shared_ptr<const TensorFile>;

// Of a regular file; of what is none nothing is known.
std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return btf::stamp_of(status);
}

std::unexpected<Error> changed(const std::string& path) {
  return std::unexpected(
      Error{ErrorCode::io, "the file was changed while it was read"}.in_file(path));
}

// `first_tensors`: of each member, and behind them how many tensors there are. Members without
// tensors have the same number as the next.
SetTensor located(std::uint64_t number, std::span<const std::uint64_t> first_tensors) {
  const auto behind = std::ranges::upper_bound(first_tensors, number);
  const auto member = static_cast<std::uint64_t>(behind - first_tensors.begin()) - 1;
  return {member, number - first_tensors[member]};
}

// Of so many files the descriptors and headers are kept.
constexpr std::size_t kMostOpen = 4;

}  // namespace

struct TensorSet::State {
  // One for each path that the set was opened by.
  struct Root {
    std::string path;
    bool several = false;     // a directory or an index
    IndexedListing files{};   // of these
    std::uint64_t first = 0;  // its members follow from here
  };

  OpenOptions options;
  std::map<std::uint64_t, OpenOptions> own_options;  // of members that have others
  std::vector<Root> roots;
  std::uint64_t members = 0;
  OpenFile only;  // of()

  // What cannot be opened twice stays open; of the others the last few, the latest in front.
  std::map<std::uint64_t, OpenFile> kept;
  std::list<std::pair<std::uint64_t, OpenFile>> recent;
  std::vector<bool> opened;                      // of each member: was it?
  std::vector<bool> settled;                     // and is it known to be unchanged?
  std::vector<std::optional<FileStamp>> stamps;  // as it was then
  std::vector<std::uint64_t> first_tensors;      // of each member, and their count; empty: not asked
  std::unique_ptr<OpenAhead> ahead;

  const Root& root_of(std::uint64_t member) const {
    const auto behind = std::ranges::upper_bound(roots, member, {}, &Root::first);
    return *(behind - 1);
  }
  const IndexedFile* indexed(std::uint64_t member) const;
  std::string path_of(std::uint64_t member) const;
  std::string_view place_of(std::uint64_t member) const;
  std::string name_of(std::uint64_t member) const;
  // These two by several threads.
  Result<OpenOptions> options_of(std::uint64_t member) const;
  Result<TensorFile> open_file(std::uint64_t member) const;
  Result<OpenFile> open(std::uint64_t member);
  Result<OpenFile> open_checked(std::uint64_t member);
  Result<IndexEntry> entry_of(std::uint64_t member, const TensorFile& file,
                              std::uint64_t index) const;
};

const IndexedFile* TensorSet::State::indexed(std::uint64_t member) const {
  const Root& root = root_of(member);
  const auto found = root.files.indexed.find(member - root.first);
  return found == root.files.indexed.end() ? nullptr : &found->second;
}

// What its tensors are called after.
std::string TensorSet::State::name_of(std::uint64_t member) const {
  const Root& root = root_of(member);
  const IndexedFile* const named = root.several ? indexed(member) : nullptr;
  std::string name;
  if (named != nullptr && named->entry().tensor && named->entry().tensor->name) {
    name = *named->entry().tensor->name;
  } else {
    const std::string_view place = place_of(member);
    name = name_in_path(root.several ? place : place.substr(place.rfind('/') + 1));
  }
  // Raw bytes have any ending.
  if (own_options.contains(member)) {
    const std::size_t dot = name.rfind('.');
    if (dot != name.npos && dot > name.rfind('/') + 1) name.resize(dot);
  }
  return name;
}

std::string_view TensorSet::State::place_of(std::uint64_t member) const {
  const Root& root = root_of(member);
  return root.several ? root.files.listing.places[member - root.first] : root.path;
}

std::string TensorSet::State::path_of(std::uint64_t member) const {
  const Root& root = root_of(member);
  if (!root.several) return root.path;
  if (const IndexedFile* const named = indexed(member)) return named->path();
  const std::string& place = root.files.listing.places[member - root.first];
  const std::string& folder = root.files.folder;
  return folder.empty() ? place : join_path(folder, place);
}

Result<OpenOptions> TensorSet::State::options_of(std::uint64_t member) const {
  const auto own = own_options.find(member);
  OpenOptions named = own == own_options.end() ? options : own->second;
  if (const IndexedFile* const file = indexed(member)) {
    BTF_ASSIGN(named, file->options(named));
  }
  named.name = name_of(member);
  return named;
}

Result<TensorFile> TensorSet::State::open_file(std::uint64_t member) const {
  BTF_ASSIGN(const OpenOptions named, options_of(member));
  return TensorFile::open(path_of(member), named);
}

Result<OpenFile> TensorSet::State::open(std::uint64_t member) {
  std::optional<TensorFile> before = ahead ? ahead->take(member) : std::nullopt;
  Result<TensorFile> file = before ? *std::move(before) : open_file(member);
  if (!file) return std::unexpected(file.error());
  const std::string& path = file->path();
  std::optional<FileStamp> stamp = file->source().stamp();
  if (!stamp) stamp = stamp_of(path);
  opened.resize(members);
  settled.resize(members);
  stamps.resize(members);
  if (opened[member] && stamp != stamps[member]) return changed(path);
  opened[member] = true;
  settled[member] = false;
  stamps[member] = stamp;
  OpenFile shared = std::make_shared<const TensorFile>(*std::move(file));
  if (!stamp || members <= kMostOpen) {
    kept.emplace(member, shared);
  } else {
    recent.emplace_front(member, shared);
    if (recent.size() > kMostOpen) recent.pop_back();
  }
  return shared;
}

Result<OpenFile> TensorSet::State::open_checked(std::uint64_t member) {
  BTF_ASSIGN(const OpenFile file, open(member));
  const IndexedFile* const named = indexed(member);
  if (named == nullptr) return file;
  Status wrong;
  BTF_TRY(named->check(*file, [&](const Finding& finding) {
    if (finding.severity != Severity::error || !wrong) return;
    Error error{ErrorCode::malformed, finding.message};
    error.finding = finding.code;
    wrong = std::unexpected(error.in_file(file->path()));
  }));
  BTF_TRY(wrong);
  return file;
}

// What a manifest says of a tensor; of what an index described already, what that said.
Result<IndexEntry> TensorSet::State::entry_of(std::uint64_t member, const TensorFile& file,
                                              std::uint64_t index) const {
  const IndexedFile* const described = indexed(member);
  IndexEntry entry{.file = file.path(), .spec = described ? described->entry().spec : "", .tensor = {}};
  FileEntry& tensor = entry.tensor.emplace();
  if (described && described->entry().tensor) tensor = *described->entry().tensor;
  BTF_ASSIGN(const TensorInfo info, file.tensor(index));
  BTF_ASSIGN(const FileAttributes attributes, file.attributes());
  tensor.name = info.name;
  if (file.tensor_count() > 1) tensor.tensor_number = index;
  if (const auto said = attributes.tensors.find(index); said != attributes.tensors.end()) {
    tensor.order = said->second.order;
    tensor.role = said->second.role;
  }
  if (!entry.spec.empty()) return entry;
  if (options.spec)
    entry.spec = options.spec->text;
  else if (file.format() == "raw")
    entry.spec = spec_text(*info.dtype, *info.layout, info.dims);
  return entry;
}

TensorSet::TensorSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorSet::TensorSet(TensorSet&&) noexcept = default;
TensorSet& TensorSet::operator=(TensorSet&&) noexcept = default;
TensorSet::~TensorSet() = default;

Result<TensorSet> TensorSet::open(const std::string& path, const OpenOptions& options) {
  return open(std::span(&path, 1), options);
}

Result<TensorSet> TensorSet::open(std::span<const std::string> paths, const OpenOptions& options) {
  if (paths.empty()) return fail(ErrorCode::invalid_argument, "a set needs a file at least");
  auto state = std::make_unique<State>();
  state->options = options;
  for (const std::string& path : paths) {
    State::Root root{.path = path, .several = false, .files = {}, .first = state->members};
    BTF_ASSIGN(root.several, is_directory(path));
    if (root.several) {
      BTF_ASSIGN(DirectoryListing listing, list_directory(path));
      root.files = take_indexes(path, std::move(listing));
    } else if (const IndexKind* const kind = find_index_kind(path, FoundBy::operand)) {
      root.several = true;
      BTF_ASSIGN(root.files, list_index(path, *kind));
    }
    const std::uint64_t count = root.several ? root.files.listing.places.size() : 1;
    state->members += count;
    // root_of() finds those with members only.
    if (count > 0 || state->roots.empty()) state->roots.push_back(std::move(root));
  }
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
  const auto stamp = stamp_of(state_->path_of(member));
  return stamp ? stamp->bytes : 0;
}

void TensorSet::open_ahead(std::vector<std::uint64_t> members) {
  std::erase_if(members, [&](std::uint64_t member) { return trouble(member) != nullptr; });
  state_->ahead =
      std::make_unique<OpenAhead>(std::move(members), member_count(),
                                  [state = state_.get()](std::uint64_t member) {
                                    return state->open_file(member);
                                  });
}

const Error* TensorSet::trouble(std::uint64_t member) const {
  const State::Root& root = state_->root_of(member);
  const auto found = root.files.listing.trouble.find(member - root.first);
  return found == root.files.listing.trouble.end() ? nullptr : &found->second;
}

Status TensorSet::check_index(std::uint64_t member, const FindingSink& report) const {
  const IndexedFile* const named = state_->indexed(member);
  if (named == nullptr || trouble(member) != nullptr) return {};
  // What it lacks is a finding here, and no reason not to open it.
  BTF_ASSIGN(const TensorFile file, state_->open_file(member));
  return named->check(file, report);
}

void TensorSet::open_as(std::uint64_t member, OpenOptions options) {
  state_->own_options.insert_or_assign(member, std::move(options));
  state_->kept.erase(member);
  std::erase_if(state_->recent, [&](const auto& open) { return open.first == member; });
}

Result<OpenFile> TensorSet::file(std::uint64_t member) const {
  if (state_->only) return state_->only;
  if (const Error* const known = trouble(member)) return std::unexpected(*known);
  if (member < state_->settled.size()) state_->settled[member] = false;
  if (const auto found = state_->kept.find(member); found != state_->kept.end())
    return found->second;
  auto& recent = state_->recent;
  const auto found = std::ranges::find(recent, member, &std::pair<std::uint64_t, OpenFile>::first);
  if (found == recent.end()) return state_->open_checked(member);
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
      return fail(ErrorCode::invalid_argument, "a manifest names files, and not standard input");
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
    if (stamp_of(path) != state_->stamps[i]) return changed(path);
  }
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
    return std::unexpected(Error{ErrorCode::invalid_argument,
                                 "there is no tensor " + std::to_string(number) + ", " +
                                     (one_file() ? "the file" : "the set") + " has " +
                                     std::to_string(count)}
                               .in_file(path()));
  return located(number, state_->first_tensors);
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

bool is_index(const std::string& path) {
  return find_index_kind(path, FoundBy::operand) != nullptr;
}

}  // namespace btf

// Tensors of many files by number and name. Files are opened when they are needed, and a few are
// kept open.
#include "btf/tensor_set.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "btf/tensor_spec.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/resources.h"
#include "formats/format_table.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/unsupported_formats.h"
#include "sets/directory.h"
#include "sets/index.h"
#include "sets/manifest.h"

namespace btf {
namespace {

using OpenFile = std::shared_ptr<const TensorFile>;

}  // namespace

struct TensorSet::State {
  // One for each path from which the set was opened.
  struct Root {
    std::string path;
    bool several = false;  // a directory or an index
    bool index = false;
    IndexedListing files{};   // its files
    std::uint64_t first = 0;  // number of its first member
  };

  OpenOptions options;
  std::optional<EngineNames> engine;  // names of the options' engine
  std::vector<Root> roots;
  std::uint64_t members = 0;
  std::vector<SetMember> others;
  std::vector<SetMember> unfinished;
  std::vector<std::string> indexes;  // paths of the indexes that were read
  OpenFile only;                     // the file of a set made by of()

  // Files that cannot be opened twice, and the last few of the others, most recent first.
  std::map<std::uint64_t, OpenFile> kept;
  std::list<std::pair<std::uint64_t, OpenFile>> recent;
  std::vector<bool> opened;                      // by member: has been opened
  std::vector<bool> settled;                     // by member: known to be unchanged
  std::vector<std::optional<FileStamp>> stamps;  // by member: when it was opened
  std::map<std::uint64_t, Error> unread;         // system errors by member
  // Number of each member's first tensor, then the total; empty if not computed yet.
  std::vector<std::uint64_t> first_tensors;

  // Members may get options while files are opened ahead.
  mutable std::mutex options_mutex;
  std::map<std::uint64_t, OpenOptions> own_options;  // of members with their own options
  // Its thread reads the members above, so it must be destroyed first.
  std::unique_ptr<FilePrefetcher> ahead;

  const Root& root_of(std::uint64_t member) const {
    const auto behind = std::ranges::upper_bound(roots, member, {}, &Root::first);
    return *(behind - 1);
  }
  const IndexedFile* indexed(std::uint64_t member) const;
  std::string path_of(std::uint64_t member) const;
  std::string_view place_of(std::uint64_t member) const;
  std::string name_of(std::uint64_t member) const;
  std::optional<OpenOptions> own_options_of(std::uint64_t member) const;
  const TensorSpec* spec_by_name(std::span<const NamedSpec> rules, std::uint64_t member) const;
  // The engine's tensor that a file is named after; nullptr if there is none or the file describes
  // itself.
  const EngineTensor* engine_tensor(std::uint64_t member) const;
  Result<bool> takes_dtypes(std::uint64_t member) const;
  Status check_engine() const;  // an error if no file is named after a tensor of it
  // The following two are called on several threads, also during open_as().
  Result<OpenOptions> options_of(std::uint64_t member) const;
  Result<TensorFile> open_file(std::uint64_t member) const;
  void open_as(std::uint64_t member, OpenOptions own);
  Result<OpenFile> open(std::uint64_t member);
  Result<OpenFile> open_checked(std::uint64_t member);
  Result<IndexEntry> entry_of(std::uint64_t member, const TensorFile& file,
                              std::uint64_t index) const;
};

namespace {

// The number of files whose descriptors and headers are kept.
constexpr std::size_t kMaxOpen = 4;

std::unexpected<Error> changed_while_read(const std::string& path) {
  return std::unexpected(file_changed().error().in_file(path));
}

}  // namespace

const IndexedFile* TensorSet::State::indexed(std::uint64_t member) const {
  const Root& root = root_of(member);
  const auto found = root.files.indexed.find(member - root.first);
  return found == root.files.indexed.end() ? nullptr : &found->second;
}

// The base for the names of its tensors.
std::string TensorSet::State::name_of(std::uint64_t member) const {
  if (const EngineTensor* const tensor = engine_tensor(member)) return tensor->name;
  const Root& root = root_of(member);
  const IndexedFile* const named = root.several ? indexed(member) : nullptr;
  std::string name;
  if (named != nullptr && named->entry().tensor && named->entry().tensor->name) {
    name = *named->entry().tensor->name;
  } else {
    std::string place(place_of(member));
    if (named != nullptr && !named->entry().folder.empty()) {
      const IndexEntry& entry = named->entry();
      const std::size_t own = place.size() - std::min(place.size(), entry.place().size());
      place.erase(own, entry.folder.size());
      if (named->index->only) place.erase(0, own);
    }
    name = name_in_path(root.several ? std::string_view(place)
                                     : std::string_view(place).substr(place.rfind('/') + 1));
  }
  // Raw bytes may have any extension.
  if (own_options_of(member)) {
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

std::optional<OpenOptions> TensorSet::State::own_options_of(std::uint64_t member) const {
  const std::lock_guard lock(options_mutex);
  const auto own = own_options.find(member);
  return own == own_options.end() ? std::nullopt : std::optional(own->second);
}

// Matches the member's name, its place, or the last part of its place.
const TensorSpec* TensorSet::State::spec_by_name(std::span<const NamedSpec> rules,
                                                 std::uint64_t member) const {
  if (rules.empty()) return nullptr;
  const std::string place(place_of(member));
  const auto names = {name_of(member), place, place.substr(place.rfind('/') + 1)};
  for (const NamedSpec& rule : rules | std::views::reverse)
    for (const std::string& name : names)
      if (glob_matches(rule.glob, name)) return &rule.spec;
  return nullptr;
}

Result<OpenOptions> TensorSet::State::options_of(std::uint64_t member) const {
  OpenOptions named = own_options_of(member).value_or(options);
  if (const TensorSpec* const spec = spec_by_name(named.named_specs, member)) named.spec = *spec;
  if (const IndexedFile* const file = indexed(member)) {
    BTF_ASSIGN(named, file->options(named));
  }
  if (!named.spec) {
    if (const EngineTensor* const tensor = engine_tensor(member)) {
      const std::string path = path_of(member);
      BTF_ASSIGN(const std::optional<FileStamp> stamp, path_stamp(path));
      auto spec =
          engine_spec(*options.engine, *tensor, stamp ? std::optional(stamp->bytes) : std::nullopt);
      if (!spec) return std::unexpected(spec.error().in_file(path));
      named.spec = *std::move(spec);
    }
  }
  named.name = name_of(member);
  return named;
}

// Returns true for a file of outputs whose dtypes only the engine's layer list knows.
Result<bool> TensorSet::State::takes_dtypes(std::uint64_t member) const {
  const std::string path = path_of(member);
  BTF_ASSIGN(const std::optional<FileStamp> stamp, path_stamp(path));
  if (!stamp) return true;  // a stream can be read only once
  if (!ends_in(content_name(path), ".json")) return false;
  const auto file = open_file(member);
  if (!file) return true;  // opening it again reports a better error
  if (!file->has(kSaysDims) || file->has(kNumpyArrays)) return false;
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto name = file->name(i);
    if (name && options.engine->list.find(*name) != nullptr) return true;
  }
  return false;
}

Status TensorSet::State::check_engine() const {
  if (!engine) return {};
  for (std::uint64_t member = 0; member < members; ++member) {
    if (engine_tensor(member) != nullptr) return {};
    BTF_ASSIGN(const bool takes, takes_dtypes(member));
    if (takes) return {};
  }
  return fail(
      ErrorCode::invalid_argument,
      "no raw file and no trtexec output in " + roots.front().path + " is named like a tensor of " +
          options.engine->path + ", such as '" +
          (options.engine->list.tensors.empty() ? "" : options.engine->list.tensors.front().name) +
          "'");
}

const EngineTensor* TensorSet::State::engine_tensor(std::uint64_t member) const {
  return engine ? engine->find(place_of(member)) : nullptr;
}

Result<TensorFile> TensorSet::State::open_file(std::uint64_t member) const {
  BTF_ASSIGN(const OpenOptions named, options_of(member));
  return TensorFile::open(path_of(member), named);
}

void TensorSet::State::open_as(std::uint64_t member, OpenOptions own) {
  // A file that was opened ahead has the old options.
  if (ahead) ahead->take(member);
  kept.erase(member);
  std::erase_if(recent, [&](const auto& open) { return open.first == member; });
  const std::lock_guard lock(options_mutex);
  own_options.insert_or_assign(member, std::move(own));
}

Result<OpenFile> TensorSet::State::open(std::uint64_t member) {
  std::optional<TensorFile> before = ahead ? ahead->take(member) : std::nullopt;
  Result<TensorFile> file = before ? *std::move(before) : open_file(member);
  if (!file) return std::unexpected(file.error());
  const std::string& path = file->path();
  std::optional<FileStamp> stamp = file->source().stamp();
  if (!stamp) {
    BTF_ASSIGN(stamp, path_stamp(path));
  }
  opened.resize(members);
  settled.resize(members);
  stamps.resize(members);
  if (opened[member] && stamp != stamps[member]) return changed_while_read(path);
  opened[member] = true;
  settled[member] = false;
  stamps[member] = stamp;
  OpenFile shared = std::make_shared<const TensorFile>(*std::move(file));
  if (!stamp || members <= kMaxOpen) {
    kept.emplace(member, shared);
  } else {
    recent.emplace_front(member, shared);
    if (recent.size() > kMaxOpen) recent.pop_back();
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
  if (wrong) return file;
  // A file that was opened but is wrong must not be found later.
  kept.erase(member);
  std::erase_if(recent, [&](const auto& opened) { return opened.first == member; });
  return std::unexpected(wrong.error());
}

// The entry of a tensor for a manifest, based on the entry of its index, if there is one.
Result<IndexEntry> TensorSet::State::entry_of(std::uint64_t member, const TensorFile& file,
                                              std::uint64_t index) const {
  const IndexedFile* const described = indexed(member);
  // A layer list is relative to the index's own folder, so its contents are written instead.
  const bool kept = described && !described->entry().engine;
  IndexEntry entry{.file = file.path(), .spec = kept ? described->entry().spec : "", .tensor = {}};
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
  BTF_ASSIGN(const OpenOptions own, options_of(member));
  if (own.spec)
    entry.spec = own.spec->text;
  else if (file.has(kUndescribed))
    entry.spec = spec_text(*info.dtype, *info.layout, info.dims);
  return entry;
}

namespace {

// `first_tensors` has the number of each member's first tensor, then the total. Members without
// tensors have the number of the next one.
SetTensor located(std::uint64_t number, std::span<const std::uint64_t> first_tensors) {
  const auto behind = std::ranges::upper_bound(first_tensors, number);
  const auto member = static_cast<std::uint64_t>(behind - first_tensors.begin()) - 1;
  return {member, number - first_tensors[member]};
}

Error no_directory(const std::string& path, const FileList& list) {
  return Error{ErrorCode::invalid_argument,
               "is not a directory, but " + list.path + " lists files in one"}
      .in_file(path);
}

// Decided by the name; a pipe has no files next to it.
bool may_have_data_beside(const std::string& path) {
  return std::ranges::any_of(formats(), [&](const FormatRow& format) {
    return format.has(kDataBeside) &&
           std::ranges::any_of(format.endings, [&](const NameEnding& name) {
             return !name.ending.empty() && ends_in(content_name(path), name.ending);
           });
  });
}

// A file whose name has a spec is a file of tensors, whatever its contents look like.
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
      root.files =
          take_indexes(path, std::move(listing),
                       [&](const std::string& file, const std::string& place) -> Result<bool> {
                         const SetMember member{file, place, std::string(name_in_path(place))};
                         if ((keep && keep(member)) || named_in(options.named_specs, member) ||
                             (state->engine && state->engine->find(place)))
                           return false;
                         return accompanies_tensors(file, options);
                       });
      for (const std::string& place : root.files.others)
        state->others.push_back({join_path(path, place), place, join_path(path, place)});
    } else if (options.listed && !options.may_lack) {
      return std::unexpected(no_directory(path, *options.listed));
    } else {
      BTF_ASSIGN(const IndexKind* const kind, find_index_kind(path, FoundBy::operand));
      root.index = root.several = kind != nullptr;
      if (kind != nullptr) {
        BTF_ASSIGN(root.files, list_index(path, *kind));
      }
    }
    std::ranges::copy(root.files.indexes, std::back_inserter(state->indexes));
    const std::uint64_t count = root.several ? root.files.listing.places.size() : 1;
    state->members += count;
    // root_of() must only find roots with members.
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
  return std::ranges::any_of(state_->roots, &State::Root::index);
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
  for (const std::string& index : state_->indexes)
    if (const auto kind = find_index_kind(index, FoundBy::operand);
        kind && *kind != nullptr && !(*kind)->read_with_it.empty())
      paths.push_back(next_to_index(index, (*kind)->read_with_it));
  for (std::uint64_t i = 0; i < member_count(); ++i) {
    paths.push_back(path(i));
    // A file that cannot be opened here is reported when its tensors are read.
    if (!may_have_data_beside(paths.back())) continue;
    if (const auto stamp = path_stamp(paths.back()); stamp && !*stamp) continue;
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

Result<std::uint64_t> TensorSet::bytes(std::uint64_t member) const {
  const std::string path = state_->path_of(member);
  if (path == "-") return 0;
  BTF_ASSIGN(const std::optional<struct stat> status, status_of_path(path));
  return status && S_ISREG(status->st_mode) ? stamp_of(*status).bytes : 0;
}

Result<std::optional<FileState>> TensorSet::state(std::uint64_t member) const {
  const bool opened = member < state_->opened.size() && state_->opened[member];
  if (opened && state_->stamps[member])
    return FileState{state_->stamps[member]->bytes, state_->stamps[member]->changed};
  return FileState::of(state_->path_of(member));
}

void TensorSet::open_ahead(std::vector<std::uint64_t> members) {
  std::erase_if(members, [&](std::uint64_t member) { return trouble(member) != nullptr; });
  state_->ahead = std::make_unique<FilePrefetcher>(
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
  if (is_system_error(error)) state_->unread.emplace(member, error);
}

Status TensorSet::check_index(std::uint64_t member, const FindingSink& report) const {
  const IndexedFile* const named = state_->indexed(member);
  if (named == nullptr || trouble(member) != nullptr) return {};
  // A missing tensor is reported as a finding here and does not prevent opening.
  BTF_ASSIGN(const TensorFile file, state_->open_file(member));
  return named->check(file, report);
}

Status TensorSet::check_named_specs() const {
  for (const NamedSpec& rule : state_->options.named_specs) {
    bool used = false;
    for (std::uint64_t i = 0; i < member_count() && !used; ++i)
      used = state_->spec_by_name(std::span(&rule, 1), i) != nullptr;
    if (used) continue;
    const auto found = select_readable("@" + rule.glob);
    // A file that cannot be opened with a spec is reported separately, and may be the one the spec
    // is for.
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
    BTF_TRY(check_stamp(path, state_->stamps[i]));
  }
  return {};
}

Status TensorSet::check_unchanged(std::uint64_t member) const {
  if (state_->only) return state_->only->check_unchanged();
  if (const auto kept = state_->kept.find(member); kept != state_->kept.end())
    return kept->second->check_unchanged();
  if (member >= state_->opened.size() || !state_->opened[member]) return {};
  return check_stamp(state_->path_of(member), state_->stamps[member]);
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
    for (std::uint64_t i = 0; opened && i < (*opened)->tensor_count(); ++i) {
      auto name = (*opened)->own_name(i);
      if (!name) note(member, name.error().in_file(path(member)));
      if (name && *name) holders[**std::move(name)].push_back({member, i});
    }
  }
  ShardIndexes indexes;
  for (const auto& [name, tensors] : holders) {
    if (tensors.size() < 2) continue;
    std::vector<SetTensor> others;
    for (const SetTensor& tensor : tensors)
      if (indexes.elsewhere(path(tensor.member), name)) others.push_back(tensor);
    if (others.size() < tensors.size()) found.insert(found.end(), others.begin(), others.end());
  }
  BTF_TRY(indexes.status());
  std::ranges::sort(found, {},
                    [](const SetTensor& tensor) { return std::pair(tensor.member, tensor.index); });
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

// Every listed file must be in at least one of the directories.
Status check_listed(const TwoSets& sets, const FileList& list) {
  std::unordered_set<std::string> known;
  for (const TensorSet* set : {&sets.actual, &sets.golden}) {
    for (std::uint64_t i = 0; i < set->member_count(); ++i) known.emplace(set->place(i));
    for (const SetMember& other : set->others()) known.insert(other.place);
  }
  for (const std::string& file : list.files)
    if (!known.contains(file.starts_with("./") ? file.substr(2) : file))
      return std::unexpected(Error{
          ErrorCode::invalid_argument,
          "'" + file + "' is neither in " + sets.actual.path() + " nor in " + sets.golden.path()}
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

Result<bool> is_index(const std::string& path) {
  BTF_ASSIGN(const IndexKind* const kind, find_index_kind(path, FoundBy::operand));
  return kind != nullptr;
}

Error no_files(const TensorSet& set) {
  const std::size_t others = set.others().size() + set.unfinished().size();
  const bool statistics = std::ranges::any_of(set.files_read(), [](const std::string& path) {
    const auto dump = is_msprobe_dump(path);
    return dump && *dump;
  });
  const std::string text = statistics ? "the dump of msprobe has only statistics and no files of "
                                        "elements; layers and diff compare two such dumps"
                           : set.order_given() ? "names no file"
                           : others == 0       ? "the directory is empty"
                                               : "no tensor files in the directory, only " +
                                               std::to_string(others) +
                                               (others == 1 ? " other file" : " other files");
  return Error{ErrorCode::refused, text}.in_file(set.path());
}

}  // namespace btf

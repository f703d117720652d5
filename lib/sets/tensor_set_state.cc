#include "sets/tensor_set_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <ranges>

#include "btf/tensor_spec.h"
#include "btf/tensorrt/engine_list.h"
#include "btf/try.h"
#include "formats/io/compressed_name.h"
#include "formats/io/globs.h"
#include "formats/table/endings.h"

namespace btf {
namespace {

// The number of files whose descriptors and headers are kept.
constexpr std::size_t kMostOpen = 4;

}  // namespace

std::optional<FileStamp> path_stamp(const std::string& path) {
  struct stat status{};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return stamp_of(status);
}

std::unexpected<Error> changed_while_read(const std::string& path) {
  return std::unexpected(file_changed().error().in_file(path));
}

const IndexedFile* TensorSet::State::indexed(std::uint64_t member) const {
  const Root& root = root_of(member);
  const auto found = root.files.indexed.find(member - root.first);
  return found == root.files.indexed.end() ? nullptr : &found->second;
}

// The base of the names of its tensors.
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
  // Raw bytes have any ending.
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

// Matches its name, its place, or the end of that.
const TensorSpec* TensorSet::State::told_by_name(std::span<const NamedSpec> rules,
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
  if (const TensorSpec* const told = told_by_name(named.named_specs, member)) named.spec = *told;
  if (const IndexedFile* const file = indexed(member)) {
    BTF_ASSIGN(named, file->options(named));
  }
  if (!named.spec) {
    if (const EngineTensor* const tensor = engine_tensor(member)) {
      const std::string path = path_of(member);
      const auto stamp = path_stamp(path);
      auto spec =
          engine_spec(*options.engine, *tensor, stamp ? std::optional(stamp->bytes) : std::nullopt);
      if (!spec) return std::unexpected(spec.error().in_file(path));
      named.spec = *std::move(spec);
    }
  }
  named.name = name_of(member);
  return named;
}

// Does it hold outputs whose dtypes only the engine's list says?
bool TensorSet::State::takes_dtypes(std::uint64_t member) const {
  const std::string path = path_of(member);
  if (!path_stamp(path)) return true;  // a stream can be read only once
  if (!ends_in(content_name(path), ".json")) return false;
  const auto file = open_file(member);
  if (!file) return true;  // its own error says more
  if (!file->has(kSaysDims) || file->has(kNumpyArrays)) return false;
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto name = file->name(i);
    if (name && options.engine->list.find(*name) != nullptr) return true;
  }
  return false;
}

Status TensorSet::State::check_engine() const {
  if (!engine) return {};
  for (std::uint64_t member = 0; member < members; ++member)
    if (engine_tensor(member) != nullptr || takes_dtypes(member)) return {};
  return fail(
      ErrorCode::invalid_argument,
      "no raw file and no output of trtexec in " + roots.front().path +
          " is called as a tensor of " + options.engine->path + ", such as '" +
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
  // A file opened ahead with other options is not the wanted one.
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
  if (!stamp) stamp = path_stamp(path);
  opened.resize(members);
  settled.resize(members);
  stamps.resize(members);
  if (opened[member] && stamp != stamps[member]) return changed_while_read(path);
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
  if (wrong) return file;
  // What was opened is not to be found as if it were right.
  kept.erase(member);
  std::erase_if(recent, [&](const auto& opened) { return opened.first == member; });
  return std::unexpected(wrong.error());
}

// The entry of a tensor for a manifest; the one of an index, if there is one.
Result<IndexEntry> TensorSet::State::entry_of(std::uint64_t member, const TensorFile& file,
                                              std::uint64_t index) const {
  const IndexedFile* const described = indexed(member);
  // A layer list is named from the index's own folder: what it says stands in its place.
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

}  // namespace btf

#include "sets/indexes.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "formats/io/system.h"
#include "formats/open_source.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

// With the '/' at its end.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Result<std::shared_ptr<OpenIndex>> open_index(const std::string& path, const IndexKind& kind) {
  auto source = open_source(path, {});
  if (!source) return std::unexpected(source.error().in_file(path));
  auto content = kind.read(**source, path);
  if (!content) return std::unexpected(content.error().in_file(path));
  return std::make_shared<OpenIndex>(path, folder_of(path), *std::move(content));
}

// Is it the same directory?
bool is_same(const std::string& one, const std::string& other) {
  struct stat left {};
  struct stat right {};
  return ::stat(one.c_str(), &left) == 0 && ::stat(other.c_str(), &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// Of the files in `directory`, as their index beside it has them: with their paths from there on.
class InFolder final : public SetIndex {
 public:
  InFolder(std::unique_ptr<const SetIndex> index, const std::string& around,
           const std::string& directory)
      : index_(std::move(index)) {
    std::string folder;
    bool here = false;
    for (const IndexEntry& entry : index_->entries()) {
      if (entry.folder.empty()) continue;
      if (folder != entry.folder) here = is_same(around + (folder = entry.folder), directory);
      if (!here) continue;
      IndexEntry& own = entries_.emplace_back(entry);
      own.file.erase(0, own.folder.size());
      own.folder.clear();
    }
  }

  std::span<const IndexEntry> entries() const override { return entries_; }
  std::span<const Finding> odd() const override { return index_->odd(); }

 private:
  std::unique_ptr<const SetIndex> index_;
  std::vector<IndexEntry> entries_;
};

// The index beside a directory that names files in it; nullptr: there is none.
Result<std::shared_ptr<OpenIndex>> open_beside_folder(const std::string& directory) {
  const std::string around = join_path(directory, "../");
  const std::string path = around + std::string(kIndexBesideFolder);
  const IndexKind* const kind = find_index_kind(path, FoundBy::directory);
  if (kind == nullptr || !kind->beside_folder) return nullptr;
  BTF_ASSIGN(std::shared_ptr<OpenIndex> index, open_index(path, *kind));
  index->content = std::make_unique<InFolder>(std::move(index->content), around, directory);
  index->folder = join_path(directory, "");
  return index->content->entries().empty() ? nullptr : index;
}

// The largest number where the sum is beyond it.
std::uint64_t added(std::uint64_t one, std::uint64_t other) {
  return one + std::min(other, UINT64_MAX - one);
}

std::uint64_t end_of_order(const SetIndex& index) {
  std::uint64_t end = 0;
  for (const IndexEntry& entry : index.entries())
    if (entry.tensor && entry.tensor->order) end = std::max(end, added(*entry.tensor->order, 1));
  return end;
}

struct Member {
  std::string place;
  std::optional<Error> trouble{};
  std::optional<IndexedFile> indexed{};
};

// A file that an index names, found by its path.
Member named_member(std::string place, IndexedFile file) {
  Member member{.place = std::move(place)};
  const std::string path = file.path();
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    Error error = system_failure("open").error();
    error.message += "; " + file.index->path + " names it";
    member.trouble = error.in_file(path);
  } else if (!S_ISREG(status.st_mode)) {
    member.trouble =
        Error{ErrorCode::io, "not a regular file; " + file.index->path + " names it"}.in_file(path);
  }
  member.indexed = std::move(file);
  return member;
}

IndexedListing listing_of(std::string folder, std::vector<Member> members) {
  IndexedListing all{.folder = std::move(folder), .listing = {}, .indexed = {}};
  all.listing.places.reserve(members.size());
  for (Member& member : members) {
    const std::uint64_t number = all.listing.places.size();
    if (member.trouble) all.listing.trouble.emplace(number, *std::move(member.trouble));
    if (member.indexed) all.indexed.emplace(number, *std::move(member.indexed));
    all.listing.places.push_back(std::move(member.place));
  }
  return all;
}

std::string_view place_of(const Member& member) { return member.place; }

// "model.onnx_data" beside "model.onnx" holds values of that model, and no tensors by itself.
bool holds_data_of_model(std::string_view place, std::span<const Member> members) {
  for (const std::string_view ending : {"_data", ".data"}) {
    if (!place.ends_with(ending)) continue;
    const std::string_view model = place.substr(0, place.size() - ending.size());
    if (!model.ends_with(".onnx")) continue;
    return std::ranges::binary_search(members, model, natural_less, place_of);
  }
  return false;
}

// Entries of the indexes of a directory for its files, by their places.
struct NamedFiles {
  std::multimap<std::string, IndexedFile, std::less<>> files;
  std::set<std::string, std::less<>> others;
};

// `place` is that of the index.
void take_index(const std::string& place, const std::shared_ptr<const OpenIndex>& index,
                NamedFiles& named) {
  const std::string folder = folder_of(place);
  for (std::size_t i = 0; i < index->content->entries().size(); ++i)
    named.files.emplace(folder + index->content->entries()[i].file, IndexedFile{index, i});
  for (const std::string& other : index->content->others()) named.others.insert(folder + other);
}

}  // namespace

std::string IndexedFile::path() const {
  return entry().file.starts_with('/') ? entry().file : index->folder + entry().file;
}

Result<TensorSpec> IndexedFile::spec() const {
  const auto& engine = entry().engine;
  if (!engine) return parse_tensor_spec(entry().spec);
  // Where bytes of other tensors may follow, the size says nothing of the dims.
  std::optional<std::uint64_t> bytes;
  struct stat status{};
  if (!entry().tensor->offset && ::stat(path().c_str(), &status) == 0)
    bytes = static_cast<std::uint64_t>(status.st_size);
  EngineSpecs specs{.list = {}, .path = engine->path, .shapes = {}, .in_manifest = true};
  if (engine->dims) specs.shapes.push_back({.glob = engine->tensor.name, .dims = *engine->dims});
  return engine_spec(specs, engine->tensor, bytes);
}

Result<OpenOptions> IndexedFile::options(const OpenOptions& of_all) const {
  OpenOptions options = of_all;
  options.entry = entry().tensor;
  if (options.entry && options.entry->order) options.entry->order = added(*options.entry->order, index->first_order);
  if (entry().spec.empty()) return options;
  auto spec = this->spec();
  if (!spec) return std::unexpected(spec.error().in_file(index->path));
  options.spec = *std::move(spec);
  return options;
}

Status IndexedFile::check(const TensorFile& file, const FindingSink& report) const {
  if (number == 0)
    for (const Finding& finding : index->content->odd()) report(finding);
  return index->content->check(number, file, report);
}

Result<IndexedListing> list_index(const std::string& path, const IndexKind& kind) {
  BTF_ASSIGN(const auto index, open_index(path, kind));
  std::vector<Member> members;
  for (std::size_t i = 0; i < index->content->entries().size(); ++i)
    members.push_back(named_member(index->content->entries()[i].place(), IndexedFile{index, i}));
  IndexedListing all = listing_of(folder_of(path), std::move(members));
  all.indexes.push_back(path);
  return all;
}

IndexedListing take_indexes(const std::string& directory, DirectoryListing listing,
                            const BesideTensors& beside) {
  std::vector<Member> members;
  std::vector<std::string> others;
  std::vector<std::string> indexes;
  std::shared_ptr<OpenIndex> last;
  const auto finish = [&] {
    IndexedListing all = listing_of(directory, std::move(members));
    all.others = std::move(others);
    all.indexes = std::move(indexes);
    return all;
  };
  NamedFiles named;
  std::uint64_t order = 0;
  if (auto index = open_beside_folder(directory); !index) {
    members.push_back({.place = std::string(kIndexBesideFolder), .trouble = index.error()});
  } else if (*index) {
    indexes.push_back((*index)->path);
    order = end_of_order(*(*index)->content);
    take_index("", *index, named);
  }
  for (std::uint64_t i = 0; i < listing.places.size(); ++i) {
    Member member{.place = std::move(listing.places[i])};
    if (const auto trouble = listing.trouble.find(i); trouble != listing.trouble.end()) {
      member.trouble = trouble->second;
    } else if (const std::string path = join_path(directory, member.place);
               const IndexKind* const kind = find_index_kind(path, FoundBy::directory)) {
      auto index = open_index(path, *kind);
      if (index) {
        indexes.push_back(path);
        last = *index;
        last->first_order = order;
        order = added(order, end_of_order(*(*index)->content));
        take_index(member.place, *index, named);
        continue;
      }
      member.trouble = index.error();
    }
    members.push_back(std::move(member));
  }
  if (last && indexes.size() == 1) last->only = true;
  for (const Member& member : members)
    if (holds_data_of_model(member.place, members)) named.others.insert(member.place);
  std::erase_if(members, [&](const Member& member) {
    if (named.files.contains(member.place) || named.others.contains(member.place)) return true;
    const bool passed = !member.trouble && beside(join_path(directory, member.place), member.place);
    if (passed) others.push_back(member.place);
    return passed;
  });
  if (named.files.empty()) return finish();
  for (auto& [place, file] : named.files) {
    const std::string part = file.entry().place().substr(file.entry().file.size());
    members.push_back(named_member(place + part, std::move(file)));
  }
  std::ranges::stable_sort(members, natural_less, place_of);
  // If two indexes describe a file, the first counts.
  const auto twice = std::ranges::unique(members, {}, place_of);
  members.erase(twice.begin(), twice.end());
  return finish();
}

}  // namespace btf

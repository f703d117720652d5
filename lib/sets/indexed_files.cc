#include "sets/indexed_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <vector>

#include "btf/try.h"
#include "formats/open_source.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

// With the '/' at its end.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Result<std::shared_ptr<const FileIndex>> open_index(const std::string& path) {
  if (named_as_first_gguf_part(path))
    return std::make_shared<const FileIndex>(path, GgufParts(path));
  const auto read = [&]() -> Result<SafetensorsIndex> {
    BTF_ASSIGN(const auto source, open_source(path, {}));
    return SafetensorsIndex::read(*source);
  };
  auto content = read();
  if (!content) return std::unexpected(content.error().in_file(path));
  return std::make_shared<const FileIndex>(path, *std::move(content));
}

struct Member {
  DirectoryEntry entry;
  std::optional<Error> trouble{};
  std::optional<IndexedFile> indexed{};
};

// What an index names: looked for by its path.
Member named_member(const std::string& place, const std::string& path, const FileIndex& index) {
  Member member{.entry = {.place = place}};
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    member.trouble = Error{ErrorCode::io, std::string("cannot open: ") + std::strerror(errno) +
                                              "; " + index.path + " names it"}
                         .in_file(path);
  member.entry.bytes = static_cast<std::uint64_t>(status.st_size);
  member.entry.changed = last_change(status);
  return member;
}

IndexedListing listing_of(std::string folder, std::vector<Member> members) {
  IndexedListing all{.folder = std::move(folder), .listing = {}, .indexed = {}};
  for (Member& member : members) {
    const std::uint64_t number = all.listing.entries.size();
    if (member.trouble) all.listing.trouble.emplace(number, *std::move(member.trouble));
    if (member.indexed) all.indexed.emplace(number, *std::move(member.indexed));
    all.listing.entries.push_back(std::move(member.entry));
  }
  return all;
}

}  // namespace

bool named_as_index(std::string_view path) {
  return named_as_safetensors_index(path) || named_as_first_gguf_part(path);
}

Status IndexedFile::check(const TensorFile& file, const FindingSink& report) const {
  if (const auto* const parts = std::get_if<GgufParts>(&index->content)) {
    const Status part = parts->check(number, file);
    if (part || part.error().finding.empty()) return part;
    report({Severity::error, part.error().finding, {}, 0, part.error().message});
    return {};
  }
  const auto& content = std::get<SafetensorsIndex>(index->content);
  BTF_ASSIGN(const auto difference, content.compare(number, file.tensor_count(),
                                                    [&](std::uint64_t i) { return file.name(i); }));
  const auto say = [&](FindingCode code, std::uint64_t count, const std::string& first,
                       const std::string& what) {
    if (count == 0) return;
    const std::string others = count > 1 ? " and " + std::to_string(count - 1) + " more" : "";
    report({.severity = code.severity(),
            .code = code,
            .tensor = {},
            .offset = 0,
            .message = "tensor '" + first + "'" + others + what + index->path});
  };
  say("index-tensor-missing", difference.missing, difference.first_missing,
      " should be in it and is not, by ");
  say("index-tensor-more", difference.more, difference.first_more,
      " should not be in it and is, by ");
  return {};
}

Result<IndexedListing> list_index(const std::string& path) {
  BTF_ASSIGN(const auto index, open_index(path));
  const std::string folder = folder_of(path);
  std::vector<Member> members;
  for (std::size_t i = 0; i < index->files().size(); ++i) {
    const std::string& file = index->files()[i];
    members.push_back(named_member(file, folder + file, *index));
    members.back().indexed = IndexedFile{index, i};
  }
  return listing_of(folder, std::move(members));
}

IndexedListing take_indexes(const std::string& directory, DirectoryListing listing) {
  std::vector<Member> members;
  std::vector<std::pair<std::string, std::shared_ptr<const FileIndex>>> indexes;  // by folder
  for (std::uint64_t i = 0; i < listing.entries.size(); ++i) {
    Member member{.entry = std::move(listing.entries[i])};
    if (const auto trouble = listing.trouble.find(i); trouble != listing.trouble.end()) {
      member.trouble = trouble->second;
    } else if (named_as_index(member.entry.place)) {
      auto index = open_index(join_path(directory, member.entry.place));
      if (index) {
        indexes.emplace_back(folder_of(member.entry.place), *std::move(index));
        // The first part of several is one of them.
        if (named_as_safetensors_index(member.entry.place)) continue;
      }
      if (!index) member.trouble = index.error();
    }
    members.push_back(std::move(member));
  }
  for (const auto& [folder, index] : indexes) {
    for (std::size_t i = 0; i < index->files().size(); ++i) {
      const std::string place = folder + index->files()[i];
      const auto at = std::ranges::lower_bound(
          members, std::string_view(place), natural_less,
          [](const Member& member) -> std::string_view { return member.entry.place; });
      const bool there = at != members.end() && at->entry.place == place;
      const auto member =
          there ? at : members.insert(at, named_member(place, join_path(directory, place), *index));
      member->indexed = IndexedFile{index, i};
    }
  }
  return listing_of(directory, std::move(members));
}

}  // namespace btf

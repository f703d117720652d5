// Files that an index names: a set of their own, and what they must be in a directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/validate.h"
#include "sets/directory.h"
#include "sets/gguf_parts.h"
#include "sets/safetensors_index.h"

namespace btf {

struct FileIndex {
  std::string path;
  std::variant<SafetensorsIndex, GgufParts> content;

  const std::vector<std::string>& files() const {
    return std::visit([](const auto& held) -> const auto& { return held.files(); }, content);
  }
};

// Of its name: does it stand for several files?
bool named_as_index(std::string_view path);

// A file of an index.
struct IndexedFile {
  std::shared_ptr<const FileIndex> index;
  std::size_t number = 0;  // of those that it names

  // Does the file hold what the index says? What it holds besides is a warning.
  Status check(const TensorFile& file, const FindingSink& report) const;
};

struct IndexedListing {
  std::string folder;  // where the entries lie; empty: here
  DirectoryListing listing;
  std::map<std::uint64_t, IndexedFile> indexed;  // by the number of the entry
};

// The files that an index names.
Result<IndexedListing> list_index(const std::string& path);

// Of what lies below a directory the indexes are no members, unless they cannot be read; files that
// they name and that are not there are.
IndexedListing take_indexes(const std::string& directory, DirectoryListing listing);

}  // namespace btf

// Files that an index names: a set of their own, and what they must be in a directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/validate.h"
#include "sets/directory.h"
#include "sets/index.h"

namespace btf {

struct OpenIndex {
  std::string path;
  std::string folder;  // that its files are in, with the '/' at its end
  std::unique_ptr<const SetIndex> content;
  // Of several indexes below a directory one follows another in the order of execution.
  std::uint64_t first_order = 0;
  // The only one: where it lies below the directory says nothing of its tensors.
  bool only = false;
};

// An entry of an index.
struct IndexedFile {
  std::shared_ptr<const OpenIndex> index;
  std::size_t number = 0;  // of its entries

  const IndexEntry& entry() const { return index->content->entries()[number]; }
  // To open it by.
  std::string path() const;
  // What the entry says that its raw bytes hold.
  Result<TensorSpec> spec() const;
  // Its options: those of all files and its own.
  Result<OpenOptions> options(const OpenOptions& of_all) const;
  // Does the file hold what the index says? What is odd with the index counts for its first file.
  Status check(const TensorFile& file, const FindingSink& report) const;
};

struct IndexedListing {
  std::string folder;  // where the places are; empty: here
  DirectoryListing listing;
  std::map<std::uint64_t, IndexedFile> indexed;  // by the number of the place
  std::vector<std::string> others{};  // places of files beside the tensors, which are no members
  std::vector<std::string> indexes{};  // paths of those that were read
};

// The files that an index names, in its order.
Result<IndexedListing> list_index(const std::string& path, const IndexKind& kind);

// Does a file stand beside the tensors? `path`: to open it by.
using BesideTensors = std::function<bool(const std::string& path, const std::string& place)>;

// Indexes below a directory are no members, unless they cannot be read, nor are files beside the
// tensors; files that indexes name are, also those that do not exist.
IndexedListing take_indexes(const std::string& directory, DirectoryListing listing,
                            const BesideTensors& beside);

}  // namespace btf

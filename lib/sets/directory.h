// What lies below a directory.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/error.h"

namespace btf {

struct DirectoryEntry {
  std::string place;         // below the directory
  std::uint64_t bytes = 0;   // of the file
  std::int64_t changed = 0;  // when it was written last, in nanoseconds
};

struct DirectoryListing {
  std::vector<DirectoryEntry> entries;     // in natural order
  std::map<std::uint64_t, Error> trouble;  // of entries: no file, or it cannot be opened
};

std::int64_t last_change(const struct stat& status);

std::string join_path(const std::string& directory, const std::string& name);

// All files, by way of symbolic links too. An error: the directory itself cannot be read.
Result<DirectoryListing> list_directory(const std::string& path);

}  // namespace btf

// Files below a directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"

namespace btf {

struct DirectoryListing {
  std::vector<std::string> places;         // of files below the directory, in natural order
  std::map<std::uint64_t, Error> trouble;  // of these: no file, or it cannot be opened
  std::vector<std::string>
      unfinished{};  // outputs that are being written, or were left; not among those
};

std::string join_path(const std::string& directory, const std::string& name);

// All files, by way of symbolic links too, but for outputs that are not finished. An error: the
// directory itself cannot be read.
Result<DirectoryListing> list_directory(const std::string& path);

// These files of a directory, without looking for others. One that is not there is trouble, or left
// out with `may_lack`. An error: a path does not lead below the directory.
Result<DirectoryListing> take_list(const std::string& directory, const FileList& list,
                                   bool may_lack);

}  // namespace btf

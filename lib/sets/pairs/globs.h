// Files of sets by globs.
#pragma once

#include <string>

#include "btf/tensor_set.h"
#include "formats/io/globs.h"

namespace btf {

// By its path below the directory, or the end of that.
inline bool glob_matches_path(const std::string& glob, const std::string& path) {
  return glob_matches(glob, path) || glob_matches(glob, path.substr(path.rfind('/') + 1));
}

// By its name, or its path.
inline bool glob_matches(const std::string& glob, const SetMember& member) {
  return glob_matches(glob, member.name) || glob_matches_path(glob, member.place);
}

}  // namespace btf

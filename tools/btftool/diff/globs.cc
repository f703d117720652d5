#include "diff/globs.h"

#include <fnmatch.h>

namespace btftool {

bool glob_matches(const std::string& glob, const std::string& name) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

bool glob_matches_path(const std::string& glob, const std::string& path) {
  return glob_matches(glob, path) || glob_matches(glob, path.substr(path.rfind('/') + 1));
}

bool glob_matches(const std::string& glob, const btf::SetMember& member) {
  return glob_matches(glob, member.name) || glob_matches_path(glob, member.place);
}

bool glob_matches(const std::string& glob, const btf::TensorDiff& diff) {
  return (diff.actual && glob_matches(glob, diff.actual->name)) ||
         (diff.golden && glob_matches(glob, diff.golden->name));
}

btf::Tolerance tolerance_by_name(const DiffCommand& command, const btf::TensorDiff& diff) {
  btf::Tolerance tolerance;
  for (const TensorTolerance& given : command.tensor_tolerances) {
    if (!given.glob || !glob_matches(*given.glob, diff)) continue;
    if (given.tolerance.rtol) tolerance.rtol = given.tolerance.rtol;
    if (given.tolerance.atol) tolerance.atol = given.tolerance.atol;
    if (given.tolerance.ulp) tolerance.ulp = given.tolerance.ulp;
  }
  return tolerance;
}

}  // namespace btftool

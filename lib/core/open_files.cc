#include "core/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace btf {

std::size_t open_files(std::size_t most) {
  constexpr std::size_t kShare = 16;
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::clamp<std::size_t>(limit.rlim_cur / kShare, 1, most);
}

}  // namespace btf

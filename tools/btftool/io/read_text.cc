#include "io/read_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace btftool {
namespace {

constexpr std::size_t kMostBytes = 256U << 20;  // as values they are ten times as many

btf::Result<std::string> read_all(int fd) {
  std::string text;
  constexpr std::size_t kPiece = 1U << 20;
  while (text.size() <= kMostBytes) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(fd, text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR)
      return btf::fail(btf::ErrorCode::io, std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) return text;
  }
  return btf::fail(btf::ErrorCode::unsupported,
                   "a report of more than " + std::to_string(kMostBytes >> 20) + " MiB");
}

}  // namespace

btf::Result<std::string> read_text(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return btf::fail(btf::ErrorCode::io, std::string("cannot open: ") + std::strerror(errno));
  auto text = read_all(fd);
  ::close(fd);
  return text;
}

}  // namespace btftool

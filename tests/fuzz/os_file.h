// Inputs that the library opens by a path: files that live in memory, and a pipe whose bytes come
// in pieces.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "input.h"

namespace fuzz {

inline std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// The path of a file with these bytes. There are a few that take turns: one that is still open must
// not be the eighth before the last.
inline std::string file_with(BytesView bytes) {
  static const std::array<int, 8> files = [] {
    std::array<int, 8> created{};
    for (int& fd : created) {
      fd = ::memfd_create("fuzz", MFD_CLOEXEC);
      require(fd >= 0, "no file in memory");
    }
    return created;
  }();
  static std::size_t next = 0;
  const int fd = files[next++ % files.size()];
  require(::ftruncate(fd, static_cast<off_t>(bytes.size())) == 0 &&
              ::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "the file in memory cannot be written");
  return path_of(fd);
}

// Bytes that cannot seek. No more than 64 KiB, what a pipe holds.
class Pipe {
 public:
  explicit Pipe(BytesView bytes) {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe");
    fd_ = ends[0];
    require(bytes.size() <= 1U << 16 &&
                ::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the pipe is full");
    ::close(ends[1]);
  }
  ~Pipe() { ::close(fd_); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::string path() const { return path_of(fd_); }

 private:
  int fd_ = -1;
};

}  // namespace fuzz

// Shared by reading and writing files: a descriptor that closes itself, errno in words.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "btf/error.h"

namespace btf {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // Closes and says whether the system had something to complain about.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_ = -1;
};

// "cannot WHAT: No such file or directory", from errno.
inline std::unexpected<Error> system_failure(std::string_view what) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  const ErrorCode code = full              ? ErrorCode::no_space
                         : number == EPIPE ? ErrorCode::closed_pipe
                                           : ErrorCode::io;
  Error error{code, "cannot " + std::string(what) + ": " + std::strerror(number)};
  error.system = number;
  return std::unexpected(std::move(error));
}

// The same where this program finds, before the system does, what it will refuse.
inline std::unexpected<Error> system_failure(ErrorCode code, int number, std::string message) {
  Error error{code, std::move(message)};
  error.system = number;
  return std::unexpected(std::move(error));
}

inline std::string temporary_directory() {
  const char* directory = std::getenv("TMPDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

}  // namespace btf

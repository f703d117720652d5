#include "report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::Status;

Status trouble(const std::string& path, const std::string& what, int error) {
  btf::Error result{ErrorCode::io, what + ": " + std::strerror(error)};
  return std::unexpected(result.in_file(path));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // What a file system refuses late shows here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Status write_in_place(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return trouble(path, "cannot open", errno);
  if (!write_all(file.get(), text) || !file.close()) return trouble(path, "cannot write", errno);
  return {};
}

Status replace(const std::string& path, const std::string& target, mode_t mode, bool exists,
               std::string_view text) {
  const std::string name = target + ".btftool-" + std::to_string(::getpid());
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return trouble(path, "cannot create", errno);
  if ((exists && ::fchmod(file.get(), mode) != 0) || !write_all(file.get(), text) ||
      !file.close() || ::rename(name.c_str(), target.c_str()) != 0) {
    const int error = errno;
    ::unlink(name.c_str());
    return trouble(path, "cannot write", error);
  }
  return {};
}

// A redirected /dev/stdout may be a regular file, which is not to be replaced by another.
bool replaceable(const std::string& path, const struct stat& status) {
  return S_ISREG(status.st_mode) && !path.starts_with("/dev/");
}

// Where the links lead; nothing need be there.
std::string resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

Status check_report_file(const std::string& path) {
  struct stat status {};
  const std::string target = resolved(path);
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return trouble(path, "cannot write", EISDIR);
    if (::access(path.c_str(), W_OK) != 0) return trouble(path, "cannot write", errno);
    if (!replaceable(path, status)) return {};
  }
  std::filesystem::path directory = std::filesystem::path(target).parent_path();
  if (directory.empty()) directory = ".";
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return trouble(path, "cannot create", errno);
  return {};
}

Status write_report_file(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !replaceable(path, status)) return write_in_place(path, text);
  return replace(path, resolved(path), status.st_mode & 07777, exists, text);
}

}  // namespace btftool

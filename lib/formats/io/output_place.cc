#include "formats/io/output_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "btf/try.h"
#include "core/numbers.h"
#include "formats/io/system.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

// N of what is called /proc/self/fd/N or, by a link that has been followed, /dev/fd/N. Opening it
// would give a file of its own, which begins at byte 0 and knows of no >>.
std::optional<int> named_descriptor(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto number = parse_number<int>(name);
  if (!number || *number < 0) return std::nullopt;
  std::error_code unknown;
  const fs::path mine = fs::canonical("/proc/self/fd", unknown);
  if (unknown || fs::canonical(path.parent_path(), unknown) != mine || unknown) return std::nullopt;
  return number;
}

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Status check_descriptor(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return system_failure("open for writing");
  if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0)
    return system_failure(ErrorCode::io, EBADF, "is not open for writing");
  return {};
}

// The error that rename() would give for the old file at the end.
Status check_replaceable(const fs::path& file, const struct stat& old) {
  struct statx state {};
  if (::statx(AT_FDCWD, file.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &state) == 0 &&
      (state.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return system_failure(
        ErrorCode::io, EBUSY,
        "is a mount point, which a finished file cannot replace; redirect standard output to it "
        "to write in place");
  // Whoever wants to remove a directory needs the same permissions (of the directory, of its sticky
  // bit, by the file's attributes), and is asked for them before it is seen that this is none.
  if (::rmdir(file.c_str()) == 0 || (errno != EPERM && errno != EACCES)) return {};
  auto failure = system_failure("replace it");
  struct stat directory {};
  if (old.st_uid == ::geteuid() || ::stat(directory_of(file).c_str(), &directory) != 0 ||
      (directory.st_mode & S_ISVTX) == 0)
    return failure;
  failure.error().message +=
      "; it belongs to another user, and in its directory (sticky bit) only owners may replace "
      "files";
  return failure;
}

Status check_file(const OutputPlace& place) {
  if (::faccessat(AT_FDCWD, directory_of(place.path).c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return system_failure("create");
  if (!place.old) return {};
  if (::faccessat(AT_FDCWD, place.path.c_str(), W_OK, AT_EACCESS) != 0)
    return system_failure("write");
  return check_replaceable(place.path, *place.old);
}

// The descriptor or the path that it comes to, behind all symbolic links.
Result<OutputPlace> follow(const std::string& path) {
  OutputPlace place;
  place.path = path;
  if (path == "-") place.descriptor = STDOUT_FILENO;
  std::error_code ignored;
  for (int depth = 0; !place.descriptor; ++depth) {
    place.descriptor = named_descriptor(place.path);
    if (place.descriptor || !fs::is_symlink(fs::symlink_status(place.path, ignored))) break;
    if (depth == 40)
      return system_failure(ErrorCode::io, ELOOP, "too many levels of symbolic links");
    place.path = place.path.parent_path() / fs::read_symlink(place.path, ignored);
  }
  return place;
}

}  // namespace

Result<OutputPlace> find_output(const std::string& path) {
  if (path.empty()) return system_failure(ErrorCode::io, ENOENT, "the path has no file name");
  BTF_ASSIGN(OutputPlace place, follow(path));
  if (place.descriptor) {
    BTF_TRY(check_descriptor(*place.descriptor));
    return place;
  }
  struct stat state {};
  if (::stat(place.path.c_str(), &state) == 0) {
    if (S_ISDIR(state.st_mode))
      return system_failure(ErrorCode::io, EISDIR, "is a directory, a file was expected");
    place.in_place = !S_ISREG(state.st_mode);
    if (!place.in_place) place.old = state;
  } else if (errno != ENOENT) {
    return system_failure("create");
  }
  if (!place.in_place) {
    BTF_TRY(check_file(place));
  } else if (::faccessat(AT_FDCWD, place.path.c_str(), W_OK, AT_EACCESS) != 0) {
    return system_failure("open for writing");
  }
  return place;
}

std::optional<int> output_descriptor(const std::string& path) {
  const auto place = follow(path);
  return place ? place->descriptor : std::nullopt;
}

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

}  // namespace btf

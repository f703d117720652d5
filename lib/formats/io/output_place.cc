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

bool look_at(const OutputPlace& place, struct stat& state) {
  return place.descriptor ? ::fstat(*place.descriptor, &state) == 0
                          : ::stat(place.path.c_str(), &state) == 0;
}

// A disk by its own number, whichever node in /dev names it.
std::optional<FileIdentity> identity_of(const struct stat& state) {
  if (S_ISREG(state.st_mode)) return FileIdentity(state.st_dev, state.st_ino);
  if (S_ISBLK(state.st_mode)) return FileIdentity(state.st_rdev, 0);
  return std::nullopt;
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

std::optional<FileIdentity> output_identity(const std::string& path) {
  const auto place = follow(path);
  struct stat state{};
  if (!place || !look_at(*place, state)) return std::nullopt;
  // What cannot be written cannot be overwritten.
  if (place->descriptor && !check_descriptor(*place->descriptor)) return std::nullopt;
  return identity_of(state);
}

std::optional<FileIdentity> input_identity(const std::string& path) {
  struct stat state{};
  if ((path == "-" ? ::fstat(STDIN_FILENO, &state) : ::stat(path.c_str(), &state)) != 0)
    return std::nullopt;
  return identity_of(state);
}

std::optional<std::pair<FileIdentity, std::string>> output_spot(const std::string& path) {
  const auto place = follow(path);
  struct stat directory{};
  if (!place || place->descriptor || ::stat(directory_of(place->path).c_str(), &directory) != 0)
    return std::nullopt;
  return std::pair(FileIdentity(directory.st_dev, directory.st_ino),
                   place->path.filename().string());
}

bool same_place(const std::string& one, const std::string& other) {
  const auto first = follow(one);
  const auto second = follow(other);
  if (!first || !second) return false;
  if (first->descriptor && first->descriptor == second->descriptor) return true;
  if (!first->descriptor && !second->descriptor) {
    // Devices and pipes are written by several as they come.
    struct stat state{};
    if (look_at(*first, state) && !S_ISREG(state.st_mode)) return false;
    const auto spot = output_spot(one);
    return spot && spot == output_spot(other);
  }
  const auto identity = output_identity(one);
  return identity && identity == output_identity(other);
}

bool in_place(const std::string& path) {
  const auto place = follow(path);
  if (!place) return false;
  struct stat state{};
  return place->descriptor || (look_at(*place, state) && !S_ISREG(state.st_mode));
}

bool may_write_over(const std::string& output) {
  return in_place(output) && output_identity(output);
}

Status check_written_over(const std::string& output, std::span<const std::string> inputs) {
  if (!may_write_over(output)) return {};
  const auto written = output_identity(output);
  for (const std::string& input : inputs)
    if (input_identity(input) == written)
      return fail(ErrorCode::invalid_argument,
                  output_name(output) + " would overwrite " +
                      (input == "-" ? "standard input" : input) +
                      " while it is read; name a file, which is replaced once it is whole");
  return {};
}

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

}  // namespace btf

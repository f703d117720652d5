// Sinks for files, pipes and descriptors, and the place of an output.
#include "formats/io/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "btf/output.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"

namespace btf {
namespace {

std::unexpected<Error> named(const std::string& file, const std::unexpected<Error>& error) {
  return std::unexpected(error.error().in_file(file));
}

class StreamSink final : public ByteSink {
 public:
  StreamSink(std::string name, Descriptor fd) : name_(std::move(name)), fd_(std::move(fd)) {}

  bool random_access() const override { return false; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != position_)
      return named(
          name_, fail(ErrorCode::unsupported, "the output cannot seek and byte " +
                                                  std::to_string(offset) + " is not the next one"));
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return named(name_, system_failure("write"));
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      position_ += static_cast<std::uint64_t>(put);
    }
    return {};
  }

  Status commit() override {
    if (!fd_.close()) return named(name_, system_failure("close"));
    return {};
  }

 private:
  std::string name_;
  Descriptor fd_;
  std::uint64_t position_ = 0;
};

class BufferedSink final : public ByteSink {
 public:
  explicit BufferedSink(ByteSink& sink) : sink_(sink) { bytes_.reserve(kMaxBuffered); }

  bool random_access() const override { return sink_.random_access(); }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    // Large writes of several threads must not wait for one another.
    const bool large = bytes.size() >= kLarge;
    if (large && random_access()) return sink_.write_at(offset, bytes);
    const std::scoped_lock lock(mutex_);
    if (large || offset != begin_ + bytes_.size() || bytes_.size() + bytes.size() > kMaxBuffered) {
      BTF_TRY(flush());
      begin_ = offset;
    }
    if (large) {
      begin_ = offset + bytes.size();
      return sink_.write_at(offset, bytes);
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Status commit() override { return flush(); }

 private:
  static constexpr std::size_t kLarge = 64U << 10;
  static constexpr std::size_t kMaxBuffered = 256U << 10;

  Status flush() {
    if (bytes_.empty()) return {};
    const Status status = sink_.write_at(begin_, bytes_);
    begin_ += bytes_.size();
    bytes_.clear();
    return status;
  }

  ByteSink& sink_;
  std::mutex mutex_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
};

Result<std::unique_ptr<ByteSink>> stream_sink(const std::string& name, Descriptor fd, bool text) {
  if (!fd.open()) return system_failure("open for writing");
  if (!text && ::isatty(fd.get()) != 0)
    return fail(ErrorCode::invalid_argument, "is a terminal; binary data is not written to one");
  return std::make_unique<StreamSink>(name, std::move(fd));
}

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path, const SinkOptions& options,
                                            bool text) {
  BTF_ASSIGN(const OutputPlace place, find_output(path));
  const std::string name = output_name(path);
  if (place.descriptor)
    return stream_sink(name, Descriptor(::fcntl(*place.descriptor, F_DUPFD_CLOEXEC, 0)), text);
  if (place.in_place)
    return stream_sink(
        name, Descriptor(::open(place.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)), text);
  return replacing_sink(name, place, options);
}

Result<std::unique_ptr<ByteSink>> named_sink(const std::string& path, const SinkOptions& options,
                                             bool text) {
  auto sink = open_sink(path, options, text);
  if (!sink) return named(output_name(path), std::unexpected(sink.error()));
  return sink;
}

}  // namespace

Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options) {
  return named_sink(path, options, false);
}

namespace {

Result<std::unique_ptr<ByteSink>> create_text_sink(const std::string& path, std::uint64_t size) {
  return named_sink(path, {.size = size}, true);
}

}  // namespace

std::unique_ptr<ByteSink> buffer_small_writes(ByteSink& sink) {
  return std::make_unique<BufferedSink>(sink);
}

namespace {

namespace fs = std::filesystem;

// N for a path that is /proc/self/fd/N or, through a link that has been followed, /dev/fd/N.
// Opening such a path would create a new file description, which starts at byte 0 and ignores ">>".
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

// A disk is identified by its own number, whichever node in /dev refers to it.
std::optional<FileIdentity> identity_of(const struct stat& state) {
  if (S_ISREG(state.st_mode)) return FileIdentity(state.st_dev, state.st_ino);
  if (S_ISBLK(state.st_mode)) return FileIdentity(state.st_rdev, 0);
  return std::nullopt;
}

// The error that rename() would later give for the old file.
Status check_replaceable(const fs::path& file, const struct stat& old) {
  struct statx state{};
  if (::statx(AT_FDCWD, file.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &state) == 0 &&
      (state.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return system_failure(
        ErrorCode::io, EBUSY,
        "is a mount point, which a finished file cannot replace; redirect standard output to it "
        "to write in place");
  // rmdir() checks the same permissions (of the directory, its sticky bit, the file's attributes)
  // before it notices that this is not a directory.
  if (::rmdir(file.c_str()) == 0 || (errno != EPERM && errno != EACCES)) return {};
  auto failure = system_failure("replace it");
  struct stat directory{};
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

// The descriptor or path that remains after following all symbolic links.
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
  struct stat state{};
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

namespace {

// Of a path that cannot be looked at.
Result<std::optional<FileIdentity>> no_identity(const std::string& path) {
  auto failed = system_failure("stat");
  if (is_not_there(failed.error()) || failed.error().system == EBADF) return std::nullopt;
  return std::unexpected(failed.error().in_file(path));
}

}  // namespace

Result<std::optional<FileIdentity>> output_identity(const std::string& path) {
  const auto place = follow(path);
  struct stat state{};
  if (!place) return std::nullopt;
  if (!look_at(*place, state)) return no_identity(path);
  // A descriptor that cannot be written cannot be overwritten.
  if (place->descriptor && !check_descriptor(*place->descriptor)) return std::nullopt;
  return identity_of(state);
}

Result<std::optional<FileIdentity>> input_identity(const std::string& path) {
  struct stat state{};
  if ((path == "-" ? ::fstat(STDIN_FILENO, &state) : ::stat(path.c_str(), &state)) != 0)
    return no_identity(path);
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
    // Devices and pipes may be written by several processes.
    struct stat state{};
    if (look_at(*first, state) && !S_ISREG(state.st_mode)) return false;
    const auto spot = output_spot(one);
    return spot && spot == output_spot(other);
  }
  const auto identity = output_identity(one);
  const auto second_identity = output_identity(other);
  // What cannot be looked at cannot be opened either.
  return identity && second_identity && *identity && *identity == *second_identity;
}

bool in_place(const std::string& path) {
  const auto place = follow(path);
  if (!place) return false;
  struct stat state{};
  return place->descriptor || (look_at(*place, state) && !S_ISREG(state.st_mode));
}

Result<bool> may_write_over(const std::string& output) {
  if (!in_place(output)) return false;
  BTF_ASSIGN(const auto written, output_identity(output));
  return written.has_value();
}

Status check_written_over(const std::string& output, std::span<const std::string> inputs) {
  BTF_ASSIGN(const bool possible, may_write_over(output));
  if (!possible) return {};
  BTF_ASSIGN(const auto written, output_identity(output));
  for (const std::string& input : inputs) {
    BTF_ASSIGN(const auto read, input_identity(input));
    if (read == written)
      return fail(ErrorCode::invalid_argument,
                  output_name(output) + " would overwrite " +
                      (input == "-" ? "standard input" : input) +
                      " while it is read; name a file, which is replaced once it is whole");
  }
  return {};
}

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

namespace {

// Mode bits that a new file must not have. The umask can only be read by setting it, for all
// threads, so /proc is read first. Without /proc, files created meanwhile by other threads are
// accessible to the owner only.
mode_t current_umask() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (unsigned mask = 0; word == "Umask:" && status >> std::oct >> mask) return mask;
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

constexpr std::string_view kUnfinished = ".btf-";
constexpr std::size_t kDigits = 16;

bool is_at(const char* path, int fd) {
  struct stat named{};
  struct stat open{};
  return ::lstat(path, &named) == 0 && ::fstat(fd, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

// The lock lasts until the file is closed. On file systems without locks, nobody removes unfinished
// files.
bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

void remove_if_left(const fs::path& path) {
  // Opened for writing too, since some file systems require that for locks.
  const Descriptor fd(
      ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat state{};
  if (!fd.open() || ::fstat(fd.get(), &state) != 0 || !S_ISREG(state.st_mode) ||
      state.st_nlink != 1 || state.st_uid != ::geteuid())
    return;
  if (lock(fd.get()) && is_at(path.c_str(), fd.get())) ::unlink(path.c_str());
}

// Writes a file without a name if the file system supports it, so that nothing remains whatever
// happens; else a file with a temporary name.
class ReplacingSink final : public ByteSink {
 public:
  ReplacingSink(std::string name, const OutputPlace& place, bool nameless, bool sync)
      : name_(std::move(name)),
        target_(place.path),
        directory_(target_.has_parent_path() ? target_.parent_path() : fs::path(".")),
        old_(place.old),
        nameless_(nameless),
        sync_(sync) {}

  ~ReplacingSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Status open() {
    // The file is named through /proc, so without it a nameless file is useless.
    if (nameless_ && ::access("/proc/self/fd", X_OK) == 0)
      fd_ = Descriptor(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
    if (fd_.open()) return {};
    const bool created = with_random_name([this](const char* path) {
      fd_ = Descriptor(::open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
      if (!fd_.open()) return false;
      // Before it was locked, another process may have removed it as left over.
      const bool locked = lock(fd_.get()) || errno != EWOULDBLOCK;
      if (locked && is_at(path, fd_.get())) return true;
      errno = EEXIST;
      return false;
    });
    if (!created) return system_failure("create");
    return {};
  }

  Status reserve(std::uint64_t size) {
    struct statvfs room{};
    if (::fstatvfs(fd_.get(), &room) == 0) {
      const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
      if (bytes && size > *bytes)
        return system_failure(ErrorCode::no_space, ENOSPC,
                              "the result needs " + std::to_string(size) +
                                  " bytes, the file system has " + std::to_string(*bytes) +
                                  " left");
    }
    // Makes writing cheaper and detects a full disk at once; not every file system supports it.
    if (size > 0 && ::fallocate(fd_.get(), 0, 0, static_cast<off_t>(size)) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
      return system_failure("reserve " + std::to_string(size) + " bytes");
    return {};
  }

  bool random_access() const override { return true; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t put =
          ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return named(system_failure("write"));
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      offset += static_cast<std::uint64_t>(put);
    }
    return {};
  }

  Status commit() override {
    const Status status = finish();
    if (!status) return named(std::unexpected(status.error()));
    return {};
  }

 private:
  std::unexpected<Error> named(const std::unexpected<Error>& error) const {
    return std::unexpected(error.error().in_file(name_));
  }

  // Calls create(path) with random names until one is free. Returns false with errno set.
  template <typename Create>
  bool with_random_name(Create&& create) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const auto digits = random_digits();
      if (!digits) break;
      temporary_ = directory_ / (std::string(kUnfinished) + *digits);
      if (create(temporary_.c_str())) return true;
      if (errno != EEXIST) break;
    }
    temporary_.clear();
    return false;
  }

  Status finish() {
    if (old_)
      BTF_TRY(keep_owner_and_mode());
    else if (!temporary_.empty() && ::fchmod(fd_.get(), 0666 & ~current_umask()) != 0)
      return system_failure("set the mode");
    if (sync_ && ::fsync(fd_.get()) != 0) return system_failure("sync");
    if (!temporary_.empty() || !appears_at_once()) {
      if (temporary_.empty()) BTF_TRY(give_name());
      if (::rename(temporary_.c_str(), target_.c_str()) != 0) return system_failure("rename");
      temporary_.clear();
    }
    // Closing the file releases its lock, so it gets its final name first.
    if (!fd_.close()) return system_failure("close");
    if (sync_) {
      const Descriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!directory.open() || ::fsync(directory.get()) != 0)
        return system_failure("sync the directory");
    }
    return {};
  }

  // Only root may change the owner of a file, and users may only change the group to one of theirs.
  // If the owner changes, the file must not keep mode bits that let others run it with the new
  // owner's rights.
  Status keep_owner_and_mode() const {
    mode_t mode = old_->st_mode & 07777;
    struct stat now{};
    if (::fstat(fd_.get(), &now) != 0) return system_failure("stat");
    if (now.st_uid != old_->st_uid || now.st_gid != old_->st_gid) {
      const auto refused = [] { return errno == EPERM || errno == EINVAL || errno == ENOSYS; };
      if (::fchown(fd_.get(), old_->st_uid, old_->st_gid) != 0) {
        if (!refused()) return system_failure("set the owner");
        mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
        if (::fchown(fd_.get(), static_cast<uid_t>(-1), old_->st_gid) != 0 && !refused())
          return system_failure("set the group");
      }
    }
    // Done last, since changing the owner clears mode bits.
    if (::fchmod(fd_.get(), mode) != 0) return system_failure("set the mode");
    return {};
  }

  bool link_to(const char* path) const {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
  }

  // A new file gets its name in one step. No system call replaces another file by one without a
  // name, so to replace an old file linkat() and rename() are needed, and a process that is killed
  // between them leaves the temporary name.
  bool appears_at_once() const { return !old_ && link_to(target_.c_str()); }

  Status give_name() {
    static_cast<void>(lock(fd_.get()));
    if (!with_random_name([this](const char* path) { return link_to(path); }))
      return system_failure("name the finished file");
    return {};
  }

  std::string name_;
  fs::path target_;
  fs::path directory_;
  std::optional<struct stat> old_;  // the file to be replaced
  bool nameless_;
  bool sync_;
  Descriptor fd_;
  fs::path temporary_;  // must be removed unless it is renamed
};

}  // namespace

std::optional<std::string> random_digits() {
  std::array<unsigned char, kDigits / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes)) return std::nullopt;
  std::string digits;
  for (const unsigned char byte : bytes) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 0xf];
  }
  return digits;
}

bool is_unfinished(std::string_view file_name) {
  if (!file_name.starts_with(kUnfinished)) return false;
  file_name.remove_prefix(kUnfinished.size());
  return file_name.size() == kDigits &&
         file_name.find_first_not_of("0123456789abcdef") == file_name.npos;
}

void remove_unfinished(const fs::path& directory, std::uint64_t most_entries) {
  if (most_entries == 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (open == nullptr) return;
  for (std::uint64_t seen = 0; seen < most_entries; ++seen) {
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) return;
    if (is_unfinished(entry->d_name)) remove_if_left(directory / entry->d_name);
  }
}

Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless) {
  remove_unfinished(place.path.has_parent_path() ? place.path.parent_path() : ".", options.tidied);
  auto sink = std::make_unique<ReplacingSink>(std::move(name), place, nameless, options.sync);
  BTF_TRY(sink->open());
  BTF_TRY(sink->reserve(options.size));
  return sink;
}

namespace {

class PlainFile {
 public:
  static Result<PlainFile> open(const std::string& path) {
    PlainFile file(path);
    if (!file.fd_.open()) return std::unexpected(system_failure("open").error().in_file(path));
    return file;
  }

  // Returns less than `out` holds at the end of the file.
  Result<std::size_t> read(std::span<char> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::read(fd_.get(), out.data() + done, out.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::unexpected(system_failure("read").error().in_file(path_));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  explicit PlainFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  std::string path_;
  Descriptor fd_;
};

}  // namespace

Result<ByteDifference> compare_files(const std::string& left, const std::string& right) {
  BTF_ASSIGN(PlainFile left_file, PlainFile::open(left));
  BTF_ASSIGN(PlainFile right_file, PlainFile::open(right));
  std::array<char, 1U << 16> left_bytes;
  std::array<char, 1U << 16> right_bytes;
  for (std::uint64_t offset = 0;;) {
    BTF_ASSIGN(const std::size_t some, left_file.read(left_bytes));
    BTF_ASSIGN(const std::size_t other, right_file.read(right_bytes));
    const std::size_t common = std::min(some, other);
    const auto end = left_bytes.begin() + static_cast<std::ptrdiff_t>(common);
    const auto differs = std::mismatch(left_bytes.begin(), end, right_bytes.begin()).first;
    offset += static_cast<std::uint64_t>(differs - left_bytes.begin());
    if (differs != end) return ByteDifference{offset, FileEnd::neither};
    if (some != other) return ByteDifference{offset, some < other ? FileEnd::left : FileEnd::right};
    if (some == 0) return ByteDifference{offset, FileEnd::both};
  }
}

namespace {

std::unexpected<Error> about(const std::string& path, const Error& error) {
  return std::unexpected(error.in_file(output_name(path)));
}

}  // namespace

Result<std::string> output_path(const std::string& output, const std::string& input) {
  std::error_code unknown;
  // A slash at the end means that it is a directory or will become one.
  if (output == "-" || (!output.ends_with('/') && !fs::is_directory(output, unknown)))
    return output;
  if (input == "-")
    return about(output, {ErrorCode::invalid_argument,
                          "is a directory, and standard input gives no file name"});
  const fs::path path = fs::path(output) / fs::path(input).filename();
  if (fs::equivalent(path, input, unknown))
    return about(path.string(), {ErrorCode::invalid_argument,
                                 "is the input itself under another name; only an output with the "
                                 "input's own path may replace it"});
  return path.string();
}

bool compressed_by_name(std::string_view output) { return ends_as_compressed(output); }

Status check_output(const std::string& path) {
  const auto place = find_output(path);
  if (!place) return about(path, place.error());
  return {};
}

Result<std::optional<std::string>> overwritten(const std::string& output,
                                               std::span<const std::string> inputs) {
  BTF_ASSIGN(const auto written, output_identity(output));
  if (!written) return std::nullopt;
  for (const std::string& input : inputs) {
    BTF_ASSIGN(const auto read, input_identity(input));
    if (read == written) return input;
  }
  return std::nullopt;
}

Result<bool> output_exists(const std::string& output) {
  BTF_ASSIGN(const auto identity, output_identity(output));
  return identity.has_value();
}

bool same_output(const std::string& one, const std::string& other) {
  return same_place(one, other);
}

bool written_in_place(const std::string& path) { return in_place(path); }

bool is_standard_output(const std::string& path) {
  return output_descriptor(path) == STDOUT_FILENO;
}

Status write_text(const std::string& path, std::string_view text) {
  BTF_ASSIGN(const auto sink, create_text_sink(path, text.size()));
  BTF_TRY(sink->write_at(0, std::as_bytes(std::span(text))));
  return sink->commit();
}

}  // namespace btf

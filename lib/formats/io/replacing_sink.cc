#include "formats/io/replacing_sink.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/system.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

// Mode bits that a new file must not have. The system tells the umask only by setting it, for all
// threads, so /proc is read first; without it, their new files are meanwhile for the owner only.
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

// For as long as it is open. Where the file system has no locks, nobody removes anything there.
bool lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

void remove_if_left(const fs::path& path) {
  // For writing too, without which some file systems give no lock.
  const Descriptor fd(
      ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat state{};
  if (!fd.open() || ::fstat(fd.get(), &state) != 0 || !S_ISREG(state.st_mode) ||
      state.st_nlink != 1 || state.st_uid != ::geteuid())
    return;
  if (lock(fd.get()) && is_at(path.c_str(), fd.get())) ::unlink(path.c_str());
}

// A file without a name where the file system can (nothing is left behind whatever happens), else
// one with a temporary name.
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
    // The name comes by way of /proc, so without it there is no use in a nameless file.
    if (nameless_ && ::access("/proc/self/fd", X_OK) == 0)
      fd_ = Descriptor(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
    if (fd_.open()) return {};
    const bool created = with_random_name([this](const char* path) {
      fd_ = Descriptor(::open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
      if (!fd_.open()) return false;
      // Before it was locked it may have been taken for one that was left.
      const bool locked = lock(fd_.get()) || errno != EWOULDBLOCK;
      if (locked && is_at(path, fd_.get())) return true;
      errno = EEXIST;
      return false;
    });
    if (!created) return system_failure("create");
    return {};
  }

  Status reserve(std::uint64_t size) {
    struct statvfs room {};
    if (::fstatvfs(fd_.get(), &room) == 0) {
      const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
      if (bytes && size > *bytes)
        return system_failure(ErrorCode::no_space, ENOSPC,
                              "the result needs " + std::to_string(size) +
                                  " bytes, the file system has " + std::to_string(*bytes) +
                                  " left");
    }
    // Makes writing cheaper and tells of a full disk at once; not every file system can.
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

  // Calls create(path) with names that may be taken until one is not. False: see errno.
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
    // Its lock goes with it, so it has its own name before.
    if (!fd_.close()) return system_failure("close");
    if (sync_) {
      const Descriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!directory.open() || ::fsync(directory.get()) != 0)
        return system_failure("sync the directory");
    }
    return {};
  }

  // Only root may give a file away, and a user only to groups of their own. Who is no longer the
  // owner must not lend their rights to whoever runs the file.
  Status keep_owner_and_mode() const {
    mode_t mode = old_->st_mode & 07777;
    struct stat now {};
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
    // Last, as a change of owner takes bits away.
    if (::fchmod(fd_.get(), mode) != 0) return system_failure("set the mode");
    return {};
  }

  bool link_to(const char* path) const {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
  }

  // Where nothing is to be replaced it gets its name in one step. No call of the system gives a
  // file without a name that of another one, so in place of an old file there are two: linkat() and
  // rename(), and a process that is killed between them leaves the temporary name.
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
  std::optional<struct stat> old_;  // of the file that is replaced
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
  auto sink =
      std::make_unique<ReplacingSink>(std::move(name), place, nameless, options.sync);
  BTF_TRY(sink->open());
  BTF_TRY(sink->reserve(options.size));
  return sink;
}

}  // namespace btf

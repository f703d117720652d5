#include "formats/io/replacing_sink.h"

#include <fcntl.h>
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

// Nothing: see errno.
std::optional<std::string> random_name() {
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes)) return std::nullopt;
  std::string name = ".btf-";
  for (const unsigned char byte : bytes) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 0xf];
  }
  return name;
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
      return fd_.open();
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
      const auto name = random_name();
      if (!name) break;
      temporary_ = directory_ / *name;
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
    if (temporary_.empty()) BTF_TRY(give_name());
    if (!fd_.close()) return system_failure("close");
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return system_failure("rename");
    temporary_.clear();
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

  Status give_name() {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
    const bool linked = with_random_name([&](const char* path) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    });
    if (!linked) return system_failure("name the finished file");
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

Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless) {
  auto sink =
      std::make_unique<ReplacingSink>(std::move(name), place, nameless, options.sync);
  BTF_TRY(sink->open());
  BTF_TRY(sink->reserve(options.size));
  return sink;
}

}  // namespace btf

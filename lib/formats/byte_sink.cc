#include "formats/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "core/checked_math.h"
#include "core/try.h"
#include "formats/system.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

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

// A file without a name where the file system can (nothing is left behind whatever happens), else
// one with a temporary name.
class ReplacingSink final : public ByteSink {
 public:
  ReplacingSink(fs::path target, mode_t mode, bool keep_mode, bool sync)
      : target_(std::move(target)),
        directory_(target_.has_parent_path() ? target_.parent_path() : fs::path(".")),
        mode_(mode),
        keep_mode_(keep_mode),
        sync_(sync) {}

  ~ReplacingSink() override {
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  Status open() {
    // The name comes by way of /proc, so without it there is no use in a nameless file.
    if (::access("/proc/self/fd", X_OK) == 0)
      fd_ = Descriptor(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
    if (fd_.open()) return {};
    name_ = temporary_name();
    fd_ = Descriptor(::open(name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666));
    if (fd_.open()) return {};
    name_.clear();
    return system_failure("create");
  }

  Status reserve(std::uint64_t size) {
    struct statvfs room {};
    if (::fstatvfs(fd_.get(), &room) == 0) {
      const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
      if (bytes && size > *bytes)
        return fail(ErrorCode::no_space, "the result needs " + std::to_string(size) +
                                             " bytes, the file system has " +
                                             std::to_string(*bytes) + " left");
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
      if (put < 0) return named(target_.string(), system_failure("write"));
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      offset += static_cast<std::uint64_t>(put);
    }
    return {};
  }

  Status commit() override {
    const Status status = finish();
    if (!status) return named(target_.string(), std::unexpected(status.error()));
    return {};
  }

 private:
  Status finish() {
    if (keep_mode_ && ::fchmod(fd_.get(), mode_) != 0) return system_failure("set the mode");
    if (sync_ && ::fsync(fd_.get()) != 0) return system_failure("sync");
    if (name_.empty()) BTF_TRY(give_name());
    if (!fd_.close()) return system_failure("close");
    if (::rename(name_.c_str(), target_.c_str()) != 0) return system_failure("rename");
    name_.clear();
    if (sync_) {
      const Descriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!directory.open() || ::fsync(directory.get()) != 0)
        return system_failure("sync the directory");
    }
    return {};
  }

  std::string temporary_name() const {
    static unsigned counter = 0;
    return directory_ / (".btf-" + std::to_string(::getpid()) + "-" +
                         std::to_string(__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED)));
  }

  Status give_name() {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
    const std::string name = temporary_name();
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return system_failure("name the finished file");
    name_ = name;
    return {};
  }

  fs::path target_;
  fs::path directory_;
  mode_t mode_;
  bool keep_mode_;
  bool sync_;
  Descriptor fd_;
  std::string name_;  // of the file that must be removed unless it is renamed
};

class GatheringSink final : public ByteSink {
 public:
  explicit GatheringSink(ByteSink& sink) : sink_(sink) { bytes_.reserve(kMost); }

  bool random_access() const override { return sink_.random_access(); }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    // Large writes of several threads must not wait for one another.
    const bool large = bytes.size() >= kLarge;
    if (large && random_access()) return sink_.write_at(offset, bytes);
    const std::scoped_lock lock(mutex_);
    if (large || offset != begin_ + bytes_.size() || bytes_.size() + bytes.size() > kMost) {
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
  static constexpr std::size_t kMost = 256U << 10;

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

Result<fs::path> follow_links(fs::path path) {
  std::error_code ignored;
  for (int depth = 0; fs::is_symlink(fs::symlink_status(path, ignored)); ++depth) {
    if (depth == 40) return fail(ErrorCode::io, "too many levels of symbolic links");
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

Result<std::unique_ptr<ByteSink>> stream_sink(const std::string& name, Descriptor fd) {
  if (!fd.open()) return system_failure("open for writing");
  if (::isatty(fd.get()) != 0)
    return fail(ErrorCode::invalid_argument, "is a terminal; binary data is not written to one");
  return std::make_unique<StreamSink>(name, std::move(fd));
}

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path, const SinkOptions& options) {
  if (path == "-")
    return stream_sink("standard output", Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)));
  BTF_ASSIGN(const fs::path target, follow_links(path));
  struct stat state {};
  const bool exists = ::stat(target.c_str(), &state) == 0;
  if (exists && S_ISDIR(state.st_mode))
    return fail(ErrorCode::io, "is a directory, a file was expected");
  if (exists && !S_ISREG(state.st_mode))
    return stream_sink(path, Descriptor(::open(target.c_str(), O_WRONLY | O_CLOEXEC)));
  if (exists && ::access(target.c_str(), W_OK) != 0) return system_failure("write");
  auto sink = std::make_unique<ReplacingSink>(target, state.st_mode & 07777, exists, options.sync);
  BTF_TRY(sink->open());
  BTF_TRY(sink->reserve(options.size));
  return sink;
}

}  // namespace

Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options) {
  auto sink = open_sink(path, options);
  if (!sink) return named(path == "-" ? "standard output" : path, std::unexpected(sink.error()));
  return sink;
}

std::unique_ptr<ByteSink> gather_small_writes(ByteSink& sink) {
  return std::make_unique<GatheringSink>(sink);
}

}  // namespace btf

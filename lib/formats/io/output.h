// Where bytes go: sinks, the kind of file at an output path, and a file that is replaced as a
// whole. Here and in byte_source.h are the only system calls on files.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "btf/error.h"

namespace btf {

// Shared by reading and writing files: a descriptor that closes itself, errno in words.

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

// Where bytes go. A regular file appears under its name whole, in commit(), or not at all.

struct SinkOptions {
  std::uint64_t size = 0;  // bytes that will be written, known before the first one
  bool sync = false;       // survive a power cut: fsync the file and its directory in commit()
  // So many entries of the directory are looked at for what killed runs have left, which is
  // removed.
  std::uint64_t tidied = 65536;
};

// Errors name the file.
class ByteSink {
 public:
  virtual ~ByteSink() = default;  // without commit(): the path keeps what it held

  // False: offsets must follow on one another (a pipe, a device, stdout).
  virtual bool random_access() const = 0;

  // Several threads may write to different offsets when random_access().
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  // Announces that the next bytes, about this many up to the next call, will be read together and
  // often without those around them. Only a sink that compresses uses it.
  virtual Status begin_piece(std::uint64_t) { return {}; }

  // Nothing may be written afterwards.
  virtual Status commit() = 0;
};

// "-" is stdout. Anything but a regular file (a pipe, /dev/null) is written in place; a terminal is
// refused. A symbolic link is followed: its target is replaced and the link stays. Refuses a size
// that the file system has no room for, before a byte is written.
Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options);

// Passes everything on to `sink`, but small writes that follow on one another as one. commit()
// passes on what is left; the sink itself is not committed by it. Pieces are not passed on: what
// compresses gathers by itself.
std::unique_ptr<ByteSink> buffer_small_writes(ByteSink& sink);

// The kind of file that an output's path names, and whether it can be written: known at the start.

// A descriptor, or a path that is written in place, both front to back; else a file that appears
// whole.
struct OutputPlace {
  std::optional<int> descriptor{};   // of this process: "-", /dev/stdout, /dev/fd/N
  bool in_place = false;             // `path` is a pipe, a device, a socket
  std::filesystem::path path{};      // behind all symbolic links
  std::optional<struct stat> old{};  // of the file that is replaced
};

// Changes nothing. An error is not yet named after the path.
Result<OutputPlace> find_output(const std::string& path);

// The descriptor of this process that the path names, if it names one.
std::optional<int> output_descriptor(const std::string& path);

// A file by what it is, and not by its name: device and inode of a regular file or a disk.
using FileIdentity = std::pair<dev_t, ino_t>;

// Nothing: there is none yet, or it is a pipe, a terminal or the like.
std::optional<FileIdentity> output_identity(const std::string& path);
std::optional<FileIdentity> input_identity(const std::string& path);

// Where an output goes, be it there or not: its directory by what it is, and its name in there.
// Nothing: a descriptor, or the directory is not there.
std::optional<std::pair<FileIdentity, std::string>> output_spot(const std::string& path);

// Do they lead to one place? Two names of a file are two places, but where it is written by way of
// a descriptor.
bool same_place(const std::string& one, const std::string& other);

// Is the file itself written, and not replaced?
bool in_place(const std::string& path);

// A file of the input may be replaced by an output, once that is whole. What is written in place,
// as a descriptor of the process is, would be overwritten while it is read. Can it be so at all?
bool may_write_over(const std::string& output);

// An error that names both, if it is one of these files.
Status check_written_over(const std::string& output, std::span<const std::string> inputs);

// How messages call it.
std::string output_name(const std::string& path);

// A file that appears under its name whole, in commit(), or not at all.

// For a path that is no descriptor and not written in place. `name` is for messages. Until it is
// finished it has no name; where that cannot be, or is not wanted, a temporary one.
Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless = true);

// 16 random hexadecimal digits, for names that nobody else has; nothing: see errno.
std::optional<std::string> random_digits();

// Is it the name of an output that is not finished, ".btf-0123456789abcdef"? Whoever writes one has
// it locked (flock), so one that is not was left by a process that was killed.
bool is_unfinished(std::string_view file_name);

// Removes those of the directory that no process holds and that are the user's own. At most so many
// entries of it are looked at.
void remove_unfinished(const std::filesystem::path& directory, std::uint64_t most_entries);

// Two files, byte for byte.

// Which files end at the offset.
enum class FileEnd : std::uint8_t { both, neither, left, right };

struct ByteDifference {
  std::uint64_t offset = 0;  // of the first byte that differs
  FileEnd end = FileEnd::both;
};

// An error names the file that cannot be read.
Result<ByteDifference> compare_files(const std::string& left, const std::string& right);

}  // namespace btf

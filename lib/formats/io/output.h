// Sinks of bytes, the kind of file at an output path, and replacing a file as a whole. Here and in
// byte_source.h are the only system calls on files.
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

// A descriptor that closes itself, and errno as text, shared by reading and writing files.

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
  // Closes the descriptor and returns false on errors.
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

// The same for conditions that this program detects before the system does.
inline std::unexpected<Error> system_failure(ErrorCode code, int number, std::string message) {
  Error error{code, std::move(message)};
  error.system = number;
  return std::unexpected(std::move(error));
}

inline std::string temporary_directory() {
  const char* directory = std::getenv("TMPDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

// A sink of bytes. A regular file appears under its name as a whole in commit(), or not at all.

struct SinkOptions {
  std::uint64_t size = 0;  // bytes that will be written, known before the first one
  bool sync = false;  // fsync the file and its directory in commit(), to survive a power failure
  // How many entries of the directory are examined for unfinished files of killed processes, which
  // are removed.
  std::uint64_t tidied = 65536;
};

// Errors name the file.
class ByteSink {
 public:
  virtual ~ByteSink() = default;  // without commit(), the path keeps its old content

  // Returns false if offsets must be consecutive (a pipe, a device, stdout).
  virtual bool random_access() const = 0;

  // Several threads may write to different offsets if random_access().
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  // Announces that the next bytes, about this many until the next call, will be read together and
  // often without their neighbours. Only used by a sink that compresses.
  virtual Status begin_piece(std::uint64_t) { return {}; }

  // Nothing may be written afterwards.
  virtual Status commit() = 0;
};

// "-" is stdout. Anything but a regular file (a pipe, /dev/null) is written in place; a terminal is
// refused. If the path is a symbolic link, its target is replaced and the link stays. Refuses a
// size that exceeds the free space of the file system before anything is written.
Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options);

// Forwards writes to `sink`, combining small consecutive ones. commit() forwards the rest but does
// not commit `sink`. Pieces are not forwarded, since a compressing sink does its own buffering.
std::unique_ptr<ByteSink> buffer_small_writes(ByteSink& sink);

// The kind of file at an output path, and whether it can be written, determined before the work
// starts.

// A descriptor or a path that is written in place, both from front to back; otherwise a file that
// appears as a whole.
struct OutputPlace {
  std::optional<int> descriptor{};   // of this process: "-", /dev/stdout, /dev/fd/N
  bool in_place = false;             // `path` is a pipe, a device, a socket
  std::filesystem::path path{};      // after following all symbolic links
  std::optional<struct stat> old{};  // the file to be replaced
};

// Changes nothing. The error does not contain the path yet.
Result<OutputPlace> find_output(const std::string& path);

// The descriptor of this process that the path refers to, if any.
std::optional<int> output_descriptor(const std::string& path);

// Identifies a file independent of its name: device and inode of a regular file or a disk.
using FileIdentity = std::pair<dev_t, ino_t>;

// Unset if there is no file yet, or if it is a pipe, a terminal or the like.
// Both are unset if there is no such file; an error if the system cannot tell: then an input might
// be overwritten.
Result<std::optional<FileIdentity>> output_identity(const std::string& path);
Result<std::optional<FileIdentity>> input_identity(const std::string& path);

// The place of an output, whether it exists or not: the identity of its directory, and its name
// there. Unset for a descriptor or if the directory does not exist.
std::optional<std::pair<FileIdentity, std::string>> output_spot(const std::string& path);

// Returns true if both lead to the same place. Two names of one file are two places, unless it is
// written through a descriptor.
bool same_place(const std::string& one, const std::string& other);

// Returns true if the file is written in place and not replaced.
bool in_place(const std::string& path);

// An input may be replaced by an output once that is complete, but what is written in place, as a
// descriptor is, would be overwritten while it is read. Returns true if that is possible for this
// output.
Result<bool> may_write_over(const std::string& output);

// An error that names both if the output is one of these files.
Status check_written_over(const std::string& output, std::span<const std::string> inputs);

// The output's name in messages.
std::string output_name(const std::string& path);

// A file that appears under its name as a whole in commit(), or not at all.

// For a path that is not a descriptor and not written in place. `name` is for messages. Until it is
// complete it has no name, or a temporary one if that is not possible or not wanted.
Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless = true);

// 16 random hexadecimal digits, for unique names; unset on errors, see errno.
std::optional<std::string> random_digits();

// Returns true for names of unfinished outputs, ".btf-0123456789abcdef". A process that writes one
// holds a lock (flock), so an unlocked file was left by a process that was killed.
bool is_unfinished(std::string_view file_name);

// Removes unfinished files of the directory that no process has locked and that belong to the user.
// Examines at most `most_entries` entries.
void remove_unfinished(const std::filesystem::path& directory, std::uint64_t most_entries);

// Compares two files byte by byte.

// Which files end at the offset.
enum class FileEnd : std::uint8_t { both, neither, left, right };

struct ByteDifference {
  std::uint64_t offset = 0;  // of the first different byte
  FileEnd end = FileEnd::both;
};

// An error names the file that cannot be read.
Result<ByteDifference> compare_files(const std::string& left, const std::string& right);

}  // namespace btf

// Sources of bytes: files, memory, pipes, and parts of other sources.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "formats/io/output.h"

namespace btf {

// A frame of a compressed file: its range of the content, and what is wrong with it.
struct FrameCheck {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Status status;
};

// The state of a file, used to detect changes.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // another file has taken its place
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // time of the last modification in nanoseconds

  bool operator==(const FileStamp&) const = default;
};

// The error for bytes that do not agree with those read before.
inline std::unexpected<Error> file_changed() {
  return fail(ErrorCode::io, "the file was changed while it was read");
}

// Bytes that can be read at any offset, by several threads at once. Errors name the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  // Reads all of `out` or fails, also at the end of the source.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  // First bytes that are in memory and cost nothing to read. They keep their address.
  virtual std::span<const std::byte> held() const { return {}; }

  // Returns true for the content of a compressed file.
  virtual bool compressed() const { return false; }

  // Returns true if it came through a pipe that was not read to its end, since more follows than
  // can be needed; size() is then the number of bytes read.
  virtual bool more_follows() const { return false; }

  // How far reading on from `offset` is cheap: the end of the frame that contains it.
  virtual std::uint64_t read_ahead_end(std::uint64_t) const { return size(); }

  // The number of frames of a compressed file, which can be checked one by one; 0 if there are
  // none.
  virtual std::uint64_t frame_count() const { return 0; }
  // Reads and checks a whole frame. An error if the frame cannot be found.
  virtual Result<FrameCheck> check_frame(std::uint64_t index) const;

  // An error if the file has changed since it was opened. Call it after the last read.
  virtual Status check_unchanged() const = 0;

  // The state of a regular file when it was opened; unset for other files or if not known.
  virtual std::optional<FileStamp> stamp() const { return std::nullopt; }
};

// Temporary bytes. If there are many, they are in a file without a name in $TMPDIR (or /tmp), which
// disappears when it is closed or the process ends in any way.

class Spool {
 public:
  // In a file. Threads may write to different offsets before its end, and read what is there.
  static Result<Spool> create();
  // In memory up to kInMemory bytes, then in a file.
  static Spool in_memory() { return Spool(Descriptor{}); }
  static constexpr std::uint64_t kInMemory = 256U << 10;

  Status append(std::span<const std::byte> bytes);
  // Writes at any offset; size() is the end of the last write in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  std::uint64_t size() const { return size_; }

  // The space for new data in all spools together; some is left for other programs.
  static std::uint64_t room();

 private:
  explicit Spool(Descriptor fd) : fd_(std::move(fd)) {}
  Status move_to_file();

  Descriptor fd_;
  std::vector<std::byte> start_;  // all content until there is a file
  std::uint64_t size_ = 0;
};

// Files as sources, and copies of inputs that cannot be read twice.

FileStamp stamp_of(const struct stat& status);
// Of a regular file; unset for others and for "-". An error if the system cannot tell, also if
// there is no such file any more: what cannot be looked at is not a changed file.
Result<std::optional<FileStamp>> path_stamp(const std::string& path);
// An error if a file has no longer the stamp that it had when it was opened.
Status check_stamp(const std::string& path, const std::optional<FileStamp>& opened);

// Unset if there is no such file, or if this user cannot reach it. That is an answer; any other
// failure of the system is an error, and never the answer that there is none.
Result<std::optional<struct stat>> status_of_path(const std::string& path);
Result<bool> is_regular_file(const std::string& path);
// True of an error of opening that says the same.
bool is_not_there(const Error& error);

// Reads by pread, not mmap: a file that is truncated while it is read then gives an error instead
// of a signal. Bytes before `begin` are not part of the source. `name` is for errors.
std::unique_ptr<ByteSource> file_source(std::string name, Descriptor fd, const struct stat& state,
                                        std::uint64_t begin);

struct CopyKind {
  bool compressed = false;  // see ByteSource
  bool more_follows = false;
};

// Owns the content.
std::unique_ptr<ByteSource> copied_source(std::string name, Spool content, CopyKind kind);

// One of several readers of the same source.
std::unique_ptr<ByteSource> shared_source(std::shared_ptr<const ByteSource> source);

// Makes bytes in memory a source, for code that reads files.

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size())) return fail(ErrorCode::malformed, "past the end");
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }

  std::span<const std::byte> held() const override { return bytes_; }

  Status check_unchanged() const override { return {}; }

 private:
  std::span<const std::byte> bytes_;
};

// Bytes of several places as one source: parts of files, or of data made from them (byte-swapped,
// unpacked, decoded).

struct Piece {
  std::uint64_t begin = 0;  // offset in the combined source
  std::uint64_t length = 0;
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset = 0;  // offset in `source`
};

// Pieces must be ascending without overlap, and each within its source, else an error. Gaps between
// them cannot be read.
Result<std::unique_ptr<ByteSource>> piecewise_source(std::vector<Piece> pieces);

// Reads big-endian elements as little-endian ones: from byte `first` to the end of the source,
// elements of `width` bytes (2, 4 or 8) are byte-swapped. The source must outlive the result.
std::unique_ptr<ByteSource> swapped_source(const ByteSource& source, std::uint64_t first,
                                           std::uint64_t width);

// Buffers a part of a source, so that small adjacent objects cost one read.

class Window {
 public:
  // Nothing at or after `end` is read, which must be within the source.
  Window(const ByteSource& source, std::uint64_t end) : source_(source), end_(end) {}

  // [offset, offset + length) must lie before the end, and length within kBytes.
  Result<const std::byte*> at(std::uint64_t offset, std::uint64_t length) {
    const std::span<const std::byte> held = source_.held();
    if (fits(offset, length, held.size())) return held.data() + offset;
    if (!holds(offset, length)) BTF_TRY(move_to(offset, length));
    return bytes_.data() + (offset - begin_);
  }
  bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset >= begin_ && offset - begin_ <= held_ && held_ - (offset - begin_) >= length;
  }

  std::uint64_t end() const { return end_; }

  static constexpr std::uint64_t kBytes = 4096;

 private:
  // Reads ahead of the requested bytes; a failure there is not an error.
  Status move_to(std::uint64_t offset, std::uint64_t length) {
    held_ = 0;  // until the read succeeds
    begin_ = offset;
    bytes_.resize(kBytes);
    const std::uint64_t last = offset + std::max<std::uint64_t>(length, 1) - 1;
    const std::uint64_t ahead =
        std::min({kBytes, end_ - offset, source_.read_ahead_end(last) - offset});
    if (ahead > length && source_.read_at(offset, std::span(bytes_).first(ahead))) {
      held_ = ahead;
      return {};
    }
    BTF_TRY(source_.read_at(offset, std::span(bytes_).first(length)));
    held_ = length;
    return {};
  }

  const ByteSource& source_;
  std::uint64_t end_;
  std::uint64_t begin_ = 0;
  std::uint64_t held_ = 0;  // bytes buffered from begin_ on
  std::vector<std::byte> bytes_;
};

// A source for reading small, nearby parts: one system call reads many.

// Not for several threads at once. The wrapped source must outlive it.
class WindowSource final : public ByteSource {
 public:
  explicit WindowSource(const ByteSource& source)
      : source_(source), window_(source, source.size()) {}

  std::uint64_t size() const override { return source_.size(); }
  Status check_unchanged() const override { return source_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (out.size() > Window::kBytes || !fits(offset, out.size(), size()))
      return source_.read_at(offset, out);
    BTF_ASSIGN(const std::byte* const from, window_.at(offset, out.size()));
    std::copy_n(from, out.size(), out.begin());
    return {};
  }

 private:
  const ByteSource& source_;
  mutable Window window_;
};

}  // namespace btf

// Where bytes come from: files, memory, pipes, and parts of other sources.
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

// Where bytes come from.

// A frame of a compressed file: its bytes of the content, and what is wrong with it.
struct FrameCheck {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Status status;
};

// The state of a file, by which changes are detected.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // when it was written last, in nanoseconds

  bool operator==(const FileStamp&) const = default;
};

// Error: bytes do not fit those read before.
inline std::unexpected<Error> file_changed() {
  return fail(ErrorCode::io, "the file was changed while it was read");
}

// Bytes that can be read at any offset, by several threads at once. Errors name the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  // All of `out` or an error: reading past the end is one.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  // First bytes that are in memory: reading them costs nothing. They stay where they are.
  virtual std::span<const std::byte> held() const { return {}; }

  // Are these the contents of a compressed file?
  virtual bool compressed() const { return false; }

  // Did it come through a pipe whose end was not waited for? More follows than can be wanted, and
  // size() is what was read of it.
  virtual bool more_follows() const { return false; }

  // Up to where it costs little more to read on from `offset`: the end of the frame that holds it.
  virtual std::uint64_t read_ahead_end(std::uint64_t) const { return size(); }

  // Frames of a compressed file, which can be checked each on its own; 0: there are none.
  virtual std::uint64_t frame_count() const { return 0; }
  // Reads one whole. An error: the frame cannot be found.
  virtual Result<FrameCheck> check_frame(std::uint64_t index) const;

  // An error if the file was changed since it was opened. Ask after the last read.
  virtual Status check_unchanged() const = 0;

  // The state of a regular file when it was opened. Nothing: no regular file, or not known.
  virtual std::optional<FileStamp> stamp() const { return std::nullopt; }
};

// Bytes that are kept for a while. If they are many, in a temporary file without a name, in $TMPDIR
// (or /tmp): gone when it is closed, however that is.

class Spool {
 public:
  // In a file. Threads may write to different offsets inside it, and read what is there.
  static Result<Spool> create();
  // In memory up to kInMemory bytes.
  static Spool in_memory() { return Spool(Descriptor{}); }
  static constexpr std::uint64_t kInMemory = 256U << 10;

  Status append(std::span<const std::byte> bytes);
  // Anywhere; size() counts up to the end of what was written last in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  std::uint64_t size() const { return size_; }

  // Bytes that may be kept now in all spools together: others need some too.
  static std::uint64_t room();

 private:
  explicit Spool(Descriptor fd) : fd_(std::move(fd)) {}
  Status move_to_file();

  Descriptor fd_;
  std::vector<std::byte> start_;  // all of it, as long as there is no file
  std::uint64_t size_ = 0;
};

// Files as sources of bytes, and copies of what is no file that can be read twice.

FileStamp stamp_of(const struct stat& status);

// By pread, never by mmap: a file that is cut while it is read is an error and not a signal.
// Bytes before `begin` are no part of the source. `name` is for errors.
std::unique_ptr<ByteSource> file_source(std::string name, Descriptor fd, const struct stat& state,
                                        std::uint64_t begin);

struct CopyKind {
  bool compressed = false;  // see ByteSource
  bool more_follows = false;
};

// A copy that nobody else has.
std::unique_ptr<ByteSource> copied_source(std::string name, Spool content, CopyKind kind);

// One of several that read the same.
std::unique_ptr<ByteSource> shared_source(std::shared_ptr<const ByteSource> source);

// Bytes in memory as a source, for who works on files otherwise.

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

// Bytes that come from several places, as one source: parts of files, or of what other sources make
// of them (turned round, unpacked, decoded).

struct Piece {
  std::uint64_t begin = 0;  // in the whole
  std::uint64_t length = 0;
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset = 0;  // in the source
};

// In ascending order, none over another; between them there may be gaps, which cannot be read. Each
// lies within its source. An error: they are not so.
Result<std::unique_ptr<ByteSource>> piecewise_source(std::vector<Piece> pieces);

// Big-endian elements as little-endian ones.

// From byte `first` to the end of the source, elements of `width` bytes (2, 4 or 8) are turned
// round as they are read. The source outlives the result.
std::unique_ptr<ByteSource> swapped_source(const ByteSource& source, std::uint64_t first,
                                           std::uint64_t width);

// A part of a source that is held: small things that stand side by side cost one read for many.

class Window {
 public:
  // Nothing at or behind `end` is read, which lies inside the source.
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
  // Bytes after those asked for are read ahead; failing to read them is no error.
  Status move_to(std::uint64_t offset, std::uint64_t length) {
    held_ = 0;  // until the read has succeeded
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
  std::uint64_t held_ = 0;  // bytes from there on
  std::vector<std::byte> bytes_;
};

// A source of which small parts are read, one near the other: one read of the system for many.

// Not for several threads at once. The source outlives it.
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

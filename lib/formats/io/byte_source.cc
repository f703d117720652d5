#include "formats/io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"

namespace btf {
namespace {

std::unexpected<Error> past_end(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return fail(ErrorCode::malformed,
              "byte " + std::to_string(offset) + ": " + std::to_string(bytes) +
                  " bytes expected, the file ends at byte " + std::to_string(size));
}

class FileSource final : public ByteSource {
 public:
  // Bytes before `begin` are not part of the source.
  FileSource(std::string name, Descriptor fd, const struct stat& state, std::uint64_t begin)
      : name_(std::move(name)),
        fd_(std::move(fd)),
        state_(state),
        begin_(std::min(begin, static_cast<std::uint64_t>(state.st_size))) {
    read_head();
  }

  std::uint64_t size() const override {
    return static_cast<std::uint64_t>(state_.st_size) - begin_;
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size())) return named(past_end(offset, out.size(), size()));
    if (fits(offset, out.size(), head_.size())) {
      std::ranges::copy(std::span(head_).subspan(offset, out.size()), out.begin());
      return {};
    }
    while (!out.empty()) {
      const ssize_t got =
          ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(begin_ + offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return named(system_failure("read at byte " + std::to_string(offset)));
      if (got == 0)
        return named(fail(ErrorCode::io,
                          "the file was truncated while it was read: it now ends before byte " +
                              std::to_string(offset + out.size())));
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  std::span<const std::byte> held() const override { return head_; }

  Status check_unchanged() const override {
    struct stat now{};
    if (::fstat(fd_.get(), &now) != 0) return named(system_failure("stat"));
    if (stamp_of(now) != stamp_of(state_)) return named(file_changed());
    return {};
  }

  std::optional<FileStamp> stamp() const override { return stamp_of(state_); }

 private:
  // Headers are read in several steps, and small files have little else, so one system call reads
  // the beginning. An error here occurs again when the bytes are requested.
  void read_head() {
    constexpr std::uint64_t kHead = 2048;
    head_.resize(std::min(size(), kHead));
    const ssize_t got = ::pread(fd_.get(), head_.data(), head_.size(), static_cast<off_t>(begin_));
    head_.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  }

  std::unexpected<Error> named(const std::unexpected<Error>& error) const {
    return std::unexpected(error.error().in_file(name_));
  }

  std::string name_;
  Descriptor fd_;
  struct stat state_;
  std::uint64_t begin_;
  std::vector<std::byte> head_;  // the first bytes
};

// The only user of a spool's content.
class CopiedSource final : public ByteSource {
 public:
  CopiedSource(std::string name, Spool content, CopyKind kind)
      : name_(std::move(name)), content_(std::move(content)), kind_(kind) {}

  std::uint64_t size() const override { return content_.size(); }
  bool compressed() const override { return kind_.compressed; }
  bool more_follows() const override { return kind_.more_follows; }
  Status check_unchanged() const override { return {}; }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const Status status = fits(offset, out.size(), size())
                              ? content_.read_at(offset, out)
                              : Status(past_end(offset, out.size(), size()));
    if (!status) return std::unexpected(status.error().in_file(name_));
    return {};
  }

 private:
  std::string name_;
  Spool content_;
  CopyKind kind_;
};

// One of several readers of the same source.
class SharedSource final : public ByteSource {
 public:
  explicit SharedSource(std::shared_ptr<const ByteSource> source) : source_(std::move(source)) {}

  std::uint64_t size() const override { return source_->size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return source_->read_at(offset, out);
  }
  std::span<const std::byte> held() const override { return source_->held(); }
  Status check_unchanged() const override { return source_->check_unchanged(); }
  std::optional<FileStamp> stamp() const override { return source_->stamp(); }

 private:
  std::shared_ptr<const ByteSource> source_;
};

}  // namespace

FileStamp stamp_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .changed = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

namespace {

std::unexpected<Error> cannot_be_opened(const std::string& path) {
  return std::unexpected(system_failure("open").error().in_file(path));
}

}  // namespace

Result<std::optional<FileStamp>> path_stamp(const std::string& path) {
  struct stat status{};
  if (path == "-") return std::nullopt;
  if (::stat(path.c_str(), &status) != 0) return cannot_be_opened(path);
  return S_ISREG(status.st_mode) ? std::optional(stamp_of(status)) : std::nullopt;
}

Status check_stamp(const std::string& path, const std::optional<FileStamp>& opened) {
  BTF_ASSIGN(const std::optional<FileStamp> now, path_stamp(path));
  if (now != opened) return std::unexpected(file_changed().error().in_file(path));
  return {};
}

Result<std::optional<struct stat>> status_of_path(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status;
  auto failed = cannot_be_opened(path);
  if (is_not_there(failed.error())) return std::nullopt;
  return failed;
}

bool is_not_there(const Error& error) {
  constexpr std::array kNone{ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
  return std::ranges::find(kNone, error.system) != kNone.end();
}

Result<bool> is_regular_file(const std::string& path) {
  BTF_ASSIGN(const std::optional<struct stat> status, status_of_path(path));
  return status && S_ISREG(status->st_mode);
}

Result<FrameCheck> ByteSource::check_frame(std::uint64_t index) const {
  return fail(ErrorCode::invalid_argument, "there is no frame " + std::to_string(index));
}

std::unique_ptr<ByteSource> file_source(std::string name, Descriptor fd, const struct stat& state,
                                        std::uint64_t begin) {
  return std::make_unique<FileSource>(std::move(name), std::move(fd), state, begin);
}

std::unique_ptr<ByteSource> copied_source(std::string name, Spool content, CopyKind kind) {
  return std::make_unique<CopiedSource>(std::move(name), std::move(content), kind);
}

std::unique_ptr<ByteSource> shared_source(std::shared_ptr<const ByteSource> source) {
  return std::make_unique<SharedSource>(std::move(source));
}

namespace {

class PiecewiseSource final : public ByteSource {
 public:
  explicit PiecewiseSource(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  std::uint64_t size() const override {
    return pieces_.empty() ? 0 : pieces_.back().begin + pieces_.back().length;
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    for (std::size_t i = piece_at(offset); !out.empty(); ++i) {
      if (i == pieces_.size() || offset < pieces_[i].begin)
        return fail(ErrorCode::malformed, "there is nothing at byte " + std::to_string(offset));
      const Piece& piece = pieces_[i];
      const std::uint64_t inside = offset - piece.begin;
      const std::uint64_t some = std::min<std::uint64_t>(piece.length - inside, out.size());
      BTF_TRY(piece.source->read_at(piece.offset + inside, out.first(some)));
      out = out.subspan(some);
      offset += some;
    }
    return {};
  }

  std::uint64_t read_ahead_end(std::uint64_t offset) const override {
    const std::size_t i = piece_at(offset);
    if (i == pieces_.size() || offset < pieces_[i].begin) return offset;
    const Piece& piece = pieces_[i];
    const std::uint64_t end = piece.source->read_ahead_end(piece.offset + (offset - piece.begin));
    return piece.begin + std::min(piece.length, end - piece.offset);
  }

  // Adjacent pieces usually have the same source.
  Status check_unchanged() const override {
    const ByteSource* last = nullptr;
    for (const Piece& piece : pieces_)
      if (std::exchange(last, piece.source.get()) != piece.source.get())
        BTF_TRY(piece.source->check_unchanged());
    return {};
  }

 private:
  // The first piece that ends after the offset.
  std::size_t piece_at(std::uint64_t offset) const {
    const auto found = std::ranges::upper_bound(
        pieces_, offset, {}, [](const Piece& piece) { return piece.begin + piece.length; });
    return static_cast<std::size_t>(found - pieces_.begin());
  }

  std::vector<Piece> pieces_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> piecewise_source(std::vector<Piece> pieces) {
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) {
    const Checked piece_end = checked_add(piece.begin, piece.length);
    if (piece.begin < end || !piece_end || !fits(piece.offset, piece.length, piece.source->size()))
      return fail(ErrorCode::invalid_argument, "pieces of a source overlap, or lie outside of it");
    end = *piece_end;
  }
  return std::make_unique<PiecewiseSource>(std::move(pieces));
}

Result<Spool> Spool::create() {
  Spool spool = in_memory();
  BTF_TRY(spool.move_to_file());
  return spool;
}

Status Spool::move_to_file() {
  const std::string directory = temporary_directory();
  std::string name = directory + "/btf-XXXXXX";
  Descriptor fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.open()) return system_failure("create a temporary file in " + directory);
  ::unlink(name.c_str());
  Spool file(std::move(fd));
  BTF_TRY(file.write_at(0, start_));
  *this = std::move(file);
  return {};
}

std::uint64_t Spool::room() {
  struct statvfs room{};
  if (::statvfs(temporary_directory().c_str(), &room) != 0) return UINT64_MAX;
  const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
  return bytes ? *bytes - *bytes / 16 : UINT64_MAX;
}

Status Spool::append(std::span<const std::byte> bytes) { return write_at(size_, bytes); }

Status Spool::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const Checked end = checked_add(offset, bytes.size());
  if (!fd_.open() && end && *end <= kInMemory) {
    start_.resize(std::max<std::uint64_t>(start_.size(), *end));
    std::ranges::copy(bytes, start_.begin() + static_cast<std::ptrdiff_t>(offset));
    size_ = start_.size();
    return {};
  }
  if (!fd_.open()) BTF_TRY(move_to_file());
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure("write a temporary file in " + temporary_directory());
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
    if (offset > size_) size_ = offset;
  }
  return {};
}

Status Spool::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (!fd_.open() && fits(offset, out.size(), size_)) {
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0)
      return fail(ErrorCode::io, "a temporary file in " + temporary_directory() +
                                     " was truncated while it was in use");
    if (got < 0) return system_failure("read a temporary file in " + temporary_directory());
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

namespace {

class SwappedSource final : public ByteSource {
 public:
  SwappedSource(const ByteSource& source, std::uint64_t first, std::uint64_t width)
      : source_(source), first_(first), width_(width) {}

  std::uint64_t size() const override { return source_.size(); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset < first_) {
      const std::uint64_t before = std::min<std::uint64_t>(out.size(), first_ - offset);
      BTF_TRY(source_.read_at(offset, out.first(before)));
      return before == out.size() ? Status{} : read_at(first_, out.subspan(before));
    }
    const std::uint64_t lead = (offset - first_) % width_;
    if (lead == 0 && out.size() % width_ == 0) {
      BTF_TRY(source_.read_at(offset, out));
      for (std::uint64_t at = 0; at < out.size(); at += width_)
        std::ranges::reverse(out.subspan(at, width_));
      return {};
    }
    return read_parts(offset, lead, out);
  }

 private:
  // Reads elements of which only a part is requested, at either end.
  Status read_parts(std::uint64_t offset, std::uint64_t lead, std::span<std::byte> out) const {
    std::array<std::byte, 8> element{};
    while (!out.empty()) {
      const std::uint64_t part = std::min<std::uint64_t>(width_ - lead, out.size());
      if (lead == 0 && out.size() >= width_) {
        const std::uint64_t whole = out.size() - out.size() % width_;
        BTF_TRY(read_at(offset, out.first(whole)));
        offset += whole;
        out = out.subspan(whole);
        continue;
      }
      BTF_TRY(read_at(offset - lead, std::span(element).first(width_)));
      std::copy_n(element.begin() + static_cast<std::ptrdiff_t>(lead), part, out.begin());
      offset += part;
      out = out.subspan(part);
      lead = 0;
    }
    return {};
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t width_;
};

}  // namespace

std::unique_ptr<ByteSource> swapped_source(const ByteSource& source, std::uint64_t first,
                                           std::uint64_t width) {
  return std::make_unique<SwappedSource>(source, first, width);
}

}  // namespace btf

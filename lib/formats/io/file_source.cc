#include "formats/io/file_source.h"

#include <algorithm>
#include <vector>

#include "core/checked_math.h"

namespace btf {
namespace {

std::unexpected<Error> past_end(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return fail(ErrorCode::malformed,
              "byte " + std::to_string(offset) + ": " + std::to_string(bytes) +
                  " bytes expected, the file ends at byte " + std::to_string(size));
}

class FileSource final : public ByteSource {
 public:
  // Bytes before `begin` are no part of the source.
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
        return named(
            fail(ErrorCode::io, "the file was cut while it was read: it now ends before byte " +
                                    std::to_string(offset + out.size())));
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  std::span<const std::byte> held() const override { return head_; }

  Status check_unchanged() const override {
    struct stat now {};
    if (::fstat(fd_.get(), &now) != 0) return named(system_failure("stat"));
    if (stamp_of(now) != stamp_of(state_)) return named(file_changed());
    return {};
  }

  std::optional<FileStamp> stamp() const override { return stamp_of(state_); }

 private:
  // A header is read in several steps, and of small files there is little more: one read of the
  // system for all of these. What goes wrong shows again where it is wanted.
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

// A copy that nobody else has.
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

// One of several that read the same.
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
  return {static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
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

}  // namespace btf

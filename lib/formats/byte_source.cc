#include "formats/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/checked_math.h"
#include "core/try.h"
#include "formats/packed_source.h"
#include "formats/spool.h"
#include "formats/system.h"
#include "formats/zstd/seek_table.h"
#include "formats/zstd/seekable_source.h"
#include "formats/zstd/unpack.h"
#include "formats/zstd/zstd_wire.h"

namespace btf {
namespace {

bool same_state(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, Descriptor fd, const struct stat& state, bool compressed)
      : name_(std::move(name)), fd_(std::move(fd)), state_(state), compressed_(compressed) {}

  std::uint64_t size() const override { return static_cast<std::uint64_t>(state_.st_size); }

  bool compressed() const override { return compressed_; }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return named(fail(ErrorCode::malformed,
                        "byte " + std::to_string(offset) + ": " + std::to_string(out.size()) +
                            " bytes expected, the file ends at byte " + std::to_string(size())));
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
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

  Status check_unchanged() const override {
    struct stat now {};
    if (::fstat(fd_.get(), &now) != 0) return named(system_failure("stat"));
    if (!same_state(state_, now))
      return named(fail(ErrorCode::io, "the file was changed while it was read"));
    return {};
  }

 private:
  std::unexpected<Error> named(const std::unexpected<Error>& error) const {
    return std::unexpected(error.error().in_file(name_));
  }

  std::string name_;
  Descriptor fd_;
  struct stat state_;
  bool compressed_;  // what was decompressed into it
};

// Copies what cannot seek into a file without a name.
Result<Spool> spool(const zstd::Pull& pull) {
  BTF_ASSIGN(Spool copy, Spool::create());
  std::vector<std::byte> buffer(1U << 18);
  for (;;) {
    BTF_ASSIGN(const std::size_t got, pull(buffer));
    if (got == 0) return copy;
    BTF_TRY(copy.append(std::span(buffer).first(got)));
  }
}

// Front to back, with a look at the first bytes before they are taken.
class Stream {
 public:
  explicit Stream(Descriptor fd) : fd_(std::move(fd)) {}

  Result<bool> begins_as_zstd() {
    while (end_ < start_.size()) {
      BTF_ASSIGN(const std::size_t got, read(std::span(start_).subspan(end_)));
      if (got == 0) return false;
      end_ += got;
    }
    return zstd::recognizes(start_);
  }

  Result<std::size_t> pull(std::span<std::byte> out) {
    if (taken_ == end_) return read(out);
    const std::size_t some = std::min(out.size(), end_ - taken_);
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(taken_), some, out.begin());
    taken_ += some;
    return some;
  }

 private:
  Result<std::size_t> read(std::span<std::byte> out) {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_failure("read");
    }
  }

  Descriptor fd_;
  std::array<std::byte, zstd::kMagicBytes> start_{};
  std::size_t end_ = 0;    // bytes of start_ that are there
  std::size_t taken_ = 0;  // and of these, that were pulled
};

Result<std::unique_ptr<ByteSource>> source_of(const std::string& name, Descriptor fd,
                                              bool compressed) {
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  return std::make_unique<FileSource>(name, std::move(fd), state, compressed);
}

// Nothing: as it is, also if it is compressed.
using Decompress = std::optional<SourceOptions>;

Result<std::unique_ptr<ByteSource>> spool_stream(const std::string& name, Descriptor fd) {
  Stream stream(std::move(fd));
  BTF_ASSIGN(Spool copy, spool([&](std::span<std::byte> out) { return stream.pull(out); }));
  return source_of(name, std::move(copy).release(), false);
}

Result<std::unique_ptr<ByteSource>> open_stream(const std::string& name, Descriptor fd,
                                                const SourceOptions& options) {
  Stream stream(std::move(fd));
  const zstd::Pull pull = [&](std::span<std::byte> out) { return stream.pull(out); };
  BTF_ASSIGN(const bool compressed, stream.begins_as_zstd());
  BTF_ASSIGN(Spool copy, compressed ? zstd::unpack(pull, options.header) : spool(pull));
  return source_of(name, std::move(copy).release(), compressed);
}

Result<std::unique_ptr<ByteSource>> open_zstd(const std::string& name,
                                              std::unique_ptr<ByteSource> file,
                                              const SourceOptions& options) {
  BTF_ASSIGN(const bool seekable, zstd::has_seek_table(*file));
  if (seekable) {
    BTF_ASSIGN(zstd::SeekTable table, zstd::SeekTable::read(*file));
    if (table.largest_content() <= zstd::kLargestFrame)
      return zstd::seekable_source(name, std::move(file), std::move(table));
  }
  const auto pull =
      [&, at = std::uint64_t{0}](std::span<std::byte> out) mutable -> Result<std::size_t> {
    out = out.first(std::min<std::uint64_t>(out.size(), file->size() - at));
    BTF_TRY(file->read_at(at, out));
    at += out.size();
    return out.size();
  };
  BTF_ASSIGN(Spool content, zstd::unpack(pull, options.header));
  BTF_TRY(file->check_unchanged());
  return source_of(name, std::move(content).release(), true);
}

Result<std::unique_ptr<ByteSource>> open_path(const std::string& path, const Decompress& options) {
  Descriptor fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return system_failure("open");
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (S_ISDIR(state.st_mode)) return fail(ErrorCode::io, "is a directory, a file was expected");
  const std::string name = path == "-" ? "standard input" : path;
  if (!S_ISREG(state.st_mode))
    return options ? open_stream(name, std::move(fd), *options) : spool_stream(name, std::move(fd));
  auto file = std::make_unique<FileSource>(name, std::move(fd), state, false);
  std::array<std::byte, zstd::kMagicBytes> start{};
  if (!options || file->size() < start.size()) return file;
  BTF_TRY(file->read_at(0, start));
  if (!zstd::recognizes(start)) return file;
  return open_zstd(name, std::move(file), *options);
}

}  // namespace

Result<FrameCheck> ByteSource::check_frame(std::uint64_t index) const {
  return fail(ErrorCode::invalid_argument, "there is no frame " + std::to_string(index));
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                const SourceOptions& options) {
  return open_path(path, options);
}

Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path) {
  return open_path(path, std::nullopt);
}

}  // namespace btf

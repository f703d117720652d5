#include "formats/open_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "btf/try.h"
#include "formats/io/file_source.h"
#include "formats/table/bounded_spool.h"
#include "formats/zstd/seek_table.h"
#include "formats/zstd/seekable_source.h"
#include "formats/zstd/unpack.h"
#include "formats/zstd/zstd_wire.h"

namespace btf {
namespace {

// Copies what cannot seek, as far as it can be wanted.
Result<std::unique_ptr<ByteSource>> spool(const std::string& name, const zstd::Pull& pull,
                                          std::optional<std::uint64_t> expected) {
  BTF_ASSIGN(BoundedSpool copy, BoundedSpool::create(expected));
  std::vector<std::byte> buffer(1U << 18);
  for (;;) {
    BTF_ASSIGN(const std::uint64_t most, copy.most());
    const std::uint64_t wanted = most - copy.size();
    // One byte more tells whether there are any.
    const std::uint64_t some = std::clamp<std::uint64_t>(wanted, 1, buffer.size());
    BTF_ASSIGN(const std::size_t got, pull(std::span(buffer).first(some)));
    const bool more_follows = got > 0 && wanted == 0;
    if (more_follows) BTF_TRY(copy.check_room());
    if (got == 0 || more_follows)
      return copied_source(name, std::move(copy).release(), {.more_follows = more_follows});
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

// As it is, also if it is compressed.
Result<std::unique_ptr<ByteSource>> spool_stream(const std::string& name, Descriptor fd) {
  Stream stream(std::move(fd));
  return spool(
      name, [&](std::span<std::byte> out) { return stream.pull(out); }, kUnlimited);
}

Result<std::unique_ptr<ByteSource>> open_zstd(const std::string& name,
                                              std::unique_ptr<ByteSource> file,
                                              std::optional<std::uint64_t> expected) {
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
  BTF_ASSIGN(zstd::Unpacked unpacked,
             zstd::unpack(pull, expected, [&] { return zstd::most_content(*file); }));
  BTF_TRY(file->check_unchanged());
  return copied_source(name, std::move(unpacked.content),
                       {.compressed = true, .more_follows = unpacked.more_follows});
}

// Raw bytes may begin as zstd does. As many as were expected are taken as they are, unless they are
// a whole zstd file with as much content.
Result<std::unique_ptr<ByteSource>> open_zstd_or_raw(const std::string& name,
                                                     std::unique_ptr<ByteSource> file,
                                                     std::optional<std::uint64_t> expected) {
  if (file->size() != expected) return open_zstd(name, std::move(file), expected);
  const std::shared_ptr<const ByteSource> shared = std::move(file);
  auto content = open_zstd(name, shared_source(shared), expected);
  const bool zstd = content ? (*content)->size() == *expected : content.error().finding.empty();
  if (zstd) return content;
  return shared_source(shared);
}

// Its first bytes, up to this many.
Result<Spool> beginning(const zstd::Pull& pull, std::uint64_t most) {
  BTF_ASSIGN(BoundedSpool copy, BoundedSpool::create(most));
  std::vector<std::byte> buffer(1U << 18);
  while (copy.size() < most) {
    const std::uint64_t some = std::min<std::uint64_t>(most - copy.size(), buffer.size());
    BTF_ASSIGN(const std::size_t got, pull(std::span(buffer).first(some)));
    if (got == 0) break;
    BTF_TRY(copy.append(std::span(buffer).first(got)));
  }
  return std::move(copy).release();
}

Result<std::unique_ptr<ByteSource>> open_zstd_stream(const std::string& name,
                                                     const zstd::Pull& pull,
                                                     std::optional<std::uint64_t> expected) {
  BTF_ASSIGN(zstd::Unpacked unpacked, zstd::unpack(pull, expected));
  return copied_source(name, std::move(unpacked.content),
                       {.compressed = true, .more_follows = unpacked.more_follows});
}

Result<std::unique_ptr<ByteSource>> open_stream(const std::string& name, Descriptor fd,
                                                std::optional<std::uint64_t> expected) {
  Stream stream(std::move(fd));
  const zstd::Pull pull = [&](std::span<std::byte> out) { return stream.pull(out); };
  BTF_ASSIGN(const bool compressed, stream.begins_as_zstd());
  if (!compressed) return spool(name, pull, expected);
  if (expected.value_or(kUnlimited) == kUnlimited) return open_zstd_stream(name, pull, expected);
  // Does it end where raw bytes would?
  BTF_ASSIGN(Spool start, beginning(pull, *expected + 1));
  if (start.size() <= *expected) {
    return open_zstd_or_raw(name, copied_source(name, std::move(start), {}), expected);
  }
  const auto from_start =
      [&, at = std::uint64_t{0}](std::span<std::byte> out) mutable -> Result<std::size_t> {
    const std::uint64_t some = std::min<std::uint64_t>(out.size(), start.size() - at);
    if (some == 0) return pull(out);
    BTF_TRY(start.read_at(at, out.first(some)));
    at += some;
    return some;
  };
  return open_zstd_stream(name, from_start, expected);
}

// Where whoever read before from standard input has left it.
Result<std::uint64_t> position_of(const Descriptor& fd) {
  const off_t position = ::lseek(fd.get(), 0, SEEK_CUR);
  if (position < 0) return system_failure("find the position in the file");
  return static_cast<std::uint64_t>(position);
}

enum class Compressed : std::uint8_t { unpack, keep };

Result<std::unique_ptr<ByteSource>> open_path(const std::string& path, Compressed compressed,
                                              std::optional<std::uint64_t> expected) {
  const bool unpack = compressed == Compressed::unpack;
  Descriptor fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return system_failure("open");
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (S_ISDIR(state.st_mode))
    return system_failure(ErrorCode::io, EISDIR, "is a directory, a file was expected");
  const std::string name = path == "-" ? "standard input" : path;
  if (!S_ISREG(state.st_mode))
    return unpack ? open_stream(name, std::move(fd), expected) : spool_stream(name, std::move(fd));
  std::uint64_t begin = 0;
  if (path == "-") {
    BTF_ASSIGN(begin, position_of(fd));
  }
  auto file = file_source(name, std::move(fd), state, begin);
  if (!unpack) return file;
  return unpacked_source(name, std::move(file), expected);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                std::optional<std::uint64_t> expected) {
  return open_path(path, Compressed::unpack, expected);
}

Result<std::unique_ptr<ByteSource>> unpacked_source(const std::string& name,
                                                    std::unique_ptr<ByteSource> bytes,
                                                    std::optional<std::uint64_t> expected) {
  std::array<std::byte, zstd::kMagicBytes> start{};
  if (bytes->size() < start.size()) return bytes;
  BTF_TRY(bytes->read_at(0, start));
  if (!zstd::recognizes(start)) return bytes;
  return open_zstd_or_raw(name, std::move(bytes), expected);
}

Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path) {
  return open_path(path, Compressed::keep, std::nullopt);
}

}  // namespace btf

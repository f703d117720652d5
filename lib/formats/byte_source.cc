#include "formats/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "core/checked_math.h"
#include "core/try.h"
#include "formats/spool.h"
#include "formats/system.h"

namespace btf {
namespace {

bool same_state(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, Descriptor fd, const struct stat& state)
      : name_(std::move(name)), fd_(std::move(fd)), state_(state) {}

  std::uint64_t size() const override { return static_cast<std::uint64_t>(state_.st_size); }

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
};

// Copies what cannot seek into a file without a name.
Result<Descriptor> spool(int fd) {
  BTF_ASSIGN(Spool copy, Spool::create());
  std::vector<std::byte> buffer(1U << 18);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read");
    if (got == 0) return std::move(copy).release();
    BTF_TRY(copy.append(std::span(buffer).first(static_cast<std::size_t>(got))));
  }
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  Descriptor fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return system_failure("open");
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (S_ISDIR(state.st_mode)) return fail(ErrorCode::io, "is a directory, a file was expected");
  if (!S_ISREG(state.st_mode)) {
    BTF_ASSIGN(fd, spool(fd.get()));
    if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  }
  return std::make_unique<FileSource>(path == "-" ? "standard input" : path, std::move(fd), state);
}

}  // namespace btf

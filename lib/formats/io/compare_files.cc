#include "formats/io/compare_files.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <span>

#include "btf/try.h"
#include "formats/io/system.h"

namespace btf {
namespace {

class PlainFile {
 public:
  static Result<PlainFile> open(const std::string& path) {
    PlainFile file(path);
    if (!file.fd_.open()) return std::unexpected(system_failure("open").error().in_file(path));
    return file;
  }

  // Less than `out` holds: the file ends.
  Result<std::size_t> read(std::span<char> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::read(fd_.get(), out.data() + done, out.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::unexpected(system_failure("read").error().in_file(path_));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  explicit PlainFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  std::string path_;
  Descriptor fd_;
};

}  // namespace

Result<ByteDifference> compare_files(const std::string& left, const std::string& right) {
  BTF_ASSIGN(PlainFile left_file, PlainFile::open(left));
  BTF_ASSIGN(PlainFile right_file, PlainFile::open(right));
  std::array<char, 1U << 16> left_bytes;
  std::array<char, 1U << 16> right_bytes;
  for (std::uint64_t offset = 0;;) {
    BTF_ASSIGN(const std::size_t some, left_file.read(left_bytes));
    BTF_ASSIGN(const std::size_t other, right_file.read(right_bytes));
    const std::size_t common = std::min(some, other);
    const auto end = left_bytes.begin() + static_cast<std::ptrdiff_t>(common);
    const auto differs = std::mismatch(left_bytes.begin(), end, right_bytes.begin()).first;
    offset += static_cast<std::uint64_t>(differs - left_bytes.begin());
    if (differs != end) return ByteDifference{offset, FileEnd::neither};
    if (some != other) return ByteDifference{offset, some < other ? FileEnd::left : FileEnd::right};
    if (some == 0) return ByteDifference{offset, FileEnd::both};
  }
}

}  // namespace btf

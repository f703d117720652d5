#include "shards/part_scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "formats/io/system.h"
#include "shards/digest.h"

namespace btf::shards {
namespace {

Error no_part(const std::string& why) {
  return {ErrorCode::malformed, "is not a part of btftool: " + why};
}

// The lines of a file, each of a bounded length.
class LineReader {
 public:
  static Result<LineReader> open(const std::string& path) {
    // A pipe without a writer would not open.
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.open()) return system_failure("open");
    struct stat state{};
    if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
    if (!S_ISREG(state.st_mode))
      return fail(ErrorCode::invalid_argument,
                  "a part is a regular file, and this is none: it is read twice");
    return LineReader(std::move(fd));
  }

  // The next line, with its end; nothing: the rest has none.
  Result<std::optional<std::string_view>> next() {
    line_.clear();
    for (;;) {
      const std::string_view rest(block_.data() + at_, size_ - at_);
      const std::size_t end = rest.find('\n');
      const std::string_view piece = rest.substr(0, end == rest.npos ? rest.size() : end + 1);
      line_ += piece;
      at_ += piece.size();
      // Nothing else begins so, and a file of zeros has no end of line at all.
      if (!line_.empty() && line_.front() != '{')
        return fail(ErrorCode::malformed, "line " + std::to_string(number_) + " is no JSON object");
      if (line_.size() > kMostLineBytes)
        return fail(ErrorCode::unsupported, "line " + std::to_string(number_) + " has more than " +
                                                std::to_string(kMostLineBytes) + " bytes");
      if (end != rest.npos) {
        ++number_;
        return std::optional(std::string_view(line_));
      }
      BTF_TRY(fill());
      if (size_ == 0) return std::nullopt;
    }
  }

 private:
  explicit LineReader(Descriptor fd) : fd_(std::move(fd)), block_(1U << 18) {}

  Status fill() {
    at_ = size_ = 0;
    for (;;) {
      const ssize_t got = ::read(fd_.get(), block_.data(), block_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_failure("read");
      size_ = static_cast<std::size_t>(got);
      return {};
    }
  }

  Descriptor fd_;
  std::vector<char> block_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::string line_;
  std::uint64_t number_ = 1;
};

}  // namespace

Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take) {
  const auto named = [&](const Error& error) { return std::unexpected(error.in_file(path)); };
  auto file = LineReader::open(path);
  if (!file) return named(file.error());
  ScannedPart part;
  Digest digest;
  for (std::uint64_t number = 1;; ++number) {
    const auto read = file->next();
    // Of a part that was torn, what stands before is as good.
    if (!read && read.error().code == ErrorCode::malformed && number > 1) {
      part.trouble = read.error().message;
      break;
    }
    if (!read && read.error().code == ErrorCode::malformed)
      return named(no_part(read.error().message));
    if (!read) return named(read.error());
    if (!*read) break;  // a line without an end is torn
    const std::string_view whole = **read;
    const std::string_view line = whole.substr(0, whole.size() - 1);
    if (number == 1) {
      auto head = read_head(line);
      if (!head) return named(no_part(head.error().message));
      part.head = *std::move(head);
    } else if (part.tail) {
      part.trouble = "line " + std::to_string(number) + " is behind the end";
      break;
    } else if (const auto tail = read_tail(line)) {
      part.tail = tail;
      continue;
    } else if (number_of(line)) {
      take(line, part.whole);
    } else {
      part.trouble = "line " + std::to_string(number) + " is no item";
      break;
    }
    digest.bytes(whole);
    part.whole += whole.size();
  }
  if (part.whole == 0) return named(no_part("it has no whole line"));
  part.digest = digest.hexadecimal();
  return part;
}

}  // namespace btf::shards

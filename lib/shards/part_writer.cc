#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <utility>

#include "btf/shards/part.h"
#include "btf/try.h"
#include "shards/digest.h"
#include "shards/part_lines.h"
#include "shards/part_scan.h"

namespace btf {

using shards::ScannedPart;

struct PartWriter::State {
  std::string path;
  std::string partial;
  int fd = -1;
  struct Found {
    std::uint64_t results = 0;
    std::string result{};
  };
  std::map<std::uint64_t, Found> found;  // by number
  struct Kept {
    std::string line;
    std::string result{};
  };
  Digest digest;
  std::string note;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (fd >= 0) ::close(fd);
  }

  Status failed() const {
    return std::unexpected(Error{errno == ENOSPC ? ErrorCode::no_space : ErrorCode::io,
                                 std::generic_category().message(errno)}
                               .in_file(partial));
  }

  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status line(std::string text) {
    text += '\n';
    digest.bytes(text);
    return write(text);
  }

  // A second process with this shard gets a file of its own, so that neither tears the other's.
  Status open_partial() {
    partial = path + ".partial";
    for (const bool shared : {true, false}) {
      if (!shared) partial += "-" + std::to_string(::getpid());
      fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (fd < 0) return failed();
      if (!shared || ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
      ::close(fd);
    }
    return {};
  }

  // What is kept stands in a new file before that takes the place of FILE.partial.
  Status begin(const PartHead& head, std::map<std::uint64_t, Kept> kept) {
    const std::string old = partial;
    const int old_fd = fd;
    if (kept.empty()) {
      if (::ftruncate(fd, 0) != 0) return failed();
      return line(shards::head_line(head));
    }
    partial += "-new";
    fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
      fd = old_fd;
      return failed();
    }
    ::flock(fd, LOCK_EX | LOCK_NB);
    Status status = line(shards::head_line(head));
    for (auto& [number, item] : kept) {
      found[number] = {shards::results_of(item.line), item.result};
      if (status) status = line(std::move(item.line));
    }
    if (status && std::rename(partial.c_str(), old.c_str()) != 0) status = failed();
    if (!status) ::unlink(partial.c_str());
    ::close(old_fd);
    partial = old;
    return status;
  }

  static bool same_plan(const PartHead& a, const PartHead& b) {
    return a.plan == b.plan && a.version == b.version && a.command == b.command &&
           a.shard.number == b.shard.number && a.shard.of == b.shard.of;
  }

  static bool are_as_they_were(const std::vector<std::string>& paths,
                               const std::vector<std::optional<FileState>>& states) {
    return std::ranges::equal(paths, states,
                              [](const std::string& path, const std::optional<FileState>& state) {
                                return FileState::of(path) == state;
                              });
  }

  // Items of an earlier run whose files are as they were.
  std::map<std::uint64_t, Kept> items_of(const std::string& from, const PartHead& head) {
    std::map<std::uint64_t, Kept> items;
    const auto part = shards::scan_part(from, [&](std::string_view text, std::uint64_t) {
      items[*shards::number_of(text)] = {std::string(text)};
    });
    if (part && part->tail && part->tail->digest != part->digest) items.clear();
    if (part && !same_plan(part->head, head)) {
      note = from + " is of another plan, and was begun anew";
      items.clear();
    }
    for (auto at = items.begin(); at != items.end();) {
      const auto item = read_part_line(at->second.line);
      const bool holds = item && are_as_they_were(shards::files_of(at->second.line), item->files);
      if (item) at->second.result = item->result;
      at = holds ? std::next(at) : items.erase(at);
    }
    if (!part) items.clear();
    return items;
  }
};

PartWriter::PartWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PartWriter::PartWriter(PartWriter&&) noexcept = default;
PartWriter& PartWriter::operator=(PartWriter&&) noexcept = default;
PartWriter::~PartWriter() = default;

Result<PartWriter> PartWriter::create(const std::string& path, const PartHead& head, bool resume) {
  auto state = std::make_unique<State>();
  state->path = path;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "a part is a regular file, and this is none"}.in_file(
            path));
  BTF_TRY(state->open_partial());
  std::map<std::uint64_t, State::Kept> kept;
  // Another process may have FILE.partial now: what is whole of it is as good.
  for (const std::string& from : {path, path + ".partial"}) {
    if (!resume || !FileState::of(from)) continue;
    kept.merge(state->items_of(from, head));
  }
  if (!kept.empty()) state->note.clear();
  BTF_TRY(state->begin(head, std::move(kept)));
  return PartWriter(std::move(state));
}

bool PartWriter::has(std::uint64_t number) const { return state_->found.contains(number); }

const std::string& PartWriter::note() const { return state_->note; }

Status PartWriter::add(const PartLine& line) {
  std::string text = btf::text(line);
  state_->found[line.number] = {shards::results_of(text), line.result};
  return state_->line(std::move(text));
}

Status PartWriter::finish() {
  shards::PartTail tail{.items = state_->found.size(), .digest = state_->digest.hexadecimal()};
  std::uint64_t results = 0;
  for (const auto& [number, found] : state_->found) {
    results += found.results;
    ++tail.counts[found.result];
  }
  tail.results = hexadecimal_of(results);
  BTF_TRY(state_->write(shards::tail_line(tail) + "\n"));
  if (::fsync(state_->fd) != 0 && errno != EINVAL && errno != EROFS) return state_->failed();
  if (std::rename(state_->partial.c_str(), state_->path.c_str()) != 0) return state_->failed();
  return {};
}

}  // namespace btf

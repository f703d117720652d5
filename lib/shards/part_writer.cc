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
#include "formats/io/output_place.h"
#include "formats/io/replacing_sink.h"
#include "formats/io/system.h"
#include "shards/digest.h"
#include "shards/part_lines.h"
#include "shards/part_scan.h"

namespace btf {

using shards::ScannedPart;

// FILE.partial has the lock (flock) of the process that writes it, from before its first line until
// it is FILE. It is never written into by another one, nor truncated: what is begun, or goes on, is
// a new file that takes its place.
struct PartWriter::State {
  std::string path;  // behind symbolic links
  std::string partial;
  Descriptor fd;
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

  Status failed(std::string_view what) const {
    return std::unexpected(system_failure(what).error().in_file(partial));
  }

  Status refused(const std::string& why) const {
    return std::unexpected(Error{ErrorCode::invalid_argument, why}.in_file(partial));
  }

  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status line(std::string text) {
    if (text.size() > shards::kMostLineBytes)
      return refused("an item of " + std::to_string(text.size()) +
                     " bytes, where merge reads lines of at most " +
                     std::to_string(shards::kMostLineBytes) +
                     "; where it is a pair of files, `shard_by` tensor makes items of its tensors");
    text += '\n';
    digest.bytes(text);
    return write(text);
  }

  // Without following a link, or waiting for whoever would read a pipe.
  static Descriptor open_file(const std::string& path, int flags) {
    return Descriptor(
        ::open(path.c_str(),
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666));
  }

  // A second process with this shard gets a file of its own, so that neither tears the other's.
  Status open_partial() {
    partial = path + ".partial";
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      fd = open_file(partial, 0);
      if (!fd.open() && errno == ELOOP)
        return refused("is a symbolic link, which a part does not follow; remove it");
      if (!fd.open()) return failed("open for writing");
      struct stat open{};
      if (::fstat(fd.get(), &open) != 0) return failed("stat");
      if (!S_ISREG(open.st_mode)) return refused("is no regular file; remove it");
      if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return open_own();
      // Until it was locked, its writer may have finished it, and it is FILE now.
      struct stat named{};
      if (::lstat(partial.c_str(), &named) == 0 && named.st_dev == open.st_dev &&
          named.st_ino == open.st_ino)
        return {};
    }
    return refused("is replaced again and again by other processes");
  }

  Status open_own() {
    const auto digits = random_digits();
    if (!digits) return failed("name a file beside it");
    partial += "-" + *digits;
    fd = open_file(partial, O_EXCL);
    if (!fd.open()) return failed("create");
    ::flock(fd.get(), LOCK_EX | LOCK_NB);
    return {};
  }

  // The head, and what is kept, stand in a new file before that takes the place of FILE.partial.
  Status begin(const PartHead& head, std::map<std::uint64_t, Kept> kept) {
    const std::string fresh = partial + "-new";
    // Of a run that was killed here: only who holds FILE.partial comes this far.
    ::unlink(fresh.c_str());
    const Descriptor old = std::exchange(fd, open_file(fresh, O_EXCL));
    if (!fd.open()) return std::unexpected(system_failure("create").error().in_file(fresh));
    ::flock(fd.get(), LOCK_EX | LOCK_NB);
    Status status = line(shards::head_line(head));
    for (auto& [number, item] : kept) {
      found[number] = {shards::results_of(item.line), item.result};
      if (status) status = line(std::move(item.line));
    }
    if (status && std::rename(fresh.c_str(), partial.c_str()) != 0) status = failed("rename");
    if (!status) ::unlink(fresh.c_str());
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
      items[*shards::number_of(text)] = {.line = std::string(text)};
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
  const auto place = find_output(path);
  if (!place) return std::unexpected(place.error().in_file(path));
  if (place->descriptor || place->in_place)
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "a part is a regular file, and this is none"}.in_file(
            path));
  auto state = std::make_unique<State>();
  state->path = place->path;
  BTF_TRY(state->open_partial());
  std::map<std::uint64_t, State::Kept> kept;
  // Another process may have FILE.partial now: what is whole of it is as good.
  for (const std::string& from : {state->path, state->path + ".partial"}) {
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
  if (::fsync(state_->fd.get()) != 0 && errno != EINVAL && errno != EROFS)
    return state_->failed("sync");
  if (std::rename(state_->partial.c_str(), state_->path.c_str()) != 0)
    return state_->failed("rename");
  return {};
}

}  // namespace btf

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/io/output.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/skip.h"

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;
using Names = std::vector<std::string>;

namespace {

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<btf::ByteSink> open_sink(const std::string& path,
                                         const btf::SinkOptions& options = {}) {
  auto sink = btf::create_sink(path, options);
  INFO((sink ? "" : sink.error().text()));
  REQUIRE(sink);
  return *std::move(sink);
}

btf::Error refusal(const std::string& path, const btf::SinkOptions& options = {}) {
  auto sink = btf::create_sink(path, options);
  REQUIRE(!sink);
  return sink.error();
}

// Writes a whole file.
void put(const std::string& path, const std::string& text, const btf::SinkOptions& options = {}) {
  const auto sink = open_sink(path, options);
  REQUIRE(sink->write_at(0, bytes_of(text)));
  REQUIRE(sink->commit());
}

mode_t mode_of(const std::string& path) {
  struct stat state{};
  REQUIRE(::stat(path.c_str(), &state) == 0);
  return state.st_mode & 07777;
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

// No file of this process may grow beyond `bytes`: the disk of a test is full. Nothing may be
// checked meanwhile, as stdout may be a file too.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// Remembers what it was asked to write.
class RecordingSink final : public btf::ByteSink {
 public:
  explicit RecordingSink(bool random_access) : random_access_(random_access) {}

  bool random_access() const override { return random_access_; }

  btf::Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (fails) return btf::fail(btf::ErrorCode::no_space, "full");
    in_order = in_order && offset == end_;
    end_ = offset + bytes.size();
    if (image.size() < end_) image.resize(end_);
    std::ranges::copy(bytes, image.begin() + static_cast<std::ptrdiff_t>(offset));
    writes.emplace_back(offset, bytes.size());
    return {};
  }

  btf::Status commit() override {
    committed = true;
    return {};
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> writes;
  Bytes image;
  bool in_order = true;
  bool committed = false;
  bool fails = false;

 private:
  bool random_access_;
  std::uint64_t end_ = 0;
};

}  // namespace

TEST_CASE("sink: a new file appears in commit and not before") {
  const ScratchDir dir;
  const std::string path = dir / "out";
  const auto sink = open_sink(path, {.size = 6});
  CHECK(sink->random_access());
  REQUIRE(sink->write_at(3, bytes_of("def")));
  REQUIRE(sink->write_at(0, bytes_of("abc")));
  CHECK(!fs::exists(path));
  REQUIRE(sink->commit());
  CHECK(read_file(path) == bytes_of("abcdef"));
  CHECK(dir.names() == Names{"out"});
}

TEST_CASE("sink: without commit a new file never appears") {
  const ScratchDir dir;
  {
    const auto sink = open_sink(dir / "out", {.size = 3});
    REQUIRE(sink->write_at(0, bytes_of("abc")));
  }
  CHECK(dir.names().empty());
}

TEST_CASE("sink: without commit an old file stays as it was") {
  const ScratchDir dir;
  const std::string path = dir / "out";
  write_file(path, bytes_of("old"));
  {
    const auto sink = open_sink(path, {.size = 8});
    REQUIRE(sink->write_at(0, bytes_of("new data")));
    CHECK(read_file(path) == bytes_of("old"));
  }
  CHECK(read_file(path) == bytes_of("old"));
  CHECK(dir.names() == Names{"out"});
}

TEST_CASE("sink: commit replaces an old file, whoever has it open keeps the old bytes") {
  const ScratchDir dir;
  const std::string path = dir / "out";
  write_file(path, bytes_of("old and longer"));
  const int reader = ::open(path.c_str(), O_RDONLY);
  put(path, "new");
  CHECK(read_file(path) == bytes_of("new"));
  CHECK(dir.names() == Names{"out"});

  char before[14];
  CHECK(::pread(reader, before, sizeof(before), 0) == 14);
  CHECK(std::string(before, 14) == "old and longer");
  ::close(reader);
}

TEST_CASE("sink: syncing gives the same file") {
  const ScratchDir dir;
  put(dir / "out", "abc", {.size = 3, .sync = true});
  CHECK(read_file(dir / "out") == bytes_of("abc"));
}

TEST_CASE("sink: two at once for one path, the last commit wins") {
  const ScratchDir dir;
  const auto first = open_sink(dir / "out");
  const auto second = open_sink(dir / "out");
  REQUIRE(first->write_at(0, bytes_of("first")));
  REQUIRE(second->write_at(0, bytes_of("second")));
  REQUIRE(second->commit());
  CHECK(read_file(dir / "out") == bytes_of("second"));
  REQUIRE(first->commit());
  CHECK(read_file(dir / "out") == bytes_of("first"));
  CHECK(dir.names() == Names{"out"});
}

TEST_CASE("sink: an empty file") {
  const ScratchDir dir;
  REQUIRE(open_sink(dir / "out")->commit());
  CHECK(read_file(dir / "out").empty());
}

TEST_CASE("sink: a new file has the mode that the umask leaves") {
  const ScratchDir dir;
  const Umask mask(027);
  put(dir / "out", "abc");
  CHECK(mode_of(dir / "out") == 0640);
}

TEST_CASE("sink: a file with a temporary name is its owner's alone until it is finished") {
  const ScratchDir dir;
  const Umask mask(027);
  write_file(dir / "old", bytes_of("old"));
  REQUIRE(::chmod((dir / "old").c_str(), 0664) == 0);
  for (const std::string name : {"new", "old"}) {
    std::set<std::string> seen;
    for (int i = 0; i < 3; ++i) {
      const auto place = btf::find_output(dir / name);
      REQUIRE(place);
      const auto opened = btf::replacing_sink(name, *place, {.size = 3}, false);
      REQUIRE(opened);
      btf::ByteSink* const sink = opened->get();
      const auto all = dir.names();
      const auto temporary = std::ranges::find_if(
          all, [](const std::string& file) { return file.starts_with(".btf-"); });
      REQUIRE(temporary != all.end());
      CHECK(mode_of(dir / *temporary) == 0600);
      CHECK(temporary->size() == std::string(".btf-").size() + 16);
      CHECK(seen.insert(*temporary).second);
      REQUIRE(sink->write_at(0, bytes_of("abc")));
      if (i < 2) continue;  // not committed: nothing stays
      REQUIRE(sink->commit());
    }
    CHECK(read_file(dir / name) == bytes_of("abc"));
    CHECK(mode_of(dir / name) == (name == "old" ? 0664 : 0640));
  }
  CHECK(dir.names() == Names{"new", "old"});
}

TEST_CASE("sink: an old file's mode is kept") {
  const ScratchDir dir;
  const std::string path = dir / "out";
  const Umask mask(077);
  write_file(path, bytes_of("old"));
  for (const mode_t mode : {0604U, 0755U, 0666U}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    put(path, "new");
    CHECK(mode_of(path) == mode);
  }
}

TEST_CASE("sink: a file that may not be written is not replaced") {
  if (::geteuid() == 0) return skip("a user who is not root");
  const ScratchDir dir;
  write_file(dir / "out", bytes_of("old"));
  REQUIRE(::chmod((dir / "out").c_str(), 0444) == 0);
  const btf::Error error = refusal(dir / "out");
  CHECK(error.code == btf::ErrorCode::io);
  CHECK(error.text() == (dir / "out") + ": cannot write: Permission denied");
}

TEST_CASE("sink: a symbolic link is followed and stays") {
  const ScratchDir dir;
  fs::create_directory(dir / "there");
  write_file(dir / "there/file", bytes_of("old"));
  fs::create_symlink("there/file", dir / "relative");
  fs::create_symlink(dir / "relative", dir / "absolute");
  put(dir / "absolute", "new");
  CHECK(fs::is_symlink(dir / "absolute"));
  CHECK(fs::is_symlink(dir / "relative"));
  CHECK(!fs::is_symlink(dir / "there/file"));
  CHECK(read_file(dir / "there/file") == bytes_of("new"));
  CHECK(dir.names() == Names{"absolute", "relative", "there"});
}

TEST_CASE("sink: a symbolic link to nothing creates its target") {
  const ScratchDir dir;
  fs::create_symlink("target", dir / "link");
  put(dir / "link", "new");
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(read_file(dir / "target") == bytes_of("new"));
}

TEST_CASE("sink: symbolic links in a circle are refused") {
  const ScratchDir dir;
  fs::create_symlink("b", dir / "a");
  fs::create_symlink("a", dir / "b");
  const btf::Error error = refusal(dir / "a");
  CHECK(error.code == btf::ErrorCode::io);
  CHECK(error.text() == (dir / "a") + ": too many levels of symbolic links");
}

TEST_CASE("sink: a file in the current directory") {
  const ScratchDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir / "");
  put("out", "abc");
  fs::current_path(before);
  CHECK(read_file(dir / "out") == bytes_of("abc"));
}

TEST_CASE("sink: a directory is refused") {
  const ScratchDir dir;
  fs::create_directory(dir / "sub");
  const btf::Error error = refusal(dir / "sub");
  CHECK(error.code == btf::ErrorCode::io);
  CHECK(error.text() == (dir / "sub") + ": is a directory, a file was expected");
  CHECK(fs::is_directory(dir / "sub"));
}

TEST_CASE("sink: a descriptor of this process is written in place, where it stands") {
  if (!fs::exists("/proc/self/fd")) return skip("/proc");
  const ScratchDir dir;
  const std::string path = dir / "out";
  for (const std::string folder : {"/proc/self/fd/", "/dev/fd/"}) {
    if (!fs::exists(folder)) continue;
    for (const int append : {0, O_APPEND}) {
      write_file(path, bytes_of("0123456789"));
      const int fd = ::open(path.c_str(), O_WRONLY | append);
      REQUIRE(::lseek(fd, 4, SEEK_SET) == 4);
      put(folder + std::to_string(fd), "ab");
      REQUIRE(::write(fd, "c", 1) == 1);
      ::close(fd);
      CHECK(read_file(path) == bytes_of(append != 0 ? "0123456789abc" : "0123abc789"));
    }
  }
  const int fd = ::open(path.c_str(), O_RDONLY);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  CHECK(refusal(name).text() == name + ": is not open for writing");
  ::close(fd);
  CHECK(refusal(name).text() == name + ": cannot open for writing: Bad file descriptor");
  // A number is a descriptor nowhere else.
  put(dir / "1", "abc");
  CHECK(read_file(dir / "1") == bytes_of("abc"));
}

TEST_CASE("sink: a missing directory is an error that names the file") {
  const ScratchDir dir;
  const btf::Error error = refusal(dir / "missing/out");
  CHECK(error.code == btf::ErrorCode::io);
  CHECK(error.text() == (dir / "missing/out") + ": cannot create: No such file or directory");
}

TEST_CASE("sink: a size that the file system has no room for is refused with both numbers") {
  const ScratchDir dir;
  write_file(dir / "out", bytes_of("old"));
  const btf::Error error = refusal(dir / "out", {.size = std::uint64_t{1} << 62});
  CHECK(error.code == btf::ErrorCode::no_space);
  CHECK_THAT(said(error), Catch::Matches("the result needs 4611686018427387904 bytes, the file "
                                         "system has [0-9]+ left"));
  CHECK(error.file == dir / "out");
  CHECK(read_file(dir / "out") == bytes_of("old"));
  CHECK(dir.names() == Names{"out"});

  // More than a file can have, and more than off_t.
  CHECK(refusal(dir / "out", {.size = UINT64_MAX}).code == btf::ErrorCode::no_space);
}

TEST_CASE("sink: a full disk leaves the old file") {
  const ScratchDir dir;
  const std::string path = dir / "out";
  write_file(path, bytes_of("old"));
  btf::Status status;
  SECTION("known at once, by the size") {
    {
      const SizeLimit limit(4096);
      const auto sink = btf::create_sink(path, {.size = 8192});
      if (!sink) status = std::unexpected(sink.error());
    }
    REQUIRE(!status);
    CHECK(status.error().text() == path + ": cannot reserve 8192 bytes: File too large");
  }
  SECTION("in the middle of writing") {
    {
      const SizeLimit limit(4096);
      const auto sink = btf::create_sink(path, {});
      if (sink && (*sink)->write_at(0, Bytes(4096))) status = (*sink)->write_at(4096, Bytes(1));
    }
    REQUIRE(!status);
    CHECK(status.error().text() == path + ": cannot write: File too large");
  }
  CHECK(status.error().code == btf::ErrorCode::no_space);
  CHECK(read_file(path) == bytes_of("old"));
  CHECK(dir.names() == Names{"out"});
}

TEST_CASE("sink: devices are written in place") {
  const auto sink = open_sink("/dev/null", {.size = 3});
  CHECK(!sink->random_access());
  CHECK(sink->write_at(0, bytes_of("abc")));
  const btf::Status back = sink->write_at(0, bytes_of("abc"));
  REQUIRE(!back);
  CHECK(back.error().code == btf::ErrorCode::unsupported);
  CHECK(back.error().text() == "/dev/null: the output cannot seek and byte 0 is not the next one");
  CHECK(sink->commit());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("sink: a write that fails is an error") {
  if (!fs::exists("/dev/full")) return skip("/dev/full");
  const auto sink = open_sink("/dev/full");
  const btf::Status status = sink->write_at(0, bytes_of("abc"));
  REQUIRE(!status);
  CHECK(status.error().code == btf::ErrorCode::no_space);
  CHECK(status.error().text() == "/dev/full: cannot write: No space left on device");
}

TEST_CASE("sink: small writes that cannot be written fail in commit at the latest") {
  if (!fs::exists("/dev/full")) return skip("/dev/full");
  const auto file = open_sink("/dev/full");
  const auto sink = btf::buffer_small_writes(*file);
  CHECK(sink->write_at(0, bytes_of("abc")));
  const btf::Status status = sink->commit();
  REQUIRE(!status);
  CHECK(status.error().code == btf::ErrorCode::no_space);
}

TEST_CASE("sink: a pipe gets the bytes in order") {
  const ScratchDir dir;
  const std::string path = dir / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  {
    const auto sink = open_sink(path);
    CHECK(!sink->random_access());
    REQUIRE(sink->write_at(0, bytes_of("abc")));
    REQUIRE(sink->write_at(3, bytes_of("def")));
    REQUIRE(sink->commit());
  }
  char bytes[16];
  CHECK(::read(reader, bytes, sizeof(bytes)) == 6);
  CHECK(std::string(bytes, 6) == "abcdef");
  ::close(reader);
  CHECK(fs::is_fifo(path));
}

TEST_CASE("gather: small writes that follow on one another become one") {
  RecordingSink file(false);
  const auto sink = btf::buffer_small_writes(file);
  for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(sink->write_at(2 * i, Bytes(2, std::byte(i))));
  CHECK(file.writes.empty());
  REQUIRE(sink->commit());
  CHECK(file.writes.size() == 1);
  CHECK(file.image.size() == 2000);
  CHECK(!file.committed);
}

TEST_CASE("gather: a jump writes what came before it first") {
  RecordingSink file(true);
  const auto sink = btf::buffer_small_writes(file);
  REQUIRE(sink->write_at(0, bytes_of("ab")));
  REQUIRE(sink->write_at(2, bytes_of("cd")));
  REQUIRE(sink->write_at(6, bytes_of("gh")));
  REQUIRE(sink->write_at(4, bytes_of("ef")));
  REQUIRE(sink->commit());
  CHECK(file.image == bytes_of("abcdefgh"));
  CHECK(file.writes == decltype(file.writes){{0, 4}, {6, 2}, {4, 2}});
}

TEST_CASE("gather: a large write behind small ones keeps the order of a stream") {
  for (const std::size_t large : {(64U << 10) - 1, 64U << 10, 100U << 10, 256U << 10, 1U << 20}) {
    RecordingSink file(false);
    const auto sink = btf::buffer_small_writes(file);
    const Bytes all = random_bytes(large + 20, large);
    const std::span<const std::byte> bytes(all);
    REQUIRE(sink->write_at(0, bytes.first(10)));
    REQUIRE(sink->write_at(10, bytes.subspan(10, large)));
    REQUIRE(sink->write_at(10 + large, bytes.last(10)));
    REQUIRE(sink->commit());
    CAPTURE(large);
    CHECK(file.in_order);
    CHECK(std::ranges::equal(file.image, all));
  }
}

TEST_CASE("gather: any sizes in order arrive whole and in order") {
  Random random(4);
  for (const bool random_access : {false, true}) {
    RecordingSink file(random_access);
    const auto sink = btf::buffer_small_writes(file);
    const Bytes all = random_bytes(4U << 20, 5);
    std::uint64_t at = 0;
    while (at < all.size()) {
      const std::uint64_t size = std::min<std::uint64_t>(
          all.size() - at, random.below(std::uint64_t{1} << random.between(1, 19)));
      REQUIRE(sink->write_at(at, std::span(all).subspan(at, size)));
      at += size;
    }
    REQUIRE(sink->commit());
    CHECK(std::ranges::equal(file.image, all));
    if (!random_access) CHECK(file.in_order);
  }
}

TEST_CASE("gather: pieces in any order end in their places") {
  Random random(6);
  RecordingSink file(true);
  const auto sink = btf::buffer_small_writes(file);
  constexpr std::uint64_t kPiece = 1000;
  const Bytes all = random_bytes(300 * kPiece, 7);
  std::vector<std::uint64_t> order(300);
  for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const std::uint64_t piece : order)
    REQUIRE(sink->write_at(piece * kPiece, std::span(all).subspan(piece * kPiece, kPiece)));
  REQUIRE(sink->commit());
  CHECK(std::ranges::equal(file.image, all));
}

TEST_CASE("gather: errors come through") {
  RecordingSink file(false);
  const auto sink = btf::buffer_small_writes(file);
  REQUIRE(sink->write_at(0, bytes_of("abc")));
  file.fails = true;
  CHECK(!sink->commit());
  CHECK(!btf::buffer_small_writes(file)->write_at(0, Bytes(1U << 20)));
}

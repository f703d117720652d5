// Paths of outputs, and what their names say.
#include "btf/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/write.h"
#include "core/names.h"
#include "formats/format_table.h"
#include "formats/io/output.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/skip.h"

namespace fs = std::filesystem;

namespace {

// So often "random" bytes are all zero.
int zero_names = 0;

}  // namespace

// In front of the C library's: the library asks it for the names of temporary files.
extern "C" ssize_t getrandom(void* bytes, std::size_t size, unsigned flags) {
  if (zero_names <= 0) return ::syscall(SYS_getrandom, bytes, size, flags);
  --zero_names;
  std::fill_n(static_cast<unsigned char*>(bytes), size, static_cast<unsigned char>(0));
  return static_cast<ssize_t>(size);
}

namespace {

// What would be written under such a name, or "".
std::string written(const std::string& path, const btf::ConvertOptions& options = {}) {
  const auto format = btf::output_format(path, options);
  return format ? std::string(*format) : "";
}

std::string message(const std::string& path, const btf::ConvertOptions& options = {}) {
  const auto format = btf::output_format(path, options);
  return format ? "" : format.error().text();
}

btf::TensorToWrite one_byte() {
  static const std::byte value{7};
  return {.tensor = {btf::DType::uint8,
                     btf::resolve(btf::Layout::linear, btf::Dims{1}, btf::DType::uint8).value(),
                     std::span(&value, 1)}};
}

// Those of formats, and all others.
std::vector<btf::FileEnding> all_endings() {
  std::vector<btf::FileEnding> endings(btf::other_endings().begin(), btf::other_endings().end());
  for (const btf::FormatRow& format : btf::formats())
    for (const btf::NameEnding& name : format.endings)
      if (!name.ending.empty()) endings.push_back(*btf::find_ending(name.ending));
  return endings;
}

}  // namespace

TEST_CASE("endings: each is there once, and one of a format is that of a row") {
  std::set<std::string_view> seen;
  for (const btf::FileEnding& row : all_endings()) {
    CAPTURE(row.ending);
    CHECK(seen.insert(row.ending).second);
    CHECK(row.ending.size() > 1);
    CHECK(row.ending.front() == '.');
    for (const char c : row.ending) CHECK(btf::ascii_lower(c) == c);
    CHECK(!row.title.empty());
    CHECK(btf::find_ending("dir.x/a.b" + std::string(row.ending))->ending == row.ending);
    if (!row.format.empty()) CHECK(btf::format_named(row.format).ending() == row.ending);
  }
  for (const btf::FormatRow& format : btf::formats()) {
    CAPTURE(format.name);
    // What ends in .json may be anything.
    const bool json = format.name.starts_with("polygraphy");
    CHECK(!format.ending().empty() == (format.writer != nullptr && !json));
  }
}

TEST_CASE("endings: a name that says something else is refused unless the format is said") {
  for (const btf::FileEnding& row : all_endings()) {
    for (const std::string packed : {"", ".zst"}) {
      const std::string path = "out" + std::string(row.ending) + packed;
      CAPTURE(path);
      btf::ConvertOptions options;
      if (!packed.empty()) options.compression = btf::kDefaultCompression;
      CHECK(written(path, options) == row.format);
      for (const std::string format : {"btf", "npy", "raw"}) {
        options.format = format;
        CHECK(written(path, options) == format);
      }
    }
  }
  for (const std::string path :
       {"out", "-", "out.bin", "dir.gguf/out", "gguf", "out.gguf_", "/dev/fd/1"})
    CHECK(written(path) == "btf");
  CHECK(message("out.GGUF").starts_with("out.GGUF: GGUF files are not written; these are: npy, "));
  CHECK(message("out.pt").starts_with("out.pt: PyTorch files are not written; these are: npy, "));
  CHECK(message("out.png").starts_with("out.png: an image is not written; these are: npy, "));
}

TEST_CASE("endings: what other tools read by its name is not compressed under it") {
  const btf::ConvertOptions packed{.compression = 1};
  CHECK(message("z.npy", packed) ==
        "z.npy: the extension says a NumPy array, the format is compressed NumPy .npy");
  CHECK(message("z.raw", packed).find("compressed raw bytes") != std::string::npos);
  CHECK(written("z.btf", packed) == "btf");
  CHECK(written("z", packed) == "btf");
  CHECK(written("z.npy.zst", packed) == "npy");
  CHECK(message("z.npy.zst") ==
        "z.npy.zst: the extension says a compressed file, the format is uncompressed NumPy .npy");
  CHECK(btf::compressed_by_name("z.npy.ZST"));
  CHECK_FALSE(btf::compressed_by_name("zst"));
}

TEST_CASE("endings: raw bytes by a spec are called neither BTF nor .npy") {
  btf::ConvertOptions options{.spec = btf::parse_tensor_spec("u8:3").value()};
  CHECK(written("x.raw", options) == "raw");
  CHECK(written("x.bin", options) == "raw");
  CHECK(message("x.btf", options) ==
        "x.btf: the extension says a BTF file, the format is raw bytes");
  CHECK(message("x.npy", options).find("the format is raw bytes") != std::string::npos);
  options.format = "raw";
  CHECK(written("x.btf", options) == "raw");
}

TEST_CASE("endings: tensors in memory go the same way") {
  const ScratchDir dir;
  const btf::TensorToWrite tensor = one_byte();
  for (const std::string name : {"x.gguf", "x.pt", "x.btf.zst"}) {
    CHECK_FALSE(btf::write_tensors(dir / name, std::span(&tensor, 1)));
    CHECK_FALSE(fs::exists(dir / name));
  }
  CHECK(btf::write_tensors(dir / "x.gguf", std::span(&tensor, 1), {.format = "btf"}));
  CHECK(btf::TensorFile::open(dir / "x.gguf")->format() == "btf");
  CHECK(btf::write_tensors(dir / "x.npy", std::span(&tensor, 1)));
  CHECK(btf::TensorFile::open(dir / "x.npy")->format() == "npy");
}

TEST_CASE("output: into a directory a file goes under the input's name") {
  const ScratchDir dir;
  fs::create_directory(dir / "d");
  fs::create_symlink("d", dir / "link");
  write_file(dir / "in.btf", {});
  CHECK(btf::output_path(dir / "d", "some/where/in.btf") == dir / "d/in.btf");
  CHECK(btf::output_path(dir / "d/", dir / "in.btf") == dir / "d/in.btf");
  CHECK(btf::output_path(dir / "link", dir / "in.btf") == dir / "link/in.btf");
  CHECK(btf::output_path(dir / "new", dir / "in.btf") == dir / "new");
  CHECK(btf::output_path(dir / "in.btf", dir / "in.btf") == dir / "in.btf");
  CHECK(btf::output_path("-", dir / "in.btf") == "-");
  CHECK_FALSE(btf::output_path(dir / "d", "-"));
  // The input itself is replaced when it is named, not by way of its directory.
  CHECK_FALSE(btf::output_path(dir / "", dir / "in.btf"));
}

TEST_CASE("output: convert puts its result into a directory too") {
  const ScratchDir dir;
  const std::string path = bytes::save(
      dir, "in.btf",
      bytes::file({bytes::dense(btf::DType::uint8, btf::Layout::linear, {3}, bytes::Bytes(3))}));
  fs::create_directory(dir / "d");
  const auto input = btf::TensorFile::open(path);
  REQUIRE(input);
  REQUIRE(btf::convert(*input, dir / "d", {}));
  CHECK(read_file(dir / "d/in.btf") == read_file(path));
}

TEST_CASE("output: whether it can be written is known without touching it") {
  const ScratchDir dir;
  write_file(dir / "old", {});
  CHECK(btf::check_output(dir / "new"));
  CHECK(btf::check_output(dir / "old"));
  CHECK(btf::check_output("/dev/null"));
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(btf::check_output(dir / "pipe"));  // nobody reads it, and nobody has to
  CHECK_FALSE(btf::check_output(dir / ""));
  CHECK_FALSE(btf::check_output(""));
  CHECK_FALSE(btf::check_output(dir / "nowhere/out"));
  CHECK_FALSE(btf::check_output(dir / "old/out"));
  CHECK_FALSE(btf::check_output(dir / std::string(300, 'x')));
  CHECK(dir.names() == std::vector<std::string>{"old", "pipe"});
}

TEST_CASE("output: a text is written whole") {
  const ScratchDir dir;
  CHECK(btf::write_text(dir / "a", "some text\n"));
  CHECK(btf::write_text(dir / "a", ""));
  CHECK(fs::file_size(dir / "a") == 0);
  const auto failure = btf::write_text(dir / "b/c", "x");
  REQUIRE_FALSE(failure);
  CHECK(failure.error().text() == (dir / "b/c") + ": cannot create: No such file or directory");
}

TEST_CASE("output: a temporary name that is taken is somebody else's") {
  for (const bool nameless : {true, false}) {
    CAPTURE(nameless);
    const ScratchDir dir;
    const std::string taken = dir / ".btf-0000000000000000";
    write_file(taken, bytes::hex("01"));
    // Whoever writes it has it locked; else it was left, and would be removed.
    const btf::Descriptor writer(::open(taken.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(::flock(writer.get(), LOCK_EX | LOCK_NB) == 0);
    write_file(dir / "out", bytes::hex("00"));
    const auto write = [&]() -> btf::Status {
      const auto place = btf::find_output(dir / "out");
      REQUIRE(place);
      auto sink = btf::replacing_sink("out", *place, {}, nameless);
      if (!sink) return std::unexpected(sink.error());
      const std::byte two{2};
      if (auto status = (*sink)->write_at(0, std::span(&two, 1)); !status) return status;
      return (*sink)->commit();
    };
    zero_names = 3;
    CHECK(write());
    CHECK(zero_names == 0);
    CHECK(read_file(dir / "out") == bytes::hex("02"));
    CHECK(read_file(taken) == bytes::hex("01"));
    CHECK(dir.names().size() == 2);
    // Where every name is taken it ends.
    zero_names = 1000;
    const btf::Status status = write();
    zero_names = 0;
    REQUIRE_FALSE(status);
    CHECK(said(status.error()).find("File exists") != std::string::npos);
    CHECK(read_file(dir / "out") == bytes::hex("02"));
    CHECK(dir.names().size() == 2);
  }
}

TEST_CASE("output: a new file needs no temporary name") {
  const ScratchDir dir;
  const btf::Descriptor nameless(::open((dir / ".").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!nameless.open()) return skip("a file system with files that have no name");
  zero_names = 1;
  CHECK(btf::write_text(dir / "new", "a"));
  CHECK(zero_names == 1);  // nobody asked for one
  CHECK(btf::write_text(dir / "new", "b"));
  CHECK(zero_names == 0);
  CHECK(dir.names().size() == 1);
}

TEST_CASE("output: one file by whatever name") {
  const ScratchDir dir;
  write_file(dir / "a", bytes::hex("01"));
  write_file(dir / "b", bytes::hex("01"));
  fs::create_hard_link(dir / "a", dir / "hard");
  fs::create_symlink("a", dir / "soft");
  fs::create_symlink("new", dir / "to_new");
  const std::vector<std::string> inputs{dir / "b", dir / "a"};
  for (const char* const name : {"a", "hard", "soft"}) {
    INFO(name);
    CHECK(btf::overwritten(dir / name, inputs).value() == dir / "a");
    CHECK(btf::output_exists(dir / name).value());
  }
  CHECK_FALSE(btf::overwritten(dir / "new", inputs).value());
  CHECK_FALSE(btf::output_exists(dir / "to_new").value());
  CHECK_FALSE(btf::output_exists("/dev/null").value());
  const std::vector<std::string> null{"/dev/null"};
  CHECK_FALSE(btf::overwritten("/dev/null", null).value());
  CHECK(btf::same_output(dir / "soft", dir / "a"));
  CHECK(btf::same_output(dir / "to_new", dir / "new"));
  CHECK(btf::same_output(dir / "new", dir / "./new"));
  CHECK_FALSE(btf::same_output(dir / "hard", dir / "a"));
  CHECK_FALSE(btf::same_output("/dev/null", "/dev/null"));
  const btf::Descriptor open(::open((dir / "a").c_str(), O_RDWR | O_CLOEXEC));
  const std::string descriptor = "/dev/fd/" + std::to_string(open.get());
  CHECK(btf::overwritten(descriptor, inputs).value() == dir / "a");
  CHECK(btf::same_output(descriptor, dir / "hard"));
  CHECK(btf::written_in_place(descriptor));
  CHECK_FALSE(btf::written_in_place(dir / "a"));
}

TEST_CASE("output: names of those that are not finished") {
  CHECK(btf::is_unfinished(".btf-0123456789abcdef"));
  for (const char* const other :
       {".btf-0123456789abcde", ".btf-0123456789abcdef0", ".btf-0123456789ABCDEF",
        "btf-0123456789abcdef", ".btf-0123456789abcdeg", ".btf-", ""}) {
    INFO(other);
    CHECK_FALSE(btf::is_unfinished(other));
  }
}

TEST_CASE("output: formats that can be written, and no others") {
  const auto names = btf::output_formats();
  for (const btf::FormatRow& row : btf::formats()) {
    INFO(row.name);
    btf::ConvertOptions options;
    options.format = row.name;
    const bool listed = std::ranges::find(names, row.name) != names.end();
    CHECK(btf::output_format("-", options).has_value() == listed);
  }
  CHECK(std::ranges::find(names, "btf") != names.end());
}

// Errors of the system carry their errno, wherever they arise: a binding raises by it.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/validate.h"
#include "btf/write.h"
#include "support/scratch_dir.h"

namespace {

const std::string kMixed = BTF_TESTDATA_DIR "/good/mixed.btf";

int opening(const std::string& path) {
  const auto file = btf::TensorFile::open(path);
  return file ? 0 : file.error().system;
}

int writing(const std::string& path) {
  const auto file = btf::TensorFile::open(kMixed);
  REQUIRE(file);
  const auto size = btf::convert(*file, path, {});
  return size ? 0 : size.error().system;
}

// As a user who is not allowed everything.
class Unprivileged {
 public:
  Unprivileged() {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0) changed_ = ::seteuid(kNobody) == 0;
  }
  ~Unprivileged() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }
  bool possible() const { return changed_ || ::geteuid() != 0; }

 private:
  bool changed_ = false;
};

}  // namespace

TEST_CASE("errno: of paths that cannot be opened") {
  const ScratchDir scratch;
  CHECK(opening(scratch / "none.btf") == ENOENT);
  CHECK(opening(kMixed + "/x") == ENOTDIR);
  CHECK(opening(BTF_TESTDATA_DIR) == EISDIR);
  CHECK(opening(scratch / std::string(300, 'x')) == ENAMETOOLONG);
  std::filesystem::create_symlink("loop", scratch / "loop");
  CHECK(opening(scratch / "loop") == ELOOP);
  CHECK(opening(kMixed) == 0);
  write_file(scratch / "empty.btf", {});
  CHECK(opening(scratch / "empty.btf") == 0);  // a fault of the file, not of the system
  const auto found = btf::validate(scratch / "none.btf", [](const btf::Finding&) {});
  REQUIRE_FALSE(found);
  CHECK(found.error().system == ENOENT);
}

TEST_CASE("errno: of outputs that cannot be written") {
  const ScratchDir scratch;
  CHECK(writing("/dev/full") == ENOSPC);
  CHECK(writing(scratch / "none/x.btf") == ENOENT);
  CHECK(writing(kMixed + "/x.btf") == ENOTDIR);
  const auto directory = btf::write_tensors(scratch / ".", {});
  REQUIRE_FALSE(directory);
  CHECK(directory.error().system == EISDIR);
  CHECK(writing("") == ENOENT);
  std::filesystem::create_symlink("loop", scratch / "loop");
  CHECK(writing(scratch / "loop") == ELOOP);
  CHECK(writing(scratch / "out.btf") == 0);
}

TEST_CASE("errno: of a pipe that nobody reads") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  CHECK(writing("/dev/fd/" + std::to_string(ends[1])) == EPIPE);
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
}

TEST_CASE("errno: of what is not allowed") {
  const ScratchDir scratch;
  write_file(scratch / "secret.btf", read_file(kMixed));
  std::filesystem::create_directory(scratch / "closed");
  std::filesystem::permissions(scratch / "secret.btf", std::filesystem::perms::none);
  std::filesystem::permissions(scratch / "closed", std::filesystem::perms::none);
  std::filesystem::permissions(scratch / ".", std::filesystem::perms(0755));
  const std::string here = scratch / "";
  {
    const Unprivileged user;
    if (!user.possible()) return;
    CHECK(opening(here + "secret.btf") == EACCES);
    CHECK(opening(here + "closed/x.btf") == EACCES);
    CHECK(writing(here + "closed/x.btf") == EACCES);
    const auto set = btf::TensorSet::open(here + "closed");
    const btf::Error* const trouble = set && set->member_count() > 0 ? set->trouble(0) : nullptr;
    CHECK((set ? trouble != nullptr && trouble->system == EACCES : set.error().system == EACCES));
  }
  std::filesystem::permissions(scratch / "closed", std::filesystem::perms::owner_all);
}

TEST_CASE("errno: of members of a set") {
  const ScratchDir scratch;
  std::filesystem::create_symlink("gone.btf", scratch / "a.btf");
  const auto set = btf::TensorSet::open(scratch / ".");
  REQUIRE(set);
  REQUIRE(set->member_count() == 1);
  const auto file = set->file(0);
  REQUIRE_FALSE(file);
  CHECK(file.error().system == ENOENT);
}

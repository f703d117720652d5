#include "btf/try.h"
#include "diff/file_pairs.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace btftool {
namespace {

using btf::ErrorCode;

btf::Error cannot_open(const std::string& path, int error) {
  return btf::Error{ErrorCode::io, std::string("cannot open: ") + std::strerror(error)}.in_file(
      path);
}

btf::Result<bool> is_directory(const std::string& path) {
  struct stat status {};
  if (path == "-") return false;
  if (::stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  // These are said of the pair, when its file is opened.
  constexpr std::array kOfThePair{ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
  if (std::ranges::find(kOfThePair, errno) != kOfThePair.end()) return false;
  return std::unexpected(cannot_open(path, errno));
}

std::string join(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool matches(const std::string& glob, const std::string& path) {
  return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0 ||
         ::fnmatch(glob.c_str(), base_name(path).c_str(), 0) == 0;
}

// The names in a directory; or an error of the system, by its number.
int list(const std::string& path, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return errno;
  for (;;) {
    // The end and an error look the same but for errno.
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) return errno;
    names.emplace_back(entry->d_name);
  }
}

// The files below a directory, by relative path.
class Walk {
 public:
  using Side = std::string FilePair::*;

  Walk(const DiffCommand& command, std::map<std::string, Candidate>& found)
      : command_(command), found_(found) {}

  btf::Status run(const std::string& root, Side side) {
    side_ = side;
    struct stat status {};
    if (::stat(root.c_str(), &status) != 0) return std::unexpected(cannot_open(root, errno));
    enter(root, "", status);
    const auto trouble = found_.find("");
    return trouble == found_.end() ? btf::Status() : std::unexpected(*trouble->second.error);
  }

 private:
  void enter(const std::string& path, const std::string& relative, const struct stat& status) {
    const auto [place, fresh] = open_.emplace(status.st_dev, status.st_ino);
    if (!fresh) {
      add(path, relative, "a directory that contains itself");
      return;
    }
    std::vector<std::string> names;
    if (const int error = list(path, names); error != 0)
      add(path, relative, std::string("cannot read the directory: ") + std::strerror(error));
    for (const std::string& name : names)
      if (name != "." && name != "..")
        visit(join(path, name), relative.empty() ? name : join(relative, name));
    open_.erase(place);
  }

  void visit(const std::string& path, const std::string& relative) {
    struct stat status {};
    const int error = ::stat(path.c_str(), &status) == 0 ? 0 : errno;
    if (error == 0 && S_ISDIR(status.st_mode)) return enter(path, relative, status);
    if (!wanted(relative)) return;
    std::string trouble;
    if (error != 0) trouble = std::string("cannot open: ") + std::strerror(error);
    if (error == 0 && !S_ISREG(status.st_mode)) trouble = "not a regular file";
    Candidate& candidate = add(path, relative, trouble);
    candidate.files.bytes =
        std::max(candidate.files.bytes, static_cast<std::uint64_t>(status.st_size));
  }

  Candidate& add(const std::string& path, const std::string& relative, const std::string& trouble) {
    Candidate& candidate = found_[relative];
    candidate.files.name = relative;
    candidate.files.*side_ = path;
    if (!trouble.empty() && !candidate.error)
      candidate.error = btf::Error{ErrorCode::io, trouble}.in_file(path);
    return candidate;
  }

  bool wanted(const std::string& relative) const {
    const auto match = [&](const std::string& glob) { return matches(glob, relative); };
    return (command_.include.empty() || std::ranges::any_of(command_.include, match)) &&
           std::ranges::none_of(command_.exclude, match);
  }

  const DiffCommand& command_;
  std::map<std::string, Candidate>& found_;
  Side side_ = nullptr;
  std::set<std::pair<dev_t, ino_t>> open_;  // the directory that is looked into and those around it
};

btf::Result<FilePairs> pair_directories(const DiffCommand& command) {
  std::map<std::string, Candidate> found;
  Walk walk(command, found);
  btf::Status status = walk.run(command.actual, &FilePair::actual);
  if (status) status = walk.run(command.golden, &FilePair::golden);
  if (!status) return std::unexpected(status.error());
  for (const std::string& glob : command.include)
    if (std::ranges::none_of(found, [&](const auto& file) { return matches(glob, file.first); }))
      return btf::fail(ErrorCode::refused, "no file matches --include '" + glob + "'");
  if (found.empty())
    return btf::fail(ErrorCode::refused, "nothing was compared: there is no file in " +
                                             command.actual + " or " + command.golden);
  FilePairs result{.directories = true, .pairs = {}};
  for (auto& [name, candidate] : found) result.pairs.push_back(std::move(candidate));
  return result;
}

}  // namespace

btf::Result<FilePairs> find_pairs(const DiffCommand& command) {
  BTF_ASSIGN(const bool left, is_directory(command.actual));
  BTF_ASSIGN(const bool right, is_directory(command.golden));
  if (left && right) return pair_directories(command);
  if (!command.include.empty() || !command.exclude.empty())
    return btf::fail(ErrorCode::invalid_argument,
                     "--include and --exclude go with two directories");
  if ((left && command.golden == "-") || (right && command.actual == "-"))
    return btf::fail(ErrorCode::invalid_argument, "- cannot be compared with a directory");
  FilePair pair{"", command.actual, command.golden, 0};
  if (left) pair.actual = join(command.actual, base_name(command.golden));
  if (right) pair.golden = join(command.golden, base_name(command.actual));
  pair.name = pair.actual;
  return FilePairs{.directories = false, .pairs = {{std::move(pair)}}};
}

}  // namespace btftool

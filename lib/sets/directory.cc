#include "sets/directory.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "btf/tensor_set.h"
#include "formats/io/replacing_sink.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

Error cannot_open(const std::string& path, int error) {
  Error refused = Error{ErrorCode::io, std::string("cannot open: ") + std::strerror(error)}.in_file(path);
  refused.system = error;
  return refused;
}

enum class Kind : std::uint8_t { file, directory, other };

struct Entry {
  std::string name;
  Kind kind = Kind::other;
  int error = 0;  // of the system: what it is is not known
  dev_t device{};  // of a directory
  ino_t inode{};
};

// Asks the file itself only where the directory does not say what it is.
void identify(int directory, const dirent& found, Entry& entry) {
  if (found.d_type == DT_REG) {
    entry.kind = Kind::file;
    return;
  }
  struct stat status {};
  if (::fstatat(directory, found.d_name, &status, 0) != 0) {
    entry.error = errno;
    return;
  }
  if (S_ISREG(status.st_mode)) entry.kind = Kind::file;
  if (S_ISDIR(status.st_mode)) entry.kind = Kind::directory;
  entry.device = status.st_dev;
  entry.inode = status.st_ino;
}

// The entries of a directory; or an errno.
int list(const std::string& path, std::vector<Entry>& entries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return errno;
  for (;;) {
    // The end and an error look the same but for errno.
    errno = 0;
    const dirent* const found = ::readdir(directory.get());
    if (found == nullptr) return errno;
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    identify(::dirfd(directory.get()), *found, entries.emplace_back(std::string(name)));
  }
}

class Walk {
 public:
  Result<DirectoryListing> run(const std::string& root) {
    struct stat status {};
    if (::stat(root.c_str(), &status) != 0) return std::unexpected(cannot_open(root, errno));
    enter(root, "", status.st_dev, status.st_ino);
    if (root_trouble_) return std::unexpected(*root_trouble_);
    return sorted();
  }

  Result<DirectoryListing> of_list(const std::string& root, const FileList& list, bool may_lack) {
    for (std::string place : list.files) {
      while (place.starts_with("./")) place.erase(0, 2);
      if (!leads_below(place))
        return std::unexpected(Error{ErrorCode::invalid_argument,
                                     "'" + place + "' is no path below a directory"}
                                   .in_file(list.path));
      struct stat status {};
      const std::string path = join_path(root, place);
      const int error = ::stat(path.c_str(), &status) == 0 ? 0 : errno;
      if (error == 0 && S_ISREG(status.st_mode)) {
        found_.push_back(std::move(place));
        continue;
      }
      if (error == ENOENT && may_lack) continue;
      refuse(path, place,
             error == 0 ? "not a regular file"
                        : std::string("cannot open: ") + std::strerror(error),
             error);
    }
    DirectoryListing listing = sorted();
    const auto twice = std::ranges::adjacent_find(listing.places);
    if (twice == listing.places.end()) return listing;
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "'" + *twice + "' is there twice"}.in_file(list.path));
  }

 private:
  void enter(const std::string& path, const std::string& place, dev_t device, ino_t inode) {
    const auto [at, fresh] = open_.emplace(device, inode);
    if (!fresh) return refuse(path, place, "a directory that contains itself");
    std::vector<Entry> entries;
    if (const int error = list(path, entries); error != 0)
      refuse(path, place, std::string("cannot read the directory: ") + std::strerror(error), error);
    for (const Entry& entry : entries)
      visit(path, place.empty() ? entry.name : join_path(place, entry.name), entry);
    open_.erase(at);
  }

  void visit(const std::string& parent, std::string place, const Entry& entry) {
    if (entry.kind == Kind::file)
      return (is_unfinished(entry.name) ? unfinished_ : found_).push_back(std::move(place));
    const std::string path = join_path(parent, entry.name);
    if (entry.kind == Kind::directory) return enter(path, place, entry.device, entry.inode);
    refuse(path, place,
           entry.error == 0 ? "not a regular file"
                            : std::string("cannot open: ") + std::strerror(entry.error),
           entry.error);
  }

  void refuse(const std::string& path, const std::string& place, const std::string& trouble,
              int system = 0) {
    Error error = Error{ErrorCode::io, trouble}.in_file(path);
    error.system = system;
    if (place.empty()) {
      root_trouble_ = error;
      return;
    }
    trouble_.emplace(found_.size(), error);
    found_.push_back(place);
  }

  static bool leads_below(std::string_view place) {
    if (place.empty() || place.starts_with('/')) return false;
    while (!place.empty()) {
      const std::size_t end = std::min(place.find('/'), place.size());
      if (place.substr(0, end) == "..") return false;
      place.remove_prefix(std::min(end + 1, place.size()));
    }
    return true;
  }

  DirectoryListing sorted() {
    std::vector<std::uint64_t> order(found_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, natural_less,
                      [&](std::uint64_t i) -> std::string_view { return found_[i]; });
    DirectoryListing listing;
    listing.unfinished = std::move(unfinished_);
    std::ranges::sort(listing.unfinished, natural_less);
    listing.places.reserve(order.size());
    for (const std::uint64_t from : order) {
      if (const auto trouble = trouble_.find(from); trouble != trouble_.end())
        listing.trouble.emplace(listing.places.size(), std::move(trouble->second));
      listing.places.push_back(std::move(found_[from]));
    }
    return listing;
  }

  std::vector<std::string> found_;
  std::vector<std::string> unfinished_;
  std::map<std::uint64_t, Error> trouble_;
  std::optional<Error> root_trouble_;
  std::set<std::pair<dev_t, ino_t>> open_;  // the directory that is looked into and those around it
};

}  // namespace

Result<bool> is_directory(const std::string& path) {
  struct stat status {};
  if (path == "-") return false;
  if (::stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  // These are said of the file, when it is opened.
  constexpr std::array kOfTheFile{ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
  if (std::ranges::find(kOfTheFile, errno) != kOfTheFile.end()) return false;
  return std::unexpected(cannot_open(path, errno));
}

std::string join_path(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

Result<DirectoryListing> list_directory(const std::string& path) { return Walk().run(path); }

Result<DirectoryListing> take_list(const std::string& directory, const FileList& list,
                                   bool may_lack) {
  return Walk().of_list(directory, list, may_lack);
}

}  // namespace btf

#include "sets/directory.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "btf/did_you_mean.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// The length of the common prefix of both.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  for (; at + sizeof(left) <= most; at += sizeof(left)) {
    std::memcpy(&left, a.data() + at, sizeof(left));
    std::memcpy(&right, b.data() + at, sizeof(right));
    if (left != right) break;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && digit(text[end])) ++end;
  return end - at;
}

// Removes the run of digits at the beginning of the text and returns it.
std::string_view take_number(std::string_view& text) {
  const std::size_t end = digits_at(text, 0);
  const std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  return number;
}

std::string_view without_zeros(std::string_view number) {
  return number.substr(std::min(number.find_first_not_of('0'), number.size()));
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  // Names below a directory share a beginning. If it ends within a number, the whole number is
  // compared.
  std::size_t begin = common_prefix(a, b);
  // Most names differ in no number, or in two of equal length.
  if (begin < a.size() && begin < b.size() && digits_at(a, begin) == digits_at(b, begin))
    return static_cast<unsigned char>(a[begin]) < static_cast<unsigned char>(b[begin]);
  while (begin > 0 && digit(a[begin - 1])) --begin;
  a.remove_prefix(begin);
  b.remove_prefix(begin);
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view left = without_zeros(take_number(a));
      const std::string_view right = without_zeros(take_number(b));
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      const auto left = static_cast<unsigned char>(a.front());
      const auto right = static_cast<unsigned char>(b.front());
      if (left != right) return left < right;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  // "01" and "1" have the same value.
  if (a.empty() && b.empty()) return whole_a < whole_b;
  return a.empty();
}

namespace {

constexpr std::size_t kMaxAhead = 32;

}  // namespace

FilePrefetcher::FilePrefetcher(std::vector<std::uint64_t> order, std::uint64_t members, Open open)
    : open_(std::move(open)),
      order_(std::move(order)),
      place_(members, order_.size()),
      slots_(open_files(kMaxAhead)) {
  for (std::uint64_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
  thread_.start(1, [this](unsigned) { run(); });
}

FilePrefetcher::~FilePrefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_one();
}

// An error is dropped here; it occurs again when the member is opened by its reader.
std::optional<TensorFile> FilePrefetcher::open_quietly(std::uint64_t member) noexcept try {
  auto file = open_(member);
  if (!file) return std::nullopt;
  return *std::move(file);
} catch (...) {
  return std::nullopt;
}

void FilePrefetcher::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Full: continue once half of the slots are free.
    if (next_ >= taken_ + slots_.size())
      room_.wait(lock, [&] { return stop_ || next_ <= taken_ + slots_.size() / 2; });
    if (stop_ || next_ >= order_.size()) return;
    const std::uint64_t place = next_++;
    slot(place).state = State::busy;
    lock.unlock();
    std::optional<TensorFile> file = open_quietly(order_[place]);
    lock.lock();
    Slot& filled = slot(place);
    filled.file = std::move(file);
    filled.state = State::done;
    opened_.notify_one();
  }
}

std::optional<TensorFile> FilePrefetcher::take(std::uint64_t member) {
  const std::uint64_t place = place_[member];
  std::optional<TensorFile> file;
  std::vector<std::optional<TensorFile>> unwanted;  // closed without the lock
  std::unique_lock lock(mutex_);
  if (place >= order_.size() || place < taken_) return file;
  // The thread must not open this member, nor the skipped ones before it.
  const std::uint64_t begun = std::exchange(next_, std::max(next_, place + 1));
  for (std::uint64_t at = taken_; at < std::min(begun, place + 1); ++at) {
    Slot& held = slot(at);
    opened_.wait(lock, [&] { return held.state == State::done; });
    held.state = State::empty;
    if (at == place)
      file = std::exchange(held.file, std::nullopt);
    else
      unwanted.push_back(std::exchange(held.file, std::nullopt));
  }
  taken_ = place + 1;
  const bool worth = next_ <= taken_ + slots_.size() / 2;
  lock.unlock();
  if (worth) room_.notify_one();
  return file;
}

namespace {

using Numbers = std::vector<std::uint64_t>;

bool has_wildcard(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

class Selector {
 public:
  explicit Selector(const Selectable& tensors) : tensors_(tensors) {}

  Result<Numbers> run(std::string_view text) {
    for (;;) {
      const std::size_t comma = text.find(',');
      BTF_TRY(add(text.substr(0, comma)));
      if (comma == text.npos) break;
      text.remove_prefix(comma + 1);
    }
    if (!only_left_out_ && left_out_.empty()) return std::move(taken_);
    if (only_left_out_) {
      taken_.resize(tensors_.count);
      std::iota(taken_.begin(), taken_.end(), 0);
    }
    std::ranges::sort(left_out_);
    std::erase_if(taken_,
                  [&](std::uint64_t i) { return std::ranges::binary_search(left_out_, i); });
    return std::move(taken_);
  }

 private:
  Status add(std::string_view item) {
    const bool out = item.starts_with('!');
    if (out) item.remove_prefix(1);
    only_left_out_ = only_left_out_ && out;
    BTF_ASSIGN(const Numbers found, find(item));
    Numbers& target = out ? left_out_ : taken_;
    target.insert(target.end(), found.begin(), found.end());
    return {};
  }

  Result<Numbers> find(std::string_view item) const {
    if (item.empty())
      return fail(ErrorCode::invalid_argument,
                  "a selection has an empty part; a number, a range such as 2-5 or a name was "
                  "expected");
    if (item.front() == '@') return by_name(item.substr(1));
    // A dash that is not the first character makes a range.
    const std::size_t dash = item.find('-', 1);
    const auto first = parse_number<std::int64_t>(item.substr(0, dash));
    const auto last =
        dash < item.size() ? parse_number<std::int64_t>(item.substr(dash + 1)) : first;
    if (!first || !last) return by_name(item);
    return range(item, *first, *last);
  }

  Result<Numbers> range(std::string_view item, std::int64_t first, std::int64_t last) const {
    BTF_ASSIGN(const std::uint64_t from, position(first));
    BTF_ASSIGN(const std::uint64_t to, position(last));
    if (from > to)
      return fail(ErrorCode::invalid_argument,
                  "the range " + std::string(item) + " ends before it begins");
    Numbers found(to - from + 1);
    std::iota(found.begin(), found.end(), from);
    return found;
  }

  Result<std::uint64_t> position(std::int64_t number) const {
    if (const auto found = resolve_index(number, tensors_.count)) return *found;
    return fail(ErrorCode::invalid_argument, "there is no tensor " + std::to_string(number) + ", " +
                                                 std::string(tensors_.what) + " has " +
                                                 std::to_string(tensors_.count));
  }

  // An exact name takes precedence over a glob, since names may have brackets.
  Result<Numbers> by_name(std::string_view name) const {
    Numbers found = matching([&](const std::string& own) { return own == name; });
    if (found.size() > 1) return several(name, found);
    if (found.empty() && has_wildcard(name)) {
      const std::string glob(name);
      found = matching(
          [&](const std::string& own) { return ::fnmatch(glob.c_str(), own.c_str(), 0) == 0; });
    }
    if (!found.empty()) return found;
    return fail(ErrorCode::invalid_argument, "no tensor of " + std::string(tensors_.what) +
                                                 " is called '" + std::string(name) + "'" +
                                                 similar(name));
  }

  template <typename Matches>
  Numbers matching(const Matches& matches) const {
    Numbers found;
    for (std::uint64_t i = 0; i < tensors_.count; ++i)
      if (matches(tensors_.name(i))) found.push_back(i);
    return found;
  }

  std::unexpected<Error> several(std::string_view name, const Numbers& found) const {
    std::string numbers;
    for (std::size_t i = 0; i < found.size() && i < kShown; ++i)
      numbers += (i == 0 ? "" : ", ") + std::to_string(found[i]);
    if (found.size() > kShown) numbers += ", ...";
    return fail(ErrorCode::invalid_argument, "tensors " + numbers + " are all called '" +
                                                 std::string(name) +
                                                 "': select them by their numbers");
  }

  // A similar name, and the first ones.
  std::string similar(std::string_view name) const {
    constexpr std::uint64_t kAsked = 100'000;
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < tensors_.count && i < kAsked; ++i)
      names.push_back(tensors_.name(i));
    return did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())) +
           examples();
  }

  std::string examples() const {
    std::string text;
    for (std::uint64_t i = 0; i < tensors_.count && i < kShown; ++i)
      text += (i == 0 ? "; there are " : ", ") + tensors_.name(i);
    return text + (tensors_.count > kShown ? ", ..." : "");
  }

  static constexpr std::size_t kShown = 5;

  const Selectable& tensors_;
  Numbers taken_;
  Numbers left_out_;
  bool only_left_out_ = true;
};

}  // namespace

Result<std::vector<std::uint64_t>> select_tensors(std::string_view text,
                                                  const Selectable& tensors) {
  return Selector(tensors).run(text);
}

namespace {

Error cannot_open(const std::string& path, int error) {
  Error refused =
      Error{ErrorCode::io, std::string("cannot open: ") + std::strerror(error)}.in_file(path);
  refused.system = error;
  return refused;
}

enum class Kind : std::uint8_t { file, directory, other };

struct Entry {
  std::string name;
  Kind kind = Kind::other;
  int error = 0;   // errno if its kind could not be determined
  dev_t device{};  // for a directory
  ino_t inode{};
};

// Calls stat() only if the directory entry does not tell the kind.
void identify(int directory, const dirent& found, Entry& entry) {
  if (found.d_type == DT_REG) {
    entry.kind = Kind::file;
    return;
  }
  struct stat status{};
  if (::fstatat(directory, found.d_name, &status, 0) != 0) {
    entry.error = errno;
    return;
  }
  if (S_ISREG(status.st_mode)) entry.kind = Kind::file;
  if (S_ISDIR(status.st_mode)) entry.kind = Kind::directory;
  entry.device = status.st_dev;
  entry.inode = status.st_ino;
}

// Lists the entries of a directory; returns an errno or 0.
int list(const std::string& path, std::vector<Entry>& entries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (directory == nullptr) return errno;
  for (;;) {
    // readdir() returns null at the end and on errors, which only set errno.
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
    struct stat status{};
    if (::stat(root.c_str(), &status) != 0) return std::unexpected(cannot_open(root, errno));
    enter(root, "", status.st_dev, status.st_ino);
    if (root_trouble_) return std::unexpected(*root_trouble_);
    return sorted();
  }

  Result<DirectoryListing> of_list(const std::string& root, const FileList& list, bool may_lack) {
    for (std::string place : list.files) {
      while (place.starts_with("./")) place.erase(0, 2);
      if (!leads_below(place))
        return std::unexpected(
            Error{ErrorCode::invalid_argument, "'" + place + "' is not a path below the directory"}
                .in_file(list.path));
      struct stat status{};
      const std::string path = join_path(root, place);
      const int error = ::stat(path.c_str(), &status) == 0 ? 0 : errno;
      if (error == 0 && S_ISREG(status.st_mode)) {
        found_.push_back(std::move(place));
        continue;
      }
      if (error == ENOENT && may_lack) continue;
      refuse(
          path, place,
          error == 0 ? "not a regular file" : std::string("cannot open: ") + std::strerror(error),
          error);
    }
    DirectoryListing listing = sorted();
    const auto twice = std::ranges::adjacent_find(listing.places);
    if (twice == listing.places.end()) return listing;
    return std::unexpected(
        Error{ErrorCode::invalid_argument, "'" + *twice + "' is listed twice"}.in_file(list.path));
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
  std::set<std::pair<dev_t, ino_t>> open_;  // the current directory and those around it
};

}  // namespace

Result<bool> is_directory(const std::string& path) {
  if (path == "-") return false;
  // A path that does not exist is reported when it is opened as a file.
  BTF_ASSIGN(const std::optional<struct stat> status, status_of_path(path));
  return status && S_ISDIR(status->st_mode);
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

// Files below a directory in natural order, opening files ahead, and the selection of tensors.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/file.h"
#include "core/resources.h"

namespace btf {

// Compares runs of digits by value and everything else by bytes. Different names are never equal.
bool natural_less(std::string_view a, std::string_view b);

// Opens files on its own thread before they are needed, in an order that is known in advance.

class FilePrefetcher {
 public:
  // Called by both threads, for different members.
  using Open = std::function<Result<TensorFile>(std::uint64_t member)>;

  // `order` holds some or all of the members, without repetitions.
  FilePrefetcher(std::vector<std::uint64_t> order, std::uint64_t members, Open open);
  ~FilePrefetcher();
  FilePrefetcher(const FilePrefetcher&) = delete;
  FilePrefetcher& operator=(const FilePrefetcher&) = delete;

  // Returns the opened member; unset if it is not ahead in the order, or if the thread has not
  // reached it, which then skips it. Members before it that were not taken are closed.
  std::optional<TensorFile> take(std::uint64_t member);

 private:
  enum class State : std::uint8_t { empty, busy, done };
  struct Slot {
    State state = State::empty;
    std::optional<TensorFile> file;  // unset if it could not be opened
  };

  void run();
  std::optional<TensorFile> open_quietly(std::uint64_t member) noexcept;
  Slot& slot(std::uint64_t place) { return slots_[place % slots_.size()]; }

  Open open_;
  std::vector<std::uint64_t> order_;
  // Position of each member in the order; the number of members if it has none.
  std::vector<std::uint64_t> place_;

  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable opened_;
  std::vector<Slot> slots_;
  std::uint64_t next_ = 0;   // the next position to open
  std::uint64_t taken_ = 0;  // positions before this are not needed any more
  bool stop_ = false;
  Workers thread_;
};

// The tensors to select from. `name` is only called if the selection contains names.
struct Selectable {
  std::uint64_t count = 0;
  std::function<std::string(std::uint64_t)> name;
  std::string_view what;  // what they are called in messages, as "the file"
};

// Selects by numbers and ranges, where negative numbers count from the end, else by names or globs.
// "@" precedes a name, "!" an item to leave out, of all tensors if nothing else is selected. The
// result has the order of the items, and of the tensors within a glob. Example:
// "0,2-5,-1,conv*,!fc".
Result<std::vector<std::uint64_t>> select_tensors(std::string_view text, const Selectable& tensors);

// Files below a directory.

struct DirectoryListing {
  std::vector<std::string> places;         // paths below the directory, in natural order
  std::map<std::uint64_t, Error> trouble;  // by index of the place: not a file, or cannot be opened
  std::vector<std::string>
      unfinished{};  // outputs that are being written, or were left; not among those
};

std::string join_path(const std::string& directory, const std::string& name);

// Lists all files, following symbolic links, except for unfinished outputs. An error if the
// directory itself cannot be read.
Result<DirectoryListing> list_directory(const std::string& path);

// Lists the given files of a directory without looking for others. A missing file is recorded as
// trouble, or left out with `may_lack`. An error if a path does not lead below the directory.
Result<DirectoryListing> take_list(const std::string& directory, const FileList& list,
                                   bool may_lack);

}  // namespace btf

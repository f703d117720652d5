// Files below a directory in their natural order, opened ahead, and the choice of tensors.
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

// Runs of digits by their value, all else by bytes. Different names are never equal.
bool natural_less(std::string_view a, std::string_view b);

// Files opened on a thread of their own before they are asked for, where the order is known.

class OpenAhead {
 public:
  // Called by either thread, for different members.
  using Open = std::function<Result<TensorFile>(std::uint64_t member)>;

  // `order`: some or all of the members, none twice.
  OpenAhead(std::vector<std::uint64_t> order, std::uint64_t members, Open open);
  ~OpenAhead();
  OpenAhead(const OpenAhead&) = delete;
  OpenAhead& operator=(const OpenAhead&) = delete;

  // The member, opened; nothing: it is not to come any more, or the thread has not got to it, and
  // will not. Members in front of it that nobody took are closed.
  std::optional<TensorFile> take(std::uint64_t member);

 private:
  enum class State : std::uint8_t { empty, busy, done };
  struct Slot {
    State state = State::empty;
    std::optional<TensorFile> file;  // nothing: it could not be opened
  };

  void run();
  std::optional<TensorFile> open_quietly(std::uint64_t member) noexcept;
  Slot& slot(std::uint64_t place) { return slots_[place % slots_.size()]; }

  Open open_;
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> place_;  // of each member in the order; as many as there are: none

  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable opened_;
  std::vector<Slot> slots_;
  std::uint64_t next_ = 0;   // position that the thread opens next
  std::uint64_t taken_ = 0;  // positions before it are not asked for any more
  bool stop_ = false;
  Workers thread_;
};

// "0,2-5,-1,conv*,!fc": which tensors are meant.

// The tensors to select from. `name` is called if the selection has names.
struct Selectable {
  std::uint64_t count = 0;
  std::function<std::string(std::uint64_t)> name;
  std::string_view what;  // "the file"
};

// Numbers and ranges, negative ones from the end; else names or globs; behind @ always names;
// behind ! what is left out, of everything if nothing else is said. In the order that is written,
// what a glob finds in that of the tensors.
Result<std::vector<std::uint64_t>> select_tensors(std::string_view text, const Selectable& tensors);

// Files below a directory.

// Files below a directory.

struct DirectoryListing {
  std::vector<std::string> places;         // of files below the directory, in natural order
  std::map<std::uint64_t, Error> trouble;  // of these: no file, or it cannot be opened
  std::vector<std::string>
      unfinished{};  // outputs that are being written, or were left; not among those
};

std::string join_path(const std::string& directory, const std::string& name);

// All files, by way of symbolic links too, but for outputs that are not finished. An error: the
// directory itself cannot be read.
Result<DirectoryListing> list_directory(const std::string& path);

// These files of a directory, without looking for others. One that is not there is trouble, or left
// out with `may_lack`. An error: a path does not lead below the directory.
Result<DirectoryListing> take_list(const std::string& directory, const FileList& list,
                                   bool may_lack);

}  // namespace btf

// The files of a set: where each is, what it is opened with, and which are open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/tensor_set.h"
#include "formats/io/file_source.h"
#include "sets/engine_names.h"
#include "sets/indexes.h"
#include "sets/manifest.h"
#include "sets/open_ahead.h"

namespace btf {

using OpenFile = std::shared_ptr<const TensorFile>;

// The stamp of a regular file; nothing for others.
std::optional<FileStamp> path_stamp(const std::string& path);
std::unexpected<Error> changed_while_read(const std::string& path);

struct TensorSet::State {
  // One for each path that the set was opened by.
  struct Root {
    std::string path;
    bool several = false;     // a directory or an index
    IndexedListing files{};   // of these
    std::uint64_t first = 0;  // its members follow from here
  };

  OpenOptions options;
  std::optional<EngineNames> engine;  // of the options
  std::vector<Root> roots;
  std::uint64_t members = 0;
  std::vector<SetMember> others;
  std::vector<SetMember> unfinished;
  std::vector<std::string> indexes;  // paths of those that were read
  OpenFile only;  // of()

  // Files that cannot be opened twice, and the last few of the others, the latest in front.
  std::map<std::uint64_t, OpenFile> kept;
  std::list<std::pair<std::uint64_t, OpenFile>> recent;
  std::vector<bool> opened;                      // of each member: was it?
  std::vector<bool> settled;                     // and is it known to be unchanged?
  std::vector<std::optional<FileStamp>> stamps;  // as it was then
  std::map<std::uint64_t, Error> unread;         // members, and errors of the system
  std::vector<std::uint64_t> first_tensors;  // of each member, and their count; empty: not asked

  // Files are opened ahead while members get options.
  mutable std::mutex options_mutex;
  std::map<std::uint64_t, OpenOptions> own_options;  // of members that have others
  // Its thread reads what is above, so it is the first to go.
  std::unique_ptr<OpenAhead> ahead;

  const Root& root_of(std::uint64_t member) const {
    const auto behind = std::ranges::upper_bound(roots, member, {}, &Root::first);
    return *(behind - 1);
  }
  const IndexedFile* indexed(std::uint64_t member) const;
  std::string path_of(std::uint64_t member) const;
  std::string_view place_of(std::uint64_t member) const;
  std::string name_of(std::uint64_t member) const;
  std::optional<OpenOptions> own_options_of(std::uint64_t member) const;
  const TensorSpec* told_by_name(std::span<const NamedSpec> rules, std::uint64_t member) const;
  // The tensor of the engine that a file is called as; nullptr: of none, or the file says itself
  // what it holds.
  const EngineTensor* engine_tensor(std::uint64_t member) const;
  bool takes_dtypes(std::uint64_t member) const;
  Status check_engine() const;  // an error: no file is called as a tensor of it
  // These two by several threads, and beside open_as().
  Result<OpenOptions> options_of(std::uint64_t member) const;
  Result<TensorFile> open_file(std::uint64_t member) const;
  void open_as(std::uint64_t member, OpenOptions own);
  Result<OpenFile> open(std::uint64_t member);
  Result<OpenFile> open_checked(std::uint64_t member);
  Result<IndexEntry> entry_of(std::uint64_t member, const TensorFile& file,
                              std::uint64_t index) const;
};

}  // namespace btf

// Runs the items of one shard and writes its part (docs/scaling.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/part.h"
#include "io/context.h"

namespace btftool {

// A file of an item, and its state before it was read.
struct ReadFile {
  std::string path;
  btf::Result<std::optional<btf::FileState>> before;
  std::optional<std::uint64_t> planned{};  // its size in the plan, if it is there

  static ReadFile now(const std::string& path) { return {path, btf::FileState::of(path)}; }
};

// Returns what results depend on apart from the items: options, and the contents of the `files`
// that options name. The digest of a plan covers these.
btf::Result<std::vector<std::string>> result_options(
    const std::vector<std::string>& options, const std::vector<std::optional<std::string>>& files);

class ShardPart {
 public:
  // `head` has command and operands, and what else merge needs.
  ShardPart(const Context& context, const PartOptions& options, btf::PartHead head);

  // May be changed until pick() is called.
  btf::PartHead& head() { return head_; }
  // Begins the part, and returns the numbers of the items that this shard still has to do. `item`
  // is the word for one item in messages, `files` as in result_options().
  btf::Result<std::vector<std::uint64_t>> pick(
      std::span<const btf::PlannedPair> items, const char* item,
      const std::vector<std::optional<std::string>>& files = {});
  bool begun() const { return writer_.has_value(); }

  // Adds the result of an item. The line records the states of `read`, and those of `written` as
  // they are now. If a file of `read` has changed since, or the system cannot tell, the item is
  // left out, and finish() returns an error, as the shard must be run again.
  void add(btf::PartLine line, std::span<const ReadFile> read,
           std::span<const std::string> written = {});
  // Adds an item that was measured since the previous one. `error` says why it could not be
  // measured, if it is not empty.
  void add_measured(btf::PartLine line, const std::string& name, const std::string& error,
                    std::span<const ReadFile> read);
  btf::Status finish();

 private:
  bool as_before(const ReadFile& file);
  void note(const btf::Error& error);

  const Context& context_;
  const PartOptions& options_;
  btf::PartHead head_;
  std::string item_;
  std::optional<btf::PartWriter> writer_;
  std::uint64_t own_ = 0;                       // number of items of the shard
  std::uint64_t kept_ = 0;                      // how many of them an earlier run has done
  btf::Status status_{};                        // the first error
  std::chrono::steady_clock::time_point last_;  // when the previous item was measured
};

}  // namespace btftool

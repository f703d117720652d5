// The part of one shard while it is run: what is its own, what is there from before, what is added
// (docs/scaling.md).
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

// A file of an item, as it was before it was read.
struct ReadFile {
  std::string path;
  std::optional<btf::FileState> before;
  std::optional<std::uint64_t> planned{};  // its bytes, where these are in the plan

  static ReadFile now(const std::string& path) { return {path, btf::FileState::of(path)}; }
};

// What decides beside the items: options, and what is in the `files` that these name.
btf::Result<std::vector<std::string>> deciding(
    const std::vector<std::string>& options, const std::vector<std::optional<std::string>>& files);

class ShardPart {
 public:
  // `head`: command and operands, and what merge needs beside them.
  ShardPart(const Context& context, const PartOptions& options, btf::PartHead head);

  // More for the head, until pick() is called.
  btf::PartHead& head() { return head_; }
  // Begins the part. What is returned is what it lacks. `item`: the word for one. `files`: as of
  // deciding().
  btf::Result<std::vector<std::uint64_t>> pick(
      std::span<const btf::PlannedPair> items, const char* item,
      const std::vector<std::optional<std::string>>& files = {});
  bool begun() const { return writer_.has_value(); }

  // An item whose files were changed since is left out, and the shard to be run again. States of
  // `read`, and of `written` as they are now, become those of the line.
  void add(btf::PartLine line, std::span<const ReadFile> read,
           std::span<const std::string> written = {});
  // What was measured since the one before, and why it could not be, if so.
  void add_measured(btf::PartLine line, const std::string& name, const std::string& trouble,
                    std::span<const ReadFile> read);
  btf::Status finish();

 private:
  bool was_changed(const ReadFile& file);

  const Context& context_;
  const PartOptions& options_;
  btf::PartHead head_;
  std::string item_;
  std::optional<btf::PartWriter> writer_;
  std::uint64_t own_ = 0;                       // items of the shard
  std::uint64_t kept_ = 0;                      // of these, from an earlier run
  btf::Status status_{};                        // the first error
  std::chrono::steady_clock::time_point last_;  // when the one before was measured
};

}  // namespace btftool

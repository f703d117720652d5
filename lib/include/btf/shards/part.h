// What one shard of a command has found, as a file, and the parts of all shards taken together
// (docs/scaling.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/report/report.h"
#include "btf/shards/file_state.h"
#include "btf/shards/plan.h"

namespace btf {

struct PartHead {
  Shard shard{};
  std::string plan{};  // plan_digest()
  std::string version{};
  std::string command{};               // "diff"
  std::vector<std::string> options{};  // as the command takes them
  std::vector<std::string> operands{};
  bool directories = false;                    // as in ReportOptions
  std::uint64_t items = 0;                     // of all shards
  std::vector<std::string> tensor_criteria{};  // as in ReportOptions
  std::vector<std::string> others{};           // files beside the tensors
  std::vector<std::string> warnings{};         // that one run begins with
};

// The result of one item of a plan, of any command.
struct PartLine {
  std::uint64_t number = 0;
  std::string result{};  // "same": the end of a part has how many there are of each
  // A JSON object: `number`, which is the first member, `result`, and what the command found.
  std::string found{};
  // As they were before they were read, the files that `found` names: `actual` and `golden`, or
  // `path`, and then `inputs` and `outputs`.
  std::vector<std::optional<FileState>> files{};
  double seconds = 0;
};

// An item of `diff`: a pair.
struct PartItem {
  SetDiffResult::Pair pair{};
  std::optional<FileState> actual{};
  std::optional<FileState> golden{};
  double seconds = 0;
};

BTF_API PartLine part_line(const PartItem& item);

// A line of a part as text, without its end of line, and read back.
BTF_API std::string text(const PartLine& line);
BTF_API Result<PartLine> read_part_line(std::string_view text);

// FILE appears when all is in it; until then it is FILE.partial. An item that was added stays,
// whatever happens to the process.
class BTF_API PartWriter {
 public:
  // With `resume` items of an unfinished, or finished, part of the same plan are kept if their
  // files are as they were.
  static Result<PartWriter> create(const std::string& path, const PartHead& head, bool resume);

  PartWriter(PartWriter&&) noexcept;
  PartWriter& operator=(PartWriter&&) noexcept;
  ~PartWriter();

  // Is the item of this number there?
  bool has(std::uint64_t number) const;
  // Why nothing was kept, though there was a part; empty: there was none, or something was.
  const std::string& note() const;

  Status add(const PartLine& line);
  Status finish();

 private:
  struct State;
  explicit PartWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What is to be done with a line once it was parsed.
using TakeItem = std::function<Status()>;

// Parts of one plan, all of them. Their lines are read when they are asked for.
class BTF_API Parts {
 public:
  // An error, which names the shard and the command that makes its part again: one is missing, has
  // no end, was changed, is of another plan, or is there twice with different results.
  static Result<Parts> open(std::span<const std::string> paths,
                            std::optional<std::uint64_t> expected = std::nullopt);

  Parts(Parts&&) noexcept;
  Parts& operator=(Parts&&) noexcept;
  ~Parts();

  // The head of the first shard.
  const PartHead& head() const;
  // Items by their numbers. `parse` is called on several threads, what it returns on the caller's,
  // in order. An error of either ends it.
  Status each(const std::function<Result<TakeItem>(std::string_view line)>& parse,
              const Execution& execution = {}) const;
  // Likewise, of the parts of `diff`.
  Status each_pair(const std::function<Status(const PartItem&)>& take,
                   const Execution& execution = {}) const;

 private:
  struct State;
  explicit Parts(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace btf

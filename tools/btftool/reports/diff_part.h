// The part of a comparison that one shard writes, and the merged reports of all parts
// (docs/scaling.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/part.h"
#include "btf/report.h"
#include "io/context.h"
#include "parts/shard.h"

namespace btftool {

// `command` is the command that made the parts, with the options for reports that merge was given.
btf::Result<int> merge_diff(const Context& context, const btf::Parts& parts, DiffCommand& command);

// Writes the part of one shard.
class PartReport final : public btf::DiffReport {
 public:
  PartReport(const Context& context, const DiffCommand& command, bool directories,
             std::vector<std::string> tensor_criteria);

  void set_others(std::vector<std::string> paths) { part_.head().others = std::move(paths); }
  // Begins the part, and returns the pairs that the shard still has to compare.
  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedPair> pairs);

  void begin(const btf::FilePair& pair) override;
  void take(const btf::TensorDiff& diff) override { item_.pair.tensors.push_back(diff); }
  bool lists_missing() const override { return true; }
  void missing(const btf::TensorDiff& diff) override { item_.pair.missing.push_back(diff); }
  void end(const btf::FilePair& pair, const btf::PairOutcome& outcome) override;
  btf::Status finish(const btf::DiffTotals&) override { return part_.finish(); }

 private:
  struct Sizes {
    std::uint64_t actual = 0;
    std::uint64_t golden = 0;
  };

  const DiffCommand& command_;
  ShardPart part_;
  std::vector<Sizes> planned_;  // file sizes in the plan, by number of the pair
  btf::PartItem item_;
  ReadFile actual_;
  ReadFile golden_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace btftool

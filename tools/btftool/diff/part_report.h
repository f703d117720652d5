// The report of one shard: a part (docs/scaling.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/report/report.h"
#include "btf/shards/part.h"
#include "io/context.h"

namespace btftool {

class PartReport final : public btf::DiffReport {
 public:
  PartReport(const Context& context, const DiffCommand& command, bool directories,
             std::vector<std::string> tensor_criteria);

  void tell_others(std::vector<std::string> paths) { others_ = std::move(paths); }
  // Begins the part. What is returned is what it lacks.
  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedPair> pairs);

  void begin(const btf::FilePair& pair) override;
  void take(const btf::TensorDiff& diff) override { item_.pair.tensors.push_back(diff); }
  bool lists_missing() const override { return true; }
  void missing(const btf::TensorDiff& diff) override { item_.pair.missing.push_back(diff); }
  void end(const btf::FilePair& pair, const btf::PairOutcome& outcome) override;
  btf::Status finish(const btf::DiffTotals& totals) override;

 private:
  struct Sizes {
    std::uint64_t actual = 0;
    std::uint64_t golden = 0;
  };

  btf::Result<std::vector<std::string>> deciding() const;
  bool was_changed(const std::string& path, const std::optional<btf::FileState>& before,
                   std::uint64_t planned);

  const Context& context_;
  const DiffCommand& command_;
  bool directories_;
  std::vector<std::string> tensor_criteria_;
  std::vector<std::string> others_;
  std::optional<btf::PartWriter> writer_;
  std::vector<Sizes> planned_;  // by number of the pair
  std::uint64_t own_ = 0;       // pairs of the shard
  std::uint64_t kept_ = 0;      // of these, from an earlier run
  btf::PartItem item_;
  std::chrono::steady_clock::time_point began_;
  btf::Status status_{};  // the first error
};

}  // namespace btftool

// The part of a validation that one shard writes, and the merged report of all parts
// (docs/scaling.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parts/shard.h"
#include "reports/validate.h"

namespace btftool {

class ValidationPart final : public ValidationReport {
 public:
  ValidationPart(const Context& context, const ValidateOptions& options,
                 std::vector<std::string> others);

  // `files` are those of the plan, in order. Returns the numbers of those that the shard still has
  // to validate.
  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedPair> files);
  // Sets the number of the file that begins next.
  void next(std::uint64_t number) { number_ = number; }

  void begin(const std::string& path) override;
  void found(const std::string& path, const btf::Finding& finding,
             const std::string& name) override;
  void end(const std::string& path, const FileVerdict& verdict) override;
  btf::Result<int> finish(const std::vector<std::string>& others) override;

 private:
  const Context& context_;
  const ValidateOptions& options_;
  ShardPart part_;
  std::uint64_t number_ = 0;
  ReadFile file_;
  Json findings_;
  std::chrono::steady_clock::time_point began_;
};

btf::Result<int> merge_validated(const Context& context, const btf::Parts& parts,
                                 const ValidateOptions& options);

}  // namespace btftool

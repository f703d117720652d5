// The files that one shard converts, and what is said of those of all shards (docs/scaling.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "parts/shard.h"
#include "reports/convert.h"

namespace btftool {

class ConvertPart final : public btf::ConvertShare {
 public:
  // `others`: files beside the tensors. `warnings`: of the input as a whole.
  ConvertPart(const Context& context, const ConvertCommand& command,
              std::vector<std::string> others, std::vector<std::string> warnings);

  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedFile> files) override;
  void begin(std::uint64_t number) override;
  void take(const ConversionMessage& tensor) { tensors_.push_back(json_told(tensor)); }
  void end(std::uint64_t number, std::span<const std::string> outputs,
           std::uint64_t bytes) override;
  btf::Status finish() { return part_.finish(); }

 private:
  ShardPart part_;
  std::vector<ReadFile> files_;  // of all shards
  Json tensors_;                 // of the file that is converted
  std::chrono::steady_clock::time_point began_;
};

// `command`: the one that made the parts, with or without JSON.
btf::Result<int> merge_converted(const Context& context, const btf::Parts& parts,
                                 const ConvertCommand& command);

}  // namespace btftool

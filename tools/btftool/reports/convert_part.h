// The part of a conversion that one shard writes, and the merged report of all parts
// (docs/scaling.md).
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
  // `others` are input files that are not read, `warnings` those about the input as a whole.
  ConvertPart(const Context& context, const ConvertCommand& command,
              std::vector<std::string> others, std::vector<std::string> warnings);

  btf::Result<std::vector<std::uint64_t>> pick(std::span<const btf::PlannedFile> files) override;
  void begin(std::uint64_t number) override;
  void take(const ConversionMessage& tensor) { tensors_.push_back(to_json(tensor)); }
  void end(std::uint64_t number, std::span<const std::string> outputs,
           std::uint64_t bytes) override;
  btf::Status finish() { return part_.finish(); }

 private:
  ShardPart part_;
  std::vector<ReadFile> files_;  // the files of all shards
  Json tensors_;                 // the tensors of the current file
  std::chrono::steady_clock::time_point began_;
};

// `command` is the command that made the parts, with the --json option of merge.
btf::Result<int> merge_converted(const Context& context, const btf::Parts& parts,
                                 const ConvertCommand& command);

}  // namespace btftool

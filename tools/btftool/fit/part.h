// The layers and tensors that one shard of fit measures (docs/scaling.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "btf/shards/fit_part.h"
#include "shards/shard_part.h"

namespace btftool {

class FitPart final : public btf::FitShare {
 public:
  FitPart(const Context& context, const FitCommand& command);

  btf::Status plan(std::span<const btf::PlannedFit> items) override;
  bool is_own(std::uint64_t number) const override { return own_.contains(number); }
  const btf::MeasuredFit* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const btf::MeasuredFit& item) override;

  btf::Status finish() { return part_.finish(); }

 private:
  ShardPart part_;
  std::unordered_map<std::uint64_t, std::string> own_;  // names, by number
};

}  // namespace btftool

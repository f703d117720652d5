// The layers that one shard measures (docs/scaling.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/layers/share.h"
#include "btf/shards/layer_part.h"
#include "shards/shard_part.h"

namespace btftool {

class LayerPart final : public btf::LayerShare {
 public:
  LayerPart(const Context& context, const LayersCommand& command);

  btf::Status plan(std::span<const btf::PlannedLayer> layers) override;
  bool is_own(std::uint64_t number) const override { return own_.contains(number); }
  const btf::MeasuredLayer* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const btf::MeasuredLayer& layer) override;

  btf::Status finish() { return part_.finish(); }

 private:
  struct Own {
    std::string name;
    ReadFile actual;
    ReadFile golden;
  };

  const LayersCommand& command_;
  ShardPart part_;
  std::unordered_map<std::uint64_t, Own> own_;  // by number
};

// The files that options name: what is in them decides.
std::vector<std::optional<std::string>> files_of(const LayersCommand& command);

}  // namespace btftool

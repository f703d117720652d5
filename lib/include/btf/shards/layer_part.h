// Parts of `layers`: what they hold of a pair is its figures, which are judged when all are there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layers/share.h"
#include "btf/shards/part.h"

namespace btf {

struct LayerItem {
  std::uint64_t number = 0;  // of LayerShare::plan()
  std::string name{};        // golden's
  std::string actual_path{};
  std::string golden_path{};
  MeasuredLayer measured{};
};

// Without the states of its files.
BTF_API PartLine part_line(const LayerItem& item);
BTF_API Result<LayerItem> read_layer_item(std::string_view line);

// As items of a plan.
BTF_API std::vector<PlannedPair> plan_of(std::span<const PlannedLayer> layers);

// The pairs of all parts, for judge_measured().
class BTF_API MeasuredShare final : public LayerShare {
 public:
  // `deciding`: as of plan_digest().
  static Result<MeasuredShare> read(const Parts& parts, std::vector<std::string> deciding,
                                    const Execution& execution = {});

  // An error: these are not the pairs of the parts.
  Status plan(std::span<const PlannedLayer> layers) override;
  bool is_own(std::uint64_t) const override { return false; }
  const MeasuredLayer* known(std::uint64_t number) const override;
  void take(std::uint64_t, const MeasuredLayer&) override {}

 private:
  MeasuredShare(const PartHead& head, std::vector<std::string> deciding);

  std::string plan_;
  std::uint64_t shards_;
  std::vector<std::string> deciding_;
  std::vector<MeasuredLayer> layers_;  // by number
};

}  // namespace btf

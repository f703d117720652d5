// The measures of a command's items in all of its parts, for whoever judges them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/shards/item_share.h"
#include "btf/shards/part.h"
#include "btf/shards/plan.h"

namespace btf {

// An error: these are not the items, or what decides is not what did, when the parts were made.
// `deciding`: as of plan_digest().
BTF_API Status check_plan_of_parts(const PartHead& head, std::span<const std::string> deciding,
                                   std::span<const PlannedPair> items, std::uint64_t measured);

// plan_of() makes items of a plan out of `Planned`.
template <typename Planned, typename Measured>
class MeasuredItems final : public ItemShare<Planned, Measured> {
 public:
  // `items`: by number.
  MeasuredItems(PartHead head, std::vector<std::string> deciding, std::vector<Measured> items)
      : head_(std::move(head)), deciding_(std::move(deciding)), items_(std::move(items)) {}

  Status plan(std::span<const Planned> items) override {
    return check_plan_of_parts(head_, deciding_, plan_of(items), items_.size());
  }
  bool is_own(std::uint64_t) const override { return false; }
  const Measured* known(std::uint64_t number) const override {
    return number < items_.size() ? &items_[number] : nullptr;
  }
  void take(std::uint64_t, const Measured&) override {}

 private:
  PartHead head_;
  std::vector<std::string> deciding_;
  std::vector<Measured> items_;
};

}  // namespace btf

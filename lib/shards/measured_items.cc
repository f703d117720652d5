#include "btf/shards/measured_items.h"

namespace btf {

Status check_plan_of_parts(const PartHead& head, std::span<const std::string> deciding,
                           std::span<const PlannedPair> items, std::uint64_t measured) {
  if (items.size() == measured &&
      plan_digest(head.command, deciding, head.shard.of, items) == head.plan)
    return {};
  return fail(
      ErrorCode::refused,
      "the tensors, or a file that the options name, are not those that the parts were made "
      "of; run the shards again");
}

}  // namespace btf

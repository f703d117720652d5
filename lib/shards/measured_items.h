// Items of parts that are judged together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/shards/part.h"
#include "btf/try.h"

namespace btf::shards {

// What was measured of each item, by number. `what`: the word for one.
template <typename Item, typename Measured>
Status read_measured(const Parts& parts, Result<Item> (*read)(std::string_view), const char* what,
                     const Execution& execution, std::vector<Measured>& measured) {
  const auto parse = [&](std::string_view line) -> Result<TakeItem> {
    BTF_ASSIGN(Item item, read(line));
    const auto kept = std::make_shared<Item>(std::move(item));
    return [&measured, what, kept]() -> Status {
      if (kept->number != measured.size())
        return fail(ErrorCode::malformed, "the parts have no " + std::string(what) + " " +
                                              std::to_string(measured.size()));
      measured.push_back(std::move(kept->measured));
      return {};
    };
  };
  return parts.each(parse, execution);
}

// An error: these are not the items, or not the decisions, that the parts were made of.
inline Status check_plan_of_parts(const std::string& plan, std::string_view command,
                                  std::span<const std::string> deciding, std::uint64_t shards,
                                  std::span<const PlannedPair> items, std::uint64_t measured) {
  if (items.size() == measured && plan_digest(command, deciding, shards, items) == plan) return {};
  return fail(
      ErrorCode::refused,
      "the tensors, or a file that the options name, are not those that the parts were made "
      "of; run the shards again");
}

}  // namespace btf::shards

// Lines of all parts as the items that are judged together.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/shards/measured_items.h"
#include "btf/try.h"

namespace btf::shards {

// `item`: the word for one.
template <typename Planned, typename Measured, typename Item>
Result<MeasuredItems<Planned, Measured>> read_measured(const Parts& parts,
                                                       std::vector<std::string> deciding,
                                                       Result<Item> (*read)(std::string_view),
                                                       const char* item,
                                                       const Execution& execution) {
  std::vector<Measured> measured;
  const auto parse = [&](std::string_view line) -> Result<TakeItem> {
    BTF_ASSIGN(Item one, read(line));
    const auto kept = std::make_shared<Item>(std::move(one));
    return [&measured, item, kept]() -> Status {
      if (kept->number != measured.size())
        return fail(ErrorCode::malformed, "the parts have no " + std::string(item) + " " +
                                              std::to_string(measured.size()));
      measured.push_back(std::move(kept->measured));
      return {};
    };
  };
  BTF_TRY(parts.each(parse, execution));
  return MeasuredItems<Planned, Measured>(parts.head(), std::move(deciding), std::move(measured));
}

}  // namespace btf::shards

#include <algorithm>
#include <array>

#include "network/operators/families.h"
#include "network/operators/operator.h"

namespace btf::network {
namespace {

constexpr auto kFamilies = std::to_array<std::span<const OperatorRow> (*)()>({
    unary_rows,
    binary_rows,
    product_rows,
    normalising_rows,
    reducing_rows,
    pooling_rows,
    moving_rows,
    making_rows,
    resizing_rows,
    coding_rows,
});

}  // namespace

const OperatorRow* find_operator(std::string_view name, std::string_view domain,
                                 std::int64_t version) {
  const OperatorRow* found = nullptr;
  for (const auto& family : kFamilies)
    for (const OperatorRow& row : family())
      if (row.name == name && row.domain == domain && row.since <= version &&
          (found == nullptr || row.since > found->since))
        found = &row;
  return found;
}

}  // namespace btf::network

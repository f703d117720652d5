#include "btf/shards/plan.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "core/checked_math.h"
#include "shards/digest.h"

namespace btf {
namespace {

std::uint64_t cost(const PlannedPair& pair) {
  return pair.bytes > UINT64_MAX - kPairCost ? UINT64_MAX : pair.bytes + kPairCost;
}

}  // namespace

std::vector<std::uint64_t> shards_of_pairs(std::span<const PlannedPair> pairs,
                                           std::uint64_t shards) {
  std::vector<std::uint64_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::uint64_t left, std::uint64_t right) {
    const std::uint64_t a = cost(pairs[left]);
    const std::uint64_t b = cost(pairs[right]);
    return a != b ? a > b : pairs[left].name < pairs[right].name;
  });
  using Load = std::pair<std::uint64_t, std::uint64_t>;  // what it has, and its number
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint64_t shard = 1; shard <= shards; ++shard) loads.emplace(0, shard);
  std::vector<std::uint64_t> found(pairs.size());
  for (const std::uint64_t number : order) {
    const auto [load, shard] = loads.top();
    loads.pop();
    found[number] = shard;
    loads.emplace(checked_add(load, cost(pairs[number])).value_or(UINT64_MAX), shard);
  }
  return found;
}

std::string plan_digest(std::string_view command, std::span<const std::string> deciding,
                        std::uint64_t shards, std::span<const PlannedPair> pairs) {
  Digest digest;
  digest.text(command);
  digest.number(deciding.size());
  for (const std::string& word : deciding) digest.text(word);
  digest.number(shards);
  digest.number(pairs.size());
  for (const PlannedPair& pair : pairs) {
    digest.text(pair.name);
    digest.number(pair.actual_bytes);
    digest.number(pair.golden_bytes);
  }
  return digest.hexadecimal();
}

}  // namespace btf

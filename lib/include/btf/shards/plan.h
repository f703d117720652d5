// Which of several machines compares what, and how parts of one plan know each other
// (docs/scaling.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff/set_diff.h"

namespace btf {

struct Shard {
  std::uint64_t number = 1;  // from 1
  std::uint64_t of = 1;
};

inline constexpr std::uint64_t kMaxShards = 1'000'000;

// The cost of a pair beside its bytes: opening two files, in bytes read.
inline constexpr std::uint64_t kPairCost = 64U << 10;

// For each pair its shard, counted from 1: the most costly first, equal ones by name, each to the
// shard that has the least so far; of several the first.
BTF_API std::vector<std::uint64_t> shards_of_pairs(std::span<const PlannedPair> pairs,
                                                   std::uint64_t shards);

// A name for all that decides which results belong together, in hexadecimal: names and sizes of the
// pairs, the number of shards, the command and `deciding`, its options and the contents of files
// that these name.
BTF_API std::string plan_digest(std::string_view command, std::span<const std::string> deciding,
                                std::uint64_t shards, std::span<const PlannedPair> pairs);

}  // namespace btf

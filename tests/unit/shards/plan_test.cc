// Plans of shards against a naive loop, and parts that are written and read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "btf/part.h"
#include "support/scratch_dir.h"

namespace {

using btf::PlannedPair;

std::vector<std::uint64_t> naive_shards(const std::vector<PlannedPair>& pairs,
                                        std::uint64_t shards) {
  std::vector<std::uint64_t> found(pairs.size(), 0);
  std::vector<std::uint64_t> loads(shards, 0);
  for (std::size_t done = 0; done < pairs.size(); ++done) {
    std::size_t next = pairs.size();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (found[i] != 0) continue;
      const bool first = next == pairs.size() || pairs[i].bytes > pairs[next].bytes ||
                         (pairs[i].bytes == pairs[next].bytes && pairs[i].name < pairs[next].name);
      if (first) next = i;
    }
    const auto least = std::ranges::min_element(loads);
    found[next] = static_cast<std::uint64_t>(least - loads.begin()) + 1;
    *least += pairs[next].bytes + 65536;
  }
  return found;
}

}  // namespace

TEST_CASE("shards: the most costly pair first, to the shard that has the least") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {0, 1, 2, 17, 200})
    for (const std::uint64_t shards : {1, 2, 7, 64, 300}) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < count; ++i) names.push_back("t" + std::to_string(random() % 999));
      std::vector<PlannedPair> pairs;
      for (const std::string& name : names)
        pairs.push_back({.name = name, .bytes = random() % 4 * (random() % 1000) * 1000});
      CHECK(btf::shards_of_pairs(pairs, shards) == naive_shards(pairs, shards));
    }
}

TEST_CASE("shards: sizes beyond all bounds do not wrap") {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::vector<PlannedPair> pairs{{.name = "a", .bytes = kMax},
                                       {.name = "b", .bytes = kMax - 1},
                                       {.name = "c", .bytes = 1},
                                       {.name = "d", .bytes = kMax}};
  CHECK(btf::shards_of_pairs(pairs, 3) == std::vector<std::uint64_t>{1, 2, 1, 3});
}

TEST_CASE("shards: whatever decides is in the digest of the plan") {
  const std::vector<PlannedPair> pairs{{"a", 1, 2, 3}, {"b", 4, 5, 9}};
  std::set<std::string> digests;
  const auto add = [&](const char* command, const std::vector<std::string>& words,
                       std::uint64_t shards, std::vector<PlannedPair> of) {
    const std::string digest = btf::plan_digest(command, words, shards, of);
    CHECK(digest.size() == 32);
    CHECK(digests.insert(digest).second);
  };
  add("diff", {"x", "y"}, 2, pairs);
  add("layers", {"x", "y"}, 2, pairs);
  add("diff", {"xy"}, 2, pairs);
  add("diff", {"x", "y", ""}, 2, pairs);
  add("diff", {"y", "x"}, 2, pairs);
  add("diff", {"x", "y"}, 3, pairs);
  add("diff", {"x", "y"}, 2, {pairs[1], pairs[0]});
  add("diff", {"x", "y"}, 2, {pairs[0]});
  add("diff", {"x", "y"}, 2, {{"a", 2, 1, 3}, pairs[1]});
  add("diff", {"x", "y"}, 2, {{"A", 1, 2, 3}, pairs[1]});
  CHECK(btf::plan_digest("diff", std::vector<std::string>{"x", "y"}, 2, pairs) ==
        btf::plan_digest("diff", std::vector<std::string>{"x", "y"}, 2,
                         std::vector<PlannedPair>{{"a", 1, 2, 0}, {"b", 4, 5, 0}}));
}

TEST_CASE("parts: items come by their numbers, whichever part has them") {
  const ScratchDir dir;
  const auto path = [&](std::uint64_t shard) { return dir / (std::to_string(shard) + ".jsonl"); };
  std::vector<std::string> paths;
  for (std::uint64_t shard = 3; shard >= 1; --shard) {
    const btf::PartHead head{.shard = {shard, 3},
                             .plan = "p",
                             .version = "1",
                             .command = "diff",
                             .operands = {"a", "g"},
                             .directories = true,
                             .items = 10};
    auto writer = btf::PartWriter::create(path(shard), head, false);
    REQUIRE(writer);
    for (std::uint64_t number = 10; number-- > 0;) {
      if (number % 3 + 1 != shard) continue;
      btf::PartItem item;
      item.pair.files = {.name = "n" + std::to_string(number), .actual = "x", .golden = "y"};
      item.pair.files.number = number;
      REQUIRE(writer->add(btf::part_line(item)));
      CHECK(writer->has(number));
    }
    CHECK_FALSE(std::filesystem::exists(path(shard)));
    REQUIRE(writer->finish());
    CHECK(std::filesystem::exists(path(shard)));
    paths.push_back(path(shard));
  }
  const auto parts = btf::Parts::open(paths, 3);
  REQUIRE(parts);
  CHECK(parts->head().shard.number == 1);
  std::uint64_t next = 0;
  CHECK(parts->each_pair([&](const btf::PartItem& item) -> btf::Status {
    CHECK(item.pair.files.number == next);
    CHECK(item.pair.files.name == "n" + std::to_string(next));
    ++next;
    return {};
  }));
  CHECK(next == 10);
  const auto stopped = parts->each_pair([](const btf::PartItem&) -> btf::Status {
    return btf::fail(btf::ErrorCode::cancelled, "enough");
  });
  CHECK_FALSE(stopped);
  CHECK_FALSE(btf::Parts::open(paths, 4));
  paths.pop_back();
  CHECK_FALSE(btf::Parts::open(paths));
}

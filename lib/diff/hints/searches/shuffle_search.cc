// Parts of one dim that were exchanged: groups of channels, heads, pairs of a rotary embedding; and
// one index that stands at all of them.
#include <algorithm>
#include <vector>

#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/orders.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostSplit = 1U << 20;  // indices of a dim whose divisors are looked for
constexpr std::size_t kMostShuffles = 1024;     // tried of a dim
constexpr std::uint64_t kMostRepeated = 64;     // indices of a dim that may be the one
constexpr std::uint64_t kLeastRepeated = 32;    // elements there: fewer may be alike by chance

std::vector<std::uint64_t> divisors(std::uint64_t n) {
  std::vector<std::uint64_t> small;
  std::vector<std::uint64_t> large;
  for (std::uint64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d * d != n) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// A dim of actual is [outer, first, second, inner], and of golden [outer, second, first, inner].
struct Parts {
  std::uint64_t outer = 1;
  std::uint64_t first = 1;
  std::uint64_t second = 1;
  std::uint64_t inner = 1;
};

// The fewest parts first.
std::vector<Parts> splits_of(std::uint64_t size) {
  std::vector<Parts> splits;
  if (size > kMostSplit) return splits;
  for (const std::uint64_t outer : divisors(size))
    for (const std::uint64_t inner : divisors(size / outer)) {
      const std::uint64_t both = size / outer / inner;
      for (const std::uint64_t first : divisors(both))
        if (first > 1 && first < both) splits.push_back({outer, first, both / first, inner});
    }
  std::ranges::stable_sort(splits, {}, [](const Parts& split) {
    return (split.outer > 1 ? 1 : 0) + (split.inner > 1 ? 1 : 0);
  });
  if (splits.size() > kMostShuffles) splits.resize(kMostShuffles);
  return splits;
}

RearrangedAs shuffled(const Dims& dims, std::size_t dim, const Parts& split) {
  Rearrangement rule = unchanged(dims);
  const std::int64_t stride = stride_of(dims, dim) * static_cast<std::int64_t>(split.inner);
  const auto first = static_cast<std::int64_t>(split.first);
  const auto second = static_cast<std::int64_t>(split.second);
  const std::vector<Digit> digits{{.size = split.outer, .step = first * second * stride},
                                  {.size = split.first, .step = stride},
                                  {.size = split.second, .step = first * stride},
                                  {.size = split.inner, .step = stride_of(dims, dim)}};
  const auto at = rule.digits.begin() + static_cast<std::ptrdiff_t>(dim);
  rule.digits.insert(rule.digits.erase(at), digits.begin(), digits.end());
  const std::string where = dim_text(static_cast<std::uint32_t>(dim), dims.size());
  const std::string blocks =
      split.outer > 1 ? " in every " + std::to_string(dims[dim] / split.outer) : "";
  if (split.inner == 1 && split.first == 2)
    return {Cause::interleaved,
            "actual holds " + where + " in halves" + blocks + ", golden interleaved",
            std::move(rule)};
  if (split.inner == 1 && split.second == 2)
    return {Cause::interleaved,
            "actual holds " + where + " interleaved" + blocks + ", golden in halves",
            std::move(rule)};
  const auto part = [](std::uint64_t count) { return std::to_string(count); };
  const std::string before = split.outer > 1 ? part(split.outer) + ", " : "";
  const std::string behind = split.inner > 1 ? ", " + part(split.inner) : "";
  const auto shape = [&](std::uint64_t one, std::uint64_t other) {
    return "[" + before + part(one) + ", " + part(other) + behind + "]";
  };
  return {Cause::shuffled,
          "actual holds " + where + " as " + shape(split.first, split.second) + ", golden as " +
              shape(split.second, split.first),
          std::move(rule)};
}

// [T, H, D] on one side and [H, T, D] on the other under the dims [T, H * D]: heads that were not
// moved, or moved once too often.
RearrangedAs moved_heads(const Dims& dims, std::size_t row, std::uint64_t heads, bool of_actual) {
  Rearrangement rule = unchanged(dims);
  const std::uint64_t rows = dims[row];
  const std::uint64_t size = dims[row + 1] / heads;
  const std::int64_t unit = stride_of(dims, row + 1);
  const auto step = [&](std::uint64_t of) { return static_cast<std::int64_t>(of) * unit; };
  std::vector<Digit> digits{{.size = heads, .step = step(size)},
                            {.size = rows, .step = step(heads * size)},
                            {.size = size, .step = unit}};
  if (!of_actual)
    digits = {{.size = rows, .step = step(size)},
              {.size = heads, .step = step(rows * size)},
              {.size = size, .step = unit}};
  const auto at = rule.digits.begin() + static_cast<std::ptrdiff_t>(row);
  rule.digits.insert(rule.digits.erase(at, at + 2), digits.begin(), digits.end());
  const auto shape = [&](std::uint64_t one, std::uint64_t other) {
    return "[" + std::to_string(one) + ", " + std::to_string(other) + ", " + std::to_string(size) +
           "]";
  };
  const std::string moved = shape(heads, rows);
  const std::string plain = shape(rows, heads);
  return {Cause::shuffled,
          "actual holds " + dim_text(static_cast<std::uint32_t>(row), dims.size()) + " and " +
              dim_text(static_cast<std::uint32_t>(row + 1), dims.size()) + " as " +
              (of_actual ? moved : plain) + ", golden as " + (of_actual ? plain : moved),
          std::move(rule)};
}

void add_moved_heads(const Dims& dims, std::vector<RearrangedAs>& candidates) {
  for (std::size_t row = 0; row + 1 < dims.size(); ++row) {
    if (dims[row] < 2 || dims[row + 1] > kMostSplit) continue;
    for (const std::uint64_t heads : divisors(dims[row + 1]))
      if (heads > 1 && heads < dims[row + 1])
        for (const bool of_actual : {true, false})
          candidates.push_back(moved_heads(dims, row, heads, of_actual));
  }
}

RearrangedAs repeated(const Dims& dims, std::size_t dim, std::uint64_t index) {
  Rearrangement rule = unchanged(dims);
  rule.digits[dim].step = 0;
  rule.base = static_cast<std::int64_t>(index) * stride_of(dims, dim);
  return {Cause::repeated,
          "actual holds golden's " + dim_text(static_cast<std::uint32_t>(dim), dims.size()) +
              " = " + std::to_string(index) + " at all " + std::to_string(dims[dim]) + " indices",
          std::move(rule), true};
}

}  // namespace

std::vector<RearrangedAs> shuffled_orders(const Dims& dims) {
  std::vector<RearrangedAs> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (const Parts& split : splits_of(dims[d])) candidates.push_back(shuffled(dims, d, split));
  add_moved_heads(dims, candidates);
  return candidates;
}

SearchResult find_shuffled(const Inquiry& inquiry) {
  return find_rearranged(inquiry, shuffled_orders(inquiry.input.golden.dims()));
}

SearchResult find_repeated(const Inquiry& inquiry) {
  const Dims& dims = inquiry.input.golden.dims();
  std::vector<RearrangedAs> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (std::uint64_t index = 0; index < std::min(dims[d], kMostRepeated); ++index)
      if (dims[d] > 1 && inquiry.elements / dims[d] >= kLeastRepeated)
        candidates.push_back(repeated(dims, d, index));
  return find_rearranged(inquiry, candidates);
}

}  // namespace btf::hints

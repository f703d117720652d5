// Equal parts of a dim in any other order: heads, groups of channels.
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/placed_map.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostPartIndices = 4096;
constexpr std::uint64_t kLeastRows = 8;  // elements at an index: fewer find their like anywhere
constexpr std::size_t kProbedRows = 16;    // rows that indices are known by
constexpr std::size_t kPartsSaid = 8;      // parts

// Some rows along a dim, with the numbers of both sides.
struct Probes {
  std::vector<std::vector<long double>> actual;
  std::vector<std::vector<long double>> golden;
};

std::vector<std::uint64_t> rows_of(const Inquiry& inquiry, const Along& place) {
  std::vector<std::uint64_t> rows;
  for (const std::size_t i : inquiry.rarest) {
    const std::uint64_t row = place.row(inquiry.mismatches[i].number);
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    if (rows.size() == kProbedRows) break;
  }
  return rows;
}

Result<std::vector<long double>> read_row(Lookup& lookup, const Along& place, std::uint64_t row) {
  std::vector<std::uint64_t> numbers(place.size);
  for (std::uint64_t i = 0; i < place.size; ++i) numbers[i] = place.number(row, i);
  return lookup.values(numbers);
}

// Has golden another index that is like that of the first mismatch in some rows? Most dims are done
// with here.
Result<bool> worth_reading(const Inquiry& inquiry, const Along& place,
                           const std::vector<std::uint64_t>& rows) {
  constexpr std::size_t kRows = 4;
  const std::uint64_t index = place.index(inquiry.mismatches[inquiry.rarest.front()].number);
  std::vector<std::uint64_t> left(place.size);
  std::iota(left.begin(), left.end(), 0U);
  for (std::size_t row = 0; row < std::min(kRows, rows.size()) && !left.empty(); ++row) {
    std::vector<std::uint64_t> numbers;
    for (const std::uint64_t other : left) numbers.push_back(place.number(rows[row], other));
    BTF_ASSIGN(const std::vector<long double> golden, inquiry.golden->values(numbers));
    const std::vector<std::uint64_t> own{place.number(rows[row], index)};
    BTF_ASSIGN(const std::vector<long double> actual, inquiry.actual->values(own));
    std::vector<std::uint64_t> like;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (sampled_agree(actual.front(), golden[i], inquiry.agreement)) like.push_back(left[i]);
    left = std::move(like);
  }
  return !left.empty();
}

bool alike(const Inquiry& inquiry, const Probes& probes, std::uint64_t actual, std::uint64_t golden,
           std::uint64_t count) {
  for (std::size_t row = 0; row < probes.actual.size(); ++row)
    for (std::uint64_t i = 0; i < count; ++i)
      if (!sampled_agree(probes.actual[row][actual + i], probes.golden[row][golden + i],
                         inquiry.agreement))
        return false;
  return true;
}

// Which of golden's parts each of actual's is; where several are alike, the one behind that of the
// part before.
std::vector<std::uint32_t> order_of(const Inquiry& inquiry, const Probes& probes,
                                    std::uint64_t parts, std::uint64_t size) {
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(parts, false);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t first = order.empty() ? 0 : order.back() + 1U;
    for (std::uint64_t k = 0; k < parts && order.size() == i; ++k) {
      const std::uint64_t other = (first + k) % parts;
      if (taken[other] || !alike(inquiry, probes, i * size, other * size, size)) continue;
      taken[other] = true;
      order.push_back(static_cast<std::uint32_t>(other));
    }
    if (order.size() == i) return {};
  }
  return order;
}

RearrangedAs reordered(const Dims& dims, std::size_t dim, std::uint64_t part,
                       const std::vector<std::uint32_t>& order) {
  const std::span said = std::span(order).first(std::min(kPartsSaid, order.size()));
  RearrangedAs result{Cause::shuffled,
                      "actual has the parts of " + std::to_string(part) + " of golden's " +
                          dim_text(static_cast<std::uint32_t>(dim), dims.size()) +
                          " in the order " + order_text(said) +
                          (order.size() > said.size() ? ", ..." : ""),
                      unchanged(dims)};
  for (std::uint64_t i = 0; i < dims[dim]; ++i)
    result.rule.digits[dim].order.push_back(
        static_cast<std::uint32_t>(order[i / part] * part + i % part));
  return result;
}

Result<std::optional<RearrangedAs>> along_dim(const Inquiry& inquiry, std::size_t dim) {
  const Dims& dims = inquiry.input.golden.dims();
  const Along place = along(dims, dim);
  const std::vector<std::uint64_t> rows = rows_of(inquiry, place);
  BTF_ASSIGN(const bool worth, worth_reading(inquiry, place, rows));
  if (!worth) return std::nullopt;
  Probes probes;
  for (const std::uint64_t row : rows) {
    BTF_ASSIGN(std::vector<long double> actual, read_row(*inquiry.actual, place, row));
    BTF_ASSIGN(std::vector<long double> golden, read_row(*inquiry.golden, place, row));
    probes.actual.push_back(std::move(actual));
    probes.golden.push_back(std::move(golden));
  }
  // Single indices: reordered_search.cc.
  for (std::uint64_t parts = 2; parts <= dims[dim] / 2; ++parts) {
    if (dims[dim] % parts != 0) continue;
    const std::uint64_t size = dims[dim] / parts;
    const std::vector<std::uint32_t> order = order_of(inquiry, probes, parts, size);
    if (!order.empty() && !std::ranges::is_sorted(order)) return reordered(dims, dim, size, order);
  }
  return std::nullopt;
}

}  // namespace

SearchResult find_part_order(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  if (inquiry.rounded || inquiry.rarest.empty() || input.actual.storage() == nullptr ||
      input.golden.storage() == nullptr)
    return std::nullopt;
  const Dims& dims = input.golden.dims();
  std::vector<RearrangedAs> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 4 || dims[d] > kMostPartIndices || inquiry.elements / dims[d] < kLeastRows) continue;
    BTF_ASSIGN(std::optional<RearrangedAs> found, along_dim(inquiry, d));
    if (found) candidates.push_back(*std::move(found));
  }
  return find_rearranged(inquiry, candidates);
}

}  // namespace btf::hints

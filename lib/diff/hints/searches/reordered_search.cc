// The indices of one dim in another order: boxes, classes, vocabulary.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/significance.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/index_order.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostIndices = 1U << 16;
constexpr std::uint64_t kLeastIndices = 3;
constexpr std::size_t kMostSaid = 3;

std::string count_text(std::uint64_t count, const std::string& what) {
  return ", " + std::to_string(count) + " " + what;
}

// "the indices 3 and 7 of {dim} exchanged", "the indices of {dim} reversed", "rotated by 3", where
// that is all of it.
std::string kind_text(const std::vector<std::uint32_t>& source, std::uint64_t moved,
                      const std::string& dim) {
  const std::size_t size = source.size();
  bool reversed = true;
  bool rotated = true;
  std::optional<std::size_t> by;
  for (std::size_t i = 0; i < size; ++i) {
    if (source[i] == kNowhere) continue;
    if (!by) by = (i + size - source[i]) % size;
    rotated = rotated && (source[i] + *by) % size == i;
    reversed = reversed && source[i] == size - 1 - i;
  }
  if (reversed) return "the indices of " + dim + " reversed";
  if (rotated && by) return "the indices of " + dim + " rotated by " + std::to_string(*by);
  const auto first = std::ranges::find_if(
      source, [&](const std::uint32_t& j) { return j != &j - source.data(); });
  const auto at = static_cast<std::size_t>(first - source.begin());
  if (moved == 2 && *first != kNowhere && source[*first] == at)
    return "the indices " + std::to_string(at) + " and " + std::to_string(*first) + " of " + dim +
           " exchanged";
  return "";
}

std::string order_words(const IndexOrder& order, const Dims& dims, std::size_t dim) {
  const std::string which =
      "golden's " + dim_text(static_cast<std::uint32_t>(dim), dims.size());
  const std::string kind = kind_text(order.source, order.moved, which);
  if (!kind.empty()) return "actual has " + kind;
  std::string text = "actual has the indices of " + which + " in " +
                     (order.sorted.empty() ? "another order" : order.sorted);
  std::size_t said = 0;
  for (std::size_t i = 0; i < order.source.size() && said < kMostSaid; ++i) {
    if (order.source[i] == i || order.source[i] == kNowhere) continue;
    text += (said == 0 ? ", golden's " : ", ") + std::to_string(order.source[i]) + " at " +
            std::to_string(i);
    ++said;
  }
  return text + (order.moved > said ? ", ..." : "");
}

Rearrangement rule_of(const IndexOrder& order, const Dims& dims, std::size_t dim) {
  Rearrangement rule = unchanged(dims);
  rule.digits[dim].order = order.source;
  return rule;
}

SearchResult try_order(const Inquiry& inquiry, const IndexOrder& order, std::size_t dim) {
  const Dims& dims = inquiry.input.golden.dims();
  if (order.bits < kNeededBits + std::log2(static_cast<double>(dims.size()))) return std::nullopt;
  BTF_ASSIGN(const RearrangementTally all,
             compare_rearranged(inquiry, rule_of(order, dims, dim)));
  if (all.all.compared == 0 || all.all.exceptions() > allowed_exceptions(inquiry))
    return std::nullopt;
  std::string text = order_words(order, dims, dim) + ": " + agreed_text(inquiry, all.all);
  if (order.missing > 0) text += count_text(order.missing, "of golden's indices nowhere");
  if (order.repeated > 0) text += count_text(order.repeated, "repeated");
  if (order.strange > 0) text += count_text(order.strange, "of none of golden's");
  return Finding{{Cause::reordered, std::move(text)}, all.all.exceptions() + all.outside};
}

}  // namespace

SearchResult find_reordered(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  if (inquiry.rounded || inquiry.rarest.empty() || input.actual.storage() == nullptr ||
      input.golden.storage() == nullptr || !rearrangeable(inquiry))
    return std::nullopt;
  const Dims& dims = input.golden.dims();
  std::optional<Finding> best;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim] < kLeastIndices || dims[dim] > kMostIndices) continue;
    BTF_ASSIGN(const std::optional<IndexOrder> order, find_index_order(inquiry, dim));
    if (!order) continue;
    BTF_ASSIGN(std::optional<Finding> finding, try_order(inquiry, *order, dim));
    if (finding && (!best || finding->unexplained < best->unexplained)) best = std::move(finding);
  }
  return best;
}

}  // namespace btf::hints

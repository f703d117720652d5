// Dims in another order: actual's elements, one after the other, are those of a transposed golden.
#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/orders.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::size_t kMaxRank = 6;
constexpr std::size_t kFirstLook = 8;

using Order = std::vector<std::uint32_t>;

// Every order of the dims that are not 1; these stay where they are.
std::vector<Order> orders_of(const Dims& dims) {
  std::vector<std::uint32_t> moving;
  for (std::uint32_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) moving.push_back(d);
  std::vector<Order> orders;
  if (moving.size() < 2 || moving.size() > kMaxRank) return orders;
  Order permuted = moving;
  while (std::ranges::next_permutation(permuted).found) {
    Order order(dims.size());
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = 0; i < moving.size(); ++i) order[moving[i]] = permuted[i];
    orders.push_back(std::move(order));
  }
  const auto displaced = [](const Order& order) {
    std::size_t count = 0;
    for (std::size_t d = 0; d < order.size(); ++d) count += order[d] != d ? 1 : 0;
    return count;
  };
  std::ranges::stable_sort(orders, {}, displaced);
  return orders;
}

// One search of a COO side for all that a first look at any order needs.
Status fetch_ahead(const Inquiry& inquiry, const std::vector<Order>& orders) {
  if (inquiry.input.golden.storage() != nullptr) return {};
  std::vector<std::uint64_t> numbers;
  for (const Order& order : orders)
    for (std::size_t i = 0; i < std::min(kFirstLook, inquiry.rarest.size()); ++i)
      numbers.push_back(number_before(inquiry.input.golden.dims(), order,
                                      inquiry.mismatches[inquiry.rarest[i]].number));
  auto fetched = inquiry.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

// Which way channels went, if that is all there is to it: [.., C, H, W] and [.., H, W, C]; with
// rank 5 C is dim 1.
std::optional<std::string> channel_move(const Order& order) {
  const auto rank = static_cast<std::uint32_t>(order.size());
  if (rank < 3) return std::nullopt;
  for (const std::uint32_t channel : {rank - 3, 1U}) {
    if (channel == 1 && rank != 5 && rank != 4) continue;
    Order last(rank);
    std::iota(last.begin(), last.end(), 0U);
    Order first = last;
    std::rotate(last.begin() + channel, last.begin() + channel + 1, last.end());
    std::rotate(first.begin() + channel, first.end() - 1, first.end());
    if (order == last) return "channels last";
    if (order == first) return "channels first";
  }
  return std::nullopt;
}

// The one side's elements, one after the other, are those of the other one, transposed.
OtherDims transposed_as(const Order& order, MovedSide transposed) {
  const std::string sides =
      transposed == MovedSide::golden ? "actual holds golden " : "golden holds actual ";
  const std::string dims_said = "dims " + order_text(order);
  if (const auto channels = channel_move(order))
    return {Cause::layout, sides + "with " + *channels + " (" + dims_said + ") under the same dims",
            order, transposed};
  return {Cause::permutation, sides + "transposed to " + dims_said, order, transposed};
}

SearchResult try_order(const Inquiry& inquiry, const Order& order, double hypotheses) {
  const Dims& dims = inquiry.input.golden.dims();
  const Places places = [&](const Point& point) {
    return std::optional(number_before(dims, order, point.number));
  };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(inquiry, MovedSide::golden, *inquiry.golden, places, hypotheses));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(inquiry.input.actual));
  BTF_ASSIGN(StridedLayout golden, permuted_view(inquiry.input.golden, order));
  BTF_ASSIGN(const StreamTally all, compare_streams(inquiry, {std::move(actual), std::move(golden)},
                                                    inquiry.elements, {}));
  if (all.exceptions() > allowed_exceptions(inquiry)) return std::nullopt;
  OtherDims as = transposed_as(order, MovedSide::golden);
  return Finding{{as.cause, as.words + ": " + agreed_text(inquiry, all)}, all.exceptions()};
}

// Transposed, are the dims other numbers? Else it is another order the other way round.
bool makes_other_dims(const Dims& dims, const Order& order) {
  return !std::ranges::equal(order, dims, {}, [&](std::uint32_t d) { return dims[d]; });
}

// Golden's elements, one after the other, are those of a transposed actual.
RearrangedAs transposed_golden(const Dims& dims, const Order& order) {
  Dims transposed;
  for (const std::uint32_t d : order) transposed.push_back(dims[d]);
  Rearrangement rule = unchanged(dims);
  for (std::size_t k = 0; k < order.size(); ++k)
    rule.digits[order[k]].step = stride_of(transposed, k);
  OtherDims as = transposed_as(order, MovedSide::actual);
  return {as.cause, std::move(as.words), std::move(rule)};
}

SearchResult find_transposed_golden(const Inquiry& inquiry, const std::vector<Order>& orders) {
  const Dims& dims = inquiry.input.golden.dims();
  std::vector<RearrangedAs> candidates;
  for (const Order& order : orders)
    if (makes_other_dims(dims, order)) candidates.push_back(transposed_golden(dims, order));
  return find_rearranged(inquiry, candidates);
}

}  // namespace

std::vector<OtherDims> other_dims(const Dims& dims) {
  const std::vector<Order> orders = orders_of(dims);
  std::vector<OtherDims> others;
  for (const Order& order : orders) others.push_back(transposed_as(order, MovedSide::golden));
  for (const Order& order : orders)
    if (makes_other_dims(dims, order))
      others.push_back(transposed_as(order, MovedSide::actual));
  return others;
}

std::uint64_t number_before(const Dims& dims, const Order& order, std::uint64_t number) {
  Dims index(dims.size());
  for (std::size_t d = order.size(); d-- > 0;) {
    index[order[d]] = number % dims[order[d]];
    number /= dims[order[d]];
  }
  return linear_key(dims, index);
}

SearchResult find_permutation(const Inquiry& inquiry) {
  if (!streamable(inquiry)) return std::nullopt;
  const std::vector<Order> orders = orders_of(inquiry.input.golden.dims());
  BTF_TRY(fetch_ahead(inquiry, orders));
  for (const Order& order : orders) {
    BTF_ASSIGN(std::optional<Finding> finding,
               try_order(inquiry, order, static_cast<double>(orders.size())));
    if (finding) return finding;
  }
  return find_transposed_golden(inquiry, orders);
}

}  // namespace btf::hints

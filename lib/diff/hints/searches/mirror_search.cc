// Dims that run the other way: mirrored, rotated, channels reversed or in another order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/orders.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::size_t kMostFlipped = 6;  // dims that are not 1: every set of them is tried
constexpr std::uint64_t kColours = 3;    // and one for alpha

void flip(Rearrangement& rule, std::size_t dim) {
  Digit& digit = rule.digits[dim];
  rule.base += static_cast<std::int64_t>(digit.size - 1) * digit.step;
  digit.step = -digit.step;
}

bool is_colours(std::uint64_t size) { return size == kColours || size == kColours + 1; }

// C of [.., C, H, W]; or the last of [.., H, W, C] where it can be colours, and is the likelier.
bool is_channel(const Dims& dims, std::size_t dim) {
  const std::size_t rank = dims.size();
  if (rank < 3) return false;
  const std::uint64_t other = dims[rank - 3];
  const bool first = rank > 3 && (is_colours(other) || other == 1) && other <= dims[rank - 1];
  return dim == rank - 3 || (dim == rank - 1 && is_colours(dims[dim]) && !first);
}

std::string dims_words(const Dims& dims, const std::vector<std::size_t>& which) {
  std::string text;
  for (const std::size_t d : which)
    text += (text.empty() ? "" : " and ") + dim_text(static_cast<std::uint32_t>(d), dims.size());
  return text;
}

RearrangedAs flipped(const Dims& dims, const std::vector<std::size_t>& which) {
  RearrangedAs result{Cause::mirrored, "actual is golden mirrored along " + dims_words(dims, which),
                      unchanged(dims)};
  for (const std::size_t d : which) flip(result.rule, d);
  if (which.size() == 1 && is_channel(dims, which[0])) {
    result.cause = Cause::channels_reversed;
    result.words =
        "actual has the channels of golden, " + dims_words(dims, which) + ", in reverse order";
  } else if (which.size() == 2 && which[1] == which[0] + 1 && !is_channel(dims, which[0]) &&
             !is_channel(dims, which[1])) {
    result.cause = Cause::rotated;
    result.words =
        "actual is golden rotated by 180 degrees in the plane of " + dims_words(dims, which);
  }
  return result;
}

void add_flips(const Dims& dims, std::vector<RearrangedAs>& candidates) {
  std::vector<std::size_t> moving;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) moving.push_back(d);
  if (moving.size() > kMostFlipped) return;
  std::vector<RearrangedAs> flips;
  for (unsigned set = 1; set < 1U << moving.size(); ++set) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < moving.size(); ++i)
      if ((set >> i & 1U) != 0) which.push_back(moving[i]);
    flips.push_back(flipped(dims, which));
  }
  std::ranges::stable_sort(flips, {}, [](const RearrangedAs& f) { return f.words.size(); });
  std::ranges::move(flips, std::back_inserter(candidates));
}

// A quarter turn of the plane (row, row + 1), one element after the other under golden's own dims.
RearrangedAs turned(const Dims& dims, std::size_t row, bool right) {
  Rearrangement rule = unchanged(dims);
  std::swap(rule.digits[row], rule.digits[row + 1]);
  // right: [i][j] is golden's [H - 1 - j][i].
  flip(rule, right ? row + 1 : row);
  return {Cause::rotated,
          "actual is golden rotated by 90 degrees to the " + std::string(right ? "right" : "left") +
              " in the plane of " + dims_words(dims, {row, row + 1}),
          std::move(rule)};
}

void add_quarter_turns(const Dims& dims, std::vector<RearrangedAs>& candidates) {
  for (std::size_t row = 0; row + 1 < dims.size(); ++row)
    if (dims[row] > 1 && dims[row + 1] > 1)
      for (const bool right : {true, false}) candidates.push_back(turned(dims, row, right));
}

// Three or four channels in any order: BGRA, GBR. So many indices of a last dim that are hardly
// channels, too: nothing else would say what became of them.
void add_channel_orders(const Dims& dims, std::vector<RearrangedAs>& candidates) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bool channel = is_channel(dims, d);
    const bool last = dims.size() > 2 && d == dims.size() - 1;
    if ((!channel && !last) || !is_colours(dims[d])) continue;
    const std::string which =
        channel ? "actual has the channels of golden, " + dims_words(dims, {d}) + ","
                : "actual has the indices of golden's " + dims_words(dims, {d});
    std::vector<std::uint32_t> order(dims[d]);
    std::iota(order.begin(), order.end(), 0U);
    const std::vector<std::uint32_t> reversed(order.rbegin(), order.rend());
    const std::vector<std::uint32_t> bgra{2, 1, 0, 3};
    while (std::ranges::next_permutation(order).found) {
      if (order == reversed) continue;
      Rearrangement rule = unchanged(dims);
      rule.digits[d].order = order;
      candidates.push_back({channel && order == bgra ? Cause::channels_reversed : Cause::shuffled,
                            which + " in the order " + order_text(order), std::move(rule)});
    }
  }
}

}  // namespace

std::vector<RearrangedAs> mirrored_orders(const Dims& dims) {
  std::vector<RearrangedAs> candidates;
  add_flips(dims, candidates);
  add_quarter_turns(dims, candidates);
  add_channel_orders(dims, candidates);
  return candidates;
}

SearchResult find_mirrored(const Inquiry& inquiry) {
  return find_rearranged(inquiry, mirrored_orders(inquiry.input.golden.dims()));
}

}  // namespace btf::hints

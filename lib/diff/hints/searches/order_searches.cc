// Searches for other orders: inverted masks, layouts, mirrored and permuted dims, pitches, shuffled
// parts.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

// The values of a sample; more than two are not collected.
std::set<long double> two_values(const SearchContext& context, long double Point::* side) {
  std::set<long double> values;
  for (const auto* points : {&context.mismatches, &context.anywhere})
    for (const Point& point : *points) {
      if (std::isnan(point.*side)) return {};
      values.insert(point.*side);
      if (values.size() > 2) return {};
    }
  return values;
}

}  // namespace

SearchResult find_inverted(const SearchContext& context) {
  const std::set<long double> values = two_values(context, &Point::golden);
  if (values.size() != 2 || values != two_values(context, &Point::actual)) return std::nullopt;
  const long double low = *values.begin();
  const long double high = *values.rbegin();
  const ElementMap map = value_map(TransformedSide::golden, [low, high](auto golden) {
    using Real = decltype(golden);
    if (golden == static_cast<Real>(low)) return static_cast<Real>(high);
    return golden == static_cast<Real>(high) ? static_cast<Real>(low) : golden;
  });
  if (!convincing(context, map.side, mapped(context, map, context.mismatches),
                  mapped(context, map, context.anywhere), 1))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  return Finding{
      {Cause::inverted, "actual is " + number_text(high) + " where golden is " + number_text(low) +
                            ", and the reverse: " + fitting_text(context, all)},
      all.exceptions};
}

// Layout: a stored array that was read as another layout.

std::vector<OtherLayout> other_layouts(const DiffSide& side) {
  std::vector<OtherLayout> others;
  if (side.storage() == nullptr) return others;
  const StridedLayout& own = *side.storage();
  for (const LayoutSpec& row : layouts()) {
    if (!row.dense() || row.shuffled()) continue;
    auto resolved = resolve(row.layout, side.dims(), side.dtype());
    if (!resolved || resolved->storage_elements != own.storage_elements) continue;
    if (resolved->strides == own.strides && resolved->split == own.split) continue;
    others.emplace_back(&row, *std::move(resolved));
  }
  std::ranges::stable_sort(others, {}, [](const auto& other) { return other.first->lanes; });
  return others;
}

std::string layout_words(const LayoutSpec& row, TransformedSide side) {
  const std::string sides = side == TransformedSide::actual ? "actual equals golden when its"
                                                            : "golden equals actual when its";
  return sides + " bytes are read as " + std::string(row.name);
}

namespace {

Result<std::optional<Finding>> try_layout(const SearchContext& context, TransformedSide side,
                                          const LayoutSpec& row, const StridedLayout& storage,
                                          double hypotheses) {
  const DiffSide& moved =
      side == TransformedSide::actual ? context.input.actual : context.input.golden;
  BTF_ASSIGN(Lookup lookup, Lookup::open(moved, storage));
  const Places same = [](const Point& point) { return std::optional(point.number); };
  BTF_ASSIGN(const bool worth, worth_a_walk(context, side, lookup, same, hypotheses));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(context.input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(context.input.golden));
  const Streams streams = side == TransformedSide::actual ? Streams{storage, std::move(golden)}
                                                          : Streams{std::move(actual), storage};
  BTF_ASSIGN(const StreamTally all, compare_streams(context, streams, context.elements, {}));
  if (all.exceptions() > allowed_exceptions(context)) return std::nullopt;
  return Finding{{Cause::layout, layout_words(row, side) + ": " + agreed_text(context, all)},
                 all.exceptions()};
}

}  // namespace

SearchResult find_layout(const SearchContext& context) {
  if (!streamable(context)) return std::nullopt;
  const auto of_actual = other_layouts(context.input.actual);
  const auto of_golden = other_layouts(context.input.golden);
  const auto hypotheses = static_cast<double>(of_actual.size() + of_golden.size());
  for (const TransformedSide side : {TransformedSide::actual, TransformedSide::golden})
    for (const auto& [row, storage] : side == TransformedSide::actual ? of_actual : of_golden) {
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_layout(context, side, *row, storage, hypotheses));
      if (finding) return finding;
    }
  return std::nullopt;
}

namespace {

// Mirrored dims, rotations, reversed channels, channels in another order.

constexpr std::size_t kMaxFlipped =
    6;  // dims with more than one index; every subset of them is tried
constexpr std::uint64_t kColours = 3;  // or one more, for alpha

void flip(Rearrangement& rule, std::size_t dim) {
  Digit& digit = rule.digits[dim];
  rule.base += static_cast<std::int64_t>(digit.size - 1) * digit.step;
  digit.step = -digit.step;
}

bool is_colours(std::uint64_t size) { return size == kColours || size == kColours + 1; }

// C of [.., C, H, W], or the last dim of [.., H, W, C] if its size is one of colours.
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

NamedRearrangement flipped(const Dims& dims, const std::vector<std::size_t>& which) {
  NamedRearrangement result{Cause::mirrored,
                            "actual is golden mirrored along " + dims_words(dims, which),
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

void add_flips(const Dims& dims, std::vector<NamedRearrangement>& candidates) {
  std::vector<std::size_t> moving;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) moving.push_back(d);
  if (moving.size() > kMaxFlipped) return;
  std::vector<NamedRearrangement> flips;
  for (unsigned set = 1; set < 1U << moving.size(); ++set) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < moving.size(); ++i)
      if ((set >> i & 1U) != 0) which.push_back(moving[i]);
    flips.push_back(flipped(dims, which));
  }
  std::ranges::stable_sort(flips, {}, [](const NamedRearrangement& f) { return f.words.size(); });
  std::ranges::move(flips, std::back_inserter(candidates));
}

// A quarter turn of the plane (row, row + 1), with the elements stored under golden's own dims.
NamedRearrangement turned(const Dims& dims, std::size_t row, bool right) {
  Rearrangement rule = unchanged(dims);
  std::swap(rule.digits[row], rule.digits[row + 1]);
  // right: [i][j] is golden's [H - 1 - j][i].
  flip(rule, right ? row + 1 : row);
  return {Cause::rotated,
          "actual is golden rotated by 90 degrees to the " + std::string(right ? "right" : "left") +
              " in the plane of " + dims_words(dims, {row, row + 1}),
          std::move(rule)};
}

void add_quarter_turns(const Dims& dims, std::vector<NamedRearrangement>& candidates) {
  for (std::size_t row = 0; row + 1 < dims.size(); ++row)
    if (dims[row] > 1 && dims[row + 1] > 1)
      for (const bool right : {true, false}) candidates.push_back(turned(dims, row, right));
}

// Three or four channels in any order: BGRA, GBR. The same for a last dim of three or four indices
// that are hardly channels, since no other search would explain it.
void add_channel_orders(const Dims& dims, std::vector<NamedRearrangement>& candidates) {
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

std::vector<NamedRearrangement> mirrored_orders(const Dims& dims) {
  std::vector<NamedRearrangement> candidates;
  add_flips(dims, candidates);
  add_quarter_turns(dims, candidates);
  add_channel_orders(dims, candidates);
  return candidates;
}

SearchResult find_mirrored(const SearchContext& context) {
  return find_rearranged(context, mirrored_orders(context.input.golden.dims()));
}

// Nibbles exchanged: within 8-bit codes, or of two elements that share a byte.

SearchResult find_nibble_order(const SearchContext& context) {
  BTF_ASSIGN(std::optional<Finding> codes, find_swapped_codes(context));
  if (codes) return codes;
  const auto bits = [](const DiffSide& side) { return info(side.dtype()).bits; };
  if (std::min(bits(context.input.actual), bits(context.input.golden)) > 4 || !streamable(context))
    return std::nullopt;
  const Places neighbour = [&](const Point& point) {
    const std::uint64_t other = point.number ^ 1;
    return other < context.elements ? std::optional(other) : std::nullopt;
  };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(context, TransformedSide::golden, *context.golden, neighbour, 1));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(context.input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(context.input.golden));
  BTF_ASSIGN(const StreamTally all, compare_streams(context, {std::move(actual), std::move(golden)},
                                                    context.elements / 2 * 2, {.exchange = true}));
  if (all.exceptions() > allowed_exceptions(context)) return std::nullopt;
  return Finding{{Cause::nibble_order,
                  "actual equals golden with the two nibbles of every byte "
                  "exchanged: " +
                      agreed_text(context, all)},
                 all.exceptions()};
}

namespace {

// Permuted dims: actual's elements in row-major order are those of a transposed golden.

constexpr std::size_t kMaxRank = 6;
constexpr std::size_t kFirstLook = 8;

using Order = std::vector<std::uint32_t>;

// Every order of the dims that have more than one index; the others keep their positions.
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

// Looks up in one search of a COO side what a first look at every order needs.
Status fetch_ahead(const SearchContext& context, const std::vector<Order>& orders) {
  if (context.input.golden.storage() != nullptr) return {};
  std::vector<std::uint64_t> numbers;
  for (const Order& order : orders)
    for (std::size_t i = 0; i < std::min(kFirstLook, context.rarest.size()); ++i)
      numbers.push_back(number_before(context.input.golden.dims(), order,
                                      context.mismatches[context.rarest[i]].number));
  auto fetched = context.golden->codes(numbers);
  if (!fetched) return std::unexpected(std::move(fetched).error());
  return {};
}

// "channels last" or "channels first" if the order does only that, between [.., C, H, W] and [..,
// H, W, C]; for rank 5 C is dim 1.
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

// One side's elements, in row-major order, are those of the other side transposed.
OtherDims transposed_as(const Order& order, TransformedSide transposed) {
  const std::string sides =
      transposed == TransformedSide::golden ? "actual holds golden " : "golden holds actual ";
  const std::string dims_said = "dims " + order_text(order);
  if (const auto channels = channel_move(order))
    return {Cause::layout, sides + "with " + *channels + " (" + dims_said + ") under the same dims",
            order, transposed};
  return {Cause::permutation, sides + "transposed to " + dims_said, order, transposed};
}

SearchResult try_order(const SearchContext& context, const Order& order, double hypotheses) {
  const Dims& dims = context.input.golden.dims();
  const Places places = [&](const Point& point) {
    return std::optional(number_before(dims, order, point.number));
  };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(context, TransformedSide::golden, *context.golden, places, hypotheses));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(context.input.actual));
  BTF_ASSIGN(StridedLayout golden, permuted_view(context.input.golden, order));
  BTF_ASSIGN(const StreamTally all, compare_streams(context, {std::move(actual), std::move(golden)},
                                                    context.elements, {}));
  if (all.exceptions() > allowed_exceptions(context)) return std::nullopt;
  OtherDims as = transposed_as(order, TransformedSide::golden);
  return Finding{{as.cause, as.words + ": " + agreed_text(context, all)}, all.exceptions()};
}

// Whether transposing changes the sizes of the dims. If not, it is the inverse order of another
// candidate.
bool makes_other_dims(const Dims& dims, const Order& order) {
  return !std::ranges::equal(order, dims, {}, [&](std::uint32_t d) { return dims[d]; });
}

// Golden's elements in row-major order are those of a transposed actual.
NamedRearrangement transposed_golden(const Dims& dims, const Order& order) {
  Dims transposed;
  for (const std::uint32_t d : order) transposed.push_back(dims[d]);
  Rearrangement rule = unchanged(dims);
  for (std::size_t k = 0; k < order.size(); ++k)
    rule.digits[order[k]].step = stride_of(transposed, k);
  OtherDims as = transposed_as(order, TransformedSide::actual);
  return {as.cause, std::move(as.words), std::move(rule)};
}

SearchResult find_transposed_golden(const SearchContext& context,
                                    const std::vector<Order>& orders) {
  const Dims& dims = context.input.golden.dims();
  std::vector<NamedRearrangement> candidates;
  for (const Order& order : orders)
    if (makes_other_dims(dims, order)) candidates.push_back(transposed_golden(dims, order));
  return find_rearranged(context, candidates);
}

}  // namespace

std::vector<OtherDims> other_dims(const Dims& dims) {
  const std::vector<Order> orders = orders_of(dims);
  std::vector<OtherDims> others;
  for (const Order& order : orders) others.push_back(transposed_as(order, TransformedSide::golden));
  for (const Order& order : orders)
    if (makes_other_dims(dims, order))
      others.push_back(transposed_as(order, TransformedSide::actual));
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

SearchResult find_permutation(const SearchContext& context) {
  if (!streamable(context)) return std::nullopt;
  const std::vector<Order> orders = orders_of(context.input.golden.dims());
  BTF_TRY(fetch_ahead(context, orders));
  for (const Order& order : orders) {
    BTF_ASSIGN(std::optional<Finding> finding,
               try_order(context, order, static_cast<double>(orders.size())));
    if (finding) return finding;
  }
  return find_transposed_golden(context, orders);
}

namespace {

// Pitch: rows that were written or read at another distance than they have.

constexpr std::uint64_t kNearPitch = 256;  // every pitch up to this far from the width is tried
constexpr unsigned kMaxAligned = 12;       // and multiples of powers of two up to 2^12

// Pitches that rows of `width` elements may have. At most two and a half times the width, since
// fewer rows would be left to recognise it by.
std::vector<std::uint64_t> pitches_of(std::uint64_t width, std::uint64_t count, bool near) {
  std::set<std::uint64_t> pitches;
  const std::uint64_t most = std::min(width + width + width / 2, count - 1);
  const std::uint64_t least = std::max<std::uint64_t>(2, width - width / 2);
  if (near)
    for (std::uint64_t by = 1; by <= kNearPitch; ++by) pitches.insert({width + by, width - by});
  for (unsigned power = 1; power <= kMaxAligned; ++power) {
    const std::uint64_t unit = 1ULL << power;
    pitches.insert({(width / unit + 1) * unit, width / unit * unit});
  }
  std::erase_if(pitches, [&](std::uint64_t p) { return p < least || p > most || p == width; });
  return {pitches.begin(), pitches.end()};
}

// Row h of actual was read from golden's element h * pitch.
NamedRearrangement read_with(const Dims& dims, std::uint64_t width, std::uint64_t pitch) {
  Rearrangement rule;
  rule.count = unchanged(dims).count;
  rule.digits = {{.step = static_cast<std::int64_t>(pitch)}, {.size = width, .step = 1}};
  return {Cause::pitch,
          "actual is golden's rows of " + std::to_string(width) + " read with a pitch of " +
              std::to_string(pitch),
          std::move(rule)};
}

// Row h of golden begins at actual's element h * pitch.
NamedRearrangement stored_with(const Dims& dims, std::uint64_t width, std::uint64_t pitch) {
  Rearrangement rule;
  rule.count = unchanged(dims).count;
  rule.digits = {{.step = static_cast<std::int64_t>(width)},
                 {.size = pitch, .step = 1, .end = std::min(width, pitch)}};
  return {Cause::pitch,
          "actual holds golden's rows of " + std::to_string(width) + " with a pitch of " +
              std::to_string(pitch),
          std::move(rule)};
}

}  // namespace

SearchResult find_pitch(const SearchContext& context) {
  if (context.rounded) return std::nullopt;
  const Dims& dims = context.input.golden.dims();
  const bool dense = context.input.golden.storage() != nullptr;
  std::vector<NamedRearrangement> candidates;
  std::uint64_t width = 1;
  for (std::size_t d = dims.size(); d-- > 1;) {
    if (dims[d] == 1) continue;
    const bool innermost = width == 1;
    width *= dims[d];
    if (width >= context.elements) break;
    for (const std::uint64_t pitch : pitches_of(width, context.elements, innermost && dense)) {
      candidates.push_back(stored_with(dims, width, pitch));
      candidates.push_back(read_with(dims, width, pitch));
    }
  }
  return find_rearranged(context, candidates);
}

namespace {

// Shuffled: parts of one dim that were exchanged, as groups of channels, heads, or pairs of a
// rotary embedding. Repeated: one index that is at all indices.

constexpr std::uint64_t kMaxSplit = 1U << 20;  // largest dim whose divisors are tried
constexpr std::size_t kMaxShuffles = 1024;     // tried per dim
constexpr std::uint64_t kMaxRepeated = 64;     // indices of a dim that may be the repeated one
constexpr std::uint64_t kMinRepeated = 32;     // elements per index: fewer may be equal by chance

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

// A dim that actual holds as [outer, first, second, inner] and golden as [outer, second, first,
// inner].
struct Parts {
  std::uint64_t outer = 1;
  std::uint64_t first = 1;
  std::uint64_t second = 1;
  std::uint64_t inner = 1;
};

// Ordered by the number of parts, the fewest first.
std::vector<Parts> splits_of(std::uint64_t size) {
  std::vector<Parts> splits;
  if (size > kMaxSplit) return splits;
  for (const std::uint64_t outer : divisors(size))
    for (const std::uint64_t inner : divisors(size / outer)) {
      const std::uint64_t both = size / outer / inner;
      for (const std::uint64_t first : divisors(both))
        if (first > 1 && first < both) splits.push_back({outer, first, both / first, inner});
    }
  std::ranges::stable_sort(splits, {}, [](const Parts& split) {
    return (split.outer > 1 ? 1 : 0) + (split.inner > 1 ? 1 : 0);
  });
  if (splits.size() > kMaxShuffles) splits.resize(kMaxShuffles);
  return splits;
}

NamedRearrangement shuffled(const Dims& dims, std::size_t dim, const Parts& split) {
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
// transposed, or were transposed once too often.
NamedRearrangement moved_heads(const Dims& dims, std::size_t row, std::uint64_t heads,
                               bool of_actual) {
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

void add_moved_heads(const Dims& dims, std::vector<NamedRearrangement>& candidates) {
  for (std::size_t row = 0; row + 1 < dims.size(); ++row) {
    if (dims[row] < 2 || dims[row + 1] > kMaxSplit) continue;
    for (const std::uint64_t heads : divisors(dims[row + 1]))
      if (heads > 1 && heads < dims[row + 1])
        for (const bool of_actual : {true, false})
          candidates.push_back(moved_heads(dims, row, heads, of_actual));
  }
}

NamedRearrangement repeated(const Dims& dims, std::size_t dim, std::uint64_t index) {
  Rearrangement rule = unchanged(dims);
  rule.digits[dim].step = 0;
  rule.base = static_cast<std::int64_t>(index) * stride_of(dims, dim);
  return {Cause::repeated,
          "actual holds golden's " + dim_text(static_cast<std::uint32_t>(dim), dims.size()) +
              " = " + std::to_string(index) + " at all " + std::to_string(dims[dim]) + " indices",
          std::move(rule), true};
}

}  // namespace

std::vector<NamedRearrangement> shuffled_orders(const Dims& dims) {
  std::vector<NamedRearrangement> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (const Parts& split : splits_of(dims[d])) candidates.push_back(shuffled(dims, d, split));
  add_moved_heads(dims, candidates);
  return candidates;
}

SearchResult find_shuffled(const SearchContext& context) {
  return find_rearranged(context, shuffled_orders(context.input.golden.dims()));
}

SearchResult find_repeated(const SearchContext& context) {
  const Dims& dims = context.input.golden.dims();
  std::vector<NamedRearrangement> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (std::uint64_t index = 0; index < std::min(dims[d], kMaxRepeated); ++index)
      if (dims[d] > 1 && context.elements / dims[d] >= kMinRepeated)
        candidates.push_back(repeated(dims, d, index));
  return find_rearranged(context, candidates);
}

}  // namespace btf::hints

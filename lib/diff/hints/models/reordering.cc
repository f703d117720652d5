#include "diff/hints/models/reordering.h"

#include <algorithm>

#include "btf/try.h"
#include "diff/hints/evidence/agree_words.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/viewed_side.h"
#include "diff/pairs/rows.h"
#include "elements/parallel.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kBlock = 1U << 15;  // elements; even
// Two COO tensors of more elements are not spelt out.
constexpr std::uint64_t kMostSparse = 64U << 20;
// Elements of the sample for a first look.
constexpr std::size_t kFew = 8;
constexpr std::size_t kFewest = 2;

template <typename Real>
struct Block {
  std::vector<std::byte> codes = std::vector<std::byte>(kBlock * sizeof(std::uint64_t));
  std::vector<Real> values = std::vector<Real>(kBlock);

  Status load(FlatStream& stream, DType dtype, std::uint64_t count) {
    BTF_TRY(stream.read(count, codes.data()));
    widener<Real>(dtype)(codes.data(), 1, count, values.data());
    return {};
  }
};

// Those of `count` pairs from number `first` on that are compared.
PairBits inside(const Alignment& alignment, std::uint64_t first, std::uint64_t count) {
  if (alignment.begin == 0 && alignment.end >= alignment.extent) return PairBits::first(count);
  PairBits bits;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t position = (first + i) / alignment.inner % alignment.extent;
    if (position >= alignment.begin && position < alignment.end) bits.set(i);
  }
  return bits;
}

template <typename Real>
void add_run(const Inquiry& inquiry, const Alignment& alignment, std::uint64_t first,
             std::uint64_t count, const Real* actual, const Real* golden, StreamTally& tally) {
  PairBits compared = inside(alignment, first, count);
  tally.compared += compared.count();
  compared &= agreeing(actual, golden, count, inquiry.agreement);
  tally.agreed += compared.count();
  compared.take_out(accepted_pairs(actual, golden, count, inquiry.agreement));
  tally.lenient += compared.count();
}

// The same elements in the same order by other dims; only for storage in that order.
std::optional<StridedLayout> with_dims(const StridedLayout& view, const Dims& dims, DType dtype) {
  if (view.dims == dims) return view;
  const auto own = linear_view(view.dims, dtype);
  auto linear = linear_view(dims, dtype);
  const bool in_order = own && !view.split && own->strides == view.strides;
  if (!in_order || !linear || linear->storage_elements != own->storage_elements)
    return std::nullopt;
  return *std::move(linear);
}

// Views of both sides with the same dims, so that they can be read in boxes and not only as
// streams.
std::optional<Streams> as_boxes(const HintInput& input, const Streams& streams) {
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  if (auto golden = with_dims(streams.golden, streams.actual.dims, input.golden.dtype()))
    return Streams{streams.actual, *std::move(golden)};
  if (auto actual = with_dims(streams.actual, streams.golden.dims, input.actual.dtype()))
    return Streams{*std::move(actual), streams.golden};
  return std::nullopt;
}

// add(tally, first, count, actual, golden) for runs of the pairs, `start` being a tally of none.
template <typename Real, typename Tally, typename Add>
Result<Tally> walk_boxes(const Inquiry& inquiry, const Streams& views, const Tally& start,
                         const Add& add) {
  const ViewedSide actual(inquiry.input.actual, views.actual);
  const ViewedSide golden(inquiry.input.golden, views.golden);
  const PairRows pairs(actual, golden, inquiry.input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<Tally> tallies(workers, start);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    add(tallies[worker], run.first, run.count, run.actual, run.golden);
  }));
  Tally all = start;
  for (const Tally& one : tallies) all.add(one);
  return all;
}

template <typename Real, typename Tally, typename Add>
Result<Tally> walk_all(const Inquiry& inquiry, const Streams& streams, std::uint64_t count,
                       const Alignment& alignment, const Tally& start, const Add& add) {
  const HintInput& input = inquiry.input;
  const std::uint64_t lag = static_cast<std::uint64_t>(std::abs(alignment.lag));
  std::uint64_t at = alignment.lag > 0 ? lag : 0;
  const std::uint64_t end = alignment.lag > 0 ? count : count - lag;
  Tally tally = start;
  if (lag >= count) return tally;
  if (lag == 0 && !alignment.exchange)
    if (const auto views = as_boxes(input, streams); views && views->golden.elements() == count)
      return walk_boxes<Real>(inquiry, *views, start, add);
  BTF_ASSIGN(FlatStream actual, FlatStream::open(input.actual, streams.actual, at));
  BTF_ASSIGN(FlatStream golden,
             FlatStream::open(input.golden, streams.golden, alignment.lag < 0 ? lag : 0));
  Block<Real> left;
  Block<Real> right;
  while (at < end) {
    BTF_TRY(check_cancelled(input.execution));
    const std::uint64_t n = std::min(kBlock, end - at);
    BTF_TRY(left.load(actual, input.actual.dtype(), n));
    BTF_TRY(right.load(golden, input.golden.dtype(), n));
    if (alignment.exchange)
      for (std::uint64_t i = 0; i + 1 < n; i += 2) std::swap(right.values[i], right.values[i + 1]);
    for (std::uint64_t i = 0; i < n; i += kPairRun)
      add(tally, at + i, std::min(kPairRun, n - i), left.values.data() + i,
          right.values.data() + i);
    at += n;
  }
  return tally;
}

}  // namespace

std::string agreed_text(const Inquiry& inquiry, const StreamTally& tally) {
  return share_text(tally.agreed, tally.compared) + within_text(inquiry, tally.lenient);
}

Result<StreamTally> compare_streams(const Inquiry& inquiry, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment) {
  const HintInput& input = inquiry.input;
  const auto add = [&](StreamTally& tally, std::uint64_t first, std::uint64_t n,
                       const auto* actual, const auto* golden) {
    add_run(inquiry, alignment, first, n, actual, golden, tally);
  };
  return fits_double(input.actual.dtype()) && fits_double(input.golden.dtype())
             ? walk_all<double>(inquiry, streams, count, alignment, StreamTally{}, add)
             : walk_all<long double>(inquiry, streams, count, alignment, StreamTally{}, add);
}

Result<Likeness> likeness_of_streams(const Inquiry& inquiry, const Streams& streams,
                                     const Alignment& alignment, const Yardstick& yardstick) {
  const std::uint64_t count =
      alignment.exchange ? inquiry.elements / 2 * 2 : inquiry.elements;
  return walk_all<double>(inquiry, streams, count, alignment, Likeness(yardstick),
                          [](Likeness& likeness, std::uint64_t, std::uint64_t n,
                             const double* actual, const double* golden) {
                            likeness.add_run(actual, golden, n);
                          });
}

Result<Moved> look_up_moved(Lookup& lookup, std::span<const Point> points, const Places& places) {
  std::vector<std::uint64_t> numbers;
  std::vector<bool> inside;
  for (const Point& point : points) {
    const std::optional<std::uint64_t> place = places(point);
    inside.push_back(place.has_value());
    if (place) numbers.push_back(*place);
  }
  BTF_ASSIGN(const std::vector<long double> values, lookup.values(numbers));
  Moved moved(points.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (inside[i]) moved[i] = values[next++];
  return moved;
}

Result<bool> worth_a_walk(const Inquiry& inquiry, MovedSide side, Lookup& lookup,
                          const Places& places, double hypotheses) {
  // Those that it applies to.
  std::vector<std::size_t> which;
  for (const std::size_t i : inquiry.rarest) {
    if (places(inquiry.mismatches[i])) which.push_back(i);
    if (which.size() == kFew) break;
  }
  // Two that fail are one too many, and most that are tried fail there.
  for (const std::size_t first : {kFewest, kFew}) {
    const std::span few = std::span(which).first(std::min(first, which.size()));
    std::vector<Point> points;
    for (const std::size_t i : few) points.push_back(inquiry.mismatches[i]);
    BTF_ASSIGN(const Moved look, look_up_moved(lookup, points, places));
    const bool go_on = first == kFewest ? !hopeless(inquiry, side, few, look)
                                        : promising(inquiry, side, few, look);
    if (!go_on) return false;
  }
  BTF_ASSIGN(const Moved mismatches, look_up_moved(lookup, inquiry.mismatches, places));
  BTF_ASSIGN(const Moved anywhere, look_up_moved(lookup, inquiry.anywhere, places));
  return convincing(inquiry, side, mismatches, anywhere, hypotheses);
}

bool streamable(const Inquiry& inquiry) {
  const bool sparse =
      inquiry.input.actual.storage() == nullptr && inquiry.input.golden.storage() == nullptr;
  return !sparse || inquiry.elements <= kMostSparse;
}

}  // namespace btf::hints

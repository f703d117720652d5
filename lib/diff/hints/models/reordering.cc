#include "diff/hints/models/reordering.h"

#include <algorithm>

#include "btf/try.h"
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

template <typename Real>
Result<StreamTally> compare_all(const Inquiry& inquiry, const Streams& streams, std::uint64_t count,
                                const Alignment& alignment) {
  const HintInput& input = inquiry.input;
  const std::uint64_t lag = static_cast<std::uint64_t>(std::abs(alignment.lag));
  std::uint64_t at = alignment.lag > 0 ? lag : 0;
  const std::uint64_t end = alignment.lag > 0 ? count : count - lag;
  StreamTally tally;
  if (lag >= count) return tally;
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
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t position = (at + i) / alignment.inner % alignment.extent;
      if (position < alignment.begin || position >= alignment.end) continue;
      ++tally.compared;
      if (agrees(left.values[i], right.values[i], inquiry.agreement)) ++tally.agreed;
    }
    at += n;
  }
  return tally;
}

}  // namespace

Result<StreamTally> compare_streams(const Inquiry& inquiry, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment) {
  const HintInput& input = inquiry.input;
  return fits_double(input.actual.dtype()) && fits_double(input.golden.dtype())
             ? compare_all<double>(inquiry, streams, count, alignment)
             : compare_all<long double>(inquiry, streams, count, alignment);
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
  // Two that fail are one too many, and most that are tried fail there.
  for (const std::size_t first : {kFewest, kFew}) {
    const std::span few = std::span(inquiry.rarest).first(std::min(first, inquiry.rarest.size()));
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

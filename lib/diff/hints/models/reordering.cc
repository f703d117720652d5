#include "diff/hints/models/reordering.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "btf/convert.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"
#include "kernels/number/widen.h"

namespace btf::hints {

struct FlatStream::State {
  const DiffSide& side;
  StridedLayout view;
  StridedLayout order;  // its offsets number the elements
  SlabGrid grid;
  std::uint64_t slab = 0;
  std::unique_ptr<SlabReader> reader;
  Buffer buffer;
  const std::byte* codes = nullptr;  // the rest of the slab
  std::uint64_t left = 0;

  std::uint64_t bytes() const { return info(side.dtype()).buffer_bytes(); }

  Status load() {
    const Box box = grid.box(slab++);
    BTF_ASSIGN(const SourceSlab read, reader->read(box));
    left = footprint(order, box).elements;
    // A box of a COO side is already one run in its arrangement.
    const bool sparse = side.storage() == nullptr;
    codes = sparse ? read.data : in_row_major(read, box.counts(), side.dtype(), buffer).data;
    return {};
  }

  // The slab that contains element `begin`.
  std::uint64_t find(std::uint64_t begin) const {
    std::uint64_t low = 0;
    std::uint64_t high = grid.count();
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (footprint(order, grid.box(middle)).base <= begin ? low : high) = middle;
    }
    return low;
  }

  Status seek(std::uint64_t begin) {
    const bool sparse = side.storage() == nullptr;
    slab = sparse ? 0 : find(begin);
    std::uint64_t at = footprint(order, grid.box(slab)).base;
    for (;;) {
      BTF_TRY(load());
      if (begin - at < left) break;
      at += left;
    }
    codes += (begin - at) * bytes();
    left -= begin - at;
    return {};
  }
};

Result<FlatStream> FlatStream::open(const DiffSide& side, const StridedLayout& view,
                                    std::uint64_t begin) {
  const bool sparse = side.storage() == nullptr;
  StridedLayout order = view;
  if (!sparse) {
    BTF_ASSIGN(order, linear_view(view.dims, side.dtype()));
  }
  const std::uint64_t bytes = info(side.dtype()).buffer_bytes();
  SlabGrid grid =
      choose_slabs({&view, bytes}, {&order, bytes}, {.bytes = 1U << 20, .target_contiguous = true});
  auto state = std::make_shared<State>(State{.side = side,
                                             .view = view,
                                             .order = std::move(order),
                                             .grid = std::move(grid),
                                             .reader = {},
                                             .buffer = {}});
  BTF_ASSIGN(state->reader, side.reader(state->view));
  BTF_TRY(state->seek(begin));
  return FlatStream(std::move(state));
}

Status FlatStream::read(std::uint64_t count, std::byte* out) {
  State& s = *state_;
  while (count > 0) {
    if (s.left == 0) BTF_TRY(s.load());
    const std::uint64_t part = std::min(count, s.left);
    std::memcpy(out, s.codes, part * s.bytes());
    out += part * s.bytes();
    s.codes += part * s.bytes();
    s.left -= part;
    count -= part;
  }
  return {};
}

Result<StridedLayout> linear_view(const Dims& dims, DType dtype) {
  return resolve(Layout::linear, dims, dtype);
}

Result<StridedLayout> own_view(const DiffSide& side) {
  if (side.storage() != nullptr) return *side.storage();
  // Expanded, a COO tensor may take more bytes than 64 bits count; its elements do not.
  return linear_view(side.dims(), DType::uint8);
}

Result<StridedLayout> permuted_view(const DiffSide& side, std::span<const std::uint32_t> order) {
  if (side.storage() != nullptr) return permuted(*side.storage(), order);
  Dims dims;
  std::vector<std::uint32_t> back(order.size());
  for (std::uint32_t d = 0; d < order.size(); ++d) {
    dims.push_back(side.dims()[order[d]]);
    back[order[d]] = d;
  }
  BTF_ASSIGN(const StridedLayout linear, linear_view(dims, side.dtype()));
  return permuted(linear, back);
}

Result<StridedLayout> stored_view(const DiffSide& side) {
  return linear_view({side.storage()->storage_elements}, side.dtype());
}

namespace {

constexpr double kNormalTails = 3;  // fourth moment divided by the square of the second

// A hash: looks random, but is always the same.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 32);
}

// The number of elements along a dim per independent one: 1 for noise, more where elements are
// smooth, repeat, or have a level of their own in each line.
Result<double> numbers_for_one(Lookup& side, const Normalisation& normalisation, std::size_t dim) {
  constexpr std::uint64_t kLines = 16;
  constexpr std::uint64_t kWindow = 48;
  const Dims& dims = side.view().dims;
  const std::uint64_t size = dims[dim];
  const std::uint64_t window = std::min(size, kWindow);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    Dims index(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      index[d] = scrambled(line * 64 + d + 1) % (d == dim ? size - window + 1 : dims[d]);
    for (std::uint64_t i = 0; i < window; ++i, ++index[dim])
      numbers.push_back(linear_key(dims, index));
  }
  BTF_ASSIGN(const std::vector<long double> values, side.values(numbers));
  std::vector<double> x;
  x.reserve(values.size());
  for (const long double value : values)
    x.push_back(std::isfinite(value)
                    ? static_cast<double>((value - normalisation.centre) / normalisation.unit)
                    : 0.0);
  double square = 0;
  for (const double v : x) square += v * v;
  square /= static_cast<double>(x.size());
  if (square == 0) return 1;
  double sum = 1;
  double last = 0;  // mean of the longest lags, used for still longer ones
  std::uint64_t lasts = 0;
  for (std::uint64_t lag = 1; lag < window; ++lag) {
    double product = 0;
    for (std::uint64_t line = 0; line < kLines; ++line)
      for (std::uint64_t i = 0; i + lag < window; ++i)
        product += x[line * window + i] * x[line * window + i + lag];
    const auto count = static_cast<double>(kLines * (window - lag));
    const double correlation = product / count / square;
    // The square that noise has by chance is subtracted.
    const double known = std::max(0.0, correlation * correlation - 2 / count);
    const double share = 1 - static_cast<double>(lag) / static_cast<double>(size);
    sum += 2 * share * known;
    if (4 * lag < 3 * window) continue;
    last += known;
    ++lasts;
  }
  if (size > window && lasts > 0) {
    const auto rest = static_cast<double>(size - window);
    sum += last / static_cast<double>(lasts) * rest * rest / static_cast<double>(size);
  }
  return std::min(sum, static_cast<double>(size));
}

}  // namespace

Normalisation normalisation_of(std::span<const Point> points, bool of_golden) {
  std::vector<long double> numbers;
  for (const Point& point : points)
    if (const long double v = of_golden ? point.golden : point.actual; std::isfinite(v))
      numbers.push_back(v);
  if (numbers.size() < 2) return {0, 0};
  const auto count = static_cast<long double>(numbers.size());
  long double mean = 0;
  for (const long double v : numbers) mean += v / count;
  long double square = 0;
  for (const long double v : numbers) square += (v - mean) / count * (v - mean);
  const auto unit = static_cast<double>(std::sqrt(square));
  // Rounding of equal numbers is not a spread.
  const bool constant = unit <= 1e-13 * std::abs(static_cast<double>(mean));
  return {static_cast<double>(mean), constant || !std::isfinite(unit) ? 0 : unit};
}

void PairStatistics::add_run(const double* actual, const double* golden, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = (actual[i] - normalisation_.centre) / normalisation_.unit;
    const double y = (golden[i] - normalisation_.centre) / normalisation_.unit;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      const bool same = actual[i] == golden[i] || (std::isnan(actual[i]) && std::isnan(golden[i]));
      unlike_ += same ? 0 : 1;
      continue;
    }
    ++pairs_;
    actual_.first += x;
    actual_.second += x * x;
    actual_.fourth += x * x * (x * x);
    golden_.first += y;
    golden_.second += y * y;
    golden_.fourth += y * y * (y * y);
    products_ += x * y;
    errors_ += (x - y) * (x - y);
  }
}

void PairStatistics::add(const PairStatistics& other) {
  pairs_ += other.pairs_;
  unlike_ += other.unlike_;
  for (const auto side : {&PairStatistics::actual_, &PairStatistics::golden_}) {
    (this->*side).first += (other.*side).first;
    (this->*side).second += (other.*side).second;
    (this->*side).fourth += (other.*side).fourth;
  }
  products_ += other.products_;
  errors_ += other.errors_;
}

double PairStatistics::variance(bool of_golden) const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  const double mean = sums(of_golden).first / n;
  return std::max(0.0, sums(of_golden).second / n - mean * mean);
}

double PairStatistics::covariance() const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  return products_ / n - actual_.first / n * (golden_.first / n);
}

double PairStatistics::correlation() const {
  return covariance() / std::sqrt(variance(false) * variance(true));
}

FittedLine PairStatistics::line() const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  const auto mean = [&](const Sums& of) {
    return normalisation_.centre + normalisation_.unit * (of.first / n);
  };
  const double factor = covariance() / variance(true);
  return {factor, mean(actual_) - factor * mean(golden_)};
}

double PairStatistics::error() const {
  return std::sqrt(errors_ / static_cast<double>(std::max<std::uint64_t>(pairs_, 1))) *
         normalisation_.unit;
}

double PairStatistics::deviation(bool of_golden) const {
  return std::sqrt(variance(of_golden)) * normalisation_.unit;
}

double PairStatistics::tails(bool of_golden) const {
  const Sums& of = sums(of_golden);
  if (of.second == 0 || !std::isfinite(of.fourth)) return std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(pairs_);
  return std::max(1.0, n * of.fourth / (of.second * of.second) / kNormalTails);
}

Result<PairStatistics> statistics_as_is(const SearchContext& context,
                                        const Normalisation& normalisation) {
  const HintInput& input = context.input;
  return statistics_of(input.actual, input.golden, input.execution, normalisation);
}

Result<PairStatistics> statistics_of(const DiffSide& actual, const DiffSide& golden,
                                     const Execution& execution,
                                     const Normalisation& normalisation) {
  const PairRows pairs(actual, golden, execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<PairStatistics> parts(workers, PairStatistics(normalisation));
  BTF_TRY(pairs.walk<double>([&](unsigned worker, std::uint64_t, const PairRun<double>& run) {
    parts[worker].add_run(run.actual, run.golden, run.values());
  }));
  PairStatistics all(normalisation);
  for (const PairStatistics& part : parts) all.add(part);
  return all;
}

Result<double> independent_numbers(Lookup& side, const Normalisation& normalisation) {
  double numbers = 1;
  for (std::size_t d = 0; d < side.view().dims.size(); ++d) {
    const std::uint64_t size = side.view().dims[d];
    if (size < 2) continue;
    BTF_ASSIGN(const double for_one, numbers_for_one(side, normalisation, d));
    numbers *= static_cast<double>(size) / for_one;
  }
  return numbers;
}

namespace {

constexpr std::uint64_t kBlock = 1U << 15;  // elements; even

// Two COO tensors of more elements than this are not expanded.
constexpr std::uint64_t kMaxSparse = 64U << 20;

// Sampled elements for a first look.
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

// The pairs, of `count` from number `first` on, that the alignment compares.
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
void add_run(const SearchContext& context, const Alignment& alignment, std::uint64_t first,
             std::uint64_t count, const Real* actual, const Real* golden, StreamTally& tally) {
  PairBits compared = inside(alignment, first, count);
  tally.compared += compared.count();
  compared &= agreeing(actual, golden, count, context.agreement);
  tally.agreed += compared.count();
  compared.take_out(accepted_pairs(actual, golden, count, context.agreement));
  tally.lenient += compared.count();
}

// The view with other dims but the same elements in the same order; unset if its storage is not in
// that order.
std::optional<StridedLayout> with_dims(const StridedLayout& view, const Dims& dims, DType dtype) {
  if (view.dims == dims) return view;
  const auto own = linear_view(view.dims, dtype);
  auto linear = linear_view(dims, dtype);
  const bool in_order = own && !view.split && own->strides == view.strides;
  if (!in_order || !linear || linear->storage_elements != own->storage_elements)
    return std::nullopt;
  return *std::move(linear);
}

// Views of both sides with equal dims, so that they can be read in boxes and not only as streams.
std::optional<Streams> as_boxes(const HintInput& input, const Streams& streams) {
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  if (auto golden = with_dims(streams.golden, streams.actual.dims, input.golden.dtype()))
    return Streams{streams.actual, *std::move(golden)};
  if (auto actual = with_dims(streams.actual, streams.golden.dims, input.actual.dtype()))
    return Streams{*std::move(actual), streams.golden};
  return std::nullopt;
}

// Calls add(tally, first, count, actual, golden) for runs of pairs; `start` is an empty tally.
template <typename Real, typename Tally, typename Add>
Result<Tally> walk_boxes(const SearchContext& context, const Streams& views, const Tally& start,
                         const Add& add) {
  const ViewedSide actual(context.input.actual, views.actual);
  const ViewedSide golden(context.input.golden, views.golden);
  const PairRows pairs(actual, golden, context.input.execution);
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
Result<Tally> walk_all(const SearchContext& context, const Streams& streams, std::uint64_t count,
                       const Alignment& alignment, const Tally& start, const Add& add) {
  const HintInput& input = context.input;
  const std::uint64_t lag = static_cast<std::uint64_t>(std::abs(alignment.lag));
  std::uint64_t at = alignment.lag > 0 ? lag : 0;
  const std::uint64_t end = alignment.lag > 0 ? count : count - lag;
  Tally tally = start;
  if (lag >= count) return tally;
  if (lag == 0 && !alignment.exchange)
    if (const auto views = as_boxes(input, streams); views && views->golden.elements() == count)
      return walk_boxes<Real>(context, *views, start, add);
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

std::string agreed_text(const SearchContext& context, const StreamTally& tally) {
  return share_text(tally.agreed, tally.compared) + within_text(context, tally.lenient);
}

Result<StreamTally> compare_streams(const SearchContext& context, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment) {
  const HintInput& input = context.input;
  const auto add = [&](StreamTally& tally, std::uint64_t first, std::uint64_t n, const auto* actual,
                       const auto* golden) {
    add_run(context, alignment, first, n, actual, golden, tally);
  };
  return fits_double(input.actual.dtype()) && fits_double(input.golden.dtype())
             ? walk_all<double>(context, streams, count, alignment, StreamTally{}, add)
             : walk_all<long double>(context, streams, count, alignment, StreamTally{}, add);
}

Result<PairStatistics> stream_statistics(const SearchContext& context, const Streams& streams,
                                         const Alignment& alignment,
                                         const Normalisation& normalisation) {
  const std::uint64_t count = alignment.exchange ? context.elements / 2 * 2 : context.elements;
  return walk_all<double>(
      context, streams, count, alignment, PairStatistics(normalisation),
      [](PairStatistics& statistics, std::uint64_t, std::uint64_t n, const double* actual,
         const double* golden) { statistics.add_run(actual, golden, n); });
}

Result<Predictions> look_up_predictions(Lookup& lookup, std::span<const Point> points,
                                        const Places& places) {
  std::vector<std::uint64_t> numbers;
  std::vector<bool> inside;
  for (const Point& point : points) {
    const std::optional<std::uint64_t> place = places(point);
    inside.push_back(place.has_value());
    if (place) numbers.push_back(*place);
  }
  BTF_ASSIGN(const std::vector<long double> values, lookup.values(numbers));
  Predictions predicted(points.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (inside[i]) predicted[i] = values[next++];
  return predicted;
}

Result<bool> worth_a_walk(const SearchContext& context, TransformedSide side, Lookup& lookup,
                          const Places& places, double hypotheses) {
  // The points for which the hypothesis predicts something.
  std::vector<std::size_t> which;
  for (const std::size_t i : context.rarest) {
    if (places(context.mismatches[i])) which.push_back(i);
    if (which.size() == kFew) break;
  }
  // A second failure rejects it, and most hypotheses fail here.
  for (const std::size_t first : {kFewest, kFew}) {
    const std::span few = std::span(which).first(std::min(first, which.size()));
    std::vector<Point> points;
    for (const std::size_t i : few) points.push_back(context.mismatches[i]);
    BTF_ASSIGN(const Predictions look, look_up_predictions(lookup, points, places));
    const bool go_on = first == kFewest ? !hopeless(context, side, few, look)
                                        : promising(context, side, few, look);
    if (!go_on) return false;
  }
  BTF_ASSIGN(const Predictions mismatches, look_up_predictions(lookup, context.mismatches, places));
  BTF_ASSIGN(const Predictions anywhere, look_up_predictions(lookup, context.anywhere, places));
  return convincing(context, side, mismatches, anywhere, hypotheses);
}

bool streamable(const SearchContext& context) {
  const bool sparse =
      context.input.actual.storage() == nullptr && context.input.golden.storage() == nullptr;
  return !sparse || context.elements <= kMaxSparse;
}

}  // namespace btf::hints

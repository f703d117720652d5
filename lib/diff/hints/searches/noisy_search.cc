// Searches among noise that leaves hardly two numbers equal: the sides do not match as they are,
// but nearly do with elements in another order or bits read in another way. They are compared by
// correlation over the whole tensor, not element by element.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"

namespace btf::hints {
namespace {

// Limits on squares of what is left, relative to the variance.
constexpr double kMaxUncorrelated = 0.06;  // a correlation of 0.97
constexpr double kMinBefore = 0.05;        // if less is left already, no other order is needed
constexpr double kMinGained = 8;           // the variance must fall by this factor
constexpr std::uint64_t kMinElements = 24;
constexpr std::uint64_t kMaxNotFinite = 100;  // one in this many may be NaN or Inf on one side only
constexpr std::size_t kMaxNoisyWalks = 3;
// Two transforms that leave nearly as much are equally good, and the simpler one wins.
constexpr double kAsGood = 1.1;
// A factor and an offset are reported if they reduce what is left, at least this much, by this
// factor.
constexpr double kMinByScale = 4;
constexpr double kMinUnscaled = 1e-7;

// A way in which one side may have been transformed.
struct Transform {
  Cause cause{};
  std::string words;
  TransformedSide side{};
  std::function<Result<Predictions>(std::span<const Point> points)> look;
  std::function<Result<PairStatistics>(const Normalisation& normalisation)> measure;
  bool may_be_scaled = true;  // a factor and an offset may be combined with it
};

bool of_golden(TransformedSide side) { return side == TransformedSide::golden; }
// Whether golden is the side that stays unchanged.
bool golden_stays(const Transform& transform) { return transform.side == TransformedSide::actual; }

class Transforms {
 public:
  explicit Transforms(const SearchContext& context) : context_(context) {
    add_layouts();
    for (OtherDims& other : other_dims(dims())) add(std::move(other));
    add_exchanged_nibbles();
    for (const CodeReading& reading : other_readings(context.input)) add(reading);
    for (NamedRearrangement& other : mirrored_orders(dims())) add(std::move(other));
    for (NamedRearrangement& other : shuffled_orders(dims())) add(std::move(other));
  }

  const std::vector<Transform>& all() const { return transforms_; }

 private:
  const Dims& dims() const { return context_.input.golden.dims(); }
  const DiffSide& side(TransformedSide of) const {
    return of_golden(of) ? context_.input.golden : context_.input.actual;
  }
  Lookup& lookup(TransformedSide of) const {
    return of_golden(of) ? *context_.golden : *context_.actual;
  }

  // Measures one side through a view and the other one as it is.
  std::function<Result<PairStatistics>(const Normalisation&)> through(
      TransformedSide of, const StridedLayout& view) const {
    return [this, of, view](const Normalisation& normalisation) -> Result<PairStatistics> {
      BTF_ASSIGN(StridedLayout other,
                 own_view(side(of_golden(of) ? TransformedSide::actual : TransformedSide::golden)));
      const Streams streams =
          of_golden(of) ? Streams{std::move(other), view} : Streams{view, std::move(other)};
      return stream_statistics(context_, streams, {}, normalisation);
    };
  }

  void add_layouts() {
    for (const TransformedSide of : {TransformedSide::actual, TransformedSide::golden})
      for (const auto& [row, storage] : other_layouts(side(of))) {
        const auto opened = std::make_shared<std::optional<Lookup>>();
        const auto look = [this, of, storage,
                           opened](std::span<const Point> points) -> Result<Predictions> {
          if (!*opened) {
            BTF_ASSIGN(*opened, Lookup::open(side(of), storage));
          }
          return look_up_predictions(
              **opened, points, [](const Point& point) { return std::optional(point.number); });
        };
        transforms_.push_back(
            {Cause::layout, layout_words(*row, of), of, look, through(of, storage)});
      }
  }

  void add(OtherDims other) {
    auto view = permuted_view(side(other.transposed), other.order);
    if (!view) return;
    const auto look = [this, other](std::span<const Point> points) {
      return look_up_predictions(lookup(other.transposed), points, [&](const Point& point) {
        return std::optional(number_before(dims(), other.order, point.number));
      });
    };
    transforms_.push_back({other.cause, std::move(other.words), other.transposed, look,
                           through(other.transposed, *view)});
  }

  void add(NamedRearrangement other) {
    const auto rule = std::make_shared<const Rearrangement>(std::move(other.rule));
    const auto look = [this, rule](std::span<const Point> points) {
      return look_up_predictions(*context_.golden, points,
                                 [&](const Point& point) { return rule->source_of(point.number); });
    };
    const auto measure = [this, rule](const Normalisation& normalisation) {
      return rearranged_statistics(context_, *rule, normalisation);
    };
    transforms_.push_back(
        {other.cause, std::move(other.words), TransformedSide::golden, look, measure});
  }

  void add(const CodeReading& reading) {
    const auto map = std::make_shared<const ElementMap>(reading_map(reading));
    const auto look = [this, map](std::span<const Point> points) -> Result<Predictions> {
      return mapped(context_, *map, points);
    };
    const auto measure = [this, map](const Normalisation& normalisation) {
      return likeness_of_map(*map, normalisation);
    };
    const Cause cause = reading.change != nullptr ? reading.change->cause : Cause::dtype_misread;
    // With a scale, misread bits could fit anything.
    transforms_.push_back({cause, reading_words(reading), reading.side, look, measure, false});
  }

  void add_exchanged_nibbles() {
    const auto bits = [&](TransformedSide of) { return info(side(of).dtype()).bits; };
    if (std::min(bits(TransformedSide::actual), bits(TransformedSide::golden)) > 4) return;
    const auto look = [this](std::span<const Point> points) {
      return look_up_predictions(*context_.golden, points, [&](const Point& point) {
        const std::uint64_t other = point.number ^ 1;
        return other < context_.elements ? std::optional(other) : std::nullopt;
      });
    };
    const auto measure = [this](const Normalisation& normalisation) -> Result<PairStatistics> {
      BTF_ASSIGN(StridedLayout actual, own_view(context_.input.actual));
      BTF_ASSIGN(StridedLayout golden, own_view(context_.input.golden));
      return stream_statistics(context_, {std::move(actual), std::move(golden)}, {.exchange = true},
                               normalisation);
    };
    transforms_.push_back({Cause::nibble_order,
                           "actual equals golden with the two nibbles of every byte exchanged",
                           TransformedSide::golden, look, measure});
  }

  Result<PairStatistics> likeness_of_map(const ElementMap& map,
                                         const Normalisation& normalisation) const {
    const PairRows pairs(context_.input.actual, context_.input.golden, context_.input.execution);
    BTF_ASSIGN(const unsigned workers, pairs.workers());
    std::vector<PairStatistics> parts(workers, PairStatistics(normalisation));
    BTF_TRY(pairs.walk<double>([&](unsigned worker, std::uint64_t, const PairRun<double>& run) {
      std::array<double, kPairRun> moved;
      const bool golden = of_golden(map.side);
      map.narrow(golden ? run.golden : run.actual, golden ? run.golden_codes : run.actual_codes,
                 run.values(), moved.data());
      parts[worker].add_run(golden ? run.actual : moved.data(), golden ? moved.data() : run.golden,
                            run.values());
    }));
    PairStatistics all(normalisation);
    for (const PairStatistics& part : parts) all.add(part);
    return all;
  }

  const SearchContext& context_;
  std::vector<Transform> transforms_;
};

// The unchanged side in the sample, with its points ordered by distance from the mean, the furthest
// first.
struct UnchangedSide {
  Normalisation normalisation;
  std::vector<Point> points;
};

UnchangedSide unchanged_side(const SearchContext& context, bool golden) {
  UnchangedSide side{normalisation_of(context.anywhere, golden), context.anywhere};
  const auto distance = [&](const Point& point) {
    const auto value = static_cast<double>(golden ? point.golden : point.actual);
    return std::isfinite(value) ? -std::abs(value - side.normalisation.centre) : 1.0;
  };
  std::ranges::stable_sort(side.points, {}, distance);
  return side;
}

// What is left of some points, relative to their own variance. A few points reject nearly every
// transform.
std::optional<double> left_of(const Transform& transform, const UnchangedSide& side,
                              std::span<const Point> points, const Predictions& moved) {
  double left = 0;
  double all = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto stays =
        static_cast<double>(golden_stays(transform) ? points[i].golden : points[i].actual);
    if (!moved[i] || !std::isfinite(stays)) continue;
    const double x = (stays - side.normalisation.centre) / side.normalisation.unit;
    const double e = (static_cast<double>(*moved[i]) - stays) / side.normalisation.unit;
    ++compared;
    all += x * x;
    left += std::isfinite(e) ? e * e : x * x;
  }
  if (2 * compared < points.size() || all == 0) return std::nullopt;
  return left / all;
}

double share_of_error(const PairStatistics& statistics, bool of_golden) {
  const double relative = statistics.error() / statistics.deviation(of_golden);
  return relative * relative;
}

// What is left after the best factor and offset; 1 if the sums overflowed.
double share_when_scaled(const PairStatistics& statistics) {
  const double r = statistics.correlation();
  constexpr double kMax = 1 + 1e-9;  // by rounding
  return r > 0 && r <= kMax ? std::max(0.0, 1 - r * r) : 1.0;
}

// The same for some points.
std::optional<double> left_when_scaled(const Transform& transform, const UnchangedSide& side,
                                       std::span<const Point> points, const Predictions& moved) {
  PairStatistics statistics(side.normalisation);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!moved[i]) continue;
    const auto stays =
        static_cast<double>(golden_stays(transform) ? points[i].golden : points[i].actual);
    const auto other = static_cast<double>(*moved[i]);
    statistics.add_run(&stays, &other, 1);
  }
  if (2 * statistics.pairs() < points.size()) return std::nullopt;
  const double left = share_when_scaled(statistics);
  return left < 1 ? std::optional(left) : std::nullopt;
}

// The share of the variance that the sample leaves unexplained; unset if it is too large.
Result<std::optional<double>> look_at(const Transform& transform, const UnchangedSide& side) {
  if (side.normalisation.unit == 0) return std::nullopt;
  struct Look {
    std::size_t points = 0;
    double most = 0;
    double most_scaled = 0;  // a line fits any two points
  };
  constexpr std::array<Look, 3> kLooks{
      {{2, 0.5, 1}, {8, 0.15, 0.3}, {SIZE_MAX, kMaxUncorrelated, kMaxUncorrelated}}};
  std::optional<double> left;
  for (const Look& look : kLooks) {
    const std::span points =
        std::span(side.points).first(std::min(look.points, side.points.size()));
    BTF_ASSIGN(const Predictions moved, transform.look(points));
    left = left_of(transform, side, points, moved);
    if (left && *left <= look.most) continue;
    if (!transform.may_be_scaled) return std::nullopt;
    if (look.most_scaled == 1) continue;
    left = left_when_scaled(transform, side, points, moved);
    if (!left || !(*left <= look.most_scaled)) return std::nullopt;
  }
  return left;
}

// Whether the sides do not match as they are.
bool unlike(const SearchContext& context, const UnchangedSide& actual,
            const UnchangedSide& golden) {
  const double unit =
      golden.normalisation.unit > 0 ? golden.normalisation.unit : actual.normalisation.unit;
  if (unit == 0) return false;
  double errors = 0;
  for (const Point& point : context.anywhere) {
    const auto error = static_cast<double>(point.actual - point.golden) / unit;
    if (std::isnan(point.actual) && std::isnan(point.golden)) continue;
    if (!std::isfinite(error)) return true;
    errors += error * error;
  }
  return errors > kMinBefore * static_cast<double>(context.anywhere.size());
}

std::string correlation_text(double r) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), r, std::chars_format::general,
                                 std::abs(r) > 0.9 ? 9 : 3);
  return {text.begin(), end.ptr};
}

// The variance that a transform leaves of all elements, relative to that of the unchanged side.
struct RemainingVariance {
  double share = 0;
  bool scaled = false;  // after the best factor and offset
};

RemainingVariance left_by(const PairStatistics& after, bool of_golden, bool may_be_scaled) {
  const double plain = share_of_error(after, of_golden);
  const double scaled = share_when_scaled(after);
  const bool better = may_be_scaled && plain >= kMinUnscaled && !(plain < kMinByScale * scaled);
  return {better ? scaled : plain, better};
}

// ", then actual = 2 x golden + 0.5, but for noise of 0.01 rms: correlation 0.99995 over 1000
// elements"
std::string statistics_text(const PairStatistics& after, const RemainingVariance& left) {
  std::string text;
  double noise = after.error();
  if (left.scaled) {
    const FittedLine line = after.line();
    noise = after.deviation(false) * std::sqrt(left.share);
    text += ", then actual = " + short_number_text(line.factor) + " x golden";
    if (std::abs(line.offset) > 2 * noise / std::sqrt(static_cast<double>(after.pairs())))
      text += (line.offset < 0 ? " - " : " + ") + short_number_text(std::abs(line.offset));
  }
  constexpr double kNoNoise = 1e-12;  // squared: the rounding of float32
  if (left.share > kNoNoise || !left.scaled)
    text += ", but for noise of " + short_number_text(noise) + " rms";
  return text + ": correlation " + correlation_text(after.correlation()) + " over " +
         std::to_string(after.pairs()) + " elements";
}

// Whether it is unlikely that chance reduced `before` to what is left. Each independent number is
// this close to its counterpart by chance about as often as the ratio of the two says.
bool beyond_chance(const PairStatistics& after, bool of_golden, double independent, double before,
                   const RemainingVariance& left, double hypotheses) {
  constexpr double kMinLeft = 1e-24;  // relative to the variance: the precision of double
  const double bits = (independent - (left.scaled ? 2 : 0)) / after.tails(of_golden) / 2 *
                      std::log2(before / std::max(left.share, kMinLeft));
  return bits >= kNeededBits + std::log2(hypotheses);
}

// Compares all elements: what is left, what was left before, and whether chance could do it.
Result<std::optional<Finding>> confirmed(const SearchContext& context, const Transform& transform,
                                         const UnchangedSide& side, double hypotheses) {
  const bool golden = golden_stays(transform);
  BTF_ASSIGN(const PairStatistics after, transform.measure(side.normalisation));
  const RemainingVariance left = left_by(after, golden, transform.may_be_scaled);
  if (after.pairs() < kMinElements || !(left.share <= kMaxUncorrelated) ||
      after.unlike() > context.elements / kMaxNotFinite)
    return std::nullopt;
  BTF_ASSIGN(const PairStatistics as_is, statistics_as_is(context, side.normalisation));
  const double measured = left.scaled ? share_when_scaled(as_is) : share_of_error(as_is, golden);
  const double before = std::isfinite(measured) ? std::min(measured, 1.0) : 1.0;
  // No other order is needed where the numbers match as they are, up to float32's rounding.
  constexpr double kFits = 1e-12;
  if (as_is.unlike() == 0 && before <= kFits) return std::nullopt;
  const bool gained = as_is.unlike() > context.elements / 2 || before >= kMinGained * left.share;
  if (!gained) return std::nullopt;
  BTF_ASSIGN(const double independent,
             independent_numbers(golden ? *context.golden : *context.actual, side.normalisation));
  if (!beyond_chance(after, golden, independent, before, left, hypotheses)) return std::nullopt;
  std::string text = transform.words + statistics_text(after, left);
  if (const double r = as_is.correlation(); std::isfinite(r) && as_is.unlike() == 0)
    text += ", " + correlation_text(r) + " as they are";
  return Finding{{transform.cause, std::move(text)}, after.unlike()};
}

}  // namespace

std::optional<double> noise_share(std::span<const long double> actual,
                                  std::span<const long double> golden) {
  std::vector<Point> points(golden.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {.number = i, .actual = actual[i], .golden = golden[i]};
  const Normalisation normalisation = normalisation_of(points, true);
  if (normalisation.unit == 0) return std::nullopt;
  PairStatistics statistics(normalisation);
  for (const Point& point : points) {
    const auto x = static_cast<double>(point.actual);
    const auto y = static_cast<double>(point.golden);
    statistics.add_run(&x, &y, 1);
  }
  if (2 * statistics.pairs() < points.size()) return std::nullopt;
  const double left = left_by(statistics, true, true).share;
  return left <= 2 * kMaxUncorrelated ? std::optional(left) : std::nullopt;
}

Result<std::optional<NoisyMatch>> find_noisy_match(const DiffSide& actual, const DiffSide& golden,
                                                   double hypotheses, const Execution& execution) {
  BTF_ASSIGN(const StridedLayout view, own_view(golden));
  BTF_ASSIGN(Lookup lookup, Lookup::open(golden, view));
  Normalisation normalisation;
  {
    const std::uint64_t count = *element_count(golden.dims());
    std::vector<std::uint64_t> numbers;
    constexpr std::uint64_t kSample = 256;
    const std::uint64_t step = std::max<std::uint64_t>(1, count / kSample);
    for (std::uint64_t i = 0; i < count; i += step) numbers.push_back(i);
    BTF_ASSIGN(const std::vector<long double> values, lookup.values(numbers));
    std::vector<Point> points;
    for (const long double value : values) points.push_back({.golden = value});
    normalisation = normalisation_of(points, true);
  }
  if (normalisation.unit == 0) return std::nullopt;
  BTF_ASSIGN(const PairStatistics after, statistics_of(actual, golden, execution, normalisation));
  const RemainingVariance left = left_by(after, true, true);
  if (after.pairs() < kMinElements || !(left.share <= kMaxUncorrelated) ||
      after.unlike() > after.pairs() / kMaxNotFinite)
    return std::nullopt;
  BTF_ASSIGN(const double independent, independent_numbers(lookup, normalisation));
  if (!beyond_chance(after, true, independent, 1, left, hypotheses)) return std::nullopt;
  return NoisyMatch{left.share, statistics_text(after, left)};
}

SearchResult find_among_noise(const SearchContext& context) {
  const HintInput& input = context.input;
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr ||
      context.elements < kMinElements || !rearrangeable(context))
    return std::nullopt;
  const UnchangedSide actual = unchanged_side(context, false);
  const UnchangedSide golden = unchanged_side(context, true);
  if (!unlike(context, actual, golden)) return std::nullopt;
  const Transforms transforms(context);
  struct Likely {
    const Transform* transform = nullptr;
    double left = 0;
  };
  std::vector<Likely> likely;
  for (const Transform& transform : transforms.all()) {
    BTF_TRY(check_cancelled(input.execution));
    BTF_ASSIGN(const std::optional<double> left,
               look_at(transform, golden_stays(transform) ? golden : actual));
    if (left) likely.push_back({&transform, *left});
  }
  const auto hypotheses = static_cast<double>(transforms.all().size());
  for (std::size_t walks = 0; walks < kMaxNoisyWalks && !likely.empty(); ++walks) {
    const double least = std::ranges::min(likely, {}, &Likely::left).left;
    const auto plainest = std::ranges::find_if(
        likely, [&](const Likely& one) { return one.left <= kAsGood * least; });
    const Transform& transform = *plainest->transform;
    BTF_ASSIGN(
        std::optional<Finding> finding,
        confirmed(context, transform, golden_stays(transform) ? golden : actual, hypotheses));
    if (finding) return finding;
    likely.erase(plainest);
  }
  return std::nullopt;
}

}  // namespace btf::hints

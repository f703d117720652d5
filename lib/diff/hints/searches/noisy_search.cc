// Elements in another order, or bits that mean something else, where noise leaves hardly two
// numbers equal: a side is unlike the other one as it is, and all but the same once it is read in
// another way. Agreement is a matter of the whole then, not of elements.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/inquiry.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/order_searches.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/rows.h"
#include "elements/cast.h"

namespace btf::hints {
namespace {

// By the square of what is left, in parts of the square of the deviation.
constexpr double kMaxUncorrelated = 0.06;  // a correlation of 0.97
constexpr double kMinBefore = 0.05;        // what is less needs no other order
constexpr double kMinGained = 8;           // times less than before
constexpr std::uint64_t kMinElements = 24;
constexpr std::uint64_t kMaxNotFinite = 100;  // one of so many may be NaN or Inf on one side only
constexpr std::size_t kMaxNoisyWalks = 3;
// Two ways that leave nearly as much are the same to these numbers: the plainer one is meant.
constexpr double kAsGood = 1.1;
// A factor and an offset are part of the answer if they leave so many times less, of at least this.
constexpr double kMinByScale = 4;
constexpr double kMinUnscaled = 1e-7;

// A way in which a side may be meant.
struct Way {
  Cause cause{};
  std::string words;
  MovedSide side{};
  std::function<Result<Moved>(std::span<const Point> points)> look;
  std::function<Result<Likeness>(const Yardstick& yardstick)> measure;
  bool may_be_scaled = true;  // a factor and an offset may come on top
};

bool of_golden(MovedSide side) { return side == MovedSide::golden; }
// The side that the way leaves as it is.
bool golden_stays(const Way& way) { return way.side == MovedSide::actual; }

class Ways {
 public:
  explicit Ways(const Inquiry& inquiry) : inquiry_(inquiry) {
    add_layouts();
    for (OtherDims& other : other_dims(dims())) add(std::move(other));
    add_exchanged_nibbles();
    for (const CodeReading& reading : other_readings(inquiry.input)) add(reading);
    for (RearrangedAs& other : mirrored_orders(dims())) add(std::move(other));
    for (RearrangedAs& other : shuffled_orders(dims())) add(std::move(other));
  }

  const std::vector<Way>& all() const { return ways_; }

 private:
  const Dims& dims() const { return inquiry_.input.golden.dims(); }
  const DiffSide& side(MovedSide of) const {
    return of_golden(of) ? inquiry_.input.golden : inquiry_.input.actual;
  }
  Lookup& lookup(MovedSide of) const { return of_golden(of) ? *inquiry_.golden : *inquiry_.actual; }

  // One side through a view, the other one as it is.
  std::function<Result<Likeness>(const Yardstick&)> through(MovedSide of,
                                                            const StridedLayout& view) const {
    return [this, of, view](const Yardstick& yardstick) -> Result<Likeness> {
      BTF_ASSIGN(StridedLayout other,
                 own_view(side(of_golden(of) ? MovedSide::actual : MovedSide::golden)));
      const Streams streams =
          of_golden(of) ? Streams{std::move(other), view} : Streams{view, std::move(other)};
      return likeness_of_streams(inquiry_, streams, {}, yardstick);
    };
  }

  void add_layouts() {
    for (const MovedSide of : {MovedSide::actual, MovedSide::golden})
      for (const auto& [row, storage] : other_layouts(side(of))) {
        const auto opened = std::make_shared<std::optional<Lookup>>();
        const auto look = [this, of, storage,
                           opened](std::span<const Point> points) -> Result<Moved> {
          if (!*opened) {
            BTF_ASSIGN(*opened, Lookup::open(side(of), storage));
          }
          return look_up_moved(**opened, points,
                               [](const Point& point) { return std::optional(point.number); });
        };
        ways_.push_back({Cause::layout, layout_words(*row, of), of, look, through(of, storage)});
      }
  }

  void add(OtherDims other) {
    auto view = permuted_view(side(other.transposed), other.order);
    if (!view) return;
    const auto look = [this, other](std::span<const Point> points) {
      return look_up_moved(lookup(other.transposed), points, [&](const Point& point) {
        return std::optional(number_before(dims(), other.order, point.number));
      });
    };
    ways_.push_back({other.cause, std::move(other.words), other.transposed, look,
                     through(other.transposed, *view)});
  }

  void add(RearrangedAs other) {
    const auto rule = std::make_shared<const Rearrangement>(std::move(other.rule));
    const auto look = [this, rule](std::span<const Point> points) {
      return look_up_moved(*inquiry_.golden, points,
                           [&](const Point& point) { return rule->source_of(point.number); });
    };
    const auto measure = [this, rule](const Yardstick& yardstick) {
      return likeness_of_rearranged(inquiry_, *rule, yardstick);
    };
    ways_.push_back({other.cause, std::move(other.words), MovedSide::golden, look, measure});
  }

  void add(const CodeReading& reading) {
    const auto map = std::make_shared<const ElementMap>(reading_map(reading));
    const auto look = [this, map](std::span<const Point> points) -> Result<Moved> {
      return mapped(inquiry_, *map, points);
    };
    const auto measure = [this, map](const Yardstick& yardstick) {
      return likeness_of_map(*map, yardstick);
    };
    const Cause cause = reading.change != nullptr ? reading.change->cause : Cause::dtype_misread;
    // Bits read in another way and scaled may be made of anything.
    ways_.push_back({cause, reading_words(reading), reading.side, look, measure, false});
  }

  void add_exchanged_nibbles() {
    const auto bits = [&](MovedSide of) { return info(side(of).dtype()).bits; };
    if (std::min(bits(MovedSide::actual), bits(MovedSide::golden)) > 4) return;
    const auto look = [this](std::span<const Point> points) {
      return look_up_moved(*inquiry_.golden, points, [&](const Point& point) {
        const std::uint64_t other = point.number ^ 1;
        return other < inquiry_.elements ? std::optional(other) : std::nullopt;
      });
    };
    const auto measure = [this](const Yardstick& yardstick) -> Result<Likeness> {
      BTF_ASSIGN(StridedLayout actual, own_view(inquiry_.input.actual));
      BTF_ASSIGN(StridedLayout golden, own_view(inquiry_.input.golden));
      return likeness_of_streams(inquiry_, {std::move(actual), std::move(golden)},
                                 {.exchange = true}, yardstick);
    };
    ways_.push_back({Cause::nibble_order,
                     "actual equals golden with the two nibbles of every byte exchanged",
                     MovedSide::golden, look, measure});
  }

  Result<Likeness> likeness_of_map(const ElementMap& map, const Yardstick& yardstick) const {
    const PairRows pairs(inquiry_.input.actual, inquiry_.input.golden, inquiry_.input.execution);
    BTF_ASSIGN(const unsigned workers, pairs.workers());
    std::vector<Likeness> parts(workers, Likeness(yardstick));
    BTF_TRY(pairs.walk<double>([&](unsigned worker, std::uint64_t, const PairRun<double>& run) {
      std::array<double, kPairRun> moved;
      const bool golden = of_golden(map.side);
      map.narrow(golden ? run.golden : run.actual, golden ? run.golden_codes : run.actual_codes,
                 run.values(), moved.data());
      parts[worker].add_run(golden ? run.actual : moved.data(), golden ? moved.data() : run.golden,
                            run.values());
    }));
    Likeness all(yardstick);
    for (const Likeness& part : parts) all.add(part);
    return all;
  }

  const Inquiry& inquiry_;
  std::vector<Way> ways_;
};

// A side as the sample shows it, and its points, those first that are furthest from the mean.
struct Staying {
  Yardstick yardstick;
  std::vector<Point> points;
};

Staying staying(const Inquiry& inquiry, bool golden) {
  Staying side{yardstick_of(inquiry.anywhere, golden), inquiry.anywhere};
  const auto distance = [&](const Point& point) {
    const auto value = static_cast<double>(golden ? point.golden : point.actual);
    return std::isfinite(value) ? -std::abs(value - side.yardstick.centre) : 1.0;
  };
  std::ranges::stable_sort(side.points, {}, distance);
  return side;
}

// What is left of some points, in parts of what they are without their mean: few of these are
// enough to refuse nearly every way.
std::optional<double> left_of(const Way& way, const Staying& side, std::span<const Point> points,
                              const Moved& moved) {
  double left = 0;
  double all = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto stays = static_cast<double>(golden_stays(way) ? points[i].golden : points[i].actual);
    if (!moved[i] || !std::isfinite(stays)) continue;
    const double x = (stays - side.yardstick.centre) / side.yardstick.unit;
    const double e = (static_cast<double>(*moved[i]) - stays) / side.yardstick.unit;
    ++compared;
    all += x * x;
    left += std::isfinite(e) ? e * e : x * x;
  }
  if (2 * compared < points.size() || all == 0) return std::nullopt;
  return left / all;
}

double share_of_error(const Likeness& likeness, bool of_golden) {
  const double relative = likeness.error() / likeness.deviation(of_golden);
  return relative * relative;
}

// Once the best factor and offset are taken out. Of sums that overflowed nothing can be said.
double share_when_scaled(const Likeness& likeness) {
  const double r = likeness.correlation();
  constexpr double kMost = 1 + 1e-9;  // by rounding
  return r > 0 && r <= kMost ? std::max(0.0, 1 - r * r) : 1.0;
}

// The same of some points.
std::optional<double> left_when_scaled(const Way& way, const Staying& side,
                                       std::span<const Point> points, const Moved& moved) {
  Likeness likeness(side.yardstick);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!moved[i]) continue;
    const auto stays = static_cast<double>(golden_stays(way) ? points[i].golden : points[i].actual);
    const auto other = static_cast<double>(*moved[i]);
    likeness.add_run(&stays, &other, 1);
  }
  if (2 * likeness.pairs() < points.size()) return std::nullopt;
  const double left = share_when_scaled(likeness);
  return left < 1 ? std::optional(left) : std::nullopt;
}

// The share of the spread that the sample leaves unexplained; unset if it is too large.
Result<std::optional<double>> look_at(const Way& way, const Staying& side) {
  if (side.yardstick.unit == 0) return std::nullopt;
  struct Look {
    std::size_t points = 0;
    double most = 0;
    double most_scaled = 0;  // a line goes through any two points
  };
  constexpr std::array<Look, 3> kLooks{
      {{2, 0.5, 1}, {8, 0.15, 0.3}, {SIZE_MAX, kMaxUncorrelated, kMaxUncorrelated}}};
  std::optional<double> left;
  for (const Look& look : kLooks) {
    const std::span points =
        std::span(side.points).first(std::min(look.points, side.points.size()));
    BTF_ASSIGN(const Moved moved, way.look(points));
    left = left_of(way, side, points, moved);
    if (left && *left <= look.most) continue;
    if (!way.may_be_scaled) return std::nullopt;
    if (look.most_scaled == 1) continue;
    left = left_when_scaled(way, side, points, moved);
    if (!left || !(*left <= look.most_scaled)) return std::nullopt;
  }
  return left;
}

// Is a side unlike the other one as it is?
bool unlike(const Inquiry& inquiry, const Staying& actual, const Staying& golden) {
  const double unit = golden.yardstick.unit > 0 ? golden.yardstick.unit : actual.yardstick.unit;
  if (unit == 0) return false;
  double errors = 0;
  for (const Point& point : inquiry.anywhere) {
    const auto error = static_cast<double>(point.actual - point.golden) / unit;
    if (std::isnan(point.actual) && std::isnan(point.golden)) continue;
    if (!std::isfinite(error)) return true;
    errors += error * error;
  }
  return errors > kMinBefore * static_cast<double>(inquiry.anywhere.size());
}

std::string correlation_text(double r) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), r, std::chars_format::general,
                                 std::abs(r) > 0.9 ? 9 : 3);
  return {text.begin(), end.ptr};
}

// What a way leaves of all elements, by the square and in parts of the spread.
struct LeftOver {
  double share = 0;
  bool scaled = false;  // once the best factor and offset are taken out
};

LeftOver left_by(const Likeness& after, bool of_golden, bool may_be_scaled) {
  const double plain = share_of_error(after, of_golden);
  const double scaled = share_when_scaled(after);
  const bool better = may_be_scaled && plain >= kMinUnscaled && !(plain < kMinByScale * scaled);
  return {better ? scaled : plain, better};
}

// ", then actual = 2 x golden + 0.5, but for noise of 0.01 rms: correlation 0.99995 over 1000
// elements"
std::string likeness_text(const Likeness& after, const LeftOver& left) {
  std::string text;
  double noise = after.error();
  if (left.scaled) {
    const FittedLine line = after.line();
    noise = after.deviation(false) * std::sqrt(left.share);
    text += ", then actual = " + short_number_text(line.factor) + " x golden";
    if (std::abs(line.offset) > 2 * noise / std::sqrt(static_cast<double>(after.pairs())))
      text += (line.offset < 0 ? " - " : " + ") + short_number_text(std::abs(line.offset));
  }
  constexpr double kNoNoise = 1e-12;  // by the square: that is the rounding of a float32
  if (left.share > kNoNoise || !left.scaled)
    text += ", but for noise of " + short_number_text(noise) + " rms";
  return text + ": correlation " + correlation_text(after.correlation()) + " over " +
         std::to_string(after.pairs()) + " elements";
}

// Could chance make that little of what there was before? Each independent number is near its like
// by chance about as often as what is left is smaller than what there was.
bool beyond_chance(const Likeness& after, bool of_golden, double independent, double before,
                   const LeftOver& left, double hypotheses) {
  constexpr double kMinLeft = 1e-24;  // parts of the spread: doubles end there
  const double bits = (independent - (left.scaled ? 2 : 0)) / after.tails(of_golden) / 2 *
                      std::log2(before / std::max(left.share, kMinLeft));
  return bits >= kNeededBits + std::log2(hypotheses);
}

// Measured on all elements: what is left, what was before, and whether chance could do it.
Result<std::optional<Finding>> confirmed(const Inquiry& inquiry, const Way& way,
                                         const Staying& side, double hypotheses) {
  const bool golden = golden_stays(way);
  BTF_ASSIGN(const Likeness after, way.measure(side.yardstick));
  const LeftOver left = left_by(after, golden, way.may_be_scaled);
  if (after.pairs() < kMinElements || !(left.share <= kMaxUncorrelated) ||
      after.unlike() > inquiry.elements / kMaxNotFinite)
    return std::nullopt;
  BTF_ASSIGN(const Likeness as_is, likeness_as_is(inquiry, side.yardstick));
  const double measured = left.scaled ? share_when_scaled(as_is) : share_of_error(as_is, golden);
  const double before = std::isfinite(measured) ? std::min(measured, 1.0) : 1.0;
  // Where the numbers fit as they are, to the rounding of a float32, no other order is needed.
  constexpr double kFits = 1e-12;
  if (as_is.unlike() == 0 && before <= kFits) return std::nullopt;
  const bool gained = as_is.unlike() > inquiry.elements / 2 || before >= kMinGained * left.share;
  if (!gained) return std::nullopt;
  BTF_ASSIGN(const double independent,
             independent_numbers(golden ? *inquiry.golden : *inquiry.actual, side.yardstick));
  if (!beyond_chance(after, golden, independent, before, left, hypotheses)) return std::nullopt;
  std::string text = way.words + likeness_text(after, left);
  if (const double r = as_is.correlation(); std::isfinite(r) && as_is.unlike() == 0)
    text += ", " + correlation_text(r) + " as they are";
  return Finding{{way.cause, std::move(text)}, after.unlike()};
}

}  // namespace

std::optional<double> share_left(std::span<const long double> actual,
                                 std::span<const long double> golden) {
  std::vector<Point> points(golden.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {.number = i, .actual = actual[i], .golden = golden[i]};
  const Yardstick yardstick = yardstick_of(points, true);
  if (yardstick.unit == 0) return std::nullopt;
  Likeness likeness(yardstick);
  for (const Point& point : points) {
    const auto x = static_cast<double>(point.actual);
    const auto y = static_cast<double>(point.golden);
    likeness.add_run(&x, &y, 1);
  }
  if (2 * likeness.pairs() < points.size()) return std::nullopt;
  const double left = left_by(likeness, true, true).share;
  return left <= 2 * kMaxUncorrelated ? std::optional(left) : std::nullopt;
}

Result<std::optional<AllButNoise>> all_but_noise(const DiffSide& actual, const DiffSide& golden,
                                                 double hypotheses, const Execution& execution) {
  BTF_ASSIGN(const StridedLayout view, own_view(golden));
  BTF_ASSIGN(Lookup lookup, Lookup::open(golden, view));
  Yardstick yardstick;
  {
    const std::uint64_t count = *element_count(golden.dims());
    std::vector<std::uint64_t> numbers;
    constexpr std::uint64_t kSample = 256;
    const std::uint64_t step = std::max<std::uint64_t>(1, count / kSample);
    for (std::uint64_t i = 0; i < count; i += step) numbers.push_back(i);
    BTF_ASSIGN(const std::vector<long double> values, lookup.values(numbers));
    std::vector<Point> points;
    for (const long double value : values) points.push_back({.golden = value});
    yardstick = yardstick_of(points, true);
  }
  if (yardstick.unit == 0) return std::nullopt;
  BTF_ASSIGN(const Likeness after, likeness_of(actual, golden, execution, yardstick));
  const LeftOver left = left_by(after, true, true);
  if (after.pairs() < kMinElements || !(left.share <= kMaxUncorrelated) ||
      after.unlike() > after.pairs() / kMaxNotFinite)
    return std::nullopt;
  BTF_ASSIGN(const double independent, independent_numbers(lookup, yardstick));
  if (!beyond_chance(after, true, independent, 1, left, hypotheses)) return std::nullopt;
  return AllButNoise{left.share, likeness_text(after, left)};
}

SearchResult find_among_noise(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr ||
      inquiry.elements < kMinElements || !rearrangeable(inquiry))
    return std::nullopt;
  const Staying actual = staying(inquiry, false);
  const Staying golden = staying(inquiry, true);
  if (!unlike(inquiry, actual, golden)) return std::nullopt;
  const Ways ways(inquiry);
  struct Likely {
    const Way* way = nullptr;
    double left = 0;
  };
  std::vector<Likely> likely;
  for (const Way& way : ways.all()) {
    BTF_TRY(check_cancelled(input.execution));
    BTF_ASSIGN(const std::optional<double> left, look_at(way, golden_stays(way) ? golden : actual));
    if (left) likely.push_back({&way, *left});
  }
  const auto hypotheses = static_cast<double>(ways.all().size());
  for (std::size_t walks = 0; walks < kMaxNoisyWalks && !likely.empty(); ++walks) {
    const double least = std::ranges::min(likely, {}, &Likely::left).left;
    const auto plainest = std::ranges::find_if(
        likely, [&](const Likely& one) { return one.left <= kAsGood * least; });
    const Way& way = *plainest->way;
    BTF_ASSIGN(std::optional<Finding> finding,
               confirmed(inquiry, way, golden_stays(way) ? golden : actual, hypotheses));
    if (finding) return finding;
    likely.erase(plainest);
  }
  return std::nullopt;
}

}  // namespace btf::hints

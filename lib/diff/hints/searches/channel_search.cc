// A different scale, offset, or both at every index of one dim.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMaxChannels = 16384;
constexpr std::uint64_t kMinInChannel = 16;  // elements
constexpr std::size_t kLookedAt = 6;         // channels that are looked at first
constexpr std::size_t kMinLookedAt = 3;
constexpr std::uint64_t kInEach = 64;     // elements of each of these
constexpr std::size_t kMinNumbersIn = 5;  // distinct numbers; fewer would fit any line
constexpr double kLittle = 0.02;          // of the error to be explained
constexpr double kRounding = 3;  // the largest residual, relative to the average one of rounding
constexpr double kMaxLeft = 1.0 / 16;  // of the sum of squares
constexpr double kApart =
    2;  // a single line for all channels must leave this many times the squares
constexpr double kOff = 1.25;            // a line fitted to rounded numbers is slightly off
constexpr std::uint64_t kPerNumber = 4;  // elements that confirm each fitted number

enum class Form : std::uint8_t { scale, offset, both };

struct Line {
  long double gain = 1;
  long double offset = 0;

  long double operator()(long double golden) const { return gain * golden + offset; }
};

double deviation_of_golden(const SearchContext& context) {
  long double n = 0, sum = 0, squares = 0;
  for (const Point& point : context.anywhere) {
    if (!std::isfinite(point.golden)) continue;
    n += 1;
    sum += point.golden;
    squares += point.golden * point.golden;
  }
  return n > 0 ? static_cast<double>(std::sqrt(std::max(0.0L, squares / n - sum / n * (sum / n))))
               : 0;
}

// The weight of an element in a fit: with few bits, the more it was rounded the smaller.
class Weights {
 public:
  explicit Weights(const SearchContext& context) {
    constexpr int kFewBits = 8;
    const StepGrid& grid = context.agreement.grid;
    even_ = grid.integer || grid.precision >= kFewBits;
    const long double least = deviation_of_golden(context) / 16;
    least_square_ = std::max(least * least, std::numeric_limits<long double>::min());
  }

  long double of(long double actual) const {
    return even_ ? 1 : 1 / (actual * actual + least_square_);
  }

 private:
  bool even_ = true;
  long double least_square_ = 1;
};

// The sums from which a line is fitted.
class LineSums {
 public:
  void add(long double golden, long double actual, long double weight) {
    if (count_ == 0) {
      golden0_ = golden;
      actual0_ = actual;
    }
    const long double g = golden - golden0_;
    const long double a = actual - actual0_;
    count_ += weight;
    sum_g_ += weight * g;
    sum_a_ += weight * a;
    sum_gg_ += weight * g * g;
    sum_ga_ += weight * g * a;
  }

  // The identity where golden has a single number, or none.
  Line fit(Form form) const {
    const long double n = count_;
    const long double variance = n * sum_gg_ - sum_g_ * sum_g_;
    if (count_ == 0) return {};
    if (form == Form::scale) {
      const long double squares = sum_gg_ + 2 * golden0_ * sum_g_ + n * golden0_ * golden0_;
      const long double products =
          sum_ga_ + golden0_ * sum_a_ + actual0_ * sum_g_ + n * golden0_ * actual0_;
      return squares > 0 ? Line{.gain = products / squares} : Line{};
    }
    const long double difference = (sum_a_ - sum_g_) / n + actual0_ - golden0_;
    if (form == Form::offset || !(variance > 0)) return {.offset = difference};
    const long double gain = (n * sum_ga_ - sum_g_ * sum_a_) / variance;
    return {gain, (sum_a_ - gain * sum_g_) / n + actual0_ - gain * golden0_};
  }

 private:
  long double count_ = 0;
  long double golden0_ = 0, actual0_ = 0;
  long double sum_g_ = 0, sum_a_ = 0, sum_gg_ = 0, sum_ga_ = 0;
};

struct Channel {
  std::vector<long double> actual;
  std::vector<long double> golden;
};

// The residual of a channel's best line, and the spread of the channel.
struct ChannelResidual {
  long double rest = 0;
  long double error = 0;
  long double varies = 0;    // deviation of the line's values
  long double rounding = 0;  // what rounding leaves
  bool own_steps = false;    // the residual is rounding to multiples of the channel's own step
};

// The variance of rounding: uniform over half a step in either direction.
long double rounding_of(long double actual, const Line& line, const Agreement& agreement) {
  const StepGrid& grid = agreement.grid;
  const long double of_golden = line.gain * agreement.half_step_of_golden;
  const long double multiples =
      agreement.half_step_of_actual * agreement.half_step_of_actual + of_golden * of_golden;
  if (multiples > 0) return multiples / 3;
  if (grid.integer) return 1 / 12.0L;
  const long double step = std::ldexp(std::abs(actual), 1 - grid.precision);  // approximately
  return step * step / 24;
}

// The step of which the channel's numbers are multiples, if the line leaves no more than rounding
// to them does. Every channel may have a scale of its own.
std::optional<long double> own_step(const Channel& channel, const Line& line) {
  const auto grid = EvenGrid::of(channel.actual);
  if (!grid) return std::nullopt;
  for (std::size_t i = 0; i < channel.actual.size(); ++i)
    if (std::abs(channel.actual[i] - line(channel.golden[i])) > kOff * grid->step() / 2)
      return std::nullopt;
  return grid->step();
}

// What the best line leaves, if that is little or no more than rounding. explains_most() checks
// that it is little over all channels.
std::optional<ChannelResidual> residual_in(const Channel& channel, Form form,
                                           const Agreement& agreement, const Weights& weights) {
  for (const std::vector<long double>* side : {&channel.golden, &channel.actual}) {
    DistinctNumbers<kMinNumbersIn> numbers;
    for (const long double number : *side) numbers.add(number);
    if (!numbers.enough()) return std::nullopt;
  }
  LineSums sums;
  for (std::size_t i = 0; i < channel.golden.size(); ++i)
    sums.add(channel.golden[i], channel.actual[i], weights.of(channel.actual[i]));
  const Line line = sums.fit(form);
  ChannelResidual left;
  long double mean = 0;
  const auto n = static_cast<long double>(channel.golden.size());
  for (const long double golden : channel.golden) mean += line(golden) / n;
  for (std::size_t i = 0; i < channel.golden.size(); ++i) {
    const long double golden = channel.golden[i];
    const long double actual = channel.actual[i];
    left.rest += (actual - line(golden)) * (actual - line(golden));
    left.error += (actual - golden) * (actual - golden);
    left.varies += (line(golden) - mean) * (line(golden) - mean);
    left.rounding += rounding_of(actual, line, agreement);
  }
  if (const auto own = own_step(channel, line)) {
    left.own_steps = true;
    left.rounding = n * *own * *own / 12;
  }
  const long double least = std::min(left.error, left.varies);
  if (!(least > 0)) return std::nullopt;
  const bool holds = left.rest <= std::max(kLittle * kLittle * least, kRounding * left.rounding);
  return holds ? std::optional(left) : std::nullopt;
}

bool explains_most(const std::vector<ChannelResidual>& channels) {
  ChannelResidual all;
  for (const ChannelResidual& left : channels) {
    all.rest += left.rest;
    all.error += left.error;
    all.varies += left.varies;
  }
  return all.rest <= kMaxLeft * std::min(all.error, all.varies);
}

// Some channels of one dim that have mismatches, with the numbers of some elements of each.
struct Look {
  std::size_t dim = 0;
  std::vector<std::vector<std::uint64_t>> channels;
};

Look look_along(const SearchContext& context, std::size_t dim) {
  Look look{.dim = dim, .channels = {}};
  const Along place = along(context.input.golden.dims(), dim);
  const std::uint64_t rows = context.elements / place.size;
  std::set<std::uint64_t> seen;
  for (const std::size_t i : context.rarest) {
    const std::uint64_t index = place.index(context.mismatches[i].number);
    if (!seen.insert(index).second) continue;
    std::vector<std::uint64_t> numbers;
    // One from each of equal parts of the channel.
    const std::uint64_t part = rows / std::min(kInEach, rows);
    for (std::uint64_t k = 0; k < std::min(kInEach, rows); ++k)
      numbers.push_back(place.number(k * part + k * 7 % part, index));
    look.channels.push_back(std::move(numbers));
    if (look.channels.size() == kLookedAt) break;
  }
  return look;
}

std::vector<Look> looks(const SearchContext& context) {
  std::vector<Look> all;
  const Dims& dims = context.input.golden.dims();
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] >= kMinLookedAt && dims[d] <= kMaxChannels &&
        context.elements / dims[d] >= kMinInChannel)
      all.push_back(look_along(context, d));
  std::ranges::stable_sort(all, {}, [&](const Look& look) { return dims[look.dim]; });
  return all;
}

// Looks up in one search of a COO side everything that the looks need.
Status fetch_looks(const SearchContext& context, const std::vector<Look>& all) {
  std::vector<std::uint64_t> numbers;
  for (const Look& look : all)
    for (const auto& channel : look.channels)
      numbers.insert(numbers.end(), channel.begin(), channel.end());
  for (Lookup* lookup : {context.actual, context.golden}) {
    if (lookup->side().storage() != nullptr) continue;
    auto fetched = lookup->codes(numbers);
    if (!fetched) return std::unexpected(std::move(fetched).error());
  }
  return {};
}

// A number that was clipped at the end of the range is on no line.
bool within(const Limits& limits, long double actual) {
  return actual > limits.lowest && actual < limits.highest;
}

Result<std::vector<Channel>> read_channels(const SearchContext& context, const Look& look) {
  const Limits limits = limits_of(context.input.actual.dtype());
  std::vector<Channel> channels;
  for (const auto& numbers : look.channels) {
    BTF_ASSIGN(const std::vector<long double> actual, context.actual->values(numbers));
    BTF_ASSIGN(const std::vector<long double> golden, context.golden->values(numbers));
    Channel channel;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(golden[i]) || !within(limits, actual[i])) continue;
      channel.actual.push_back(actual[i]);
      channel.golden.push_back(golden[i]);
    }
    channels.push_back(std::move(channel));
  }
  return channels;
}

// Whether the lines differ by more than rounding; a single line for all channels is another cause.
bool differ(const Agreement& agreement, const std::vector<Line>& lines) {
  const StepGrid& grid = agreement.grid;
  const double blur = std::max(kLittle, grid.integer ? 0 : rounding_tolerance(agreement));
  const auto spread = [&](long double Line::* member, double least_apart) {
    const auto [least, most] = std::ranges::minmax(lines, {}, member);
    const long double size = std::max(std::abs(least.*member), std::abs(most.*member));
    return most.*member - least.*member > std::max<long double>(blur * size, least_apart);
  };
  return spread(&Line::gain, 0) || spread(&Line::offset, grid.integer ? 0.5 : 0);
}

// The residuals of one channel's line.
struct ResidualSum {
  long double count = 0;
  long double squares = 0;
  long double most = 0;

  // Half a step if the residuals look uniform, as rounding to multiples leaves them; else 0.
  double half_step() const {
    if (count == 0) return 0;
    const long double half = std::sqrt(3 * squares / count);
    return most <= kOff * half ? static_cast<double>(kOff * half) : 0;
  }
};

// Whether a single line for all channels leaves clearly more than a line for each. If not, the
// lines differ by noise only.
Result<bool> apart(const SearchContext& context, const Along& place, const std::vector<Line>& lines,
                   const Line& one, const Weights& weights, std::vector<ResidualSum>& residuals) {
  const Limits limits = limits_of(context.input.actual.dtype());
  long double by_one = 0;
  long double by_each = 0;
  BTF_TRY(visit_finite(context, [&](std::uint64_t number, long double actual, long double golden) {
    if (!within(limits, actual)) return;
    const long double weight = weights.of(actual);
    const long double rest = actual - one(golden);
    const long double rest_of_each = actual - lines[place.index(number)](golden);
    by_one += weight * rest * rest;
    by_each += weight * rest_of_each * rest_of_each;
    ResidualSum& own = residuals[place.index(number)];
    own.count += 1;
    own.squares += rest_of_each * rest_of_each;
    own.most = std::max(own.most, std::abs(rest_of_each));
  }));
  return by_one > kApart * by_each;
}

// The simplest form that holds in all channels but at most one.
struct Plan {
  Form form{};
  bool own_steps = false;  // each channel has its own
};

std::optional<Plan> plan_of(const SearchContext& context, const std::vector<Channel>& channels) {
  const bool sparse = both_sparse(context.input.actual, context.input.golden);
  const Weights weights(context);
  for (const Form form : {Form::scale, Form::offset, Form::both}) {
    if (sparse && form != Form::scale)
      continue;  // an offset would change elements that neither side stores
    std::vector<ChannelResidual> holding;
    for (const Channel& channel : channels)
      if (const auto left = residual_in(channel, form, context.agreement, weights))
        holding.push_back(*left);
    const std::size_t all = channels.size();
    if (all >= kMinLookedAt && holding.size() >= all - (all > 4 ? 1 : 0) && explains_most(holding))
      return Plan{form, std::ranges::all_of(holding, &ChannelResidual::own_steps)};
  }
  return std::nullopt;
}

std::string range_text(const std::vector<Line>& lines, long double Line::* member) {
  const auto [least, most] = std::ranges::minmax(lines, {}, member);
  return short_number_text(least.*member) + " to " + short_number_text(most.*member);
}

std::string form_text(const SearchContext& context, std::size_t dim, Form form,
                      const std::vector<Line>& lines) {
  const Dims& dims = context.input.golden.dims();
  const std::string each = " of each of " + std::to_string(lines.size()) + " indices of " +
                           dim_text(static_cast<std::uint32_t>(dim), dims.size()) + ", ";
  switch (form) {
    case Form::scale:
      return "actual = s * golden, s" + each + range_text(lines, &Line::gain);
    case Form::offset:
      return "actual = golden + o, o" + each + range_text(lines, &Line::offset);
    case Form::both:
      break;
  }
  return "actual = s * golden + o" + each + range_text(lines, &Line::gain) + " and " +
         range_text(lines, &Line::offset);
}

FitTolerance fit_tolerance(const SearchContext& context, Form form,
                           const std::vector<Line>& lines) {
  const Agreement& agreement = context.agreement;
  const long double gain =
      std::abs(std::ranges::max(lines, {}, [](const Line& l) { return std::abs(l.gain); }).gain);
  return {.integer = !info(context.input.actual.dtype()).floating(),
          .relative = kOff * rounding_tolerance(agreement),
          .absolute = kOff * (agreement.half_step_of_actual +
                              static_cast<double>(gain) * agreement.half_step_of_golden),
          .share_of_error = kLittle,
          .most = form == Form::scale ? HUGE_VAL : kLittle * deviation_of_golden(context),
          .share_of_actual = form == Form::scale ? kLittle : 0};
}

SearchResult try_lines(const SearchContext& context, std::size_t dim, const Plan& plan) {
  const Form form = plan.form;
  const Along place = along(context.input.golden.dims(), dim);
  const Limits limits = limits_of(context.input.actual.dtype());
  std::vector<LineSums> sums(place.size);
  LineSums all_sums;
  const Weights weights(context);
  BTF_TRY(visit_finite(context, [&](std::uint64_t number, long double actual, long double golden) {
    if (!within(limits, actual)) return;
    sums[place.index(number)].add(golden, actual, weights.of(actual));
    all_sums.add(golden, actual, weights.of(actual));
  }));
  std::vector<Line> lines;
  for (const LineSums& one : sums) lines.push_back(one.fit(form));
  if (!differ(context.agreement, lines)) return std::nullopt;
  std::vector<ResidualSum> residuals(lines.size());
  BTF_ASSIGN(const bool lines_apart,
             apart(context, place, lines, all_sums.fit(form), weights, residuals));
  if (!lines_apart) return std::nullopt;
  IndexedMap map{.side = TransformedSide::golden,
                 .apply =
                     [&](std::uint64_t number, long double golden) {
                       return saturated(lines[place.index(number)](golden), limits);
                     },
                 .tolerance = fit_tolerance(context, form, lines)};
  if (plan.own_steps)
    map.absolute = [&](std::uint64_t number) { return residuals[place.index(number)].half_step(); };
  BTF_ASSIGN(const MapTally all, tally(context, map));
  SearchContext own = context;
  if (plan.own_steps) own.agreement.lenience = "rounding to multiples of their own";
  const std::uint64_t numbers = lines.size() * (form == Form::both ? 2 : 1);
  if (!confirms(context, all) || all.confirmed < kPerNumber * numbers) return std::nullopt;
  return Finding{{Cause::channel_scale, form_text(context, dim, form, lines) + ": " +
                                            fitting_text(own, all) + residual_text(all)},
                 all.exceptions + all.near};
}

}  // namespace

SearchResult find_channel_scale(const SearchContext& context) {
  if (context.rounded) return std::nullopt;
  const std::vector<Look> all = looks(context);
  BTF_TRY(fetch_looks(context, all));
  for (const Look& look : all) {
    BTF_ASSIGN(const std::vector<Channel> channels, read_channels(context, look));
    const std::optional<Plan> plan = plan_of(context, channels);
    if (!plan) continue;
    BTF_ASSIGN(std::optional<Finding> finding, try_lines(context, look.dim, *plan));
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace btf::hints

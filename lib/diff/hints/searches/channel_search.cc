// Another scale or offset, or both, at every index of one dim.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/placed_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/sparse.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostChannels = 16384;
constexpr std::uint64_t kLeastInChannel = 16;  // elements
constexpr std::size_t kLookedAt = 6;           // channels that are looked at first ...
constexpr std::size_t kLeastLookedAt = 3;
constexpr std::uint64_t kInEach = 64;       // ... by so many of their elements
constexpr std::size_t kLeastNumbersIn = 5;  // different ones, or any line would do
constexpr double kLittle = 0.02;            // of what there was to explain
constexpr std::uint64_t kPerNumber = 4;     // elements that bear out each fitted number

enum class Form : std::uint8_t { scale, offset, both };

struct Line {
  long double gain = 1;
  long double offset = 0;

  long double operator()(long double golden) const { return gain * golden + offset; }
};

// What a line is fitted to.
class LineSums {
 public:
  void add(long double golden, long double actual) {
    if (count_ == 0) {
      golden0_ = golden;
      actual0_ = actual;
    }
    const long double g = golden - golden0_;
    const long double a = actual - actual0_;
    ++count_;
    sum_g_ += g;
    sum_a_ += a;
    sum_gg_ += g * g;
    sum_ga_ += g * a;
  }

  // As it is where golden is one number only, or none.
  Line fit(Form form) const {
    const auto n = static_cast<long double>(count_);
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
  std::uint64_t count_ = 0;
  long double golden0_ = 0, actual0_ = 0;
  long double sum_g_ = 0, sum_a_ = 0, sum_gg_ = 0, sum_ga_ = 0;
};

struct Channel {
  std::vector<long double> actual;
  std::vector<long double> golden;
};

// Little of the error is left, and little beside what the law makes of golden's numbers.
bool holds_in(const Channel& channel, Form form) {
  for (const std::vector<long double>* side : {&channel.golden, &channel.actual}) {
    DistinctNumbers<kLeastNumbersIn> numbers;
    for (const long double number : *side) numbers.add(number);
    if (!numbers.enough()) return false;
  }
  LineSums sums;
  for (std::size_t i = 0; i < channel.golden.size(); ++i)
    sums.add(channel.golden[i], channel.actual[i]);
  const Line line = sums.fit(form);
  long double rest = 0, error = 0, mean = 0, varies = 0;
  const auto n = static_cast<long double>(channel.golden.size());
  for (const long double golden : channel.golden) mean += line(golden) / n;
  for (std::size_t i = 0; i < channel.golden.size(); ++i) {
    const long double golden = channel.golden[i];
    const long double actual = channel.actual[i];
    rest += (actual - line(golden)) * (actual - line(golden));
    error += (actual - golden) * (actual - golden);
    varies += (line(golden) - mean) * (line(golden) - mean);
  }
  return rest <= kLittle * kLittle * std::min(error, varies) && varies > 0 && error > 0;
}

// Some channels of one dim that have mismatches, and numbers of elements in each.
struct Look {
  std::size_t dim = 0;
  std::vector<std::vector<std::uint64_t>> channels;
};

Look look_along(const Inquiry& inquiry, std::size_t dim) {
  Look look{.dim = dim, .channels = {}};
  const Along place = along(inquiry.input.golden.dims(), dim);
  const std::uint64_t rows = inquiry.elements / place.size;
  std::set<std::uint64_t> seen;
  for (const std::size_t i : inquiry.rarest) {
    const std::uint64_t index = place.index(inquiry.mismatches[i].number);
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

std::vector<Look> looks(const Inquiry& inquiry) {
  std::vector<Look> all;
  const Dims& dims = inquiry.input.golden.dims();
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] >= kLeastLookedAt && dims[d] <= kMostChannels &&
        inquiry.elements / dims[d] >= kLeastInChannel)
      all.push_back(look_along(inquiry, d));
  std::ranges::stable_sort(all, {}, [&](const Look& look) { return dims[look.dim]; });
  return all;
}

// One search of a COO side for all of them.
Status fetch_looks(const Inquiry& inquiry, const std::vector<Look>& all) {
  std::vector<std::uint64_t> numbers;
  for (const Look& look : all)
    for (const auto& channel : look.channels)
      numbers.insert(numbers.end(), channel.begin(), channel.end());
  for (Lookup* lookup : {inquiry.actual, inquiry.golden}) {
    if (lookup->side().storage() != nullptr) continue;
    auto fetched = lookup->codes(numbers);
    if (!fetched) return std::unexpected(std::move(fetched).error());
  }
  return {};
}

Result<std::vector<Channel>> read_channels(const Inquiry& inquiry, const Look& look) {
  std::vector<Channel> channels;
  for (const auto& numbers : look.channels) {
    BTF_ASSIGN(const std::vector<long double> actual, inquiry.actual->values(numbers));
    BTF_ASSIGN(const std::vector<long double> golden, inquiry.golden->values(numbers));
    Channel channel;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(actual[i]) || !std::isfinite(golden[i])) continue;
      channel.actual.push_back(actual[i]);
      channel.golden.push_back(golden[i]);
    }
    channels.push_back(std::move(channel));
  }
  return channels;
}

// One line for all channels is another cause.
bool differ(const std::vector<Line>& lines) {
  const auto spread = [&](long double Line::* member) {
    const auto [least, most] = std::ranges::minmax(lines, {}, member);
    const long double size = std::max(std::abs(least.*member), std::abs(most.*member));
    return most.*member - least.*member > kLittle * size;
  };
  return spread(&Line::gain) || spread(&Line::offset);
}

// The plainest form that holds in all of the channels, or in all but one.
std::optional<Form> form_of(const Inquiry& inquiry, const std::vector<Channel>& channels) {
  const bool sparse = both_sparse(inquiry.input.actual, inquiry.input.golden);
  for (const Form form : {Form::scale, Form::offset, Form::both}) {
    if (sparse && form != Form::scale) continue;  // what neither stores would not stay 0
    const auto holding = std::ranges::count_if(
        channels, [&](const Channel& channel) { return holds_in(channel, form); });
    const auto all = static_cast<std::ptrdiff_t>(channels.size());
    if (all >= static_cast<std::ptrdiff_t>(kLeastLookedAt) && holding >= all - (all > 4 ? 1 : 0))
      return form;
  }
  return std::nullopt;
}

std::string range_text(const std::vector<Line>& lines, long double Line::* member) {
  const auto [least, most] = std::ranges::minmax(lines, {}, member);
  return short_number_text(least.*member) + " to " + short_number_text(most.*member);
}

std::string form_text(const Inquiry& inquiry, std::size_t dim, Form form,
                      const std::vector<Line>& lines) {
  const Dims& dims = inquiry.input.golden.dims();
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

Slack slack_of(const Inquiry& inquiry) {
  return {.integer = !info(inquiry.input.actual.dtype()).floating(),
          .relative = relative_slack(inquiry.input),
          .share_of_error = kLittle,
          .most = HUGE_VAL,
          .share_of_actual = kLittle};
}

SearchResult try_lines(const Inquiry& inquiry, std::size_t dim, Form form) {
  const Along place = along(inquiry.input.golden.dims(), dim);
  const Limits limits = limits_of(inquiry.input.actual.dtype());
  std::vector<LineSums> sums(place.size);
  BTF_TRY(visit_finite(inquiry, [&](std::uint64_t number, long double actual, long double golden) {
    // What was cut off at the end of the range is on no line.
    if (saturated(actual, limits) == actual && actual != limits.highest && actual != limits.lowest)
      sums[place.index(number)].add(golden, actual);
  }));
  std::vector<Line> lines;
  for (const LineSums& one : sums) lines.push_back(one.fit(form));
  if (!differ(lines)) return std::nullopt;
  const PlacedMap map{.side = MovedSide::golden,
                      .apply =
                          [&](std::uint64_t number, long double golden) {
                            return saturated(lines[place.index(number)](golden), limits);
                          },
                      .slack = slack_of(inquiry)};
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  const std::uint64_t numbers = lines.size() * (form == Form::both ? 2 : 1);
  if (!bears_out(inquiry, all) || all.confirmed < kPerNumber * numbers) return std::nullopt;
  return Finding{{Cause::channel_scale,
                  form_text(inquiry, dim, form, lines) + ": " +
                      share_text(all.elements - all.exceptions, all.elements) + residual_text(all)},
                 all.exceptions + all.near};
}

}  // namespace

SearchResult find_channel_scale(const Inquiry& inquiry) {
  if (inquiry.rounded) return std::nullopt;
  const std::vector<Look> all = looks(inquiry);
  BTF_TRY(fetch_looks(inquiry, all));
  for (const Look& look : all) {
    BTF_ASSIGN(const std::vector<Channel> channels, read_channels(inquiry, look));
    const std::optional<Form> form = form_of(inquiry, channels);
    if (!form) continue;
    BTF_ASSIGN(std::optional<Finding> finding, try_lines(inquiry, look.dim, *form));
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace btf::hints

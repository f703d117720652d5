#include "btf/inspect/distribution.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "btf/try.h"
#include "inspect/cell_counts.h"
#include "inspect/code_order.h"
#include "inspect/element_passes.h"

namespace btf {
namespace {

Status check(const DistributionOptions& options) {
  if (options.bins > kMostBins)
    return fail(ErrorCode::invalid_argument, "a histogram has at most " +
                                                 std::to_string(kMostBins) + " bins, not " +
                                                 std::to_string(options.bins));
  if (options.percentiles.size() > kMostPercentiles)
    return fail(ErrorCode::invalid_argument,
                "more than " + std::to_string(kMostPercentiles) + " percentiles");
  for (const double p : options.percentiles)
    if (!(p >= 0 && p <= 100))
      return fail(ErrorCode::invalid_argument, "a percentile is a number from 0 to 100");
  return {};
}

// numpy.linspace's numbers; in long double where a double overflows.
std::vector<double> edges_of(double least, double greatest, std::uint32_t bins) {
  if (least == greatest) {
    least -= 0.5;
    greatest += 0.5;
  }
  std::vector<double> edges(bins + 1);
  const double step = (greatest - least) / bins;
  for (std::uint32_t i = 0; i < bins; ++i)
    edges[i] =
        std::isfinite(step) && step != 0
            ? static_cast<double>(i) * step + least
            : static_cast<double>((static_cast<long double>(greatest) - least) / bins * i + least);
  edges[bins] = greatest;
  return edges;
}

// The first ordinal of a number that is not below `edge`.
std::uint64_t first_from(const CodeOrder& order, OrdinalRange range, double edge) {
  while (range.least < range.greatest) {
    const std::uint64_t middle = range.least + (range.greatest - range.least) / 2;
    if (order.value(middle) >= static_cast<long double>(edge))
      range.greatest = middle;
    else
      range.least = middle + 1;
  }
  return range.least;
}

// As numpy.percentile goes from a number to the next.
double between(double low, double high, double part) {
  const double step = high - low;
  if (!std::isfinite(step)) return low * (1 - part) + high * part;
  return part >= 0.5 ? high - step * (1 - part) : low + step * part;
}

class Questions {
 public:
  Questions(const CodeOrder& order, OrdinalRange range, std::uint64_t finite,
            const DistributionOptions& options)
      : order_(order), range_(range), finite_(finite), options_(options) {
    for (const double p : options.percentiles) {
      const auto last = static_cast<double>(finite - 1);  // may be rounded up beyond 64 bits
      const double place = last * (p / 100);
      const std::uint64_t low =
          place >= last ? finite - 1 : std::min(static_cast<std::uint64_t>(place), finite - 1);
      parts_.push_back(std::clamp(place - static_cast<double>(low), 0.0, 1.0));
      ranks.push_back({low, range.least});
      ranks.push_back({std::min(low + 1, finite - 1), range.least});
    }
    if (options.bins == 0) return;
    const auto number = [&](std::uint64_t ordinal) {
      return static_cast<double>(order.value(ordinal));
    };
    edges_ = edges_of(number(range.least), number(range.greatest), options.bins);
    for (std::uint32_t i = 1; i < options.bins; ++i) {
      const bool beyond = order.value(range.greatest) < static_cast<long double>(edges_[i]);
      beyond_.push_back(beyond);
      below.push_back({beyond ? range.least : first_from(order, range, edges_[i]), 0});
    }
  }

  Distribution answers() const {
    Distribution found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto number = [&](const RankQuery& rank) {
        return static_cast<double>(order_.value(rank.ordinal)) + 0.0;  // no -0
      };
      found.percentiles.push_back(
          between(number(ranks[2 * i]), number(ranks[2 * i + 1]), parts_[i]));
    }
    if (edges_.empty()) return found;
    Histogram histogram{edges_, {}};
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < below.size(); ++i) {
      const std::uint64_t all = beyond_[i] ? finite_ : below[i].below;
      histogram.counts.push_back(all - before);
      before = all;
    }
    histogram.counts.push_back(finite_ - before);
    found.histogram = std::move(histogram);
    return found;
  }

  std::vector<RankQuery> ranks;
  std::vector<BelowQuery> below;

 private:
  const CodeOrder& order_;
  OrdinalRange range_;
  std::uint64_t finite_;
  const DistributionOptions& options_;
  std::vector<double> parts_;  // of the way from a rank to the next
  std::vector<double> edges_;
  std::vector<bool> beyond_;  // edges above all numbers
};

}  // namespace

Result<Distribution> distribution(const TensorFile& file, const TensorInfo& tensor,
                                  const TensorStats& stats, const DistributionOptions& options,
                                  const Execution& execution) {
  BTF_TRY(check(options));
  if (stats.finite == 0) return Distribution{};
  BTF_ASSIGN(const ElementPasses passes, ElementPasses::open(file, tensor, execution));
  const CodeOrder order(*tensor.dtype);
  // Zeros of both signs, and all that reads as true, are one number.
  OrdinalRange range{order.ordinal(stats.min->code), order.ordinal(stats.max->code)};
  order.widen(range);
  Questions questions(order, range, stats.finite, options);
  // One number needs no pass.
  if (order.value(range.least) == order.value(range.greatest)) {
    for (BelowQuery& query : questions.below)
      query.below = query.ordinal == range.least ? 0 : stats.finite;
    return questions.answers();
  }
  if (questions.below.empty() && questions.ranks.empty()) return questions.answers();
  BTF_TRY(count_cells(passes, order, range, questions.below, questions.ranks, execution.memory));
  return questions.answers();
}

}  // namespace btf

#include "fit/scales/scaled_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "btf/try.h"
#include "elements/parallel.h"
#include "fit/scales/channel_maxima.h"
#include "fit/scales/magnitudes.h"
#include "fit/scales/scale_methods.h"
#include "kernels/scale/scaling_errors.h"

namespace btf {
namespace {

// Gains of less are not worth a word; an outlier is to blame for half of one or more.
constexpr double kLeastGain = 3;
constexpr double kBlame = .5;
// Without a channel as much larger than all others there is no such gain by it.
constexpr double kLeastRatio = 1.4;

double decibels(double signal, double error) {
  // Squares of doubles far beyond what floats hold, or below it.
  if (signal == 0 || !std::isfinite(error)) return -HUGE_VAL;
  if (error == 0) return HUGE_VAL;
  return 10 * std::log10(signal / error);
}

// Scales to be tried: one for all numbers, or one for each channel.
struct Attempt {
  std::vector<double> scales;
  ScalingErrors errors{};
};

// Those of a type.
struct Attempts {
  Narrowing codes;
  std::vector<Attempt> tensor;                                  // different scales, one each
  std::vector<std::pair<FitScaleMethod, std::size_t>> methods;  // and which of these is theirs
  std::optional<Attempt> channels{};
  std::optional<Attempt> outlier{};
};

class ScaledTensor {
 public:
  ScaledTensor(const ScaledSource& source, std::span<const DType> dtypes,
               const Execution& execution)
      : source_(source), dtypes_(dtypes), execution_(execution) {}

  Result<std::vector<FitScaledTensor>> run() {
    BTF_TRY(each_run([&](const Dims& dims, std::uint64_t first, std::span<const double> some) {
      first == 0 ? channels_.begin(dims, source_.axis) : void();
      look(first, some);
    }));
    if (!floating_) return std::vector<FitScaledTensor>{};
    magnitudes_.sort();
    if (magnitudes_.largest() > 0) {
      for (const DType dtype : dtypes_) attempts_.push_back(choose(dtype));
      BTF_TRY(each_run([&](const Dims& dims, std::uint64_t first, std::span<const double> some) {
        attempt(channels_.known() ? channels_.place(dims, first) : OnAxis{}, some);
      }));
    }
    std::vector<FitScaledTensor> found;
    for (std::size_t i = 0; i < dtypes_.size(); ++i)
      found.push_back(attempts_.empty() ? facts() : result(attempts_[i]));
    return found;
  }

 private:
  template <typename Take>
  Status each_run(Take&& take) {
    for (std::size_t dump = 0; dump < source_.dumps; ++dump) {
      BTF_ASSIGN(Numbers numbers, source_.open(dump));
      if (!numbers.floating()) continue;
      floating_ = true;
      std::array<double, kFitRun> run;
      for (std::uint64_t first = 0; first < numbers.elements(); first += kFitRun) {
        BTF_TRY(check_cancelled(execution_));
        const auto some = std::span(run).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, numbers.elements() - first)));
        BTF_TRY(numbers.read(first, some));
        take(numbers.dims(), first, std::span<const double>(some));
      }
    }
    return {};
  }

  void look(std::uint64_t first, std::span<const double> some) {
    magnitudes_.take(some);
    channels_.take(first, some);
  }

  Attempts choose(DType dtype) const {
    const CodeGrid grid(dtype);
    Attempts attempts{.codes = scaled_codes(dtype), .tensor = {}, .methods = {}};
    for (const ScaleMethod& method : scale_methods()) {
      const auto scale = method.find(magnitudes_, grid, dtype, method.part);
      if (!scale) continue;
      const auto same = std::ranges::find_if(
          attempts.tensor, [&](const Attempt& attempt) { return attempt.scales[0] == *scale; });
      attempts.methods.emplace_back(method.name.value,
                                    static_cast<std::size_t>(same - attempts.tensor.begin()));
      if (same == attempts.tensor.end()) attempts.tensor.push_back({{*scale}});
    }
    if (!channels_.known()) return attempts;
    attempts.channels.emplace();
    for (const double largest : channels_.maxima())
      attempts.channels->scales.push_back(static_cast<double>(symmetric_scale(largest, dtype)));
    const std::uint64_t highest = channels_.highest();
    const double next = channels_.largest_but(highest);
    if (next == 0 || channels_.maxima()[highest] < kLeastRatio * next) return attempts;
    attempts.outlier.emplace();
    attempts.outlier->scales.assign(channels_.count(),
                                    static_cast<double>(symmetric_scale(next, dtype)));
    attempts.outlier->scales[highest] = attempts.channels->scales[highest];
    return attempts;
  }

  void attempt(const OnAxis& at, std::span<const double> some) {
    for (Attempts& attempts : attempts_) {
      for (Attempt& one : attempts.tensor)
        one.errors.add(scaling_errors(attempts.codes, some.data(), some.size(), one.scales[0]));
      for (auto* const each : {&attempts.channels, &attempts.outlier})
        if (*each) by_channels(attempts.codes, at, some, **each);
    }
  }

  static void by_channels(const Narrowing& codes, const OnAxis& at, std::span<const double> some,
                          Attempt& attempt) {
    by_indices(
        some.data(), some.size(), at,
        [&](std::uint64_t channel, const double* run, std::uint64_t count) {
          attempt.errors.add(scaling_errors(codes, run, count, attempt.scales[channel]));
        },
        [&](std::uint64_t channel, const double* run, std::uint64_t count) {
          attempt.errors.add(scaling_errors_each(codes, run, count, &attempt.scales[channel]));
        });
  }

  FitScaledTensor facts() const {
    const std::uint64_t odd = magnitudes_.nan() + magnitudes_.infinite();
    const std::uint64_t finite = magnitudes_.count();
    return {.name = {},
            .elements = finite + odd,
            .nan = magnitudes_.nan(),
            .infinite = magnitudes_.infinite(),
            .zeros = magnitudes_.zeros(),
            .largest = magnitudes_.largest(),
            .rms = finite == 0 ? 0 : std::sqrt(magnitudes_.squares() / static_cast<double>(finite)),
            .state = odd > 0 ? FitScaling::nonfinite : FitScaling::nothing,
            .scales = {}};
  }

  double snr(const Attempt& attempt) const {
    return decibels(magnitudes_.squares(), attempt.errors.squares);
  }

  FitScaledTensor result(const Attempts& attempts) const {
    FitScaledTensor tensor = facts();
    for (const auto& [method, which] : attempts.methods) {
      const Attempt& own = attempts.tensor[which];
      tensor.scales.push_back({.method = method,
                               .scale = own.scales[0],
                               .snr = snr(own),
                               .clipped = own.errors.clipped,
                               .lost = own.errors.lost});
    }
    tensor.best = static_cast<std::size_t>(
        std::ranges::max_element(tensor.scales, {}, &FitScale::snr) - tensor.scales.begin());
    const FitScale& best = tensor.scales[tensor.best];
    const auto nonzero = static_cast<double>(magnitudes_.count() - magnitudes_.zeros());
    const bool poor =
        best.snr < kFitLeastSnr || static_cast<double>(best.lost) > kFitMostLost * nonzero;
    if (tensor.state != FitScaling::nonfinite)
      tensor.state = poor ? FitScaling::poor : FitScaling::held;
    if (attempts.channels) tensor.channels = channels(attempts, tensor.scales[0].snr);
    return tensor;
  }

  // `one`: with one scale by the maximum.
  FitChannels channels(const Attempts& attempts, double one) const {
    FitChannels found{
        .axis = channels_.axis(), .count = channels_.count(), .snr = snr(*attempts.channels)};
    found.gain = found.snr == one ? 0 : found.snr - one;
    if (!attempts.outlier || found.gain < kLeastGain) return found;
    const double apart = snr(*attempts.outlier);
    if (apart - one < kBlame * found.gain) return found;
    const std::uint64_t highest = channels_.highest();
    found.outlier = {.channel = highest,
                     .largest = channels_.maxima()[highest],
                     .median = channels_.median(),
                     .snr = apart};
    return found;
  }

  const ScaledSource& source_;
  std::span<const DType> dtypes_;
  const Execution& execution_;
  bool floating_ = false;
  Magnitudes magnitudes_;
  ChannelMaxima channels_;
  std::vector<Attempts> attempts_;
};

}  // namespace

Result<std::vector<FitScaledTensor>> measure_scales(const ScaledSource& source,
                                                    std::span<const DType> dtypes,
                                                    const Execution& execution) {
  return ScaledTensor(source, dtypes, execution).run();
}

}  // namespace btf

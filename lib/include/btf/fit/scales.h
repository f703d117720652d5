// Which scales a network's tensors take in a type of few codes, and what that costs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Types that take a scale here: signed, of 8 bits or fewer. A number x is the code x / scale,
// rounded to nearest even and clamped; there is no zero point.
BTF_API bool fits_by_scale(DType dtype);

// Where the last code stands.
enum class FitScaleMethod : std::uint8_t {
  maximum,  // at the largest magnitude
  p99_999,  // at that which so many percent of the numbers do not exceed
  p99_99,
  p99_9,
  least_squares,  // where the error's sum of squares is least
};

BTF_API std::span<const Named<FitScaleMethod>> fit_scale_methods();
BTF_API std::string_view fit_scale_method_name(FitScaleMethod method);

// Signal-to-noise ratios are 10 log10(sum x^2 / sum error^2), in dB; Inf: there is no error; -Inf:
// a double cannot hold the sums.
struct FitScale {
  FitScaleMethod method{};
  double scale = 0;  // a float32: number = code * scale
  double snr = 0;
  std::uint64_t clipped = 0;  // numbers beyond the last code
  std::uint64_t lost = 0;     // numbers that become 0
};

// A channel that is far larger than the others.
struct FitOutlier {
  std::uint64_t channel = 0;
  double largest = 0;  // magnitude in it
  double median = 0;   // of all channels' largest magnitudes
  double snr = 0;      // with a scale of its own, and one for all others
};

// A scale for each channel, by its largest magnitude.
struct FitChannels {
  std::uint32_t axis = 0;
  std::uint64_t count = 0;
  double snr = 0;
  double gain = 0;                      // over one scale by the maximum, in dB
  std::optional<FitOutlier> outlier{};  // most of the gain is this one's
};

enum class FitScaling : std::uint8_t {
  held,       // by the best scale
  poor,       // by the best scale below kFitLeastSnr, or more than kFitMostLost of it is lost
  nonfinite,  // it has NaN or Inf, which no code stands for
  nothing,    // no numbers but zeros: any scale will do
};

// A signal-to-noise ratio that will do, in dB: an error of 10 %.
inline constexpr double kFitLeastSnr = 20;
// The part of the numbers that are not zero which may become zero: a ratio of sums of squares says
// little about small numbers beside a few large ones.
inline constexpr double kFitMostLost = .5;

struct FitScaledTensor {
  std::string name;
  bool weight = false;         // a constant of the model
  std::uint64_t elements = 0;  // of all dumps
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zeros = 0;
  double largest = 0;  // finite magnitude
  double rms = 0;
  FitScaling state = FitScaling::nothing;
  std::vector<FitScale> scales;  // those that there are; none: nothing
  std::size_t best = 0;          // of them
  std::optional<FitChannels> channels{};
};

// An estimate by first-order propagation, as the errors of outputs are.
struct FitScaledLayer {
  std::string name;  // the node's; without one, that of its first output
  std::string op;
  double error = 0;  // of an output, relative, if this layer alone is of the type
  double share = 0;  // of the squares of all layers' errors
};

struct FitScaledOutput {
  std::string name;
  double error = 0;  // relative, with all layers of the type
};

struct FitOfScales {
  DType dtype{};
  std::vector<FitScaledTensor> tensors;
  std::vector<FitScaledLayer> layers;  // the largest error first; none without a graph
  std::uint64_t unjudged = 0;          // layers whose errors are not known
  std::vector<FitScaledOutput> outputs;
};

BTF_API std::span<const Named<FitScaling>> fit_scalings();
BTF_API std::string_view fit_scaling_name(FitScaling state);

}  // namespace btf

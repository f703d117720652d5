// A hypothesis about single elements: what became of each, or what each is really.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "diff/hints/evidence/significance.h"

namespace btf::hints {

// How far from the predicted value an element may be where the prediction was fitted.
struct Slack {
  bool integer = false;        // of actual: less than 1
  double relative = 0;         // of the predicted value
  double share_of_error = 0;   // of |actual - golden| ...
  double most = 0;             // ... but no more than this
  double share_of_actual = 0;  // nor than this share of |actual|; 0: not asked
};

struct ElementMap {
  template <typename Real>
  using Apply = std::function<void(const Real* values, const std::byte* codes, std::uint64_t count,
                                   Real* out)>;

  MovedSide side{};  // whose elements are mapped; the result is to agree with the other side's
  Apply<double> narrow;
  Apply<long double> wide;
  std::optional<Slack> slack{};
};

// map(value) -> value, for any Real.
template <typename Map>
ElementMap value_map(MovedSide side, const Map& map) {
  const auto apply = [map](const auto* values, const std::byte*, std::uint64_t count, auto* out) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = map(values[i]);
  };
  return {.side = side, .narrow = apply, .wide = apply};
}

enum class Fit : std::uint8_t {
  none,
  near,   // by a share of the error, or as whole numbers may be rounded
  exact,  // but for the rounding of floats
};

// Does an element fit what the map makes of its partner?
template <typename Real>
Fit fit_of(Real mapped, Real actual, Real golden, const ElementMap& map,
           const Agreement& agreement);

struct MapTally {
  std::uint64_t elements = 0;
  std::uint64_t exceptions = 0;  // do not fit
  std::uint64_t near = 0;        // Fit::near
  double rest = 0;               // of these, the largest distance from the prediction
  double relative_rest = 0;      // likewise, beside the prediction
  std::uint64_t telling = 0;     // the map makes another number of them
  std::uint64_t confirmed = 0;   // telling, fit, and did not agree as they were
  std::uint64_t mismatched = 0;  // did not agree as they were

  void add(const MapTally& other);
};

// Over all pairs.
Result<MapTally> tally(const Inquiry& inquiry, const ElementMap& map);

// The whole tensor bears it out.
bool bears_out(const Inquiry& inquiry, const MapTally& tally);

// Does it fit the elements from anywhere? Much cheaper than a tally, and most maps fail here.
bool fits_anywhere(const Inquiry& inquiry, const ElementMap& map);

// The map's values at sampled points.
Moved mapped(const Inquiry& inquiry, const ElementMap& map, std::span<const Point> points);

}  // namespace btf::hints

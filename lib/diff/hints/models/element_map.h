// A hypothesis about single elements: what became of each, or what each is really.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "btf/cast.h"
#include "diff/hints/evidence/agreements.h"
#include "kernels/number/exact_sum.h"

namespace btf::hints {

// How far from the predicted value an element may be where the prediction was fitted.
struct FitTolerance {
  bool integer = false;        // of actual: less than 1
  double relative = 0;         // of the predicted value
  double absolute = 0;         // besides that, what rounding to multiples may do
  double share_of_error = 0;   // of |actual - golden| ...
  double most = 0;             // ... but no more than this
  double share_of_actual = 0;  // nor than this share of |actual|; 0: not asked
  // How far rounding may bring what is made of a number, by the number; nullptr: not asked.
  double (*amplified)(double value, double relative) = nullptr;
};

struct ElementMap {
  template <typename Real>
  using Apply = std::function<void(const Real* values, const std::byte* codes, std::uint64_t count,
                                   Real* out)>;

  MovedSide side{};  // whose elements are mapped; the result is to agree with the other side's
  Apply<double> narrow;
  Apply<long double> wide;
  std::optional<FitTolerance> slack{};
};

// How far from a law rounding may bring a number, relative to it.
double relative_slack(const Agreement& agreement);

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
  near,     // by a share of the error, or as whole numbers may be rounded
  rounded,  // but for rounding to multiples
  exact,    // but for the rounding of floats
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
  std::uint64_t lenient = 0;     // fit, but the user would not accept them
  // Where the map was fitted: what it leaves of the finite numbers that fit. Exact, so that the
  // order in which they come makes no difference.
  std::uint64_t fitted = 0;
  ExactSum squares{};

  void add(const MapTally& other);
  double residual() const;  // root mean square
};

// Adds `weight` pairs that are all alike; `mapped` is what the map makes of its side's.
template <typename Real>
void add_pair(const Inquiry& inquiry, const ElementMap& map, Real mapped, Real actual, Real golden,
              std::uint64_t weight, MapTally& tally);

// "1000 of 1000 elements, 12 of them within float16's rounding"
std::string fitting_text(const Inquiry& inquiry, const MapTally& tally);

// ", residual 0.0003 rms"
std::string residual_text(const MapTally& tally);

// Over all pairs.
Result<MapTally> tally(const Inquiry& inquiry, const ElementMap& map);

// The whole tensor bears it out.
bool bears_out(const Inquiry& inquiry, const MapTally& tally);

// The map's values of sampled points; where these fit, actual's.
Moved fitted_values(const Inquiry& inquiry, const ElementMap& map, std::span<const Point> points);

// Does it fit the elements from anywhere? Much cheaper than a tally, and most maps fail here.
bool fits_anywhere(const Inquiry& inquiry, const ElementMap& map);

// The map's values at sampled points.
Moved mapped(const Inquiry& inquiry, const ElementMap& map, std::span<const Point> points);

// Elements that were cast to another dtype and back.

// The elements of a side of dtype `stored`, as they are in `through`.
ElementMap cast_map(MovedSide side, DType stored, DType through, const CastPolicy& policy = {});

// Elements whose bits are taken for something else than they are.

// A change of the bits of a code before it is read.
struct BitChange {
  std::string_view what;  // "its bytes reversed"
  Cause cause{};
  unsigned least_bits = 0;
  unsigned most_bits = 0;
  std::uint64_t (*apply)(std::uint64_t code, unsigned bits) = nullptr;
};

std::span<const BitChange> bit_changes();

// Takes the values of a side for `taken_as` (exact, or it is no number; or rounded to it), changes
// the bits and reads them as `is`. Both have the same width.
struct CodeReading {
  MovedSide side{};
  DType stored{};  // the side's
  DType taken_as{};
  DType is{};
  const BitChange* change = nullptr;  // nullptr: none
  bool rounded = false;
};

// The dtypes differ by the exponent of 1: numbers become this many times as large.
bool only_scales(const CodeReading& reading);

// "actual equals golden with its bytes reversed"
std::string reading_words(const CodeReading& reading);

ElementMap reading_map(const CodeReading& reading);

// A finding if the reading explains the tensor; `hypotheses`: how many are tried.
SearchResult try_reading(const Inquiry& inquiry, const CodeReading& reading, double hypotheses);

// Maps of elements by a rule that depends on their index: another factor in every channel, a sum
// over every row.

// Elements that neither of two COO tensors stores must stay 0.
struct PlacedMap {
  MovedSide side{};
  std::function<long double(std::uint64_t number, long double value)> apply;
  std::optional<FitTolerance> slack{};
  // If set, slack->absolute of each element.
  std::function<double(std::uint64_t number)> absolute{};
};

// Over all pairs.
Result<MapTally> tally(const Inquiry& inquiry, const PlacedMap& map);

// The map's values at sampled points.
Moved mapped(const PlacedMap& map, std::span<const Point> points);

// Where that fits, what is there.
Moved fitted_values(const Inquiry& inquiry, const PlacedMap& map, std::span<const Point> points);

// Visits the pairs of finite numbers in row-major order, those left out that neither of two COO
// tensors stores.
using FinitePair =
    std::function<void(std::uint64_t number, long double actual, long double golden)>;
Status visit_finite(const Inquiry& inquiry, const FinitePair& visit);

// One dim among the others: number = (outer * size + index) * inner + rest.
struct Along {
  std::uint64_t size = 1;
  std::uint64_t inner = 1;

  std::uint64_t index(std::uint64_t number) const { return number / inner % size; }
  // The row along the dim that an element is in.
  std::uint64_t row(std::uint64_t number) const {
    return number / (inner * size) * inner + number % inner;
  }
  std::uint64_t number(std::uint64_t row, std::uint64_t index) const {
    return (row / inner * size + index) * inner + row % inner;
  }
};

Along along(const Dims& dims, std::size_t dim);

}  // namespace btf::hints

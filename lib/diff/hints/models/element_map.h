// Hypotheses about single elements: a function of the value or of the bits that gives the other
// side.
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

// How far an element may be from the prediction of a map that was fitted to the data.
struct FitTolerance {
  bool integer = false;        // actual is an integer: anything less than 1
  double relative = 0;         // to the predicted value
  double absolute = 0;         // in addition: what rounding to multiples may cause
  double share_of_error = 0;   // of |actual - golden| ...
  double most = 0;             // ... but no more than this
  double share_of_actual = 0;  // nor more than this share of |actual|; 0: no such limit
  // How far rounding of `value` may move the map's result; nullptr: not considered.
  double (*amplified)(double value, double relative) = nullptr;
};

struct ElementMap {
  template <typename Real>
  using Apply = std::function<void(const Real* values, const std::byte* codes, std::uint64_t count,
                                   Real* out)>;

  TransformedSide
      side{};  // whose elements are mapped; the results should agree with the other side
  Apply<double> narrow;
  Apply<long double> wide;
  std::optional<FitTolerance> tolerance{};
};

// How far rounding may move a number from the prediction, relative to it.
double rounding_tolerance(const Agreement& agreement);

// Wraps map(value), a function template for any Real.
template <typename Map>
ElementMap value_map(TransformedSide side, const Map& map) {
  const auto apply = [map](const auto* values, const std::byte*, std::uint64_t count, auto* out) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = map(values[i]);
  };
  return {.side = side, .narrow = apply, .wide = apply};
}

enum class Fit : std::uint8_t {
  none,
  near,     // within the share of the error, or as integers may be rounded
  rounded,  // but for rounding to multiples
  exact,    // but for rounding of floats
};

// How well a pair fits when one side is replaced by `mapped`.
template <typename Real>
Fit fit_of(Real mapped, Real actual, Real golden, const ElementMap& map,
           const Agreement& agreement);

struct MapTally {
  std::uint64_t elements = 0;
  std::uint64_t exceptions = 0;  // elements that do not fit
  std::uint64_t near = 0;        // Fit::near
  double rest = 0;               // largest distance of these from the prediction
  double relative_rest = 0;      // the same, relative to the prediction
  std::uint64_t telling = 0;     // elements that the map changes
  std::uint64_t confirmed = 0;   // changed, fit, and did not agree before
  std::uint64_t mismatched = 0;  // did not agree before
  std::uint64_t lenient = 0;     // fit, but the user would not accept them
  // Of a fitted map: the squares of what it leaves of the finite numbers that fit. They are summed
  // exactly, so their order makes no difference.
  std::uint64_t fitted = 0;
  ExactSum squares{};

  void add(const MapTally& other);
  double residual() const;  // root mean square
};

// Adds `weight` equal pairs; `mapped` is the map's result for its side.
template <typename Real>
void add_pair(const SearchContext& context, const ElementMap& map, Real mapped, Real actual,
              Real golden, std::uint64_t weight, MapTally& tally);

// "1000 of 1000 elements, 12 of them within float16's rounding"
std::string fitting_text(const SearchContext& context, const MapTally& tally);

// ", residual 0.0003 rms"
std::string residual_text(const MapTally& tally);

// Over all pairs of the tensors.
Result<MapTally> tally(const SearchContext& context, const ElementMap& map);

// Whether the whole tensor confirms the map.
bool confirms(const SearchContext& context, const MapTally& tally);

// The map's values at sampled points; where one fits, the value that is there instead.
Predictions fitted_values(const SearchContext& context, const ElementMap& map,
                          std::span<const Point> points);

// Whether the map fits the elements from anywhere: much cheaper than a tally, and most maps fail.
bool fits_anywhere(const SearchContext& context, const ElementMap& map);

// The map's values at sampled points.
Predictions mapped(const SearchContext& context, const ElementMap& map,
                   std::span<const Point> points);

// Elements that were cast to another dtype and back.

// Maps the elements of a side of dtype `stored` to what a cast to `through` makes of them.
ElementMap cast_map(TransformedSide side, DType stored, DType through,
                    const CastPolicy& policy = {});

// A change of the bits of a code before it is read.
struct BitChange {
  std::string_view what;  // "its bytes reversed"
  Cause cause{};
  unsigned least_bits = 0;
  unsigned most_bits = 0;
  std::uint64_t (*apply)(std::uint64_t code, unsigned bits) = nullptr;
};

std::span<const BitChange> bit_changes();

// Takes the values of a side as `taken_as` (values that it does not have become NaN, or are rounded
// if `rounded`), changes their bits and reads them as `is`. Both dtypes have the same width.
struct CodeReading {
  TransformedSide side{};
  DType stored{};  // the side's own dtype
  DType taken_as{};
  DType is{};
  const BitChange* change = nullptr;  // nullptr: none
  bool rounded = false;
};

// True if the dtypes differ only in their exponent bias, so that numbers are scaled by a power of
// two.
bool only_scales(const CodeReading& reading);

// "actual equals golden with its bytes reversed"
std::string reading_words(const CodeReading& reading);

ElementMap reading_map(const CodeReading& reading);

// Returns a finding if the reading explains the tensor; `hypotheses` is the number of attempts.
SearchResult try_reading(const SearchContext& context, const CodeReading& reading,
                         double hypotheses);

// Maps of elements by a rule that depends on their index, as a factor per channel or a sum over
// each row. Elements that neither of two COO tensors stores must remain 0.
struct IndexedMap {
  TransformedSide side{};
  std::function<long double(std::uint64_t number, long double value)> apply;
  std::optional<FitTolerance> tolerance{};
  // If set, replaces slack->absolute for each element.
  std::function<double(std::uint64_t number)> absolute{};
};

// Over all pairs.
Result<MapTally> tally(const SearchContext& context, const IndexedMap& map);

// The map's values at sampled points.
Predictions mapped(const IndexedMap& map, std::span<const Point> points);

// The same, but the value that is there where the map's value fits it.
Predictions fitted_values(const SearchContext& context, const IndexedMap& map,
                          std::span<const Point> points);

// Visits the pairs of finite numbers in row-major order, except those that neither of two COO
// tensors stores.
using FinitePair =
    std::function<void(std::uint64_t number, long double actual, long double golden)>;
Status visit_finite(const SearchContext& context, const FinitePair& visit);

// One dim among the others: number = (outer * size + index) * inner + rest.
struct Along {
  std::uint64_t size = 1;
  std::uint64_t inner = 1;

  std::uint64_t index(std::uint64_t number) const { return number / inner % size; }
  // The number of the row along the dim that the element is in.
  std::uint64_t row(std::uint64_t number) const {
    return number / (inner * size) * inner + number % inner;
  }
  std::uint64_t number(std::uint64_t row, std::uint64_t index) const {
    return (row / inner * size + index) * inner + row % inner;
  }
};

Along along(const Dims& dims, std::size_t dim);

}  // namespace btf::hints

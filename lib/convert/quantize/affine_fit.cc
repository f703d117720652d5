#include "convert/quantize/affine_fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/scales.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/number/exact_sum.h"
#include "kernels/number/widen.h"
#include "kernels/scale/magnitude_runs.h"

namespace btf {
namespace {

using number::Integer;

Number from_real(double value) { return number::from_double(value); }

// Only 64-bit integers need more than a double.
Number from_real(long double value) {
  return number::normalized(value < 0, static_cast<std::uint64_t>(std::fabs(value)), 0);
}

// Real holds every value of the dtype exactly.
template <typename Real>
class RangeFinder {
 public:
  RangeFinder(DType dtype, std::uint64_t indices, std::uint64_t inner)
      : widen_(widener<Real>(dtype)),
        bytes_(info(dtype).buffer_bytes()),
        inner_(inner),
        least_(indices, Real{0}),
        largest_(indices, Real{0}) {}

  void add(const LinearSlab& slab) {
    std::array<Real, 1024> values;
    for (std::uint64_t at = 0; at < slab.count; at += values.size()) {
      const std::uint64_t n = std::min<std::uint64_t>(values.size(), slab.count - at);
      widen_(slab.codes + at * bytes_, 1, n, values.data());
      keep(values.data(), n, slab.first + at);
    }
  }

  void add(const RangeFinder& other) {
    for (std::size_t i = 0; i < least_.size(); ++i) {
      least_[i] = std::min(least_[i], other.least_[i]);
      largest_[i] = std::max(largest_[i], other.largest_[i]);
    }
  }

  std::vector<ValueRange> ranges() const {
    std::vector<ValueRange> all(least_.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {from_real(least_[i]), from_real(largest_[i])};
    return all;
  }

 private:
  void keep(const double* values, std::uint64_t n, std::uint64_t first) {
    by_indices(
        values, n, {first, inner_, least_.size()},
        [&](std::uint64_t index, const double* some, std::uint64_t count) {
          keep_range(some, count, least_[index], largest_[index]);
        },
        [&](std::uint64_t index, const double* some, std::uint64_t count) {
          keep_ranges(some, count, &least_[index], &largest_[index]);
        });
  }

  // Integers of 64 bits.
  void keep(const long double* values, std::uint64_t n, std::uint64_t first) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t place = least_.size() == 1 ? 0 : (first + i) / inner_ % least_.size();
      least_[place] = std::min(least_[place], values[i]);
      largest_[place] = std::max(largest_[place], values[i]);
    }
  }

  WidenFn<Real> widen_;
  std::uint64_t bytes_;
  std::uint64_t inner_;
  std::vector<Real> least_;
  std::vector<Real> largest_;
};

template <typename Real>
Result<std::vector<ValueRange>> ranges_of(LinearSlabs slabs, const RangeFinder<Real>& empty,
                                          const Execution& execution) {
  std::vector<RangeFinder<Real>> finders(slabs.workers(), empty);
  BTF_TRY(for_each_slab(execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          finders[worker].add(slab);
                          return {};
                        }));
  for (const RangeFinder<Real>& other : finders) finders.front().add(other);
  return finders.front().ranges();
}

struct CodeLimits {
  Integer least = 0;
  Integer largest = 0;
};

CodeLimits limits_of(DType dtype) {
  const auto largest = static_cast<Integer>(largest_code(dtype));
  const bool has_sign = info(dtype).kind == NumberKind::signed_integer;
  return {has_sign ? -largest - 1 : 0, largest};
}

bool is_zero(const Number& x) { return x.kind == Number::Class::zero; }

const Number& larger(const Number& a, const Number& b) {
  if (is_zero(a) || is_zero(b)) return is_zero(a) ? b : a;
  return std::tie(a.exponent, a.significand) < std::tie(b.exponent, b.significand) ? b : a;
}

std::string text(const Number& x) { return number_text(number::to_double(x)); }

// An integer of up to 65 bits; nothing where it is beyond.
std::optional<Integer> integer(const Number& x) {
  if (is_zero(x)) return 0;
  if (x.kind != Number::Class::finite) return std::nullopt;
  const auto magnitude = static_cast<Integer>(x.significand >> (63 - x.exponent));
  return x.negative ? -magnitude : magnitude;
}

float nearest_float(const Number& x) {
  using Limits = std::numeric_limits<float>;
  std::uint32_t code = 0;
  LossAccount ignored;
  encoder(DType::float32)(&x, 1, reinterpret_cast<std::byte*>(&code), 1, CastPolicy{}, ignored);
  return std::clamp(std::bit_cast<float>(code), Limits::denorm_min(), Limits::max());
}

class Fit {
 public:
  Fit(const ValueRange& range, const ScaledCast& cast)
      : range_(range), cast_(cast), limits_(limits_of(cast.to)) {}

  Result<AffineFit> with_given_zero_point() const {
    const Integer above = limits_.largest - cast_.zero_point;
    const Integer below = cast_.zero_point - limits_.least;
    if ((above == 0 && !is_zero(range_.largest)) || (below == 0 && !is_zero(range_.least)))
      return fail(ErrorCode::refused,
                  "numbers from " + text(range_.least) + " to " + text(range_.largest) +
                      " do not fit: with the zero point " + std::to_string(cast_.zero_point) +
                      " no code of " + std::string(info(cast_.to).name) + " stands for one " +
                      (above == 0 ? "above" : "below") +
                      " 0; a zero point between its ends fits them");
    const Number up =
        above == 0 ? Number{} : number::quotient(range_.largest, number::from_integer(above));
    const Number down =
        below == 0 ? Number{} : number::quotient(range_.least, number::from_integer(below));
    Number wanted = larger(up, down);
    wanted.negative = false;
    return fit(wanted, [&](float) { return std::optional<std::int64_t>(cast_.zero_point); });
  }

  Result<AffineFit> with_zero_point_to_find() const {
    ExactSum width;
    width.add(range_.largest);
    width.subtract(range_.least);
    const Number wanted = number::quotient(
        width.number(), number::from_integer(limits_.largest - limits_.least));
    return fit(wanted, [&](float scale) -> std::optional<std::int64_t> {
      const std::optional<Integer> steps = integer(code(range_.least, scale, 0));
      if (!steps || limits_.least - *steps > limits_.largest) return std::nullopt;
      return static_cast<std::int64_t>(limits_.least - *steps);
    });
  }

 private:
  Number code(const Number& x, float scale, std::int64_t zero_point) const {
    ScaledCast cast = cast_;
    cast.zero_point = zero_point;
    return shifted_code(x, number::from_double(scale), cast);
  }

  bool has_code(const Number& x, float scale, std::int64_t zero_point) const {
    const std::optional<Integer> found = integer(code(x, scale, zero_point));
    return found && *found >= limits_.least && *found <= limits_.largest;
  }

  template <typename ZeroPoint>
  Result<AffineFit> fit(const Number& wanted, ZeroPoint&& zero_point_for) const {
    if (is_zero(wanted)) return AffineFit{1, cast_.zero_point};
    // The nearest scale may be a little too small; the next one above never is, but where a tie
    // is rounded out on both sides.
    constexpr int kTries = 4;
    float scale = nearest_float(wanted);
    for (int i = 0; i < kTries && std::isfinite(scale); ++i) {
      const std::optional<std::int64_t> zero_point = zero_point_for(scale);
      if (zero_point && has_code(range_.least, scale, *zero_point) &&
          has_code(range_.largest, scale, *zero_point))
        return AffineFit{scale, *zero_point};
      scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
    }
    return fail(ErrorCode::refused, "numbers from " + text(range_.least) + " to " +
                                        text(range_.largest) +
                                        " do not fit: float32 has no scale for them");
  }

  const ValueRange& range_;
  const ScaledCast& cast_;
  CodeLimits limits_;
};

}  // namespace

Result<std::vector<ValueRange>> value_ranges(const ByteSource& source, const TensorInfo& record,
                                             const EditChain& edits,
                                             std::optional<std::uint32_t> axis,
                                             const Execution& execution) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  const std::uint64_t indices = axis ? dims[*axis] : 1;
  std::uint64_t inner = 1;
  if (axis)
    for (std::size_t d = *axis + 1; d < dims.size(); ++d) inner *= dims[d];
  BTF_ASSIGN(LinearSlabs slabs,
             LinearSlabs::open(source, record, edits, execution, scale_workers(indices)));
  const DType dtype = *record.dtype;
  if (fits_double(dtype))
    return ranges_of(std::move(slabs), RangeFinder<double>(dtype, indices, inner), execution);
  return ranges_of(std::move(slabs), RangeFinder<long double>(dtype, indices, inner), execution);
}

Result<AffineFit> fit_affine(const ValueRange& range, const ScaledCast& cast,
                             bool find_zero_point) {
  const Fit fit(range, cast);
  return find_zero_point ? fit.with_zero_point_to_find() : fit.with_given_zero_point();
}

}  // namespace btf

// Walks over all pairs: where mismatches are, and what a region holds.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diff/hints/evidence/inquiry.h"
#include "diff/hints/models/region_axes.h"

namespace btf::hints {

// NaN and Inf have causes of their own: mismatches of each kind are judged apart.
enum class MismatchKind : std::uint8_t { finite, nan, inf };
inline constexpr std::size_t kMismatchKinds = 3;

template <typename Real>
MismatchKind kind_of(Real actual, Real golden) {
  if (std::isnan(actual) || std::isnan(golden)) return MismatchKind::nan;
  return std::isinf(actual) || std::isinf(golden) ? MismatchKind::inf : MismatchKind::finite;
}

// Counts are of one kind of mismatches.
struct RegionTally {
  std::uint64_t elements = 0;
  std::uint64_t background = 0;  // of these, what two COO tensors do not store: all alike
  std::uint64_t inside = 0;
  std::uint64_t mismatched = 0;
  std::uint64_t outside = 0;         // mismatches outside
  std::uint64_t just_outside = 0;    // agree outside, but not by half the tolerance
  std::uint64_t just_refused = 0;    // of the mismatches, those that would agree by twice of it
  std::uint64_t golden_inside = 0;   // not 0
  std::uint64_t golden_outside = 0;  // likewise
  std::array<std::uint64_t, kMismatchKinds> kinds{};  // all mismatches, inside and outside
  std::uint64_t zero_inside = 0;  // elements whose actual is 0, mismatches or not
  std::uint64_t nan_inside = 0;
  std::uint64_t inf_inside = 0;
  std::uint64_t actual_nan = 0;  // of the mismatches
  std::uint64_t actual_inf = 0;
  // Elements whose golden is no smaller, and no larger, than usual: all, and those inside.
  std::uint64_t large = 0;
  std::uint64_t large_inside = 0;
  std::uint64_t small = 0;
  std::uint64_t small_inside = 0;
  // Elements that are not 0 on both sides.
  std::uint64_t busy = 0;
  std::uint64_t busy_inside = 0;
  // Elements whose golden is one of the numbers `like`.
  std::uint64_t like = 0;
  std::uint64_t like_inside = 0;

  void add(const RegionTally& other);
};

// Counts of pairs of this kind that do not agree. Two COO tensors must agree in elements that neither stores.
Result<AllCounts> count_mismatches(const Inquiry& inquiry, const Axes& axes, MismatchKind kind);

// The background that the elements of a region are compared with.
struct Usual {
  long double size = 0;           // of golden where mismatches are
  std::vector<long double> like;  // golden numbers there, ascending, if they are few
};

Result<RegionTally> look_inside(const Inquiry& inquiry, const Axes& axes,
                                const std::vector<Part>& parts, const Usual& usual,
                                MismatchKind kind);

// The elements of a region as tensors of their own.
struct RegionTensors {
  Dims dims;
  std::vector<std::byte> actual;  // codes of buffer_bytes() each, row-major
  std::vector<std::byte> golden;
};

// Unset if there are too many, or the region is not a whole number of them.
Result<std::optional<RegionTensors>> region_tensors(const Inquiry& inquiry, const Axes& axes,
                                                    const std::vector<Part>& parts);

}  // namespace btf::hints

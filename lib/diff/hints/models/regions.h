// Regions of mismatches: simple sets of indices along the axes that contain all of them, and how
// unlikely that is by chance.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diff/hints/evidence/search_context.h"

namespace btf::hints {

struct IndexRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // inclusive
};

// The indices in any of some disjoint, ascending ranges. With a period there is one range, and it
// is of the remainders of indices by the period.
struct IndexSet {
  std::uint64_t period = 0;
  std::vector<IndexRange> ranges{};

  bool holds(std::uint64_t index) const;
  // How many indices of the set are below `index`, which is in the set.
  std::uint64_t rank(std::uint64_t index) const;
  std::uint64_t count(std::uint64_t size) const;  // how many indices of the set are below `size`
  // "= 17", ">= 112", "< 4", "in 8..15", "% 8 >= 5", "= 5 or 40", "in 3..9, 12 or 40..44"
  std::string text(std::uint64_t size) const;
};

struct SurprisingSet {
  IndexSet set;
  double bits = 0;  // -log2 of the chance that this many random mismatches fall into such a set
};

// Whether all mismatches were counted. If not, an index without any may still have some.
enum class CountScope : bool { some, all };

// Mismatches by index of one axis. A short axis has a count for each index; a long one counts by
// remainder, and has the first and last mismatch in each of its parts and a bit for each index.
class AxisCounts {
 public:
  // `single`: every index is one element and is added once.
  explicit AxisCounts(std::uint64_t size, bool single = false);

  void add(std::uint64_t index, std::uint64_t count = 1);
  void add(const AxisCounts& other);

  std::uint64_t size() const { return size_; }
  // The set that is least likely by chance. A period is considered if it has at least three places
  // and every index that follows from it has mismatches.
  SurprisingSet tightest(CountScope scope) const;

 private:
  bool whole() const { return by_index_.size() == size_; }
  std::uint64_t part_of(std::uint64_t index) const;
  std::vector<IndexRange> hit_ranges() const;
  std::uint64_t hit_indices() const;
  SurprisingSet interval() const;
  SurprisingSet places() const;
  SurprisingSet periodic(CountScope scope) const;

  std::uint64_t size_;
  bool single_;
  std::uint64_t total_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
  std::vector<std::uint64_t> by_index_;  // by index, or by index modulo the size of this vector
  // Only for a long axis:
  std::vector<IndexRange> parts_{};   // first and last hit of each part; low > high if none
  std::vector<std::uint64_t> hit_{};  // a bit for each index; empty if there are too many
};

// The axes along which mismatches are counted: the dims, the row-major number, and the position in
// actual's stored array.

class Axes {
 public:
  explicit Axes(const HintInput& input);

  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  std::size_t rank() const { return dims_.size(); }
  bool is_dim(std::size_t axis) const { return axis < dims_.size(); }
  std::string name(std::size_t axis) const;

  // Sets `at` to the element's index along each axis; the stored position is set by stored() only.
  void place(std::uint64_t number, std::vector<std::uint64_t>& at) const;
  void advance(std::vector<std::uint64_t>& at) const;  // to the next number
  void stored(std::vector<std::uint64_t>& at) const;

 private:
  const Dims& dims_;
  const StridedLayout* stored_;
  std::vector<std::uint64_t> sizes_;
};

// A set of indices along one axis.
struct Part {
  std::size_t axis = 0;
  IndexSet set;
  double bits = 0;
};

using AllCounts = std::vector<AxisCounts>;  // by axis

AllCounts counts_for(const Axes& axes);
void add_place(const std::vector<std::uint64_t>& at, AllCounts& counts);

// Parts of all dims together, or a part of one other axis if it is clearly less likely by chance;
// the least likely first. Empty if the mismatches could be anywhere by chance.
std::vector<Part> surprising_parts(const Axes& axes, const AllCounts& counts, CountScope scope);

// "dim 1 (C) = 17 and dim 2 (H) >= 112"
std::string parts_text(const Axes& axes, const std::vector<Part>& parts);

// NaN and Inf have causes of their own, so mismatches of each kind are judged separately.
enum class MismatchKind : std::uint8_t { finite, nan, inf };
inline constexpr std::size_t kMismatchKinds = 3;

template <typename Real>
MismatchKind kind_of(Real actual, Real golden) {
  if (std::isnan(actual) || std::isnan(golden)) return MismatchKind::nan;
  return std::isinf(actual) || std::isinf(golden) ? MismatchKind::inf : MismatchKind::finite;
}

// Counts for one kind of mismatches.
struct RegionTally {
  std::uint64_t elements = 0;
  std::uint64_t background = 0;  // of these, elements that neither of two COO tensors stores
  std::uint64_t inside = 0;
  std::uint64_t mismatched = 0;
  std::uint64_t outside = 0;         // mismatches outside of the region
  std::uint64_t just_outside = 0;    // outside, and agree, but not by half the tolerance
  std::uint64_t just_refused = 0;    // mismatches that would agree by twice the tolerance
  std::uint64_t golden_inside = 0;   // elements of golden that are not 0
  std::uint64_t golden_outside = 0;  //
  std::array<std::uint64_t, kMismatchKinds> kinds{};  // all mismatches, inside and outside
  std::uint64_t zero_inside = 0;  // elements whose actual is 0, mismatches or not
  std::uint64_t nan_inside = 0;
  std::uint64_t inf_inside = 0;
  std::uint64_t actual_nan = 0;  // mismatches whose actual is NaN
  std::uint64_t actual_inf = 0;
  // Elements whose |golden| is at least, and at most, the usual size: everywhere, and inside.
  std::uint64_t large = 0;
  std::uint64_t large_inside = 0;
  std::uint64_t small = 0;
  std::uint64_t small_inside = 0;
  // Elements that are not 0 on both sides.
  std::uint64_t busy = 0;
  std::uint64_t busy_inside = 0;
  // Elements whose golden is one of the numbers Reference::like.
  std::uint64_t like = 0;
  std::uint64_t like_inside = 0;

  void add(const RegionTally& other);
};

// Counts the pairs of this kind that do not agree. Two COO tensors must agree in the elements that
// neither stores.
Result<AllCounts> count_mismatches(const SearchContext& context, const Axes& axes,
                                   MismatchKind kind);

// The background that the elements of a region are compared with.
struct Reference {
  long double size = 0;           // of golden's elements where mismatches are
  std::vector<long double> like;  // golden's numbers there, ascending; empty if there are many
};

Result<RegionTally> look_inside(const SearchContext& context, const Axes& axes,
                                const std::vector<Part>& parts, const Reference& usual,
                                MismatchKind kind);

// The elements of a region as tensors of their own.
struct RegionTensors {
  Dims dims;
  std::vector<std::byte> actual;  // codes of buffer_bytes() each, row-major
  std::vector<std::byte> golden;
};

// Unset if there are too many elements, or the region contains padding.
Result<std::optional<RegionTensors>> region_tensors(const SearchContext& context, const Axes& axes,
                                                    const std::vector<Part>& parts);

}  // namespace btf::hints

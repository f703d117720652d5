// Regions of mismatches: simple sets of indices along the axes that hold all of them, and how
// surprising that is.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

// A simple set of indices along one axis that holds all mismatches, and how surprising that is.

struct IndexRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // the last one
};

// Indices in one of some ranges, which are ascending and apart; with a period, remainders by it in
// the only one.
struct IndexSet {
  std::uint64_t period = 0;
  std::vector<IndexRange> ranges{};

  bool holds(std::uint64_t index) const;
  // How many of its indices are below this one, which it holds.
  std::uint64_t rank(std::uint64_t index) const;
  std::uint64_t count(std::uint64_t size) const;  // of the indices below `size`
  // "= 17", ">= 112", "< 4", "in 8..15", "% 8 >= 5", "= 5 or 40", "in 3..9, 12 or 40..44"
  std::string text(std::uint64_t size) const;
};

struct SurprisingSet {
  IndexSet set;
  double bits = 0;  // -log2 of the chance that so many at random fall into such a set
};

// Are all mismatches counted, or some of them? Of some it is not known whether an index has none.
enum class Counted : bool { some, all };

// How many mismatches are at each index of an axis: all of them where the axis is short, else their
// remainders, the ends of those in each part of the axis, and which indices have any.
class AxisCounts {
 public:
  // `single`: an index is one element, and is added once.
  explicit AxisCounts(std::uint64_t size, bool single = false);

  void add(std::uint64_t index, std::uint64_t count = 1);
  void add(const AxisCounts& other);

  std::uint64_t size() const { return size_; }
  // A period has at least three places, and mismatches at every index that follows from it.
  SurprisingSet tightest(Counted counted) const;

 private:
  bool whole() const { return by_index_.size() == size_; }
  std::uint64_t part_of(std::uint64_t index) const;
  std::vector<IndexRange> hit_ranges() const;
  std::uint64_t hit_indices() const;
  SurprisingSet interval() const;
  SurprisingSet places() const;
  SurprisingSet periodic(Counted counted) const;

  std::uint64_t size_;
  bool single_;
  std::uint64_t total_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
  std::vector<std::uint64_t> by_index_;  // by index, or by index % its length
  // Of a long axis:
  std::vector<IndexRange> parts_{};   // from the least to the most that is hit in each; low > high
                                      // where none is
  std::vector<std::uint64_t> hit_{};  // a bit for each index; empty where these would be too many
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

  // Where an element is along each axis; the stored position only with stored().
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

// The dims together, or one of the other axes if that says clearly more. The most telling part
// first; empty if it could be chance.
std::vector<Part> surprising_parts(const Axes& axes, const AllCounts& counts, Counted counted);

// "dim 1 (C) = 17 and dim 2 (H) >= 112"
std::string parts_text(const Axes& axes, const std::vector<Part>& parts);

// Walks over all pairs: where mismatches are, and what a region holds.

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

// Counts of pairs of this kind that do not agree. Two COO tensors must agree in elements that
// neither stores.
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

// The axes along which mismatches are counted: the dims, the row-major number, and the position in
// actual's stored array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diff/hints/evidence/hint_input.h"
#include "diff/hints/evidence/index_set.h"

namespace btf::hints {

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

}  // namespace btf::hints

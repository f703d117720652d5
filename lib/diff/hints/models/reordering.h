// Hypotheses that elements are right but at other indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/inquiry.h"
#include "diff/pairs/side.h"

namespace btf::hints {

// For walks over boxes alone. The side outlives it.
class ViewedSide final : public DiffSide {
 public:
  ViewedSide(const DiffSide& side, StridedLayout view) : side_(side), view_(std::move(view)) {}

  DType dtype() const override { return side_.dtype(); }
  const Dims& dims() const override { return view_.dims; }
  const StridedLayout* storage() const override { return &view_; }
  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    return side_.reader(storage);
  }
  Result<std::unique_ptr<CooSource>> entries(KeyRange) const override {
    return fail(ErrorCode::unsupported, "a view of a dense tensor has no entries");
  }
  Result<std::vector<Element>> elements(std::span<const Dims>) const override {
    return fail(ErrorCode::unsupported, "a view is read in boxes");
  }

 private:
  const DiffSide& side_;
  StridedLayout view_;
};

// A side's elements in one order, from any element on, in pieces of any size.

class FlatStream {
 public:
  // Dense: the stored array read through `view`, in row-major order of the view's dims. COO: `view`
  // arranges the tensor's dims without padding, and the order is that of the arrangement.
  static Result<FlatStream> open(const DiffSide& side, const StridedLayout& view,
                                 std::uint64_t begin);

  // The next `count` codes, buffer_bytes() each; there must be as many left.
  Status read(std::uint64_t count, std::byte* out);

 private:
  struct State;
  explicit FlatStream(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// Row-major strides on these dims.
Result<StridedLayout> linear_view(const Dims& dims, DType dtype);

// The side in row-major order of its dims.
Result<StridedLayout> own_view(const DiffSide& side);

// The side with its dims in another order, for a FlatStream.
Result<StridedLayout> permuted_view(const DiffSide& side, std::span<const std::uint32_t> order);

// The stored array itself, padding included. Dense sides only.
Result<StridedLayout> stored_view(const DiffSide& side);

// How alike two runs of numbers are where noise leaves no two of them equal: their correlation,
// what is left of the one without the other, and how many of them are independent of each other.

// What numbers are measured by, so that their powers neither overflow nor vanish.
struct Yardstick {
  double centre = 0;
  double unit = 1;
};

// Of the finite numbers of one side of these points; unit 0: they are all equal, or too few.
Yardstick yardstick_of(std::span<const Point> points, bool of_golden);

// actual = factor x golden + offset
struct FittedLine {
  double factor = 1;
  double offset = 0;
};

class Likeness {
 public:
  explicit Likeness(const Yardstick& yardstick) : yardstick_(yardstick) {}

  void add_run(const double* actual, const double* golden, std::uint64_t count);
  void add(const Likeness& other);

  std::uint64_t pairs() const { return pairs_; }    // of finite numbers
  std::uint64_t unlike() const { return unlike_; }  // one is not finite, and the other not the same
  double correlation() const;                       // NaN where a side is constant
  double error() const;                             // root mean square of actual - golden
  double deviation(bool of_golden) const;
  FittedLine line() const;  // that leaves the least
  // How often as heavy as a normal distribution's the tails are; at least 1.
  double tails(bool of_golden) const;

 private:
  struct Sums {
    double first = 0;
    double second = 0;
    double fourth = 0;
  };
  const Sums& sums(bool of_golden) const { return of_golden ? golden_ : actual_; }
  double variance(bool of_golden) const;  // in units
  double covariance() const;              // likewise

  Yardstick yardstick_;
  std::uint64_t pairs_ = 0;
  std::uint64_t unlike_ = 0;
  Sums actual_;
  Sums golden_;
  double products_ = 0;
  double errors_ = 0;
};

// All pairs of two sides of the same dims.
Result<Likeness> likeness_of(const DiffSide& actual, const DiffSide& golden,
                             const Execution& execution, const Yardstick& yardstick);

// Of the sides as they stand. Dense sides.
Result<Likeness> likeness_as_is(const Inquiry& inquiry, const Yardstick& yardstick);

// How many numbers of a dense side are independent of each other, by how alike neighbours are along
// each of its dims: a smooth image has few.
Result<double> independent_numbers(Lookup& side, const Yardstick& yardstick);

// Hypotheses that elements are right but at other indices.

// A view to stream a side through: by it element i of the one is element i of the other.
struct Streams {
  StridedLayout actual;
  StridedLayout golden;
};

// Elements side by side, `lag` apart: number i of actual with number i - lag of golden. Only where
// the position i / inner % extent is in [begin, end).
struct Alignment {
  std::int64_t lag = 0;
  std::uint64_t inner = 1;
  std::uint64_t extent = UINT64_MAX;
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  bool exchange = false;  // golden's elements 2k and 2k + 1 exchanged; lag is 0
};

struct StreamTally {
  std::uint64_t compared = 0;
  std::uint64_t agreed = 0;
  std::uint64_t lenient = 0;  // of these, what the user would not accept

  void add(const StreamTally& other) {
    compared += other.compared;
    agreed += other.agreed;
    lenient += other.lenient;
  }
  std::uint64_t exceptions() const { return compared - agreed; }
};

// "1000 of 1000 elements, 12 of them within float16's rounding"
std::string agreed_text(const Inquiry& inquiry, const StreamTally& tally);

Result<StreamTally> compare_streams(const Inquiry& inquiry, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment);

// How alike all elements are that stand side by side so.
Result<Likeness> likeness_of_streams(const Inquiry& inquiry, const Streams& streams,
                                     const Alignment& alignment, const Yardstick& yardstick);

// The numbers, in a look-up's view, of the elements that replace points; nothing: outside.
using Places = std::function<std::optional<std::uint64_t>(const Point& point)>;

Result<Moved> look_up_moved(Lookup& lookup, std::span<const Point> points, const Places& places);

// promising() on a few and then convincing().
Result<bool> worth_a_walk(const Inquiry& inquiry, MovedSide side, Lookup& lookup,
                          const Places& places, double hypotheses);

// Can the tensors be streamed as if they were dense?
bool streamable(const Inquiry& inquiry);

}  // namespace btf::hints

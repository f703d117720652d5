// Hypotheses that elements are right but at other indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/side.h"

namespace btf::hints {

// A side through a view of its stored array, to be read in boxes only. The side must outlive it.
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

// Reads a side's elements in one order, starting anywhere, in pieces of any size.

class FlatStream {
 public:
  // Dense: reads the stored array through `view`, in row-major order of the view's dims. COO:
  // `view` arranges the tensor's dims without padding, and elements come in the order of the
  // arrangement.
  static Result<FlatStream> open(const DiffSide& side, const StridedLayout& view,
                                 std::uint64_t begin);

  // Reads the next `count` codes, buffer_bytes() each. At least that many must be left.
  Status read(std::uint64_t count, std::byte* out);

 private:
  struct State;
  explicit FlatStream(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// A layout with row-major strides of these dims.
Result<StridedLayout> linear_view(const Dims& dims, DType dtype);

// The side in row-major order of its dims.
Result<StridedLayout> own_view(const DiffSide& side);

// The side with its dims in another order, for a FlatStream.
Result<StridedLayout> permuted_view(const DiffSide& side, std::span<const std::uint32_t> order);

// The stored array itself, including padding. Dense sides only.
Result<StridedLayout> stored_view(const DiffSide& side);

// PairStatistics: the correlation of two sides where noise leaves no two numbers equal, and how
// many of the numbers are independent of each other.

// Normalises numbers, so that their powers neither overflow nor underflow.
struct Normalisation {
  double centre = 0;
  double unit = 1;
};

// Of the finite numbers of one side of the points; unit is 0 if they are all equal or too few.
Normalisation normalisation_of(std::span<const Point> points, bool of_golden);

// actual = factor x golden + offset
struct FittedLine {
  double factor = 1;
  double offset = 0;
};

class PairStatistics {
 public:
  explicit PairStatistics(const Normalisation& normalisation) : normalisation_(normalisation) {}

  void add_run(const double* actual, const double* golden, std::uint64_t count);
  void add(const PairStatistics& other);

  std::uint64_t pairs() const { return pairs_; }    // pairs of finite numbers
  std::uint64_t unlike() const { return unlike_; }  // pairs with NaN or Inf that differ
  double correlation() const;                       // NaN if a side is constant
  double error() const;                             // root mean square of actual - golden
  double deviation(bool of_golden) const;
  FittedLine line() const;  // with the least squares of what it leaves
  // How heavy the tails are compared with a normal distribution; at least 1.
  double tails(bool of_golden) const;

 private:
  struct Sums {
    double first = 0;
    double second = 0;
    double fourth = 0;
  };
  const Sums& sums(bool of_golden) const { return of_golden ? golden_ : actual_; }
  double variance(bool of_golden) const;  // of normalised numbers
  double covariance() const;              // of normalised numbers

  Normalisation normalisation_;
  std::uint64_t pairs_ = 0;
  std::uint64_t unlike_ = 0;
  Sums actual_;
  Sums golden_;
  double products_ = 0;
  double errors_ = 0;
};

// Over all pairs of two sides of the same dims.
Result<PairStatistics> statistics_of(const DiffSide& actual, const DiffSide& golden,
                                     const Execution& execution,
                                     const Normalisation& normalisation);

// Over all pairs of the two dense sides in their own order.
Result<PairStatistics> statistics_as_is(const SearchContext& context,
                                        const Normalisation& normalisation);

// Estimates how many numbers of a dense side are independent of each other, from the
// autocorrelation along each of its dims: a smooth image has few.
Result<double> independent_numbers(Lookup& side, const Normalisation& normalisation);

// Views to stream the two sides through: element i of one corresponds to element i of the other.
struct Streams {
  StridedLayout actual;
  StridedLayout golden;
};

// Pairs number i of actual with number i - lag of golden, only where the position i / inner %
// extent is in [begin, end).
struct Alignment {
  std::int64_t lag = 0;
  std::uint64_t inner = 1;
  std::uint64_t extent = UINT64_MAX;
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  bool exchange = false;  // golden's elements 2k and 2k + 1 are exchanged; lag is 0
};

struct StreamTally {
  std::uint64_t compared = 0;
  std::uint64_t agreed = 0;
  std::uint64_t lenient = 0;  // of these, pairs that the user would not accept

  void add(const StreamTally& other) {
    compared += other.compared;
    agreed += other.agreed;
    lenient += other.lenient;
  }
  std::uint64_t exceptions() const { return compared - agreed; }
};

// "1000 of 1000 elements, 12 of them within float16's rounding"
std::string agreed_text(const SearchContext& context, const StreamTally& tally);

Result<StreamTally> compare_streams(const SearchContext& context, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment);

// The likeness of all elements that the streams pair.
Result<PairStatistics> stream_statistics(const SearchContext& context, const Streams& streams,
                                         const Alignment& alignment,
                                         const Normalisation& normalisation);

// The number, in a lookup's view, of the element that is predicted at a point; unset if outside.
using Places = std::function<std::optional<std::uint64_t>(const Point& point)>;

Result<Predictions> look_up_predictions(Lookup& lookup, std::span<const Point> points,
                                        const Places& places);

// promising() for a few points, then convincing().
Result<bool> worth_a_walk(const SearchContext& context, TransformedSide side, Lookup& lookup,
                          const Places& places, double hypotheses);

// Whether the tensors can be streamed as if they were dense.
bool streamable(const SearchContext& context);

}  // namespace btf::hints

// What every search starts from: a sample of the pairs, and the rule by which two numbers agree.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/dtype.h"
#include "btf/execution.h"
#include "btf/layout.h"
#include "diff/sides/side.h"
#include "kernels/compare/compare.h"
#include "kernels/number/steps.h"

namespace btf {

// Mismatches that find_hints() is given at most.
inline constexpr std::uint64_t kHintSample = 512;

struct HintInput {
  const DiffSide& actual;
  const DiffSide& golden;
  const Judge& judge;
  std::uint64_t mismatched = 0;           // in all pairs, at least 1
  std::span<const std::uint64_t> sample;  // row-major numbers of mismatches, ascending: all, or
                                          // kHintSample spread over the tensor
  const Execution& execution;
};

}  // namespace btf

namespace btf::hints {

// Single elements of a side, by the row-major number of a view on it.

class Lookup {
 public:
  // A COO side can only be read in its own view.
  static Result<Lookup> open(const DiffSide& side, const StridedLayout& view);

  // Dense sides take one read per element, or a single one for a small tensor. COO sides take one
  // search for all numbers that were not asked for before.
  Result<std::vector<std::uint64_t>> codes(std::span<const std::uint64_t> numbers);
  Result<std::vector<long double>> values(std::span<const std::uint64_t> numbers);

  const DiffSide& side() const { return *side_; }
  const StridedLayout& view() const { return *view_; }

 private:
  Lookup(const DiffSide& side, const StridedLayout& view)
      : side_(&side), view_(std::make_unique<StridedLayout>(view)) {}
  Status search(std::span<const std::uint64_t> numbers);
  Status load();

  const DiffSide* side_;
  std::unique_ptr<StridedLayout> view_;  // on the heap, since the reader refers to it
  std::unique_ptr<SlabReader> reader_;
  std::vector<std::byte> all_;  // all elements of a small tensor, row-major
  std::unordered_map<std::uint64_t, std::uint64_t> found_;  // elements of a COO side found so far
};

long double value_of(DType dtype, std::uint64_t code);

// The rule by which two numbers agree in a search for causes: by the user's tolerance, or as the
// same number once rounded to the coarser dtype.
struct Agreement {
  Judge judge;                   // the user's, but NaN equals NaN
  std::optional<Judge> close{};  // also accepted: the tolerance of two computations of one thing
  StepGrid grid{};               // numbers that round to the same number of this grid agree
  // The largest error of rounding one side's numbers to multiples of some number.
  double half_step_of_actual = 0;
  double half_step_of_golden = 0;
  bool narrow = false;     // a double holds every value of both sides
  std::string lenience{};  // what is accepted beyond the user's tolerance: "float16's rounding"
};

template <typename Real>
bool agrees(Real actual, Real golden, const Agreement& agreement) {
  if (actual == golden || accepts(actual, golden, agreement.judge)) return true;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  if (agreement.close && accepts(actual, golden, *agreement.close)) return true;
  const StepGrid& grid = agreement.grid;
  if (grid.integer && std::abs(actual - golden) >= 1) return false;
  return steps_between(actual, golden, grid) == 0;
}

// Whether the user's own tolerance accepts the pair.
template <typename Real>
bool accepted(Real actual, Real golden, const Agreement& agreement) {
  return actual == golden || accepts(actual, golden, agreement.judge);
}

// The agreement with its tolerances multiplied by `times`.
inline Agreement widened(Agreement agreement, double times) {
  const auto widen = [times](Judge& judge) {
    judge.rtol *= times;
    judge.atol *= times;
    if (judge.ulp != UINT64_MAX)
      judge.ulp = static_cast<std::uint64_t>(static_cast<double>(judge.ulp) * times);
  };
  widen(agreement.judge);
  if (agreement.close) widen(*agreement.close);
  return agreement;
}

// agrees() for numbers of a sample, which are kept as long double.
inline bool sampled_agree(long double actual, long double golden, const Agreement& agreement) {
  return agreement.narrow
             ? agrees(static_cast<double>(actual), static_cast<double>(golden), agreement)
             : agrees(actual, golden, agreement);
}

// Pieces of the sentences of evidence.

// "dim 1 (C)"; only dims of rank-4 tensors have letters.
std::string dim_text(std::uint32_t dim, std::size_t rank);

// Six digits; all of them for integers and where fewer would look like an integer.
std::string number_text(long double value);

// With three digits.
std::string short_number_text(long double value);

// "1000 of 1000 elements"
std::string share_text(std::uint64_t part, std::uint64_t whole);

// "1 mismatch", "12 mismatches"
std::string mismatches_text(std::uint64_t count);

std::string name_of(DType dtype);

// The dtype of the two whose steps the grid has; unset if neither.
std::optional<DType> owner_of(const StepGrid& grid, DType actual, DType golden);

// "0, 2, 3, 1"
std::string order_text(std::span<const std::uint32_t> order);

struct Point {
  std::uint64_t number = 0;  // row-major
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  long double actual = 0;
  long double golden = 0;
};

// Sampled pairs, ascending by number.
struct Sample {
  std::vector<Point> mismatches;  // from HintInput::sample
  std::vector<Point> anywhere;    // pairs spread over the tensor, equal or not
};

Result<Sample> take_sample(const HintInput& input);

// One rule of agreement, and the pairs that do not agree by it.
struct SearchContext {
  const HintInput& input;
  Agreement agreement;
  std::uint64_t elements = 0;
  std::vector<Point> mismatches;  // pairs that do not agree
  std::vector<Point> anywhere;    // pairs spread over the tensor
  // Indices into `mismatches`, by the number of other pairs that they agree with, fewest first.
  std::vector<std::size_t> rarest;
  std::uint64_t mismatched = 0;  // pairs that do not agree; an estimate from the sample
  bool rounded = false;          // the sample's mismatches look like rounding alone
  Lookup* actual = nullptr;      // reads by the tensor's own row-major numbers
  Lookup* golden = nullptr;
};

// If few of the sampled mismatches remain, walks over the tensors to collect others.
Result<SearchContext> make_context(const HintInput& input, const Sample& sample,
                                   const Agreement& agreement);

// "12 mismatches", or "12 mismatches beyond float16's rounding (30 within it)".
std::string left_over_text(const SearchContext& context, std::uint64_t mismatched);

// ", 12 of them within float16's rounding": how many of the explained pairs need the leniency;
// empty if `count` is 0.
std::string within_text(const SearchContext& context, std::uint64_t count);

// A cause that holds for the whole tensor.
struct Finding {
  Hint hint;
  std::uint64_t unexplained = 0;  // elements that do not have the value that the cause predicts
  bool uses_inferred_grid =
      false;  // some pairs agree only by a grid that was inferred from the bits
};

using SearchResult = Result<std::optional<Finding>>;

// How many elements may contradict a cause that is meant to explain all of them.
std::uint64_t allowed_exceptions(const SearchContext& context);

}  // namespace btf::hints

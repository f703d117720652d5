// The start of every search for a cause: a sample of the pairs, and the agreement that counts.
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
#include "diff/pairs/side.h"
#include "kernels/compare/compare.h"
#include "kernels/number/steps.h"

namespace btf {

// How many mismatches find_hints() wants to be shown.
inline constexpr std::uint64_t kHintSample = 512;

struct HintInput {
  const DiffSide& actual;
  const DiffSide& golden;
  const Judge& judge;
  std::uint64_t mismatched = 0;           // of all pairs, at least 1
  std::span<const std::uint64_t> sample;  // row-major numbers of mismatches, ascending: all of
                                          // them, or kHintSample from all over the tensor
  const Execution& execution;
};

}  // namespace btf

namespace btf::hints {

// Single elements of a side, by the row-major number of a view on it.

class Lookup {
 public:
  // COO sides have their own view only.
  static Result<Lookup> open(const DiffSide& side, const StridedLayout& view);

  // Dense: one read each, or one for all that a small tensor has. COO: one search for all, and none
  // for those asked for before.
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
  std::unique_ptr<StridedLayout> view_;  // the reader holds on to it
  std::unique_ptr<SlabReader> reader_;
  std::vector<std::byte> all_;                              // of a small tensor, row-major
  std::unordered_map<std::uint64_t, std::uint64_t> found_;  // COO
};

long double value_of(DType dtype, std::uint64_t code);

// When a pair agrees as far as the search for causes goes: what the user accepts, and what is the
// same number once it is rounded to the coarser dtype.

struct Agreement {
  Judge judge;                   // the user's; NaN equals NaN
  std::optional<Judge> close{};  // accepted as well: two computations of the same thing
  StepGrid grid{};               // numbers that are the same once rounded to it agree
  // The largest error of rounding a side's numbers to multiples of a number.
  double half_step_of_actual = 0;
  double half_step_of_golden = 0;
  bool narrow = false;     // a double holds every value of both sides
  std::string lenience{};  // "float16's rounding": what is accepted that the user does not
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

// The same number as far as the user goes.
template <typename Real>
bool accepted(Real actual, Real golden, const Agreement& agreement) {
  return actual == golden || accepts(actual, golden, agreement.judge);
}

// The same with a tolerance this many times as wide.
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

// The same of numbers from a sample, which are kept as long double.
inline bool sampled_agree(long double actual, long double golden, const Agreement& agreement) {
  return agreement.narrow
             ? agrees(static_cast<double>(actual), static_cast<double>(golden), agreement)
             : agrees(actual, golden, agreement);
}

// Pieces of the sentences that evidence is made of.

// "dim 1 (C)"; dims have letters where the rank is 4.
std::string dim_text(std::uint32_t dim, std::size_t rank);

// Few digits; exact for integers.
std::string number_text(long double value);

// Three digits.
std::string short_number_text(long double value);

// "1000 of 1000 elements"
std::string share_text(std::uint64_t part, std::uint64_t whole);

// "1 mismatch", "12 mismatches"
std::string mismatches_text(std::uint64_t count);

std::string name_of(DType dtype);

// The one of the two dtypes whose steps these are; nothing if they are of neither.
std::optional<DType> owner_of(const StepGrid& grid, DType actual, DType golden);

// "0, 2, 3, 1"
std::string order_text(std::span<const std::uint32_t> order);

// The start of every search for a cause: a sample of the pairs, and the agreement that counts.

struct Point {
  std::uint64_t number = 0;  // row-major
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  long double actual = 0;
  long double golden = 0;
};

// Sampled pairs, ascending by number.
struct Sample {
  std::vector<Point> mismatches;  // as shown
  std::vector<Point> anywhere;    // from all over the tensor, mismatches or not
};

Result<Sample> take_sample(const HintInput& input);

// One meaning of agreement, and the pairs that it leaves to be explained.
struct Inquiry {
  const HintInput& input;
  Agreement agreement;
  std::uint64_t elements = 0;
  std::vector<Point> mismatches;  // pairs that do not agree
  std::vector<Point> anywhere;    // from all over the tensor
  std::vector<std::size_t>
      rarest;                    // of `mismatches`, those first that agree with the fewest others
  std::uint64_t mismatched = 0;  // pairs that do not agree in all, estimated from the sample
  bool rounded = false;          // in the sample, they differ by rounding alone
  Lookup* actual = nullptr;      // by the tensor's own row-major numbers
  Lookup* golden = nullptr;
};

// Where few of the sampled mismatches are left by this agreement, others are looked for in a walk.
Result<Inquiry> inquire(const HintInput& input, const Sample& sample, const Agreement& agreement);

// "all 12 mismatches beyond float16's rounding" of so many that do not agree.
std::string left_over_text(const Inquiry& inquiry, std::uint64_t mismatched);

// ", 12 of them within float16's rounding": of those that fit, how many need it. Nothing of none.
std::string within_text(const Inquiry& inquiry, std::uint64_t count);

// A cause that holds for the whole tensor.
struct Finding {
  Hint hint;
  std::uint64_t unexplained = 0;  // elements that it says something else of
  bool by_shown_grid = false;     // rounding to a grid that bits alone show makes up for some
};

using SearchResult = Result<std::optional<Finding>>;

// How many elements may be other than a cause says, where it is to explain everything.
std::uint64_t allowed_exceptions(const Inquiry& inquiry);

}  // namespace btf::hints

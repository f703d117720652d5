// The start of every search for a cause: a sample of the pairs, and the agreement that counts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diff/hints/evidence/agreement.h"
#include "diff/hints/evidence/hint_input.h"
#include "diff/hints/evidence/lookup.h"

namespace btf::hints {

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

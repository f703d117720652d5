#include "diff/hints/hints.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/flat_stream.h"
#include "diff/hints/searches/code_steps.h"
#include "diff/hints/searches/searches.h"
#include "diff/score/compare_walk.h"
#include "elements/parallel.h"
#include "kernels/compare/criteria.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

using hints::Agreement;
using hints::Finding;
using hints::Inquiry;
using hints::Lookup;
using hints::Sample;
using hints::SearchResult;

// Fewer pairs than this say nothing.
constexpr std::uint64_t kLeastElements = 8;

// What the elements of one side are or became. The better explanation of two that explain as much
// goes first.
constexpr auto kExplanations = std::to_array<SearchResult (*)(const Inquiry&)>({
    hints::find_layout,       hints::find_permutation,    hints::find_byte_order,
    hints::find_nibble_order, hints::find_misread,        hints::find_rounded_misread,
    hints::find_inverted,     hints::find_sign,           hints::find_index_base,
    hints::find_shift,        hints::find_mirrored,       hints::find_shuffled,
    hints::find_reordered,    hints::find_repeated,       hints::find_pitch,
    hints::find_scale,        hints::find_offset,         hints::find_activation,
    hints::find_softmax,      hints::find_affine,         hints::find_channel_scale,
    hints::find_scale_axis,   hints::find_zero_tail,      hints::find_saturation,
    hints::find_wrapped,      hints::find_lost_precision, hints::find_lost_bits,
});

// Where mismatches are, if nothing explains them.
constexpr auto kPatterns = std::to_array<SearchResult (*)(const Inquiry&)>({
    hints::find_rounding,
    hints::find_region,
});

// Too few to conclude anything from.
constexpr std::size_t kLeastMismatches = 2;

// What the mismatches are beyond that are left where more is accepted than the user does.
std::string beyond(const HintInput& input, const std::string& what) {
  const auto owner = hints::owner_of(input.judge.grid, input.actual.dtype(), input.golden.dtype());
  return " beyond " + (owner ? hints::name_of(*owner) + "'s " : "") + what;
}

// What rounding to the coarser grid leaves, and the noise of floats.
Judge close_judge(const HintInput& input) {
  return judge_of(effective({.close = true}, input.judge.actual, input.judge.golden), input.actual,
                  input.golden);
}

// By the user's tolerance, then by that of the coarser dtype: two computations of the same thing
// differ by that much, whatever the user asked for.
std::vector<Agreement> agreements(const HintInput& input) {
  const DType actual = input.actual.dtype();
  const DType golden = input.golden.dtype();
  Agreement strict{.judge = input.judge,
                   .narrow = fits_double(actual) && fits_double(golden),
                   .beyond = beyond(input, "rounding")};
  strict.judge.equal_nan = true;
  std::vector<Agreement> all{strict};
  const Judge close = close_judge(input);
  const bool wider = close.rtol > input.judge.rtol || close.atol > input.judge.atol ||
                     (close.half_step && !input.judge.half_step);
  if ((close.rtol > 0 || close.atol > 0) && wider)
    all.push_back({strict.judge, close, strict.narrow, beyond(input, "tolerance")});
  return all;
}

Result<std::vector<Inquiry>> inquiries_of(const HintInput& input, const Sample& sample) {
  std::vector<Inquiry> inquiries;
  for (const Agreement& agreement : agreements(input)) {
    BTF_ASSIGN(Inquiry inquiry, hints::inquire(input, sample, agreement));
    inquiries.push_back(std::move(inquiry));
    // What agrees agrees by a wider tolerance, too.
    if (inquiries.back().mismatches.size() < kLeastMismatches) break;
  }
  return inquiries;
}

// The explanation that leaves the least unexplained.
SearchResult best_explanation(const HintInput& input, std::vector<Inquiry>& inquiries) {
  BTF_ASSIGN(const StridedLayout actual_view, hints::own_view(input.actual));
  BTF_ASSIGN(const StridedLayout golden_view, hints::own_view(input.golden));
  BTF_ASSIGN(Lookup actual, Lookup::open(input.actual, actual_view));
  BTF_ASSIGN(Lookup golden, Lookup::open(input.golden, golden_view));
  std::optional<Finding> best;
  for (const auto search : kExplanations)
    for (Inquiry& inquiry : inquiries) {
      BTF_TRY(check_cancelled(input.execution));
      inquiry.actual = &actual;
      inquiry.golden = &golden;
      BTF_ASSIGN(std::optional<Finding> finding, search(inquiry));
      if (!finding || (best && best->unexplained <= finding->unexplained)) continue;
      best = std::move(finding);
      if (best->unexplained == 0) return best;
    }
  return best;
}

// NaN that the user does not take for equal is a mismatch like others as far as places go.
Result<std::vector<Inquiry>> for_patterns(const HintInput& input, const Sample& sample,
                                          std::vector<Inquiry> inquiries) {
  if (input.judge.equal_nan) return inquiries;
  Agreement own = agreements(input).front();
  own.judge.equal_nan = false;
  BTF_ASSIGN(Inquiry inquiry, hints::inquire(input, sample, own));
  inquiries.clear();
  inquiries.push_back(std::move(inquiry));
  return inquiries;
}

SearchResult find_cause(const HintInput& input) {
  BTF_ASSIGN(const Sample sample, hints::take_sample(input));
  BTF_ASSIGN(std::vector<Inquiry> inquiries, inquiries_of(input, sample));
  if (inquiries.front().mismatches.empty()) {
    BTF_ASSIGN(std::optional<Finding> finding, hints::find_coarser_dtype(inquiries.front()));
    if (finding) return finding;
  }
  // Of codes their steps say most; of whole numbers more than what mismatches have in common.
  const Judge close = close_judge(input);
  const bool codes = close.actual.codes || close.golden.codes;
  const Inquiry first = inquiries.front();
  if (codes) {
    BTF_ASSIGN(std::optional<Finding> finding, hints::find_code_steps(first, close));
    if (finding) return finding;
  }
  if (inquiries.back().mismatches.size() < kLeastMismatches) inquiries.pop_back();
  if (!inquiries.empty()) {
    BTF_ASSIGN(std::optional<Finding> finding, best_explanation(input, inquiries));
    if (finding) return finding;
  }
  if (!codes) {
    BTF_ASSIGN(std::optional<Finding> finding, hints::find_code_steps(first, close));
    if (finding) return finding;
  }
  BTF_ASSIGN(inquiries, for_patterns(input, sample, std::move(inquiries)));
  for (const auto search : kPatterns)
    for (const Inquiry& inquiry : inquiries) {
      BTF_ASSIGN(std::optional<Finding> finding, search(inquiry));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Hint>> find_hints(const HintInput& input) {
  if (*element_count(input.golden.dims()) < kLeastElements || input.sample.empty())
    return std::vector<Hint>{};
  BTF_ASSIGN(std::optional<Finding> finding, find_cause(input));
  if (!finding) return std::vector<Hint>{};
  return std::vector<Hint>{std::move(finding->hint)};
}

}  // namespace btf

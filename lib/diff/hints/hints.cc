#include "diff/hints/hints.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/models/flat_stream.h"
#include "diff/hints/searches/code_steps.h"
#include "diff/hints/searches/searches.h"
#include "elements/parallel.h"

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

// Searches for a change of one side's elements. The better explanation of two that explain as much
// goes first.
constexpr auto kExplanations = std::to_array<SearchResult (*)(const Inquiry&)>({
    hints::find_layout,       hints::find_permutation,    hints::find_byte_order,
    hints::find_nibble_order, hints::find_misread,        hints::find_rounded_misread,
    hints::find_inverted,     hints::find_sign,           hints::find_index_base,
    hints::find_shift,        hints::find_mirrored,       hints::find_shuffled,
    hints::find_part_order,   hints::find_repeated,       hints::find_pitch,
    hints::find_scale,        hints::find_offset,         hints::find_activation,
    hints::find_softmax,      hints::find_affine,         hints::find_channel_scale,
    hints::find_scale_axis,   hints::find_zero_tail,      hints::find_saturation,
    hints::find_wrapped,      hints::find_lost_precision, hints::find_lost_bits,
});

// Of all elements together, not of each.
constexpr std::array<SearchResult (*)(const Inquiry&), 1> kAmongNoise{hints::find_among_noise};

// Any order may make up for much: asked if nothing plainer holds.
constexpr std::array<SearchResult (*)(const Inquiry&), 1> kAnyOrder{hints::find_reordered};

// Where mismatches are, if nothing explains them.
constexpr auto kPatterns = std::to_array<SearchResult (*)(const Inquiry&)>({
    hints::find_rounding,
    hints::find_region,
});

// Too few to conclude anything from.
constexpr std::size_t kLeastMismatches = 2;

Result<std::vector<Inquiry>> inquiries_of(const HintInput& input, const Sample& sample) {
  std::vector<Inquiry> inquiries;
  for (const Agreement& agreement : hints::agreements(input, sample)) {
    BTF_ASSIGN(Inquiry inquiry, hints::inquire(input, sample, agreement));
    // Less than a step is left: that was rounded in another way.
    if (hints::by_shown_grid(agreement) && inquiry.rounded) continue;
    inquiries.push_back(std::move(inquiry));
    // Pairs that agree also agree by a wider tolerance.
    if (inquiries.back().mismatches.size() < kLeastMismatches) break;
  }
  return inquiries;
}

// The explanation that leaves the least unexplained.
SearchResult best_explanation(const HintInput& input, std::span<Inquiry> inquiries,
                              std::span<SearchResult (*const)(const Inquiry&)> searches) {
  BTF_ASSIGN(const StridedLayout actual_view, hints::own_view(input.actual));
  BTF_ASSIGN(const StridedLayout golden_view, hints::own_view(input.golden));
  BTF_ASSIGN(Lookup actual, Lookup::open(input.actual, actual_view));
  BTF_ASSIGN(Lookup golden, Lookup::open(input.golden, golden_view));
  std::optional<Finding> best;
  for (const auto search : searches)
    for (Inquiry& inquiry : inquiries) {
      BTF_TRY(check_cancelled(input.execution));
      inquiry.actual = &actual;
      inquiry.golden = &golden;
      BTF_ASSIGN(std::optional<Finding> finding, search(inquiry));
      if (!finding || (best && best->unexplained <= finding->unexplained)) continue;
      best = std::move(finding);
      best->by_shown_grid = hints::by_shown_grid(inquiry.agreement);
      if (best->unexplained == 0) return best;
    }
  return best;
}

// NaN that the user does not take for equal is a mismatch like others for searches by position.
Result<std::vector<Inquiry>> for_patterns(const HintInput& input, const Sample& sample,
                                          std::vector<Inquiry> inquiries) {
  if (input.judge.equal_nan) return inquiries;
  Agreement own = hints::strict_agreement(input.judge, input.actual.dtype(), input.golden.dtype());
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
  // Steps of codes say most; those of whole numbers more than a pattern of the mismatches.
  const Judge close = hints::close_judge(input);
  const bool codes = close.actual.codes || close.golden.codes;
  const Inquiry first = inquiries.front();
  if (codes) {
    BTF_ASSIGN(std::optional<Finding> finding, hints::find_code_steps(first, close));
    if (finding) return finding;
  }
  if (inquiries.back().mismatches.size() < kLeastMismatches) inquiries.pop_back();
  if (!inquiries.empty()) {
    BTF_ASSIGN(std::optional<Finding> finding, best_explanation(input, inquiries, kExplanations));
    // Whole steps say it more exactly.
    if (finding && finding->by_shown_grid && finding->hint.cause == Cause::offset && !codes) {
      BTF_ASSIGN(std::optional<Finding> steps, hints::find_code_steps(first, close));
      if (steps && steps->unexplained <= finding->unexplained) return steps;
    }
    if (finding) return finding;
    BTF_ASSIGN(finding, best_explanation(input, std::span(inquiries).first(1), kAmongNoise));
    if (finding) return finding;
    BTF_ASSIGN(finding, best_explanation(input, inquiries, kAnyOrder));
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

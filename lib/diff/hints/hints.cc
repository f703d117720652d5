#include "diff/hints/hints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "elements/cast.h"
#include "elements/slabs.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

using hints::Agreement;
using Numbers = std::vector<long double>;

constexpr std::uint64_t kPiece = 1U << 16;  // elements
constexpr std::uint64_t kSample = 64;       // elements from each part of the tensors
constexpr std::uint64_t kMinCommon = 8;     // elements
constexpr std::uint64_t kMinDifferent = 4;  // elements of actual that differ from the padding

// Calls visit(box) for pieces of `whole` of at most kPiece elements, until it returns false.
template <typename Visit>
Status for_each_piece(const Box& whole, Visit&& visit) {
  const Dims counts = whole.counts();
  std::size_t split = counts.size() - 1;
  std::uint64_t inner = 1;
  while (split > 0 && inner * counts[split] <= kPiece) inner *= counts[split--];
  const std::uint64_t step = std::max<std::uint64_t>(1, kPiece / inner);
  Box piece = whole;
  for (std::size_t d = 0; d < split; ++d) piece.hi[d] = piece.lo[d] + 1;
  for (;;) {
    for (std::uint64_t at = whole.lo[split]; at < whole.hi[split]; at += step) {
      piece.lo[split] = at;
      piece.hi[split] = std::min(at + step, whole.hi[split]);
      BTF_ASSIGN(const bool go_on, visit(piece));
      if (!go_on) return {};
    }
    std::size_t d = split;
    for (; d > 0; --d) {
      ++piece.lo[d - 1];
      if (++piece.hi[d - 1] <= whole.hi[d - 1]) break;
      piece.lo[d - 1] = whole.lo[d - 1];
      piece.hi[d - 1] = piece.lo[d - 1] + 1;
    }
    if (d == 0) return {};
  }
}

class BoxReader {
 public:
  static Result<BoxReader> open(const DiffSide& side) {
    BoxReader reader(side);
    BTF_ASSIGN(reader.reader_, side.reader(*side.storage()));
    return reader;
  }

  Status read(const Box& box, Numbers& numbers) {
    BTF_ASSIGN(const SourceSlab slab, reader_->read(box));
    const Dims counts = box.counts();
    const std::byte* codes = in_row_major(slab, counts, side_->dtype(), buffer_).data;
    numbers.resize(*element_count(counts));
    widener<long double>(side_->dtype())(codes, 1, numbers.size(), numbers.data());
    return {};
  }

 private:
  explicit BoxReader(const DiffSide& side) : side_(&side) {}

  const DiffSide* side_;
  std::unique_ptr<SlabReader> reader_;
  Buffer buffer_;
};

bool same_number(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Boxes that do not overlap and cover the elements that only this side has.
std::vector<Box> boxes_beyond(const Dims& dims, const Dims& common) {
  std::vector<Box> boxes;
  Box box{Dims(dims.size(), 0), dims};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] > common[d]) {
      boxes.push_back(box);
      boxes.back().lo[d] = common[d];
    }
    box.hi[d] = common[d];
  }
  return boxes;
}

// Places spread over the box.
std::vector<Dims> sample_of(const Box& box) {
  const Dims counts = box.counts();
  const std::uint64_t elements = *element_count(counts);
  const std::uint64_t step = std::max<std::uint64_t>(1, elements / kSample);
  std::vector<Dims> places;
  for (std::uint64_t i = 0; i < elements && places.size() < kSample; i += step) {
    Dims place = index_of(counts, std::min(elements - 1, i + i / step * 7 % step));
    for (std::size_t d = 0; d < place.size(); ++d) place[d] += box.lo[d];
    places.push_back(std::move(place));
  }
  return places;
}

Result<Numbers> numbers_at(const DiffSide& side, const std::vector<Dims>& places) {
  BTF_ASSIGN(const std::vector<Element> elements, side.elements(places));
  Numbers numbers;
  for (const Element& element : elements)
    numbers.push_back(hints::value_of(side.dtype(), element.code));
  return numbers;
}

class Search {
 public:
  Search(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
         const Execution& execution)
      : actual_(actual),
        golden_(golden),
        execution_(execution),
        agreement_(hints::strict_agreement(judge, actual.dtype(), golden.dtype())) {
    agreement_.judge = judge;
    for (std::size_t d = 0; d < actual.dims().size(); ++d)
      common_.push_back(std::min(actual.dims()[d], golden.dims()[d]));
  }

  Result<std::vector<Hint>> run() {
    elements_ = *element_count(common_);
    if (elements_ < kMinCommon) return {};
    BTF_ASSIGN(const bool likely, sample_agrees());
    if (!likely) return {};
    for (const DiffSide* side : {&actual_, &golden_}) {
      BTF_ASSIGN(const bool constant, is_constant_beyond(*side));
      if (!constant) return {};
    }
    BTF_ASSIGN(const bool same, common_agrees());
    if (!same || different_ < std::min(kMinDifferent, elements_)) return {};
    return {{{.cause = Cause::padded, .evidence = sentence()}}};
  }

 private:
  Box common_box() const { return {Dims(common_.size(), 0), common_}; }

  Result<bool> sample_agrees() const {
    const std::vector<Dims> places = sample_of(common_box());
    BTF_ASSIGN(const Numbers actual, numbers_at(actual_, places));
    BTF_ASSIGN(const Numbers golden, numbers_at(golden_, places));
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!agree(actual[i], golden[i])) return false;
    for (const DiffSide* side : {&actual_, &golden_})
      for (const Box& box : boxes_beyond(side->dims(), common_)) {
        BTF_ASSIGN(const Numbers numbers, numbers_at(*side, sample_of(box)));
        for (const long double number : numbers)
          if (!same_number(number, numbers.front())) return false;
      }
    return true;
  }

  bool agree(long double actual, long double golden) const {
    return hints::sampled_agree(actual, golden, agreement_);
  }

  Result<bool> is_constant_beyond(const DiffSide& side) {
    BTF_ASSIGN(BoxReader reader, BoxReader::open(side));
    Numbers numbers;
    bool constant = true;
    for (const Box& box : boxes_beyond(side.dims(), common_))
      BTF_TRY(for_each_piece(box, [&](const Box& piece) -> Result<bool> {
        BTF_TRY(check_cancelled(execution_));
        BTF_TRY(reader.read(piece, numbers));
        if (!padding_) padding_ = numbers.front();
        constant = std::ranges::all_of(
            numbers, [&](long double number) { return same_number(number, *padding_); });
        padded_ += numbers.size();
        return constant;
      }));
    return constant;
  }

  Result<bool> common_agrees() {
    BTF_ASSIGN(BoxReader actual_reader, BoxReader::open(actual_));
    BTF_ASSIGN(BoxReader golden_reader, BoxReader::open(golden_));
    Numbers actual;
    Numbers golden;
    bool same = true;
    BTF_TRY(for_each_piece(common_box(), [&](const Box& piece) -> Result<bool> {
      BTF_TRY(check_cancelled(execution_));
      BTF_TRY(actual_reader.read(piece, actual));
      BTF_TRY(golden_reader.read(piece, golden));
      for (std::size_t i = 0; i < actual.size() && same; ++i) {
        same = agree(actual[i], golden[i]);
        if (!same_number(actual[i], *padding_)) ++different_;
        if (!hints::accepted(actual[i], golden[i], agreement_)) ++lenient_;
      }
      return same;
    }));
    return same;
  }

  // ":100" or ":, :100"
  std::string slice() const {
    std::string text;
    std::size_t last = 0;
    for (std::size_t d = 0; d < common_.size(); ++d)
      if (actual_.dims()[d] != golden_.dims()[d]) last = d;
    for (std::size_t d = 0; d <= last; ++d) {
      if (d > 0) text += ",";
      text += ":";
      if (actual_.dims()[d] != golden_.dims()[d]) text += std::to_string(common_[d]);
    }
    return text;
  }

  std::string sentence() const {
    std::string dims;
    bool actual_longer = false;
    bool golden_longer = false;
    for (std::size_t d = 0; d < common_.size(); ++d) {
      if (actual_.dims()[d] == golden_.dims()[d]) continue;
      (actual_.dims()[d] > golden_.dims()[d] ? actual_longer : golden_longer) = true;
      dims += (dims.empty() ? "" : " and ") +
              hints::dim_text(static_cast<std::uint32_t>(d), common_.size());
    }
    const std::string who = !golden_longer   ? "actual is golden padded"
                            : !actual_longer ? "golden is actual padded"
                                             : "both are padded";
    std::string text = who + " with " + std::to_string(padded_) + " elements of " +
                       hints::number_text(*padding_) + " along " + dims + ": the " +
                       std::to_string(elements_) + " that both have are equal";
    if (lenient_ > 0)
      text += ", " + std::to_string(lenient_) + " of them within " + agreement_.lenience;
    return text + " (`Slice` " + slice() + " takes these)";
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Execution& execution_;
  Agreement agreement_;
  Dims common_;
  std::uint64_t elements_ = 0;  // in common
  std::uint64_t padded_ = 0;
  std::uint64_t different_ = 0;  // elements of actual, in common, that differ from the padding
  std::uint64_t lenient_ = 0;
  std::optional<long double> padding_;
};

}  // namespace

Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution) {
  const std::size_t rank = actual.dims().size();
  if (rank != golden.dims().size() || rank == 0 || actual.storage() == nullptr ||
      golden.storage() == nullptr || actual.has_no_stored_array() || golden.has_no_stored_array())
    return {};
  return Search(actual, golden, judge, execution).run();
}

namespace {

constexpr auto kCauseNames = std::to_array<Named<Cause>>({
    {Cause::shape, "shape"},
    {Cause::layout, "layout"},
    {Cause::permutation, "permutation"},
    {Cause::shift, "shift"},
    {Cause::byte_order, "byte-order"},
    {Cause::nibble_order, "nibble-order"},
    {Cause::dtype_misread, "dtype-misread"},
    {Cause::scale, "scale"},
    {Cause::offset, "offset"},
    {Cause::sign, "sign"},
    {Cause::saturation, "saturation"},
    {Cause::rounding, "rounding"},
    {Cause::stale_padding, "stale-padding"},
    {Cause::region, "region"},
    {Cause::zero_tail, "zero-tail"},
    {Cause::channels_reversed, "channels-reversed"},
    {Cause::mirrored, "mirrored"},
    {Cause::rotated, "rotated"},
    {Cause::shuffled, "shuffled"},
    {Cause::interleaved, "interleaved"},
    {Cause::repeated, "repeated"},
    {Cause::pitch, "pitch"},
    {Cause::index_base, "index-base"},
    {Cause::affine, "affine"},
    {Cause::channel_scale, "channel-scale"},
    {Cause::scale_axis, "scale-axis"},
    {Cause::activation, "activation"},
    {Cause::inverted, "inverted"},
    {Cause::wrapped, "wrapped"},
    {Cause::reordered, "reordered"},
    {Cause::padded, "padded"},
});

}  // namespace

std::span<const Named<Cause>> cause_names() { return kCauseNames; }

std::string_view cause_name(Cause cause) {
  return std::ranges::find(kCauseNames, cause, &Named<Cause>::value)->name;
}

namespace {

using hints::Lookup;
using hints::Sample;
using hints::SearchContext;
using hints::SearchResult;

// The least number of elements that allows any conclusion.
constexpr std::uint64_t kMinElements = 8;

// Searches for a change of all elements of one side, in order of preference: of two explanations
// that leave the same number of elements unexplained, the earlier one wins.
constexpr auto kExplanations = std::to_array<SearchResult (*)(const SearchContext&)>({
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

// Looks for correlation over the whole tensor instead of equal elements.
constexpr std::array<SearchResult (*)(const SearchContext&), 1> kAmongNoise{
    hints::find_among_noise};

// Some order can be found for much of anything, so this is tried only if nothing simpler holds.
constexpr std::array<SearchResult (*)(const SearchContext&), 1> kAnyOrder{hints::find_reordered};

// Describe where mismatches are, if nothing explains them.
constexpr auto kPatterns = std::to_array<SearchResult (*)(const SearchContext&)>({
    hints::find_rounding,
    hints::find_region,
});

// The least number of mismatches that allows a conclusion.
constexpr std::size_t kMinMismatches = 2;

Result<std::vector<SearchContext>> contexts_of(const HintInput& input, const Sample& sample) {
  std::vector<SearchContext> contexts;
  for (const Agreement& agreement : hints::agreements(input, sample)) {
    BTF_ASSIGN(SearchContext context, hints::make_context(input, sample, agreement));
    // What remains differs by less than a step: another way of rounding.
    if (hints::uses_inferred_grid(agreement) && context.rounded) continue;
    contexts.push_back(std::move(context));
    // Pairs that agree also agree by a wider tolerance.
    if (contexts.back().mismatches.size() < kMinMismatches) break;
  }
  return contexts;
}

// The explanation that leaves the least unexplained.
SearchResult best_explanation(const HintInput& input, std::span<SearchContext> contexts,
                              std::span<SearchResult (*const)(const SearchContext&)> searches) {
  BTF_ASSIGN(const StridedLayout actual_view, hints::own_view(input.actual));
  BTF_ASSIGN(const StridedLayout golden_view, hints::own_view(input.golden));
  BTF_ASSIGN(Lookup actual, Lookup::open(input.actual, actual_view));
  BTF_ASSIGN(Lookup golden, Lookup::open(input.golden, golden_view));
  std::optional<hints::Finding> best;
  for (const auto search : searches)
    for (SearchContext& context : contexts) {
      BTF_TRY(check_cancelled(input.execution));
      context.actual = &actual;
      context.golden = &golden;
      BTF_ASSIGN(std::optional<hints::Finding> finding, search(context));
      if (!finding || (best && best->unexplained <= finding->unexplained)) continue;
      best = std::move(finding);
      best->uses_inferred_grid = hints::uses_inferred_grid(context.agreement);
      if (best->unexplained == 0) return best;
    }
  return best;
}

// For searches by position, NaN is a mismatch like others unless the user treats NaNs as equal.
Result<std::vector<SearchContext>> for_patterns(const HintInput& input, const Sample& sample,
                                                std::vector<SearchContext> contexts) {
  if (input.judge.equal_nan) return contexts;
  Agreement own = hints::strict_agreement(input.judge, input.actual.dtype(), input.golden.dtype());
  own.judge.equal_nan = false;
  BTF_ASSIGN(SearchContext context, hints::make_context(input, sample, own));
  contexts.clear();
  contexts.push_back(std::move(context));
  return contexts;
}

SearchResult find_cause(const HintInput& input) {
  BTF_ASSIGN(const Sample sample, hints::take_sample(input));
  BTF_ASSIGN(std::vector<SearchContext> contexts, contexts_of(input, sample));
  if (contexts.front().mismatches.empty()) {
    BTF_ASSIGN(std::optional<hints::Finding> finding, hints::find_coarser_dtype(contexts.front()));
    if (finding) return finding;
  }
  // Steps between codes are the most specific evidence; steps between integers are still more
  // specific than the places of the mismatches.
  const Judge close = hints::close_judge(input);
  const bool codes = close.actual.codes || close.golden.codes;
  const SearchContext first = contexts.front();
  if (codes) {
    BTF_ASSIGN(std::optional<hints::Finding> finding, hints::find_code_steps(first, close));
    if (finding) return finding;
  }
  if (contexts.back().mismatches.size() < kMinMismatches) contexts.pop_back();
  if (!contexts.empty()) {
    BTF_ASSIGN(std::optional<hints::Finding> finding,
               best_explanation(input, contexts, kExplanations));
    // A number of whole steps is more exact than an offset.
    if (finding && finding->uses_inferred_grid && finding->hint.cause == Cause::offset && !codes) {
      BTF_ASSIGN(std::optional<hints::Finding> steps, hints::find_code_steps(first, close));
      if (steps && steps->unexplained <= finding->unexplained) return steps;
    }
    if (finding) return finding;
    BTF_ASSIGN(finding, best_explanation(input, std::span(contexts).first(1), kAmongNoise));
    if (finding) return finding;
    BTF_ASSIGN(finding, best_explanation(input, contexts, kAnyOrder));
    if (finding) return finding;
  }
  if (!codes) {
    BTF_ASSIGN(std::optional<hints::Finding> finding, hints::find_code_steps(first, close));
    if (finding) return finding;
  }
  BTF_ASSIGN(contexts, for_patterns(input, sample, std::move(contexts)));
  for (const auto search : kPatterns)
    for (const SearchContext& context : contexts) {
      BTF_ASSIGN(std::optional<hints::Finding> finding, search(context));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Hint>> find_hints(const HintInput& input) {
  if (*element_count(input.golden.dims()) < kMinElements || input.sample.empty())
    return std::vector<Hint>{};
  BTF_ASSIGN(std::optional<hints::Finding> finding, find_cause(input));
  if (!finding) return std::vector<Hint>{};
  return std::vector<Hint>{std::move(finding->hint)};
}

}  // namespace btf

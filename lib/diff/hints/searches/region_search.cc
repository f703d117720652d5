// Mismatches that are all in one part of the tensor, as a channel, a row, a tile, or some lanes of
// every block; and what became of the elements there.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/regions.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMinMismatches = 8;
constexpr double kStaleShare = 0.01;  // of golden's numbers elsewhere
constexpr std::size_t kMinStale = 4;  // distinct numbers

template <typename Value>
long double median_size(const std::vector<Point>& points, Value&& value) {
  std::vector<long double> sizes;
  for (const Point& point : points) {
    const long double v = value(point);
    if (!std::isnan(v)) sizes.push_back(std::abs(v));
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  if (sizes.empty()) return 0;
  std::ranges::nth_element(sizes, middle);
  return *middle;
}

// Elements that two COO tensors do not store mismatch only if one of the dtypes has no zero.
bool zeros_agree(const SearchContext& context) {
  const HintInput& input = context.input;
  return input.actual.storage() != nullptr || input.golden.storage() != nullptr ||
         sampled_agree(value_of(input.actual.dtype(), 0), value_of(input.golden.dtype(), 0),
                       context.agreement);
}

double bits_of(std::uint64_t count, std::uint64_t all, std::uint64_t inside) {
  if (all == 0 || inside == 0) return 0;
  return static_cast<double>(count) *
         std::log2(static_cast<double>(all) / static_cast<double>(inside));
}

// Noise makes mismatches where golden is large, or small, or not 0. For a region to be the cause,
// there must be such elements outside of it that agree.
bool not_by_size(const RegionTally& tally) {
  return std::min({bits_of(tally.mismatched, tally.large, tally.large_inside),
                   bits_of(tally.mismatched, tally.small, tally.small_inside),
                   bits_of(tally.mismatched, tally.busy, tally.busy_inside)}) >= kNeededBits;
}

// If the errors just below the tolerance elsewhere are a continuation of those above it here, they
// have one cause, and only the tolerance makes the difference.
bool not_by_tolerance(const RegionTally& tally) {
  return 2 * tally.just_refused < tally.mismatched || 4 * tally.just_outside < tally.mismatched;
}

// Where golden has few numbers, each in a part of its own, a change by value looks like one by
// region. Then the same numbers must agree outside.
bool not_by_value(const RegionTally& tally, std::size_t distinct) {
  return bits_of(distinct, tally.elements, tally.inside) >= 1.4 * kNeededBits ||
         bits_of(tally.mismatched, tally.like, tally.like_inside) >= kNeededBits;
}

Reference reference_of(const std::vector<Point>& mismatches) {
  std::set<long double> like;
  for (const Point& point : mismatches)
    if (!std::isnan(point.golden)) like.insert(point.golden);
  return {median_size(mismatches, [](const Point& p) { return p.golden; }),
          {like.begin(), like.end()}};
}

// The last lanes of a dim, or of every block of it.
bool is_last(const Axes& axes, const Part& part) {
  const std::uint64_t end = part.set.period == 0 ? axes.sizes()[part.axis] : part.set.period;
  const std::vector<IndexRange>& ranges = part.set.ranges;
  return axes.is_dim(part.axis) && ranges.size() == 1 && ranges[0].high == end - 1 &&
         ranges[0].low > 0;
}

// Golden is zero inside and mostly not zero outside, and actual has numbers of ordinary size
// inside.
bool looks_stale(const RegionTally& tally, const SearchContext& context,
                 const std::vector<Point>& mismatches) {
  if (tally.golden_inside != 0 || tally.outside != 0 ||
      2 * tally.golden_outside < tally.elements - tally.inside)
    return false;
  std::vector<Point> others;
  std::ranges::copy_if(context.anywhere, std::back_inserter(others),
                       [](const Point& p) { return p.golden != 0; });
  DistinctNumbers<kMinStale> left;  // one number everywhere was filled in
  for (const Point& point : mismatches)
    if (!std::isnan(point.actual)) left.add(point.actual);
  if (!left.enough()) return false;
  const long double stale =
      median_size(mismatches, [](const Point& p) { return std::isnan(p.actual) ? 0 : p.actual; });
  const long double usual = median_size(others, [](const Point& p) { return p.golden; });
  return stale >= kStaleShare * usual;
}

// The mismatches of one kind, and the region that they are in.
struct KindRegion {
  MismatchKind kind{};
  std::vector<Point> sample;
  std::vector<Part> parts;  // empty if they are in no region
  RegionTally tally{};
  bool stale = false;
};

std::string_view kind_name(MismatchKind kind) {
  constexpr std::array<std::string_view, kMismatchKinds> kNames{"finite", "NaN", "Inf"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t all_kinds(const RegionTally& tally) {
  return std::accumulate(tally.kinds.begin(), tally.kinds.end(), std::uint64_t{0});
}

// One of the parts may be padding by itself, whatever else the mismatches have in common.
Result<bool> take_padding(const SearchContext& context, const Axes& axes, const Reference& usual,
                          KindRegion& found) {
  for (const Part& part : found.parts) {
    if (!is_last(axes, part)) continue;
    const std::vector<Part> lanes{part};
    BTF_ASSIGN(const RegionTally padding, look_inside(context, axes, lanes, usual, found.kind));
    if (!looks_stale(padding, context, found.sample)) continue;
    found.parts = lanes;
    found.tally = padding;
    found.stale = true;
    return true;
  }
  return false;
}

// Sets the parts of `found` if the mismatches of its kind are in one region.
Status find_parts(const SearchContext& context, const Axes& axes, KindRegion& found) {
  AllCounts counts = counts_for(axes);
  std::vector<std::uint64_t> at;
  for (const Point& point : found.sample) {
    axes.place(point.number, at);
    axes.stored(at);
    add_place(at, counts);
  }
  const bool all = context.mismatched <= context.mismatches.size();
  std::vector<Part> parts =
      surprising_parts(axes, counts, all ? CountScope::all : CountScope::some);
  if (!parts.empty() && !all) {
    BTF_ASSIGN(counts, count_mismatches(context, axes, found.kind));
    parts = surprising_parts(axes, counts, CountScope::all);
  }
  if (parts.empty()) return {};
  const Reference usual = reference_of(found.sample);
  found.parts = parts;
  BTF_ASSIGN(found.tally, look_inside(context, axes, parts, usual, found.kind));
  const RegionTally& tally = found.tally;
  bool region = tally.outside == 0 && tally.mismatched >= kMinMismatches;
  if (region && tally.golden_inside == 0) {
    BTF_ASSIGN(const bool padding, take_padding(context, axes, usual, found));
    if (padding) return {};
  }
  region = region && not_by_size(tally) && not_by_tolerance(tally) &&
           not_by_value(tally, usual.like.size());
  if (!region) found.parts.clear();
  return {};
}

// A tensor of codes in memory.
class GatheredSide final : public DiffSide {
 public:
  GatheredSide(DType dtype, StridedLayout storage, const std::vector<std::byte>& codes)
      : dtype_(dtype), storage_(std::move(storage)), codes_(codes) {}

  DType dtype() const override { return dtype_; }
  const Dims& dims() const override { return storage_.dims; }
  const StridedLayout* storage() const override { return &storage_; }
  Result<std::unique_ptr<SlabReader>> reader(const StridedLayout& storage) const override {
    return runs_reader(std::make_unique<Runs>(codes_, info(dtype_).buffer_bytes()), storage, 0,
                       dtype_);
  }
  Result<std::unique_ptr<CooSource>> entries(KeyRange) const override {
    return fail(ErrorCode::unsupported, "a tensor in memory is dense");
  }
  Result<std::vector<Element>> elements(std::span<const Dims> indices) const override {
    const std::uint64_t bytes = info(dtype_).buffer_bytes();
    std::vector<Element> found(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i)
      std::memcpy(&found[i].code, codes_.data() + linear_key(dims(), indices[i]) * bytes, bytes);
    return found;
  }

 private:
  class Runs final : public ElementRuns {
   public:
    Runs(const std::vector<std::byte>& codes, std::uint64_t bytes) : codes_(codes), bytes_(bytes) {}
    Status read(std::uint64_t first, std::uint64_t count, std::byte* out) override {
      std::memcpy(out, codes_.data() + first * bytes_, count * bytes_);
      return {};
    }

   private:
    const std::vector<std::byte>& codes_;
    std::uint64_t bytes_;
  };

  DType dtype_;
  StridedLayout storage_;
  const std::vector<std::byte>& codes_;
};

// Searches that depend on values only, not on their places.
constexpr auto kOfValues = std::to_array<SearchResult (*)(const SearchContext&)>({
    find_byte_order,
    find_nibble_order,
    find_misread,
    find_inverted,
    find_sign,
    find_scale,
    find_offset,
    find_activation,
    find_affine,
    find_saturation,
    find_wrapped,
});

// The cause within the region, as "actual = 1.02 * golden: 144 of 144 elements"; empty if unknown.
Result<std::string> cause_inside(const SearchContext& context, const RegionTensors& region) {
  const HintInput& whole = context.input;
  BTF_ASSIGN(StridedLayout actual_layout, linear_view(region.dims, whole.actual.dtype()));
  BTF_ASSIGN(StridedLayout golden_layout, linear_view(region.dims, whole.golden.dtype()));
  const GatheredSide actual(whole.actual.dtype(), std::move(actual_layout), region.actual);
  const GatheredSide golden(whole.golden.dtype(), std::move(golden_layout), region.golden);
  const std::uint64_t actual_bytes = info(actual.dtype()).buffer_bytes();
  const std::uint64_t golden_bytes = info(golden.dtype()).buffer_bytes();
  const auto value = [](const DiffSide& side, const std::vector<std::byte>& codes,
                        std::uint64_t bytes, std::uint64_t i) {
    std::uint64_t code = 0;
    std::memcpy(&code, codes.data() + i * bytes, bytes);
    return value_of(side.dtype(), code);
  };
  std::vector<std::uint64_t> mismatches;
  const std::uint64_t count = *element_count(region.dims);
  for (std::uint64_t i = 0; i < count; ++i)
    if (!sampled_agree(value(actual, region.actual, actual_bytes, i),
                       value(golden, region.golden, golden_bytes, i), context.agreement))
      mismatches.push_back(i);
  if (mismatches.empty()) return "";
  std::vector<std::uint64_t> sample;
  const std::uint64_t shown = std::min<std::uint64_t>(mismatches.size(), kHintSample);
  for (std::uint64_t k = 0; k < shown; ++k)
    sample.push_back(mismatches[k * mismatches.size() / shown]);
  const HintInput input{.actual = actual,
                        .golden = golden,
                        .judge = whole.judge,
                        .mismatched = mismatches.size(),
                        .sample = sample,
                        .execution = whole.execution};
  BTF_ASSIGN(const Sample points, take_sample(input));
  BTF_ASSIGN(SearchContext inside, make_context(input, points, context.agreement));
  BTF_ASSIGN(Lookup left, Lookup::open(actual, *actual.storage()));
  BTF_ASSIGN(Lookup right, Lookup::open(golden, *golden.storage()));
  inside.actual = &left;
  inside.golden = &right;
  std::optional<Finding> best;
  for (const auto search : kOfValues) {
    BTF_ASSIGN(std::optional<Finding> finding, search(inside));
    if (finding && (!best || finding->unexplained < best->unexplained)) best = std::move(finding);
  }
  return best ? best->hint.evidence : "";
}

// The value that all the elements have; unset if they have several.
std::optional<long double> only_number(DType dtype, const std::vector<std::byte>& codes) {
  const std::uint64_t bytes = info(dtype).buffer_bytes();
  std::vector<long double> values(codes.size() / bytes);
  widener<long double>(dtype)(codes.data(), 1, values.size(), values.data());
  const auto same = [&](long double value) {
    return value == values[0] || (std::isnan(value) && std::isnan(values[0]));
  };
  return std::ranges::all_of(values, same) ? std::optional(values[0]) : std::nullopt;
}

// The parts once for each place of the only list of places among them, with that place alone; empty
// if no part is a list, or several are.
std::vector<std::vector<Part>> single_places(const std::vector<Part>& parts) {
  const auto list = [](const Part& part) { return part.set.ranges.size() > 1; };
  std::vector<std::vector<Part>> places;
  if (std::ranges::count_if(parts, list) != 1) return places;
  const auto at = std::ranges::find_if(parts, list) - parts.begin();
  for (const IndexRange& range : parts[static_cast<std::size_t>(at)].set.ranges) {
    places.push_back(parts);
    places.back()[static_cast<std::size_t>(at)].set.ranges = {range};
  }
  return places;
}

// What became of the elements of the region, or else of each of its places separately.
Result<std::string> values_there(const SearchContext& context, const Axes& axes,
                                 const std::vector<Part>& parts) {
  BTF_ASSIGN(const std::optional<RegionTensors> region, region_tensors(context, axes, parts));
  if (!region) return "";
  const DType dtype = context.input.actual.dtype();
  if (const auto number = only_number(dtype, region->actual))
    return "; actual is " + number_text(*number) + " there";
  // Scales of codes belong to the whole tensor.
  if (context.input.judge.actual.codes || context.input.judge.golden.codes) return "";
  BTF_ASSIGN(const std::string together, cause_inside(context, *region));
  if (!together.empty()) return "; there " + together;
  std::string text;
  for (const std::vector<Part>& place : single_places(parts)) {
    BTF_ASSIGN(const std::optional<RegionTensors> own, region_tensors(context, axes, place));
    if (!own) return "";
    const auto number = only_number(dtype, own->actual);
    std::string what = number ? "actual is " + number_text(*number) : "";
    if (!number) {
      BTF_ASSIGN(what, cause_inside(context, *own));
    }
    if (!what.empty()) text += "; where " + parts_text(axes, place) + ", " + what;
  }
  return text;
}

Result<std::string> what_is_there(const SearchContext& context, const Axes& axes,
                                  const KindRegion& found) {
  const RegionTally& tally = found.tally;
  const std::string all = "; actual is ";
  if (tally.zero_inside == tally.inside) return all + "0 there";
  if (tally.nan_inside == tally.inside) return all + "NaN there";
  BTF_ASSIGN(std::string values, values_there(context, axes, found.parts));
  if (!values.empty()) return values;
  if (tally.inf_inside == tally.inside) return all + "Inf or -Inf there";
  if (tally.actual_nan == tally.mismatched) return all + "NaN in all of them";
  if (tally.actual_inf == tally.mismatched) return all + "Inf or -Inf in all of them";
  return "";
}

// "all 12 NaN mismatches", or "all 12 mismatches beyond float16's rounding (88 within it)".
std::string which_text(const SearchContext& context, const KindRegion& found) {
  const std::uint64_t all = all_kinds(found.tally);
  const std::uint64_t own = found.tally.mismatched;
  if (own == all) return "all " + left_over_text(context, own);
  return "all " + std::to_string(own) + " " + std::string(kind_name(found.kind)) + " mismatches";
}

// " at [0, 3, 5, 6]" if there are few mismatches, else empty.
std::string places_text(const SearchContext& context, const KindRegion& found,
                        std::uint64_t count) {
  constexpr std::size_t kMaxListed = 3;
  if (count > kMaxListed || found.sample.size() != count) return "";
  std::string text;
  for (const Point& point : found.sample)
    text += (text.empty() ? " at " : ", ") +
            dims_text(index_of(context.input.golden.dims(), point.number));
  return text;
}

// "; besides, 3 mismatches of NaN": the kinds that are in no region.
std::string besides_text(const SearchContext& context, const std::vector<KindRegion>& kinds,
                         const RegionTally& tally) {
  std::string text;
  for (std::size_t k = 0; k < kMismatchKinds; ++k) {
    const auto kind = static_cast<MismatchKind>(k);
    const auto found = std::ranges::find(kinds, kind, &KindRegion::kind);
    if (tally.kinds[k] == 0 || (found != kinds.end() && !found->parts.empty())) continue;
    text += (text.empty() ? "; besides, " : " and ") + mismatches_text(tally.kinds[k]) + " of " +
            (kind == MismatchKind::finite ? "finite numbers" : std::string(kind_name(kind)));
    if (found != kinds.end()) text += places_text(context, *found, tally.kinds[k]);
  }
  return text;
}

}  // namespace

SearchResult find_region(const SearchContext& context) {
  if (context.mismatches.size() < kMinMismatches || context.rounded || !zeros_agree(context))
    return std::nullopt;
  const Axes axes(context.input);
  std::vector<KindRegion> kinds;
  for (std::size_t k = 0; k < kMismatchKinds; ++k) {
    KindRegion found{.kind = static_cast<MismatchKind>(k), .sample = {}, .parts = {}};
    std::ranges::copy_if(
        context.mismatches, std::back_inserter(found.sample),
        [&](const Point& point) { return kind_of(point.actual, point.golden) == found.kind; });
    if (found.sample.empty()) continue;
    BTF_TRY(find_parts(context, axes, found));
    kinds.push_back(std::move(found));
  }
  std::string text;
  Cause cause = Cause::stale_padding;
  const RegionTally* tally = nullptr;
  for (const KindRegion& found : kinds) {
    if (found.parts.empty()) continue;
    tally = &found.tally;
    text += (text.empty() ? "" : "; ") + which_text(context, found) + " have " +
            parts_text(axes, found.parts);
    if (found.stale) {
      text += ", where golden is 0 throughout: padding that was not cleared";
      continue;
    }
    cause = Cause::region;
    BTF_ASSIGN(const std::string what, what_is_there(context, axes, found));
    text += " (" + std::to_string(found.tally.inside) +
            (found.tally.inside == 1 ? " element)" : " elements)") + what;
  }
  if (tally == nullptr) return std::nullopt;
  return Finding{{cause, text + besides_text(context, kinds, *tally)}, 0};
}

}  // namespace btf::hints

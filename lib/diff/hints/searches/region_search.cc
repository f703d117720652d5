// All mismatches in one part of the tensor: a channel, a row, a tile, some lanes of every block;
// and what became of the elements there.
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
#include "diff/hints/evidence/inquiry.h"
#include "diff/hints/models/regions.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMinMismatches = 8;
constexpr double kStaleShare = 0.01;  // of golden's numbers elsewhere
constexpr std::size_t kMinStale = 4;  // different numbers

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

// Elements that two COO tensors do not store mismatch if one of the dtypes has no zero.
bool zeros_agree(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  return input.actual.storage() != nullptr || input.golden.storage() != nullptr ||
         sampled_agree(value_of(input.actual.dtype(), 0), value_of(input.golden.dtype(), 0),
                       inquiry.agreement);
}

double bits_of(std::uint64_t count, std::uint64_t all, std::uint64_t inside) {
  if (all == 0 || inside == 0) return 0;
  return static_cast<double>(count) *
         std::log2(static_cast<double>(all) / static_cast<double>(inside));
}

// Mismatches may be where golden is large, where it is small, or where there is anything at all, as
// noise has it: there must be others like that outside.
bool not_by_size(const RegionTally& tally) {
  return std::min({bits_of(tally.mismatched, tally.large, tally.large_inside),
                   bits_of(tally.mismatched, tally.small, tally.small_inside),
                   bits_of(tally.mismatched, tally.busy, tally.busy_inside)}) >= kNeededBits;
}

// Errors that run on below the tolerance elsewhere as they do above it here have one cause, and
// only the tolerance makes the difference.
bool not_by_tolerance(const RegionTally& tally) {
  return 2 * tally.just_refused < tally.mismatched || 4 * tally.just_outside < tally.mismatched;
}

// Where golden has few numbers, each in a part of its own, a change by value looks like one by
// region: then the same numbers must be right outside.
bool not_by_value(const RegionTally& tally, std::size_t distinct) {
  return bits_of(distinct, tally.elements, tally.inside) >= 1.4 * kNeededBits ||
         bits_of(tally.mismatched, tally.like, tally.like_inside) >= kNeededBits;
}

Usual usual_of(const std::vector<Point>& mismatches) {
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

// Golden is zero inside and mostly not outside, and actual has numbers of an ordinary size there.
bool looks_stale(const RegionTally& tally, const Inquiry& inquiry,
                 const std::vector<Point>& mismatches) {
  if (tally.golden_inside != 0 || tally.outside != 0 ||
      2 * tally.golden_outside < tally.elements - tally.inside)
    return false;
  std::vector<Point> others;
  std::ranges::copy_if(inquiry.anywhere, std::back_inserter(others),
                       [](const Point& p) { return p.golden != 0; });
  DistinctNumbers<kMinStale> left;  // one number everywhere was put there
  for (const Point& point : mismatches)
    if (!std::isnan(point.actual)) left.add(point.actual);
  if (!left.enough()) return false;
  const long double stale =
      median_size(mismatches, [](const Point& p) { return std::isnan(p.actual) ? 0 : p.actual; });
  const long double usual = median_size(others, [](const Point& p) { return p.golden; });
  return stale >= kStaleShare * usual;
}

// The mismatches of one kind, and where they are.
struct Found {
  MismatchKind kind{};
  std::vector<Point> sample;
  std::vector<Part> parts;  // none: they are in no region
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
Result<bool> take_padding(const Inquiry& inquiry, const Axes& axes, const Usual& usual,
                          Found& found) {
  for (const Part& part : found.parts) {
    if (!is_last(axes, part)) continue;
    const std::vector<Part> lanes{part};
    BTF_ASSIGN(const RegionTally padding, look_inside(inquiry, axes, lanes, usual, found.kind));
    if (!looks_stale(padding, inquiry, found.sample)) continue;
    found.parts = lanes;
    found.tally = padding;
    found.stale = true;
    return true;
  }
  return false;
}

// Where the mismatches of a kind are, if that is one region.
Status find_parts(const Inquiry& inquiry, const Axes& axes, Found& found) {
  AllCounts counts = counts_for(axes);
  std::vector<std::uint64_t> at;
  for (const Point& point : found.sample) {
    axes.place(point.number, at);
    axes.stored(at);
    add_place(at, counts);
  }
  const bool all = inquiry.mismatched <= inquiry.mismatches.size();
  std::vector<Part> parts = surprising_parts(axes, counts, all ? Counted::all : Counted::some);
  if (!parts.empty() && !all) {
    BTF_ASSIGN(counts, count_mismatches(inquiry, axes, found.kind));
    parts = surprising_parts(axes, counts, Counted::all);
  }
  if (parts.empty()) return {};
  const Usual usual = usual_of(found.sample);
  found.parts = parts;
  BTF_ASSIGN(found.tally, look_inside(inquiry, axes, parts, usual, found.kind));
  const RegionTally& tally = found.tally;
  bool region = tally.outside == 0 && tally.mismatched >= kMinMismatches;
  if (region && tally.golden_inside == 0) {
    BTF_ASSIGN(const bool padding, take_padding(inquiry, axes, usual, found));
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

// Searches for what became of numbers, wherever they are.
constexpr auto kOfValues = std::to_array<SearchResult (*)(const Inquiry&)>({
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

// "actual = 1.02 * golden: 144 of 144 elements": what the cause in the region is. Empty: none is
// known.
Result<std::string> cause_inside(const Inquiry& inquiry, const RegionTensors& region) {
  const HintInput& whole = inquiry.input;
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
                       value(golden, region.golden, golden_bytes, i), inquiry.agreement))
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
  BTF_ASSIGN(Inquiry inside, inquire(input, points, inquiry.agreement));
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

// The value that all of these elements of actual have; unset if they have several.
std::optional<long double> only_number(DType dtype, const std::vector<std::byte>& codes) {
  const std::uint64_t bytes = info(dtype).buffer_bytes();
  std::vector<long double> values(codes.size() / bytes);
  widener<long double>(dtype)(codes.data(), 1, values.size(), values.data());
  const auto same = [&](long double value) {
    return value == values[0] || (std::isnan(value) && std::isnan(values[0]));
  };
  return std::ranges::all_of(values, same) ? std::optional(values[0]) : std::nullopt;
}

// The same parts with one of the places that the only list among them has; empty: no part is a
// list, or several are.
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

// What became of the elements of a region, behind "there", or of each of its places by itself.
Result<std::string> values_there(const Inquiry& inquiry, const Axes& axes,
                                 const std::vector<Part>& parts) {
  BTF_ASSIGN(const std::optional<RegionTensors> region, region_tensors(inquiry, axes, parts));
  if (!region) return "";
  const DType dtype = inquiry.input.actual.dtype();
  if (const auto number = only_number(dtype, region->actual))
    return "; actual is " + number_text(*number) + " there";
  // Scales of codes are those of the whole tensor.
  if (inquiry.input.judge.actual.codes || inquiry.input.judge.golden.codes) return "";
  BTF_ASSIGN(const std::string together, cause_inside(inquiry, *region));
  if (!together.empty()) return "; there " + together;
  std::string text;
  for (const std::vector<Part>& place : single_places(parts)) {
    BTF_ASSIGN(const std::optional<RegionTensors> own, region_tensors(inquiry, axes, place));
    if (!own) return "";
    const auto number = only_number(dtype, own->actual);
    std::string what = number ? "actual is " + number_text(*number) : "";
    if (!number) {
      BTF_ASSIGN(what, cause_inside(inquiry, *own));
    }
    if (!what.empty()) text += "; where " + parts_text(axes, place) + ", " + what;
  }
  return text;
}

Result<std::string> what_is_there(const Inquiry& inquiry, const Axes& axes, const Found& found) {
  const RegionTally& tally = found.tally;
  const std::string all = "; actual is ";
  if (tally.zero_inside == tally.inside) return all + "0 there";
  if (tally.nan_inside == tally.inside) return all + "NaN there";
  BTF_ASSIGN(std::string values, values_there(inquiry, axes, found.parts));
  if (!values.empty()) return values;
  if (tally.inf_inside == tally.inside) return all + "Inf or -Inf there";
  if (tally.actual_nan == tally.mismatched) return all + "NaN in all of them";
  if (tally.actual_inf == tally.mismatched) return all + "Inf or -Inf in all of them";
  return "";
}

// "all 12 NaN mismatches beyond float16's rounding (88 within it)"
std::string which_text(const Inquiry& inquiry, const Found& found) {
  const std::uint64_t all = all_kinds(found.tally);
  const std::uint64_t own = found.tally.mismatched;
  if (own == all) return "all " + left_over_text(inquiry, own);
  return "all " + std::to_string(own) + " " + std::string(kind_name(found.kind)) + " mismatches";
}

// " at [0, 3, 5, 6]", of a few.
std::string places_text(const Inquiry& inquiry, const Found& found, std::uint64_t count) {
  constexpr std::size_t kMaxSaid = 3;
  if (count > kMaxSaid || found.sample.size() != count) return "";
  std::string text;
  for (const Point& point : found.sample)
    text += (text.empty() ? " at " : ", ") +
            dims_text(index_of(inquiry.input.golden.dims(), point.number));
  return text;
}

// "; besides, 3 mismatches of NaN": those that no sentence speaks of.
std::string besides_text(const Inquiry& inquiry, const std::vector<Found>& kinds,
                         const RegionTally& tally) {
  std::string text;
  for (std::size_t k = 0; k < kMismatchKinds; ++k) {
    const auto kind = static_cast<MismatchKind>(k);
    const auto found = std::ranges::find(kinds, kind, &Found::kind);
    if (tally.kinds[k] == 0 || (found != kinds.end() && !found->parts.empty())) continue;
    text += (text.empty() ? "; besides, " : " and ") + mismatches_text(tally.kinds[k]) + " of " +
            (kind == MismatchKind::finite ? "finite numbers" : std::string(kind_name(kind)));
    if (found != kinds.end()) text += places_text(inquiry, *found, tally.kinds[k]);
  }
  return text;
}

}  // namespace

SearchResult find_region(const Inquiry& inquiry) {
  if (inquiry.mismatches.size() < kMinMismatches || inquiry.rounded || !zeros_agree(inquiry))
    return std::nullopt;
  const Axes axes(inquiry.input);
  std::vector<Found> kinds;
  for (std::size_t k = 0; k < kMismatchKinds; ++k) {
    Found found{.kind = static_cast<MismatchKind>(k), .sample = {}, .parts = {}};
    std::ranges::copy_if(
        inquiry.mismatches, std::back_inserter(found.sample),
        [&](const Point& point) { return kind_of(point.actual, point.golden) == found.kind; });
    if (found.sample.empty()) continue;
    BTF_TRY(find_parts(inquiry, axes, found));
    kinds.push_back(std::move(found));
  }
  std::string text;
  Cause cause = Cause::stale_padding;
  const RegionTally* tally = nullptr;
  for (const Found& found : kinds) {
    if (found.parts.empty()) continue;
    tally = &found.tally;
    text += (text.empty() ? "" : "; ") + which_text(inquiry, found) + " have " +
            parts_text(axes, found.parts);
    if (found.stale) {
      text += ", where golden is 0 throughout: padding that was not cleared";
      continue;
    }
    cause = Cause::region;
    BTF_ASSIGN(const std::string what, what_is_there(inquiry, axes, found));
    text += " (" + std::to_string(found.tally.inside) +
            (found.tally.inside == 1 ? " element)" : " elements)") + what;
  }
  if (tally == nullptr) return std::nullopt;
  return Finding{{cause, text + besides_text(inquiry, kinds, *tally)}, 0};
}

}  // namespace btf::hints

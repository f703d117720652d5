// Computes scales and zero points, and plans quantisation.
// get codes of their own.
#include "convert/quantize/scales.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "btf/dtype.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/try.h"
#include "convert/quantize/dequantize_plan.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scaled_reader.h"
#include "core/edit_chain.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/records.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/cast/to_floats.h"
#include "kernels/number/exact_sum.h"
#include "kernels/number/number.h"
#include "kernels/number/widen.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace {

// The range of the finite elements and 0, which always has a code: least <= 0 <= largest.
struct ValueRange {
  Number least;
  Number largest;
};

struct AffineFit {
  float scale = 1;
  std::int64_t zero_point = 0;
};

using number::Integer;

Number from_real(double value) { return number::from_double(value); }

// Only 64-bit integers need more precision than a double.
Number from_real(long double value) {
  return number::normalized(value < 0, static_cast<std::uint64_t>(std::fabs(value)), 0);
}

// Real must represent every value of the dtype exactly.
template <typename Real>
class RangeFinder {
 public:
  RangeFinder(DType dtype, std::uint64_t indices, std::uint64_t inner)
      : widen_(widener<Real>(dtype)),
        bytes_(info(dtype).buffer_bytes()),
        inner_(inner),
        least_(indices, Real{0}),
        largest_(indices, Real{0}) {}

  void add(const LinearSlab& slab) {
    std::array<Real, 1024> values;
    for (std::uint64_t at = 0; at < slab.count; at += values.size()) {
      const std::uint64_t n = std::min<std::uint64_t>(values.size(), slab.count - at);
      widen_(slab.codes + at * bytes_, 1, n, values.data());
      keep(values.data(), n, slab.first + at);
    }
  }

  void add(const RangeFinder& other) {
    for (std::size_t i = 0; i < least_.size(); ++i) {
      least_[i] = std::min(least_[i], other.least_[i]);
      largest_[i] = std::max(largest_[i], other.largest_[i]);
    }
  }

  std::vector<ValueRange> ranges() const {
    std::vector<ValueRange> all(least_.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {from_real(least_[i]), from_real(largest_[i])};
    return all;
  }

 private:
  void keep(const double* values, std::uint64_t n, std::uint64_t first) {
    by_indices(
        values, n, {first, inner_, least_.size()},
        [&](std::uint64_t index, const double* some, std::uint64_t count) {
          keep_range(some, count, least_[index], largest_[index]);
        },
        [&](std::uint64_t index, const double* some, std::uint64_t count) {
          keep_ranges(some, count, &least_[index], &largest_[index]);
        });
  }

  // For integers of 64 bits.
  void keep(const long double* values, std::uint64_t n, std::uint64_t first) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t place = least_.size() == 1 ? 0 : (first + i) / inner_ % least_.size();
      least_[place] = std::min(least_[place], values[i]);
      largest_[place] = std::max(largest_[place], values[i]);
    }
  }

  WidenFn<Real> widen_;
  std::uint64_t bytes_;
  std::uint64_t inner_;
  std::vector<Real> least_;
  std::vector<Real> largest_;
};

template <typename Real>
Result<std::vector<ValueRange>> ranges_of(LinearSlabs slabs, const RangeFinder<Real>& empty,
                                          const Execution& execution) {
  std::vector<RangeFinder<Real>> finders(slabs.workers(), empty);
  BTF_TRY(for_each_slab(execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          finders[worker].add(slab);
                          return {};
                        }));
  for (const RangeFinder<Real>& other : finders) finders.front().add(other);
  return finders.front().ranges();
}

struct CodeLimits {
  Integer least = 0;
  Integer largest = 0;
};

CodeLimits limits_of(DType dtype) {
  const auto largest = static_cast<Integer>(largest_code(dtype));
  const bool has_sign = info(dtype).kind == NumberKind::signed_integer;
  return {has_sign ? -largest - 1 : 0, largest};
}

bool is_zero(const Number& x) { return x.kind == Number::Class::zero; }

const Number& larger(const Number& a, const Number& b) {
  if (is_zero(a) || is_zero(b)) return is_zero(a) ? b : a;
  return std::tie(a.exponent, a.significand) < std::tie(b.exponent, b.significand) ? b : a;
}

std::string text(const Number& x) { return number_text(number::to_double(x)); }

// Converts to an integer of up to 65 bits; unset if it does not fit.
std::optional<Integer> integer(const Number& x) {
  if (is_zero(x)) return 0;
  if (x.kind != Number::Class::finite) return std::nullopt;
  const auto magnitude = static_cast<Integer>(x.significand >> (63 - x.exponent));
  return x.negative ? -magnitude : magnitude;
}

float nearest_float(const Number& x) {
  using Limits = std::numeric_limits<float>;
  std::uint32_t code = 0;
  LossAccount ignored;
  encoder(DType::float32)(&x, 1, reinterpret_cast<std::byte*>(&code), 1, CastPolicy{}, ignored);
  return std::clamp(std::bit_cast<float>(code), Limits::denorm_min(), Limits::max());
}

class Fit {
 public:
  Fit(const ValueRange& range, const ScaledCast& cast)
      : range_(range), cast_(cast), limits_(limits_of(cast.to)) {}

  Result<AffineFit> with_given_zero_point() const {
    const Integer above = limits_.largest - cast_.zero_point;
    const Integer below = cast_.zero_point - limits_.least;
    if ((above == 0 && !is_zero(range_.largest)) || (below == 0 && !is_zero(range_.least)))
      return fail(ErrorCode::refused, "numbers from ", text(range_.least), " to ",
                  text(range_.largest), " do not fit: with zero point ", cast_.zero_point,
                  " no code of ", info(cast_.to).name, " represents a number ",
                  above == 0 ? "above" : "below", " 0; choose a zero point between its limits");
    const Number up =
        above == 0 ? Number{} : number::quotient(range_.largest, number::from_integer(above));
    const Number down =
        below == 0 ? Number{} : number::quotient(range_.least, number::from_integer(below));
    Number wanted = larger(up, down);
    wanted.negative = false;
    return fit(wanted, [&](float) { return std::optional<std::int64_t>(cast_.zero_point); });
  }

  Result<AffineFit> with_zero_point_to_find() const {
    ExactSum width;
    width.add(range_.largest);
    width.subtract(range_.least);
    const Number wanted =
        number::quotient(width.number(), number::from_integer(limits_.largest - limits_.least));
    return fit(wanted, [&](float scale) -> std::optional<std::int64_t> {
      const std::optional<Integer> steps = integer(code(range_.least, scale, 0));
      if (!steps || limits_.least - *steps > limits_.largest) return std::nullopt;
      return static_cast<std::int64_t>(limits_.least - *steps);
    });
  }

 private:
  Number code(const Number& x, float scale, std::int64_t zero_point) const {
    ScaledCast cast = cast_;
    cast.zero_point = zero_point;
    return shifted_code(x, number::from_double(scale), cast);
  }

  bool has_code(const Number& x, float scale, std::int64_t zero_point) const {
    const std::optional<Integer> found = integer(code(x, scale, zero_point));
    return found && *found >= limits_.least && *found <= limits_.largest;
  }

  template <typename ZeroPoint>
  Result<AffineFit> fit(const Number& wanted, ZeroPoint&& zero_point_for) const {
    if (is_zero(wanted)) return AffineFit{1, cast_.zero_point};
    // The nearest scale may be slightly too small. The next one above never is, unless ties are
    // rounded outward at both ends.
    constexpr int kTries = 4;
    float scale = nearest_float(wanted);
    for (int i = 0; i < kTries && std::isfinite(scale); ++i) {
      const std::optional<std::int64_t> zero_point = zero_point_for(scale);
      if (zero_point && has_code(range_.least, scale, *zero_point) &&
          has_code(range_.largest, scale, *zero_point))
        return AffineFit{scale, *zero_point};
      scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
    }
    return fail(ErrorCode::refused, "numbers from " + text(range_.least) + " to " +
                                        text(range_.largest) +
                                        " do not fit: float32 has no scale for them");
  }

  const ValueRange& range_;
  const ScaledCast& cast_;
  CodeLimits limits_;
};

// The range of the tensor or of each index of `axis`, after the edits. Reads the tensor once.
Result<std::vector<ValueRange>> value_ranges(const ByteSource& source, const TensorInfo& record,
                                             const EditChain& edits,
                                             std::optional<std::uint32_t> axis,
                                             const Execution& execution) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  const std::uint64_t indices = axis ? dims[*axis] : 1;
  std::uint64_t inner = 1;
  if (axis)
    for (std::size_t d = *axis + 1; d < dims.size(); ++d) inner *= dims[d];
  BTF_ASSIGN(LinearSlabs slabs,
             LinearSlabs::open(source, record, edits, execution, scale_workers(indices)));
  const DType dtype = *record.dtype;
  if (fits_double(dtype))
    return ranges_of(std::move(slabs), RangeFinder<double>(dtype, indices, inner), execution);
  return ranges_of(std::move(slabs), RangeFinder<long double>(dtype, indices, inner), execution);
}

// Fits a scale for codes of an integer dtype: the smallest with which the range fits between the
// codes, rounded to the nearest float32, or to the next one above if an end would be clamped
// otherwise; 1 if all elements are 0. An automatic zero point maps the least element to the least
// code. Refuses what cannot fit.
Result<AffineFit> fit_affine(const ValueRange& range, const ScaledCast& cast,
                             bool find_zero_point) {
  const Fit fit(range, cast);
  return find_zero_point ? fit.with_zero_point_to_find() : fit.with_given_zero_point();
}

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

Result<ScaleRecord> scale_record(DType dtype, const Dims& dims, ScaleKind kind,
                                 std::string_view ending) {
  BTF_ASSIGN(StridedLayout storage, resolve(Layout::linear, dims, dtype));
  return ScaleRecord{dtype, std::move(storage), kind, ending};
}

class Planner {
 public:
  Planner(const TensorFile& file, const TensorConversion& work, const ScaleOrigin& origin)
      : file_(file), work_(work), origin_(origin), wanted_(work.options.quantization) {}

  Result<QuantizePlan> plan() {
    if (!wanted_.active()) return std::move(plan_);
    if (work_.target.sparse() || work_.record.coo)
      return refuse_scaling("scales apply to dense tensors only; convert to a dense layout first");
    plan_.cast = {work_.target.job.from, work_.target.job.to, work_.options.policy,
                  wanted_.zero_point.value_or(0)};
    if (wanted_.dequantize) {
      BTF_TRY(plan_dequantize(file_, work_, origin_, plan_));
    } else if (wanted_.block) {
      BTF_TRY(plan_blocks());
    } else if (wanted_.automatic) {
      BTF_TRY(plan_automatic());
    } else {
      BTF_TRY(plan_given());
    }
    if (plan_.scaling != Scaling::none) BTF_TRY(check_scaled_policy(plan_.cast));
    return std::move(plan_);
  }

 private:
  DType from() const { return plan_.cast.from; }
  DType to() const { return plan_.cast.to; }

  Status plan_given() {
    const double scale = *wanted_.scale;
    if (!(scale > 0) || !std::isfinite(scale))
      return refuse_scaling("a scale of " + number_text(scale) + "; scales must be positive");
    plan_.scales.values = {scale};
    if (can_scale(to())) {
      plan_.scaling = Scaling::quantize;
      return check_zero_point(wanted_, to());
    }
    plan_.scaling = Scaling::dequantize;
    if (!can_scale(from()))
      return refuse_scaling("a scale does not apply from " + name_of(from()) + " to " +
                            name_of(to()) +
                            ": one of them must be an integer or a float of 8 bits or less");
    BTF_TRY(check_dequantized_dtype(to()));
    return check_zero_point(wanted_, from());
  }

  Result<std::vector<double>> largest(std::optional<std::uint32_t> axis) const {
    return largest_magnitudes(work_.source, work_.record, work_.target.edits, axis,
                              work_.options.execution);
  }

  // Floats are signed and have no zero point. For signed integers zero is the middle unless a zero
  // point is given or wanted.
  bool symmetric() const {
    return info(to()).floating() || (info(to()).kind == NumberKind::signed_integer &&
                                     !wanted_.find_zero_point && plan_.cast.zero_point == 0);
  }

  Status find_symmetric() {
    BTF_ASSIGN(const std::vector<double> magnitudes, largest(wanted_.axis));
    plan_.scales.values.clear();
    for (const double magnitude : magnitudes)
      plan_.scales.values.push_back(symmetric_scale(magnitude, to()));
    return {};
  }

  Status find_affine() {
    BTF_ASSIGN(const std::vector<ValueRange> ranges,
               value_ranges(work_.source, work_.record, work_.target.edits, wanted_.axis,
                            work_.options.execution));
    plan_.scales.values.clear();
    for (std::uint64_t i = 0; i < ranges.size(); ++i) {
      const auto fit = fit_affine(ranges[i], plan_.cast, wanted_.find_zero_point);
      if (!fit && wanted_.axis)
        return std::unexpected(fit.error().within(concat("index ", i, " of dim ", *wanted_.axis)));
      if (!fit) return std::unexpected(fit.error());
      plan_.scales.values.push_back(fit->scale);
      if (wanted_.find_zero_point) plan_.scales.zero_points.push_back(fit->zero_point);
    }
    return {};
  }

  Status plan_automatic() {
    plan_.scaling = Scaling::quantize;
    BTF_TRY(check_quantized_dtype(to()));
    BTF_TRY(check_zero_point(wanted_, to()));
    const Dims& dims = work_.target.dims;
    if (wanted_.axis && *wanted_.axis >= dims.size())
      return refuse_scaling(concat("there is no dim ", *wanted_.axis,
                                   " for the scales, the tensor has rank ", dims.size()));
    if (wanted_.axis) BTF_TRY(check_scale_memory(dims[*wanted_.axis], work_.options.execution));
    plan_.scales.axis = wanted_.axis;
    BTF_TRY(symmetric() ? find_symmetric() : find_affine());
    // The shape broadcasts against the data.
    Dims shape;
    if (wanted_.axis) shape.assign(dims.size(), 1);
    if (wanted_.axis) shape[*wanted_.axis] = dims[*wanted_.axis];
    BTF_ASSIGN(ScaleRecord record,
               scale_record(DType::float32, shape, ScaleKind::values, "_scale"));
    plan_.written.push_back(std::move(record));
    if (!wanted_.find_zero_point) return {};
    BTF_ASSIGN(ScaleRecord zeros, scale_record(to(), shape, ScaleKind::zero_points, "_zero_point"));
    plan_.written.push_back(std::move(zeros));
    return {};
  }

  Status plan_blocks() {
    plan_.scaling = Scaling::quantize;
    const BlockFormatInfo& format = info(*wanted_.block);
    const DTypeInfo& element = info(to());
    if (!can_scale(to()) || !element.floating() || element.bits != info(format.element).bits)
      return refuse_scaling(std::string(format.name) + " has elements of " +
                            name_of(format.element) + ", not of " + name_of(to()));
    const Dims& dims = work_.target.dims;
    if (dims.empty())
      return refuse_scaling("blocks need a dim to run along, the tensor has rank 0");
    plan_.scales.blocks = &format;
    BTF_ASSIGN(ScaleRecord blocks, scale_record(format.scale, block_scale_dims(dims, format.block),
                                                ScaleKind::blocks, "_scale"));
    plan_.written.push_back(std::move(blocks));
    if (!format.tensor_scale) return {};
    BTF_ASSIGN(const std::vector<double> magnitudes, largest({}));
    plan_.scales.tensor_scale = nvfp4_tensor_scale(magnitudes.front());
    plan_.scales.values = {plan_.scales.tensor_scale};
    BTF_ASSIGN(ScaleRecord tensor, scale_record(DType::float32, {}, ScaleKind::values, "_scale_2"));
    plan_.written.push_back(std::move(tensor));
    return {};
  }

  const TensorFile& file_;
  const TensorConversion& work_;
  const ScaleOrigin& origin_;
  const Quantization& wanted_;
  QuantizePlan plan_;
};

}  // namespace

Result<QuantizePlan> plan_quantization(const TensorFile& file, const TensorConversion& work,
                                       const ScaleOrigin& origin) {
  return Planner(file, work, origin).plan();
}

namespace {

// The block scales in the storage order of the elements, so that a box of scales matches a box of
// elements that can be read efficiently.
StridedLayout as_stored_by(const ElementSource& elements, const StridedLayout& scales) {
  StridedLayout storage = elements.storage;
  storage.dims = scales.dims;
  const std::uint64_t last = scales.dims.size() - 1;
  for (StorageAxis& axis : storage.axes) {
    if (axis.dim != last) continue;
    if (axis.part == AxisPart::whole) axis.extent = scales.dims[last];
    if (axis.part == AxisPart::blocks)
      axis.extent = ceil_div(scales.dims[last], storage.split->lanes);
  }
  return storage;
}

// The codes of scales or zero points, each in buffer_bytes().
std::vector<std::byte> scale_codes(const QuantizePlan& plan, const ScaleRecord& record) {
  std::vector<Number> numbers;
  if (record.kind == ScaleKind::zero_points)
    std::ranges::transform(plan.scales.zero_points, std::back_inserter(numbers),
                           number::from_integer);
  else
    std::ranges::transform(plan.scales.values, std::back_inserter(numbers), number::from_double);
  std::vector<std::byte> codes(numbers.size() * info(record.dtype).buffer_bytes());
  LossAccount ignored;
  encoder(record.dtype)(numbers.data(), numbers.size(), codes.data(), 1, CastPolicy{}, ignored);
  return codes;
}

}  // namespace

ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales) {
  ElementSource elements = record_elements(work);
  elements.noise = work.measures_noise();
  elements.noise_step = 1;
  if (plan.scaling == Scaling::none) return elements;
  elements.dtype = plan.cast.to;
  elements.accounted = true;
  if (plan.scales.blocks != nullptr) elements.last_granule = plan.scales.blocks->block;
  elements.open = [&plan, block_scales,
                   open = elements.open](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    BTF_ASSIGN(auto source, open(losses));
    if (plan.scaling == Scaling::quantize)
      return quantizing_reader(std::move(source), plan.cast, plan.scales, losses);
    std::unique_ptr<SlabReader> blocks;
    if (plan.block_scales)
      blocks = record_reader(*block_scales, *plan.block_scales, *plan.block_scales->storage);
    return dequantizing_reader(std::move(source), std::move(blocks), plan.cast, plan.scales,
                               losses);
  };
  return elements;
}

ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record) {
  const bool blocks = record.kind == ScaleKind::blocks;
  ElementSource elements;
  elements.storage = blocks ? as_stored_by(record_elements(work), record.storage) : record.storage;
  elements.stored = elements.dtype = record.dtype;
  // A box of block scales requires a much larger box of elements.
  if (blocks) {
    elements.slab_bytes /= plan.scales.blocks->block * info(plan.cast.from).buffer_bytes();
    elements.bytes = work.record.data_bytes;
  }
  elements.open = [&work, &plan, &record,
                   blocks](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    if (blocks) {
      BTF_ASSIGN(auto source, record_elements(work).open(losses));
      return block_scale_reader(std::move(source), plan.cast, work.target.dims, plan.scales);
    }
    return value_reader(scale_codes(plan, record), record.dtype, record.storage);
  };
  return elements;
}

namespace {

// Sources: mxfp8 and mxfp4: OCP Microscaling Formats v1.0; nvfp4: NVIDIA's block scaling (two
// levels, E4M3 under float32).
constexpr auto kBlockFormats = std::to_array<BlockFormatInfo>({
    {BlockFormat::mxfp8, "mxfp8", 32, DType::float8_e4m3fn, DType::float8_e8m0fnu, false},
    {BlockFormat::mxfp4, "mxfp4", 32, DType::float4_e2m1fn, DType::float8_e8m0fnu, false},
    {BlockFormat::nvfp4, "nvfp4", 16, DType::float4_e2m1fn, DType::float8_e4m3fn, true},
});

double largest_value(DType dtype) { return value_double(dtype, largest_code(dtype)); }

std::uint64_t encode_nearest(DType dtype, const Number& x) {
  std::uint64_t code = 0;
  LossAccount ignored;
  encoder(dtype)(&x, 1, reinterpret_cast<std::byte*>(&code), 1, CastPolicy{}, ignored);
  return code;
}

// A scale of 0 or Inf would be useless.
float scale_within_float(double largest, double divisor) {
  using Limits = std::numeric_limits<float>;
  if (largest == 0) return 1;
  return static_cast<float>(
      std::clamp<double>(largest / divisor, Limits::denorm_min(), Limits::max()));
}

// The number of adjacent elements that share an index of `axis`.
std::uint64_t inner_elements(const Dims& dims, std::uint32_t axis) {
  std::uint64_t inner = 1;
  for (std::size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  return inner;
}

}  // namespace

std::span<const BlockFormatInfo> block_formats() { return kBlockFormats; }

const BlockFormatInfo& info(BlockFormat format) {
  return *std::ranges::find(kBlockFormats, format, &BlockFormatInfo::format);
}

bool can_scale(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.kind != NumberKind::boolean &&
         (!row.floating() || (row.bits <= 8 && !row.fp.power_of_two));
}

Status check_scale_memory(std::uint64_t indices, const Execution& execution) {
  // Ranges, scales, zero points, their records' codes and the report.
  constexpr std::uint64_t kEach = 80;
  // Half of the memory of the process (btf/execution.h).
  const std::uint64_t most = std::max<std::uint64_t>(execution.memory, 1U << 20) * 4;
  if (indices <= most / kEach) return {};
  return fail(ErrorCode::refused, "a scale for each of ", indices,
              " indices needs more memory than the limit leaves, which "
              "is enough for ",
              most / kEach);
}

unsigned scale_workers(std::uint64_t indices) {
  // Only this many indices: each worker keeps numbers for all of them.
  constexpr std::uint64_t kMany = 1U << 16;
  return indices > kMany ? 1 : std::numeric_limits<unsigned>::max();
}

namespace {

// Used by one worker.
class MagnitudeFinder {
 public:
  MagnitudeFinder(DType dtype, std::uint64_t indices, std::uint64_t inner)
      : bytes_(info(dtype).buffer_bytes()),
        inner_(inner),
        to_floats_(dtype),
        widen_(widener<double>(dtype)) {
    if (to_floats_.can())
      floats_.resize(indices);
    else
      doubles_.resize(indices);
  }

  void add(const LinearSlab& slab) {
    constexpr std::uint64_t kChunk = 1024;
    alignas(64) std::array<double, kChunk> room;
    alignas(64) std::array<float, kChunk> float_room;
    for (std::uint64_t at = 0; at < slab.count; at += kChunk) {
      const std::uint64_t n = std::min(kChunk, slab.count - at);
      const std::byte* codes = slab.codes + at * bytes_;
      if (to_floats_.can()) {
        keep(to_floats_(codes, n, float_room.data()), n, slab.first + at, floats_);
      } else {
        widen_(codes, 1, n, room.data());
        keep(room.data(), n, slab.first + at, doubles_);
      }
    }
  }

  void add_to(std::vector<double>& largest) const {
    for (std::size_t i = 0; i < largest.size(); ++i)
      largest[i] =
          std::max(largest[i], floats_.empty() ? doubles_[i] : static_cast<double>(floats_[i]));
  }

 private:
  template <typename Real>
  void keep(const Real* numbers, std::uint64_t n, std::uint64_t first, std::vector<Real>& largest) {
    by_indices(
        numbers, n, {first, inner_, largest.size()},
        [&](std::uint64_t index, const Real* some, std::uint64_t count) {
          keep_largest_magnitude(some, count, largest[index]);
        },
        [&](std::uint64_t index, const Real* some, std::uint64_t count) {
          keep_largest_magnitudes(some, count, &largest[index]);
        });
  }

  std::uint64_t bytes_;
  std::uint64_t inner_;
  ToFloats to_floats_;
  WidenFn<double> widen_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
};

}  // namespace

Result<std::vector<double>> largest_magnitudes(const ByteSource& source, const TensorInfo& record,
                                               const EditChain& edits,
                                               std::optional<std::uint32_t> axis,
                                               const Execution& execution) {
  const Dims& dims = edits.empty() ? record.dims : edits.steps().back().to;
  std::vector<double> largest(axis ? dims[*axis] : 1, 0.0);
  BTF_ASSIGN(LinearSlabs slabs,
             LinearSlabs::open(source, record, edits, execution, scale_workers(largest.size())));
  std::vector<MagnitudeFinder> finders(
      slabs.workers(),
      MagnitudeFinder(*record.dtype, largest.size(), axis ? inner_elements(dims, *axis) : 1));
  BTF_TRY(for_each_slab(execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          finders[worker].add(slab);
                          return {};
                        }));
  for (const MagnitudeFinder& finder : finders) finder.add_to(largest);
  return largest;
}

float symmetric_scale(double largest, DType target) {
  return scale_within_float(largest, largest_value(target));
}

float nvfp4_tensor_scale(double largest) {
  return scale_within_float(
      largest, largest_value(DType::float4_e2m1fn) * largest_value(DType::float8_e4m3fn));
}

std::uint64_t block_scale_code(const BlockFormatInfo& format, DType element, const Number& largest,
                               float tensor_scale) {
  if (!format.tensor_scale) {
    // 2^(floor(log2(max)) - emax), where emax is the exponent of the element's largest number.
    if (largest.kind == Number::Class::zero) return 0;
    const int exponent = largest.exponent - std::ilogb(largest_value(element));
    return encode_nearest(format.scale, {number::kTopBit, exponent, false, Number::Class::finite});
  }
  const Number ratio =
      number::quotient(number::quotient(largest, number::from_double(largest_value(element))),
                       number::from_double(tensor_scale));
  return encode_nearest(format.scale, ratio);
}

std::uint64_t ScaleGrid::number(std::span<const std::uint64_t> index) const {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d] / block[d];
  return number;
}

Dims block_scale_dims(const Dims& dims, std::uint64_t block) {
  Dims scales = dims;
  scales.back() = ceil_div(dims.back(), block);
  return scales;
}

}  // namespace btf

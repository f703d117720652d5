#include "convert/quantize/scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "btf/value.h"
#include "core/checked_math.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/cast/to_floats.h"
#include "kernels/number/widen.h"
#include "kernels/scale/magnitude_runs.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {
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

// A scale of 0 or Inf would be of no use to anyone.
float scale_within_float(double largest, double divisor) {
  using Limits = std::numeric_limits<float>;
  if (largest == 0) return 1;
  return static_cast<float>(
      std::clamp<double>(largest / divisor, Limits::denorm_min(), Limits::max()));
}

// Elements of one index of `axis` that stand side by side, and how often the axis repeats.
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
  return fail(ErrorCode::refused, "a scale for each of " + std::to_string(indices) +
                                      " indices needs more memory than the limit leaves, which "
                                      "is enough for " +
                                      std::to_string(most / kEach));
}

unsigned scale_workers(std::uint64_t indices) {
  // Those that have numbers of their own for each index.
  constexpr std::uint64_t kMany = 1U << 16;
  return indices > kMany ? 1 : std::numeric_limits<unsigned>::max();
}

namespace {

// One for each worker.
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
    // 2^(floor(log2(max)) - emax), emax being the exponent of the element's largest number.
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

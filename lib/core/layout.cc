// The layout table, and the only stride arithmetic of layouts in the project.
#include "core/layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "btf/did_you_mean.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"

namespace btf::layout_rows {
namespace {

using enum Layout;
using enum Placement;
using enum DType;

// The version histories of TensorRT's headers.
constexpr TensorRtSupport kHalfs{"10.12 to 11.4", {float16, bfloat16}, 2};
constexpr std::array<TensorRtSupport, 6> kChw2{kHalfs,
                                               {"10.10", {float16, bfloat16}, 2},
                                               {"10.6 to 10.8", {float16}, 1},
                                               {"10.0 to 10.3", {float16, bfloat16}, 2},
                                               {"6.0 to 9.x", {float16}, 1}};
constexpr std::array<TensorRtSupport, 6> kHwc8{
    kHalfs, {"10.0 to 10.10", {float16, bfloat16}, 2}, {"6.0 to 9.x", {float16}, 1}};
constexpr std::array<TensorRtSupport, 6> kChw4{{{"10.12 to 11.4", {int8}, 1},
                                                {"10.10", {int8, float16, bfloat16}, 3},
                                                {"6.0 to 10.8", {int8, float16}, 2}}};
constexpr std::array<TensorRtSupport, 6> kChw16{{{"10.12 to 11.4 (DLA only)", {float16}, 1},
                                                 {"10.6 to 10.10", {float16}, 1},
                                                 {"10.0 to 10.3", {int8, float16}, 2},
                                                 {"6.0 to 9.x", {float16}, 1}}};
constexpr std::array<TensorRtSupport, 6> kChw32{
    {{"10.12 to 11.4", {int8, float32, float16}, 3},
     {"10.10", {int8, float32, float16}, 3},
     {"7.0 to 10.8 (no bound stated)", {int8, float32, float16, bfloat16}, 4},
     {"6.0", {int8, float32}, 2}}};
constexpr std::array<TensorRtSupport, 6> kDhwc8{
    kHalfs, {"10.0 to 10.10", {float16, bfloat16}, 2}, {"7.2 to 9.x", {float16}, 1}};
constexpr std::array<TensorRtSupport, 6> kCdhw32{
    {{"10.12 to 11.4", {float16, int8}, 2}, {"7.2 to 10.10", {float16, int8}, 2}}};
constexpr std::array<TensorRtSupport, 6> kHwc{
    {{"10.12 to 11.4", {float32, uint8}, 2},
     {"10.10", {float32, uint8}, 2},
     {"10.6 to 10.8", {float32, float16, uint8, int64, bfloat16}, 5},
     {"8.5 to 10.3", {float32, uint8}, 2},
     {"7.2 to 8.4", {float32}, 1}}};
constexpr std::array<TensorRtSupport, 6> kDla{
    {{"10.12 to 11.4", {float16, int8}, 2}, {"8.0 to 10.10", {float16, int8}, 2}}};
constexpr std::array<TensorRtSupport, 6> kHwc16{
    {{"10.12 to 11.4", {float16, int8, float8_e4m3fn}, 3},
     {"10.8 to 10.10", {float16, int8, float8_e4m3fn}, 3},
     {"10.6", {float16, int8}, 2},
     {"8.0 to 10.3", {float16}, 1}}};
constexpr std::array<TensorRtSupport, 6> kDhwc{
    {{"10.12 to 11.4", {float32}, 1}, {"8.6 to 10.10", {float32}, 1}}};

// clang-format off: one row to a line, so that columns can be read
// layout, name, aliases, placement, vector dim, lanes, pitch, least rank, image, dla, TensorRT,
// most dims (nvinfer1::Dims::MAX_DIMS), most C, H and W (of the DLA, by NVIDIA's developer guide),
// shuffled in blocks of
constexpr auto kRows = std::to_array<LayoutSpec>({
  {linear, "kLINEAR", {"dense", "chw", "nchw", "row-major"}, row_major},
  {coo, "coo", {"sparse", "coordinate"}, coordinates},
  {chw2, "kCHW2", {"nc/2hw2"}, vector_major, 3, 2, 0, 3, false, {}, kChw2, 8, 0},
  {hwc8, "kHWC8", {"nhwc8"}, vector_minor, 3, 8, 0, 3, false, {}, kHwc8, 8, 0},
  {chw4, "kCHW4", {"nc/4hw4"}, vector_major, 3, 4, 0, 3, false, {}, kChw4, 8, 0},
  {chw16, "kCHW16", {"nc/16hw16"}, vector_major, 3, 16, 0, 3, false, {}, kChw16, 8, 8192},
  {chw32, "kCHW32", {"nc/32hw32"}, vector_major, 3, 32, 0, 3, false, {}, kChw32, 8, 8192},
  {dhwc8, "kDHWC8", {"ndhwc8"}, vector_minor, 4, 8, 0, 4, false, {}, kDhwc8, 8, 0},
  {cdhw32, "kCDHW32", {"nc/32dhw32"}, vector_major, 4, 32, 0, 4, false, {}, kCdhw32, 8, 0},
  {hwc, "kHWC", {"nhwc", "channels_last"}, vector_minor, 3, 1, 0, 3, false, {}, kHwc, 8, 0},
  {dla_linear, "kDLA_LINEAR", {"dla linear"}, row_major, 0, 1, 64, 3, false, {}, kDla, 8, 8192},
  {dla_hwc4, "kDLA_HWC4", {"dla hwc4"}, vector_minor, 3, 4, 64, 3, true, "orin", kDla, 8, 8192},
  {hwc16, "kHWC16", {"nhwc16"}, vector_minor, 3, 16, 0, 3, false, {}, kHwc16, 8, 0},
  {dhwc, "kDHWC", {"ndhwc", "channels_last_3d"}, vector_minor, 4, 1, 0, 4, false, {}, kDhwc, 8, 0},
  {dla_hwc4_xavier, "kDLA_HWC4", {}, vector_minor, 3, 4, 32, 3, true, "xavier", kDla, 8, 8192},
  {shuffled, "shuffled", {"shuffle"}, row_major, 0, 1, 0, 0, false, {}, {}, 0, 0, 1U << 17},
});

// clang-format on

}  // namespace
}  // namespace btf::layout_rows

namespace btf {
namespace {

std::string name_of(const LayoutSpec& row) { return std::string(row.name); }

// Sets the strides of the axes as a packed array. Returns its size; unset if it exceeds 64 bits.
Checked pack(std::vector<StorageAxis>& axes) {
  Checked stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (!stride) return std::nullopt;
    axis->stride = *stride;
    stride = checked_mul(stride, axis->extent);
  }
  return stride;
}

// The number of elements that `channels` elements of the vector dim take in storage.
Checked padded_channels(const LayoutSpec& row, std::uint64_t channels) {
  if (row.image && channels == 1) return 1;
  return round_up(channels, row.lanes);
}

// The axes of the stored array, outermost first, without pitch and strides.
Result<std::vector<StorageAxis>> place(const LayoutSpec& row, std::span<const std::uint64_t> dims) {
  const auto rank = static_cast<std::uint32_t>(dims.size());
  std::vector<StorageAxis> axes;
  axes.reserve(rank + 1);
  const std::uint32_t vector_dim = row.vector_dim == 0 ? rank : rank - row.vector_dim;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (d != vector_dim) {
      axes.push_back({dims[d], 0, d, AxisPart::whole});
    } else if (row.placement == Placement::vector_major) {
      axes.push_back({ceil_div(dims[d], row.lanes), 0, d, AxisPart::blocks});
    }
  }
  if (row.placement == Placement::vector_major)
    axes.push_back({row.lanes, 0, vector_dim, AxisPart::lanes});
  if (row.placement == Placement::vector_minor) {
    const Checked channels = padded_channels(row, dims[vector_dim]);
    if (!channels) return malformed("size-overflow", 0, "the padded channels do not fit 64 bits");
    axes.push_back({*channels, 0, vector_dim, AxisPart::whole});
  }
  return axes;
}

// Rounds the length of a row up, so that every row starts at a multiple of the pitch.
Status apply_pitch(const LayoutSpec& row, unsigned bits, std::vector<StorageAxis>& axes) {
  if (row.pitch_bytes == 0) return {};
  const bool minor = row.placement == Placement::vector_minor;
  StorageAxis& width = axes[axes.size() - (minor ? 2 : 1)];
  const std::uint64_t group = (minor ? axes.back().extent : 1) * (bits / 8);
  const Checked padded = round_up(width.extent, row.pitch_bytes / group);
  if (!padded) return malformed("size-overflow", 0, "the padded row does not fit 64 bits");
  width.extent = *padded;
  return {};
}

Result<std::vector<StorageAxis>> stored_axes(const LayoutSpec& row,
                                             std::span<const std::uint64_t> dims, unsigned bits) {
  BTF_ASSIGN(std::vector<StorageAxis> axes, place(row, dims));
  BTF_TRY(apply_pitch(row, bits, axes));
  return axes;
}

std::unexpected<Error> misfit(std::string_view finding, std::string message) {
  return std::unexpected(Error{ErrorCode::unsupported, std::move(message), {}, finding, 0});
}

Status check_pair(const LayoutSpec& row, std::span<const std::uint64_t> dims,
                  const DTypeInfo& dtype) {
  if (!row.dense()) return fail(ErrorCode::unsupported, "COO is not a dense layout");
  if (dims.size() < row.min_rank)
    return misfit("layout-rank", concat(name_of(row), " needs rank ", row.min_rank,
                                        " or more, found rank ", dims.size()));
  if (dtype.half_byte() && row.layout != Layout::linear)
    return misfit("layout-dtype", "4-bit types are stored in kLINEAR only, not " +
                                      std::string(dtype.name) + " in " + name_of(row));
  if (row.shuffled() && !can_shuffle(dtype.dtype))
    return misfit("layout-dtype", "elements of one byte cannot be shuffled: store " +
                                      std::string(dtype.name) + " in kLINEAR, not in " +
                                      name_of(row));
  if (row.image) {
    const std::uint64_t channels = dims[dims.size() - row.vector_dim];
    if (channels != 1 && channels != 3 && channels != 4)
      return misfit("layout-channels",
                    concat(name_of(row), " needs C of 1, 3 or 4, found ", channels));
  }
  return {};
}

}  // namespace

std::string dims_text(std::span<const std::uint64_t> dims) {
  std::string text = "[";
  for (std::size_t d = 0; d < dims.size(); ++d) text += concat(d == 0 ? "" : ", ", dims[d]);
  return text + "]";
}

std::span<const LayoutSpec> layouts() { return layout_rows::kRows; }

const LayoutSpec& spec(Layout layout) {
  return *std::ranges::find(layout_rows::kRows, layout, &LayoutSpec::layout);
}

const LayoutSpec* find_layout(std::uint8_t code) {
  if (code == kCooCodeTfrt) code = kCooCodeSpec;
  const auto* row = std::ranges::find(layout_rows::kRows, code, &LayoutSpec::code);
  return row == layout_rows::kRows.end() ? nullptr : row;
}

Result<Layout> parse_layout(std::string_view name) {
  const std::string_view word = without_owner(name);
  std::vector<std::string_view> known;
  for (const LayoutSpec& row : layout_rows::kRows) {
    known.insert(known.end(), {row.name, row.name.substr(row.name.starts_with('k') ? 1 : 0)});
    std::ranges::copy(row.aliases, std::back_inserter(known));
    std::erase(known, std::string_view());
    if (std::ranges::any_of(known, [&](std::string_view own) { return same_name(own, word); }))
      return row.layout;
  }
  std::string names;
  for (const LayoutSpec& row : layout_rows::kRows)
    if (row.dla != "xavier") names += (names.empty() ? "" : ", ") + name_of(row);
  return fail(ErrorCode::invalid_argument, "unknown layout '" + std::string(name) + "'" +
                                               did_you_mean(word, known) + "; there are " + names);
}

bool can_shuffle(DType dtype) { return info(dtype).bits > 8; }

std::optional<std::string> tensorrt_objection(Layout layout, DType dtype) {
  const LayoutSpec& row = spec(layout);
  const auto holds = [&](const TensorRtSupport& support) {
    return std::ranges::find(support.dtypes.begin(), support.dtypes.begin() + support.count,
                             dtype) != support.dtypes.begin() + support.count;
  };
  const TensorRtSupport& newest = row.tensorrt.front();
  if (newest.count == 0 || holds(newest)) return std::nullopt;
  std::string others;
  for (const TensorRtSupport& support : row.tensorrt)
    if (holds(support)) others += (others.empty() ? "" : ", ") + std::string(support.versions);
  return "TensorRT " + std::string(newest.versions) + " does not hold " +
         std::string(info(dtype).name) + " in " + name_of(row) +
         (others.empty() ? "; no version does" : "; these versions do: " + others);
}

std::optional<std::string> tensorrt_objection(Layout layout, std::span<const std::uint64_t> dims) {
  constexpr std::string_view kChw = "CHW";
  const LayoutSpec& row = spec(layout);
  if (row.most_dims != 0 && dims.size() > row.most_dims)
    return concat("a TensorRT tensor has at most ", row.most_dims, " dims, but this one has ",
                  dims.size());
  if (row.most_chw == 0) return std::nullopt;
  // A tensor without elements is well-formed; a device never gets it.
  if (std::ranges::find(dims, std::uint64_t{0}) != dims.end()) return std::nullopt;
  for (std::size_t d = 0; d < kChw.size(); ++d) {
    const std::uint64_t extent = dims[dims.size() - kChw.size() + d];
    if (extent <= row.most_chw) continue;
    return concat("a DLA takes ", name_of(row), " with C, H and W from 1 to ", row.most_chw,
                  ", but ", kChw[d], " is ", extent);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count) {
  const auto index = static_cast<std::uint64_t>(number);
  if (number >= 0) return index < count ? std::optional(index) : std::nullopt;
  const std::uint64_t back = 0 - index;
  return back <= count ? std::optional(count - back) : std::nullopt;
}

// resolve() has checked that the product does not wrap.
std::uint64_t StridedLayout::elements() const { return element_count(dims).value_or(0); }

Dims StridedLayout::storage_shape() const {
  Dims shape;
  shape.reserve(axes.size());
  for (const StorageAxis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

Result<StridedLayout> resolve(Layout layout, std::span<const std::uint64_t> dims, DType dtype) {
  const LayoutSpec& row = spec(layout);
  const DTypeInfo& type = info(dtype);
  BTF_TRY(check_pair(row, dims, type));
  if (!element_count(dims))
    return malformed("size-overflow", 0,
                     "the product of the dims " + dims_text(dims) + " does not fit 64 bits");

  StridedLayout resolved;
  resolved.dims.assign(dims.begin(), dims.end());
  // A dim of 0 counts as 1, so that it hides no overflow and strides are those of whole rows.
  Dims counted = resolved.dims;
  std::ranges::replace(counted, std::uint64_t{0}, std::uint64_t{1});
  BTF_ASSIGN(resolved.axes, stored_axes(row, counted, type.bits));
  const Checked elements = pack(resolved.axes);
  if (!elements || !stream_bytes(elements, type.bits))
    return malformed("size-overflow", 0,
                     "the size in bytes of dims " + dims_text(dims) + " does not fit 64 bits");
  resolved.storage_elements = *elements;
  if (resolved.elements() == 0) {
    BTF_ASSIGN(const std::vector<StorageAxis> axes, stored_axes(row, dims, type.bits));
    for (std::size_t a = 0; a < axes.size(); ++a) resolved.axes[a].extent = axes[a].extent;
    resolved.storage_elements = 0;
  }

  resolved.strides.resize(dims.size());
  for (const StorageAxis& axis : resolved.axes) {
    if (axis.part == AxisPart::lanes)
      resolved.split = Split{axis.dim, axis.extent, axis.stride};
    else
      resolved.strides[axis.dim] = axis.stride;
  }
  if (row.lanes > 1 && !row.image) {
    resolved.components = row.lanes;
    resolved.vectorized_dim = static_cast<int>(dims.size()) - row.vector_dim;
  }
  return resolved;
}

std::uint64_t offset(const StridedLayout& storage, std::span<const std::uint64_t> index) {
  std::uint64_t sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (storage.split && storage.split->dim == d)
      sum += index[d] / storage.split->lanes * storage.strides[d] +
             index[d] % storage.split->lanes * storage.split->lane_stride;
    else
      sum += index[d] * storage.strides[d];
  }
  return sum;
}

Dims tensorrt_strides(const StridedLayout& storage) {
  Dims strides = storage.strides;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    // If channels are adjacent in memory, so are the vectors that they fill.
    const bool adjacent = static_cast<int>(d) == storage.vectorized_dim && !storage.split;
    strides[d] = adjacent ? 1 : strides[d] / storage.components;
  }
  return strides;
}

std::uint64_t storage_bytes(const StridedLayout& storage, DType dtype) {
  return *stream_bytes(storage.storage_elements, info(dtype).bits);
}

namespace {

std::unexpected<Error> too_large() {
  return malformed("size-overflow", 0, "the size in bytes does not fit 64 bits");
}

// As strided(), without the check for overlap. Unset if the size does not fit 64 bits; the number
// of elements must.
std::optional<StridedLayout> of_axes(Dims dims, std::vector<StorageAxis> axes, DType dtype) {
  // Outermost first. An axis with a stride of 0 repeats all others, so it is outside of them.
  std::ranges::stable_sort(axes, std::ranges::greater{},
                           [](const StorageAxis& axis) { return axis.stride - 1; });
  StridedLayout storage;
  storage.strides.resize(dims.size());
  Checked span = 1;
  bool empty = false;
  for (const StorageAxis& axis : axes) {
    if (axis.part == AxisPart::lanes)
      storage.split = Split{axis.dim, axis.extent, axis.stride};
    else
      storage.strides[axis.dim] = axis.stride;
    empty = empty || axis.extent == 0;
    if (axis.extent > 1) span = checked_add(span, checked_mul(axis.extent - 1, axis.stride));
  }
  if (!empty) {
    if (!span || !stream_bytes(span, info(dtype).bits)) return std::nullopt;
    storage.storage_elements = *span;
  }
  const auto whole_vectors = [&](std::uint64_t stride) {
    return stride % storage.split->lanes == 0;
  };
  if (storage.split && storage.split->lane_stride == 1 &&
      std::ranges::all_of(storage.strides, whole_vectors)) {
    storage.components = storage.split->lanes;
    storage.vectorized_dim = static_cast<int>(storage.split->dim);
  }
  storage.dims = std::move(dims);
  storage.axes = std::move(axes);
  return storage;
}

// The innermost axis whose stride is smaller than what the axes inside it span.
struct Overlap {
  const StorageAxis* axis = nullptr;
  std::uint64_t inside = 1;  // elements
};

std::optional<Overlap> find_overlap(const StridedLayout& storage) {
  if (storage.storage_elements == 0) return std::nullopt;
  std::uint64_t inside = 1;
  for (auto axis = storage.axes.rbegin(); axis != storage.axes.rend(); ++axis) {
    if (axis->extent == 1) continue;
    if (axis->stride < inside) return Overlap{&*axis, inside};
    inside += (axis->extent - 1) * axis->stride;
  }
  return std::nullopt;
}

}  // namespace

Result<StridedLayout> strided(Dims dims, std::vector<StorageAxis> axes, DType dtype) {
  if (info(dtype).half_byte())
    return fail(ErrorCode::unsupported, "4-bit types have no strides of their own");
  if (!element_count(dims)) return too_large();
  auto storage = of_axes(std::move(dims), std::move(axes), dtype);
  if (!storage) return too_large();
  if (const auto overlap = find_overlap(*storage))
    return fail(ErrorCode::invalid_argument, "elements would overlap: the stride of dim ",
                overlap->axis->dim, " is ", overlap->axis->stride,
                " elements, but the dims inside it span ", overlap->inside);
  return *std::move(storage);
}

Result<StridedLayout> resolve_strides(std::span<const std::uint64_t> dims,
                                      std::span<const std::uint64_t> strides, DType dtype) {
  const auto too_large_for = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "the " + std::string(what) + " of dims " +
                                                 dims_text(dims) + " does not fit 64 bits");
  };
  if (strides.size() != dims.size())
    return fail(ErrorCode::invalid_argument, strides.size(), " strides for rank ", dims.size());
  const Checked count = element_count(dims);
  if (!count) return too_large_for("product");
  if (*count == 0) return resolve(Layout::linear, dims, dtype);
  std::vector<StorageAxis> axes(dims.size());
  // The stride of a dim of size 1 does not matter. It gets that of a packed array, so that equal
  // arrangements look equal.
  Checked packed = 1;
  for (auto d = static_cast<std::uint32_t>(dims.size()); d-- > 0;) {
    const std::uint64_t stride = dims[d] == 1 ? packed.value_or(0) : strides[d];
    packed = checked_mul(dims[d], stride);
    axes[d] = {dims[d], stride, d, AxisPart::whole};
  }
  auto storage = of_axes(Dims(dims.begin(), dims.end()), std::move(axes), dtype);
  if (!storage) return too_large_for("size in bytes");
  return *std::move(storage);
}

// Axes of a named layout need not be sorted by stride.
bool distinct_elements(const StridedLayout& storage) {
  if (storage.elements() == 0) return true;
  StridedLayout sorted = storage;
  std::ranges::stable_sort(sorted.axes, std::ranges::greater{}, &StorageAxis::stride);
  return !find_overlap(sorted);
}

Result<StridedLayout> with_padding(const StridedLayout& storage, DType dtype) {
  StridedLayout padded = storage;
  std::vector<StorageAxis>& axes = padded.axes;
  StorageAxis* inner = nullptr;  // padded to the stride of the next axis
  std::uint64_t unit = 1;
  std::uint64_t end = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    // The stride of an axis of one element is arbitrary, but it may describe padding.
    if (axis->extent == 1 && inner == nullptr) axis->stride = 1;
    if (axis->extent == 0 ||
        (axis->extent == 1 && (axis->stride < end || axis->stride % unit != 0))) {
      axis->stride = end;
      continue;
    }
    if (axis->stride % unit != 0)
      return fail(ErrorCode::unsupported,
                  "to be written, strides must be multiples of one another; ", axis->stride,
                  " is not a multiple of ", unit);
    if (inner == nullptr && axis->stride != 1)
      return fail(ErrorCode::unsupported, "to be written, one dim must have a stride of 1 element");
    if (inner != nullptr && inner->extent != axis->stride / unit) {
      if (inner->part != AxisPart::whole)
        return fail(ErrorCode::unsupported, "to be written, blocks of channels must have no gaps");
      inner->extent = axis->stride / unit;
    }
    inner = &*axis;
    unit = axis->stride;
    const Checked size = checked_mul(axis->extent, axis->stride);
    if (!size || !stream_bytes(size, info(dtype).bits)) return too_large();
    end = *size;
  }
  padded.storage_elements = storage.storage_elements == 0 ? 0 : end;
  return padded;
}

Status check_buffer(std::size_t bytes, const StridedLayout& storage, DType dtype) {
  if (bytes >= storage_bytes(storage, dtype)) return {};
  return fail(ErrorCode::invalid_argument, "the buffer has ", bytes,
              " bytes, but its layout needs ", storage_bytes(storage, dtype));
}

}  // namespace btf

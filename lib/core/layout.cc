// resolve() and offset(): the only stride arithmetic in the project.
#include "btf/layout.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "btf/words/did_you_mean.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/layout_table.h"
#include "core/names.h"

namespace btf {
namespace {

std::string name_of(const LayoutSpec& row) { return std::string(row.name); }

// Strides of the axes as one packed array; its size, nothing if that does not fit 64 bits.
Checked pack(std::vector<StorageAxis>& axes) {
  Checked stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (!stride) return std::nullopt;
    axis->stride = *stride;
    stride = checked_mul(stride, axis->extent);
  }
  return stride;
}

// Elements that the vector dim takes in storage for `channels` of them.
Checked padded_channels(const LayoutSpec& row, std::uint64_t channels) {
  if (row.image && channels == 1) return 1;
  return round_up(channels, row.lanes);
}

// The stored array's axes, outermost first, without pitch and strides.
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

// Rounds the rows' length up so that every row starts at a multiple of the pitch.
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
    return misfit("layout-rank", name_of(row) + " needs rank " + std::to_string(row.min_rank) +
                                     " or more, found rank " + std::to_string(dims.size()));
  if (dtype.bits < 8 && row.layout != Layout::linear)
    return misfit("layout-dtype", "4-bit types go in kLINEAR only, not " + std::string(dtype.name) +
                                      " in " + name_of(row));
  if (row.shuffled() && !can_shuffle(dtype.dtype))
    return misfit("layout-dtype",
                  "elements of one byte have nothing to shuffle: " + std::string(dtype.name) +
                      " goes in kLINEAR, not in " + name_of(row));
  if (row.image) {
    const std::uint64_t channels = dims[dims.size() - row.vector_dim];
    if (channels != 1 && channels != 3 && channels != 4)
      return misfit("layout-channels",
                    name_of(row) + " needs C of 1, 3 or 4, found " + std::to_string(channels));
  }
  return {};
}

}  // namespace

std::string dims_text(std::span<const std::uint64_t> dims) {
  std::string text = "[";
  for (std::size_t d = 0; d < dims.size(); ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(dims[d]);
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
    return "a TensorRT tensor has at most " + std::to_string(row.most_dims) +
           " dims, this one has " + std::to_string(dims.size());
  if (row.most_chw == 0) return std::nullopt;
  // A tensor without elements is well-formed and none that a device is given.
  if (std::ranges::find(dims, std::uint64_t{0}) != dims.end()) return std::nullopt;
  for (std::size_t d = 0; d < kChw.size(); ++d) {
    const std::uint64_t extent = dims[dims.size() - kChw.size() + d];
    if (extent <= row.most_chw) continue;
    return "a DLA takes " + name_of(row) + " with C, H and W from 1 to " +
           std::to_string(row.most_chw) + ", " + kChw[d] + " is " + std::to_string(extent);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count) {
  const auto index = static_cast<std::uint64_t>(number);
  if (number >= 0) return index < count ? std::optional(index) : std::nullopt;
  const std::uint64_t back = 0 - index;
  return back <= count ? std::optional(count - back) : std::nullopt;
}

// resolve() has seen that the product does not wrap.
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
  // A dim of 0 counts as 1: it hides no overflow, and strides stay those of whole rows and lanes.
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
    // Where channels stand side by side, so do the vectors that they fill.
    const bool side_by_side = static_cast<int>(d) == storage.vectorized_dim && !storage.split;
    strides[d] = side_by_side ? 1 : strides[d] / storage.components;
  }
  return strides;
}

std::uint64_t storage_bytes(const StridedLayout& storage, DType dtype) {
  return *stream_bytes(storage.storage_elements, info(dtype).bits);
}

}  // namespace btf

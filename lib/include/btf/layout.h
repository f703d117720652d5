// How the elements of a dense tensor are arranged in memory: dims, layouts and what TensorRT
// supports of them, strides, and views of tensors in memory (docs/layouts.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

using Dims = std::vector<std::uint64_t>;

// The largest rank of a tensor in a file.
inline constexpr std::size_t kMaxRank = 255;

// "[1, 3, 224, 224]", for dims and indices.
BTF_API std::string dims_text(std::span<const std::uint64_t> dims);

// The index among `count` that a number means; negative numbers count from the end. Unset if it is
// out of range.
BTF_API std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count);

// The numbers are the codes in a BTF file: part of the format, do not change.
// From 128 on they are 128 + TensorRT's TensorFormat number, from 192 on layouts unknown to
// TensorRT (docs/format.md).
enum class Layout : std::uint8_t {
  linear = 0,
  coo = 2,  // 1, which TFRT's own code uses, is read as COO too
  chw2 = 129,
  hwc8 = 130,
  chw4 = 131,
  chw16 = 132,
  chw32 = 133,
  dhwc8 = 134,
  cdhw32 = 135,
  hwc = 136,
  dla_linear = 137,
  dla_hwc4 = 138,
  hwc16 = 139,
  dhwc = 140,
  dla_hwc4_xavier = 154,
  shuffled = 192,
};

inline constexpr std::uint8_t kCooCodeSpec = 2;
inline constexpr std::uint8_t kCooCodeTfrt = 1;

// How a layout places elements; the names are those of TensorRT's format descriptions.
enum class Placement : std::uint8_t {
  row_major,     // in the order of the dims
  vector_major,  // [.., C, H, W] -> [.., ceil(C / lanes), H, W, lanes]
  vector_minor,  // [.., C, H, W] -> [.., H, W, C rounded up to lanes]
  coordinates,   // COO: not dense, resolve() refuses it
};

// Which dtypes some versions of TensorRT support in a layout. For information: versions disagree.
struct TensorRtSupport {
  std::string_view versions;
  std::array<DType, 5> dtypes;
  std::uint8_t count = 0;
};

// The row of a layout. resolve() applies it to dims; from there on everything works on strides.
struct LayoutSpec {
  Layout layout{};
  std::string_view name;                      // TensorRT's enumerator
  std::array<std::string_view, 5> aliases{};  // lower case, besides the name without its k
  Placement placement{};
  std::uint8_t vector_dim = 0;  // counted from the end: 3 is C of [.., C, H, W]; 0 if there is none
  std::uint8_t lanes = 1;       // adjacent elements of the vector dim
  // Rows (the dim before the innermost group) start at multiples of this.
  std::uint8_t pitch_bytes = 0;
  std::uint8_t min_rank = 0;
  bool image = false;      // DLA's image input: C is 1, 3 or 4, stored as 1, 4, 4
  std::string_view dla{};  // "orin" or "xavier" if one name has two pitches
  std::array<TensorRtSupport, 6> tensorrt{};  // newest first; empty: every dtype
  std::uint8_t most_dims = 0;                 // largest rank in TensorRT; 0: no limit
  std::uint16_t most_chw = 0;                 // limit of C, H and W on a DLA; 0: not on a DLA
  // In files only: within each block of this many elements, all first bytes come first, then all
  // second bytes, and so on (docs/format.md). 0: bytes are in their usual order. Strides refer to
  // the elements before shuffling.
  std::uint32_t shuffle_block = 0;

  constexpr std::uint8_t code() const { return static_cast<std::uint8_t>(layout); }
  constexpr bool extension() const { return code() >= 128; }
  constexpr bool dense() const { return placement != Placement::coordinates; }
  constexpr bool shuffled() const { return shuffle_block != 0; }
};

// All rows, in the order of their codes.
BTF_API std::span<const LayoutSpec> layouts();

BTF_API const LayoutSpec& spec(Layout layout);

// nullptr if no layout has this code. Both 1 and 2 are COO.
BTF_API const LayoutSpec* find_layout(std::uint8_t code);

// Accepts any name of a layout in any case. kDLA_HWC4 is that of Orin. The error lists all names.
BTF_API Result<Layout> parse_layout(std::string_view name);

// Returns true if an element has several bytes.
BTF_API bool can_shuffle(DType dtype);

// Why TensorRT does not support this pair, as a sentence that names the versions that do. Unset if
// it does.
BTF_API std::optional<std::string> tensorrt_objection(Layout layout, DType dtype);
// Why TensorRT, or the DLA that the layout is for, does not support these dims. Unset if it does.
// The dims must have at least the layout's minimum rank.
BTF_API std::optional<std::string> tensorrt_objection(Layout layout,
                                                      std::span<const std::uint64_t> dims);

// What one step along an axis of the stored array is.
enum class AxisPart : std::uint8_t { whole, blocks, lanes };

struct StorageAxis {
  std::uint64_t extent = 0;  // in elements, including padding
  std::uint64_t stride = 0;  // in elements
  std::uint32_t dim = 0;     // the logical dim that the axis belongs to
  AxisPart part = AxisPart::whole;
};

// A dim whose elements are stored in groups of `lanes`.
struct Split {
  std::uint32_t dim = 0;
  std::uint64_t lanes = 1;
  std::uint64_t lane_stride = 1;

  bool operator==(const Split&) const = default;
};

// A layout applied to dims. All strides are in elements.
//   offset(i) = sum over d of i[d] * strides[d],
//   but for the split dim s: (i[s] / lanes) * strides[s] + (i[s] % lanes) * lane_stride
struct StridedLayout {
  Dims dims;     // logical
  Dims strides;  // one for each logical dim; that of the split dim is from group to group
  std::optional<Split> split;
  std::vector<StorageAxis> axes;  // the stored array, outermost first
  std::uint64_t storage_elements = 0;
  std::uint64_t components = 1;  // TensorRT: components per element of the vectorised dim
  int vectorized_dim = -1;       // TensorRT: its index, -1 for none

  BTF_API std::uint64_t elements() const;  // logical
  bool padded() const { return storage_elements != elements(); }
  BTF_API Dims storage_shape() const;
};

// Applies a layout to dims. An error, with the reason, for a rank below the layout's minimum, sizes
// that do not fit 64 bits, 4-bit types in any layout but kLINEAR, kDLA_HWC4 with C other than 1, 3
// or 4, types of one byte in kSHUFFLED, and COO.
BTF_API Result<StridedLayout> resolve(Layout layout, std::span<const std::uint64_t> dims,
                                      DType dtype);

// A tensor in memory with these strides, in elements. Strides must not be negative; with a stride
// of 0 several indices share an element, and storage_elements, the size of the memory, is less than
// elements(). An error for sizes that do not fit 64 bits.
BTF_API Result<StridedLayout> resolve_strides(std::span<const std::uint64_t> dims,
                                              std::span<const std::uint64_t> strides, DType dtype);

// Returns true if no two elements share an offset.
BTF_API bool distinct_elements(const StridedLayout& storage);

// The offset of an element. `index` must have the tensor's rank and be inside its dims.
BTF_API std::uint64_t offset(const StridedLayout& storage, std::span<const std::uint64_t> index);

// The strides that TensorRT's getTensorStrides() returns: one for each logical dim, in vectors of
// `components` elements.
//   offset(i) = sum over d of i[d] * strides[d] * components,
//   but for the vectorised dim v: (i[v] / components) * strides[v] * components + i[v] % components
BTF_API Dims tensorrt_strides(const StridedLayout& storage);

// Bytes of the stored array. `storage` must come from resolve() with the same dtype.
BTF_API std::uint64_t storage_bytes(const StridedLayout& storage, DType dtype);

// A dense tensor in the caller's memory. `bytes` is the stored array, storage_bytes(storage, dtype)
// long.
struct TensorView {
  DType dtype{};
  StridedLayout storage;
  std::span<const std::byte> bytes;
};

struct MutableTensorView {
  DType dtype{};
  StridedLayout storage;
  std::span<std::byte> bytes;
};

}  // namespace btf

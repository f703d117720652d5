// How the elements of a dense tensor are arranged in memory. One row per named layout; a row meets
// a shape in resolve(), and from there on only strides are left.
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

// The most dims of a tensor in a file, read or written.
inline constexpr std::size_t kMaxRank = 255;

// "[1, 3, 224, 224]"; of an index too.
BTF_API std::string dims_text(std::span<const std::uint64_t> dims);

// The index among `count`, negative numbers counted from the end; nothing: out of range.
BTF_API std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count);

// The numbers are the codes in a BTF file: part of the format, do not change.
// From 128 on: 128 + TensorRT's TensorFormat number, from 192 on layouts unknown to TensorRT
// (docs/format.md).
enum class Layout : std::uint8_t {
  linear = 0,
  coo = 2,  // read as 1 too: TFRT's own code numbers it so
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

// The two terms of TensorRT's format descriptions, and all others.
enum class Placement : std::uint8_t {
  row_major,     // as the dims say
  vector_major,  // [.., C, H, W] -> [.., ceil(C / lanes), H, W, lanes]
  vector_minor,  // [.., C, H, W] -> [.., H, W, C rounded up to lanes]
  coordinates,   // COO: not dense, resolve() refuses it
};

// Which dtypes some versions of TensorRT hold in a layout. Informative: they disagree.
struct TensorRtSupport {
  std::string_view versions;
  std::array<DType, 5> dtypes;
  std::uint8_t count = 0;
};

struct LayoutSpec {
  Layout layout{};
  std::string_view name;                      // TensorRT's enumerator
  std::array<std::string_view, 5> aliases{};  // lower case; the name without its k is one anyway
  Placement placement{};
  std::uint8_t vector_dim = 0;  // counted from the end: 3 is C of [.., C, H, W]; 0: none
  std::uint8_t lanes = 1;       // elements of the vector dim that stand together
  std::uint8_t pitch_bytes =
      0;  // rows (the dim before the innermost group) start at multiples of it
  std::uint8_t min_rank = 0;
  bool image = false;      // DLA's image input: C is 1, 3 or 4, stored as 1, 4, 4
  std::string_view dla{};  // "orin" or "xavier" where one name has two pitches
  std::array<TensorRtSupport, 6> tensorrt{};  // newest first; empty: every type
  std::uint8_t most_dims = 0;                 // of TensorRT's tensors; 0: no matter how many
  std::uint16_t most_chw = 0;  // limit of C, H and W on a DLA; 0: layout not supported
  // Files only: of every so many elements the first bytes come first, then the second, and so on
  // (docs/format.md); 0: bytes stand as in memory. Strides are of the elements before that.
  std::uint32_t shuffle_block = 0;

  constexpr std::uint8_t code() const { return static_cast<std::uint8_t>(layout); }
  constexpr bool extension() const { return code() >= 128; }
  constexpr bool dense() const { return placement != Placement::coordinates; }
  constexpr bool shuffled() const { return shuffle_block != 0; }
};

// All rows, in the order of their codes.
BTF_API std::span<const LayoutSpec> layouts();

BTF_API const LayoutSpec& spec(Layout layout);

// nullptr if no layout has this code. 1 and 2 are both COO.
BTF_API const LayoutSpec* find_layout(std::uint8_t code);

// By any of its names, in any case. kDLA_HWC4 is Orin's. The error lists the names there are.
BTF_API Result<Layout> parse_layout(std::string_view name);

// Are there several bytes in an element?
BTF_API bool can_shuffle(DType dtype);

// Why TensorRT would not take this pair: a sentence naming the versions that would, or nothing.
BTF_API std::optional<std::string> tensorrt_objection(Layout layout, DType dtype);
// Why TensorRT, or the DLA that the layout is for, would not take these dims, or nothing. They have
// the layout's least rank.
BTF_API std::optional<std::string> tensorrt_objection(Layout layout,
                                                      std::span<const std::uint64_t> dims);

// The unit that an axis of the stored array counts.
enum class AxisPart : std::uint8_t { whole, blocks, lanes };

struct StorageAxis {
  std::uint64_t extent = 0;  // elements, padding included
  std::uint64_t stride = 0;  // elements
  std::uint32_t dim = 0;     // the logical dim that it counts, or counts a part of
  AxisPart part = AxisPart::whole;
};

struct Split {
  std::uint32_t dim = 0;
  std::uint64_t lanes = 1;
  std::uint64_t lane_stride = 1;

  bool operator==(const Split&) const = default;
};

// A layout on a shape. All strides are in elements.
//   offset(i) = sum over d of i[d] * strides[d],
//   but for the split dim s: (i[s] / lanes) * strides[s] + (i[s] % lanes) * lane_stride
struct StridedLayout {
  Dims dims;     // logical, as the file has them
  Dims strides;  // per logical dim; of the split dim: from block to block
  std::optional<Split> split;
  std::vector<StorageAxis> axes;  // the stored array, outermost first
  std::uint64_t storage_elements = 0;
  std::uint64_t components = 1;  // TensorRT: components per element of the vectorised dim
  int vectorized_dim = -1;       // TensorRT: its index, -1 for none

  BTF_API std::uint64_t elements() const;  // logical
  bool padded() const { return storage_elements != elements(); }
  BTF_API Dims storage_shape() const;
};

// Refuses, with the reason: a rank below the layout's least, sizes that do not fit 64 bits, 4-bit
// types anywhere but in kLINEAR, kDLA_HWC4 with a C other than 1, 3, 4, types without bytes to
// shuffle, and COO.
BTF_API Result<StridedLayout> resolve(Layout layout, std::span<const std::uint64_t> dims,
                                      DType dtype);

// A tensor in memory by its strides, in elements and none of them negative. Elements may be reached
// in several ways (stride 0); storage_elements is then what the memory has, fewer than elements().
// Refuses sizes that do not fit 64 bits.
BTF_API Result<StridedLayout> resolve_strides(std::span<const std::uint64_t> dims,
                                              std::span<const std::uint64_t> strides, DType dtype);

// Has every element an offset of its own?
BTF_API bool distinct_elements(const StridedLayout& storage);

// The only offset function there is. index.size() == rank, every index inside its dim.
BTF_API std::uint64_t offset(const StridedLayout& storage, std::span<const std::uint64_t> index);

// As TensorRT's getTensorStrides(): per logical dim, in vectors of `components` elements.
//   offset(i) = sum over d of i[d] * strides[d] * components,
//   but for the vectorised dim v: (i[v] / components) * strides[v] * components + i[v] % components
BTF_API Dims tensorrt_strides(const StridedLayout& storage);

// Bytes of the stored array of a layout that resolve() gave for this dtype.
BTF_API std::uint64_t storage_bytes(const StridedLayout& storage, DType dtype);

}  // namespace btf

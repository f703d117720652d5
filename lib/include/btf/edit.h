// Edits of dims, applied one after the other before elements are cast and arranged: NumPy's basic
// indexing and its functions of the same names, on logical dims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/layout.h"

namespace btf {

// numpy.transpose: result dim d is dim order[d].
struct Permute {
  std::vector<std::uint32_t> order;
};

// Python's start:stop:step. Bounds beyond the dim are brought into it, negative ones count from its
// end, and what is not said takes everything. The step is not 0.
struct SliceRange {
  std::optional<std::int64_t> start{};
  std::optional<std::int64_t> stop{};
  std::int64_t step = 1;
};

// A single index drops its dim and must lie inside it; a negative one counts from the end.
using SlicePart = std::variant<std::int64_t, SliceRange>;

// a[part, part, ...]. Dims beyond the last part are taken whole.
struct Slice {
  std::vector<SlicePart> parts;
};

// numpy.squeeze: these dims, which must be 1, or without any all that are.
struct Squeeze {
  std::vector<std::int64_t> dims{};
};

// numpy.expand_dims: a dim of 1 that is dim `dim` of the result.
struct Unsqueeze {
  std::int64_t dim = 0;
};

// numpy.reshape in row-major order of the logical dims, whatever the layout. One -1 is inferred.
struct Reshape {
  std::vector<std::int64_t> dims;
};

// Negative dims count from the end.
using Edit = std::variant<Permute, Slice, Squeeze, Unsqueeze, Reshape>;

// The dims of the result, or why the edits do not go with these dims.
BTF_API Result<Dims> edited_dims(const Dims& dims, std::span<const Edit> edits);

// The part of one dim that a slice takes: count indices from start on; no start if count is 0.
struct SlicedDim {
  std::uint64_t start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
  bool keep = true;  // false: the dim is dropped from the result
};

// For every one of the dims.
BTF_API Result<std::vector<SlicedDim>> sliced_dims(const Slice& slice, const Dims& dims);

// A layout with its dims (and whatever else counts them) in another order: result dim d is dim
// order[d]. `order` must be a permutation of the dims.
BTF_API StridedLayout permuted(const StridedLayout& storage, std::span<const std::uint32_t> order);

}  // namespace btf

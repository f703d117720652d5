// Edits of the logical dims: NumPy's basic indexing and its functions of the same names. They are
// applied one after the other, before elements are cast and arranged in a layout.
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

// Python's start:stop:step. Bounds beyond the dim are clamped to it, negative ones count from its
// end, and unset ones take everything. The step must not be 0.
struct SliceRange {
  std::optional<std::int64_t> start{};
  std::optional<std::int64_t> stop{};
  std::int64_t step = 1;
};

// A single index drops its dim and must be inside it; a negative one counts from the end.
using SlicePart = std::variant<std::int64_t, SliceRange>;

// a[part, part, ...]. Dims beyond the last part are taken whole.
struct Slice {
  std::vector<SlicePart> parts;
};

// numpy.squeeze: drops these dims, which must be 1, or every dim of 1 if none is given.
struct Squeeze {
  std::vector<std::int64_t> dims{};
};

// numpy.expand_dims: inserts a dim of 1, which becomes dim `dim` of the result.
struct Unsqueeze {
  std::int64_t dim = 0;
};

// numpy.reshape in row-major order of the logical dims, whatever the layout. One -1 is inferred.
struct Reshape {
  std::vector<std::int64_t> dims;
};

// Negative dims count from the end.
using Edit = std::variant<Permute, Slice, Squeeze, Unsqueeze, Reshape>;

// The dims of the result. An error if the edits cannot be applied to these dims.
BTF_API Result<Dims> edited_dims(const Dims& dims, std::span<const Edit> edits);

// The part of one dim that a slice takes: `count` indices from `start` on. `start` has no meaning
// if `count` is 0.
struct SlicedDim {
  std::uint64_t start = 0;
  std::int64_t step = 1;
  std::uint64_t count = 0;
  bool keep = true;  // false: the dim is dropped from the result
};

// Resolves a slice on dims; one result for each dim.
BTF_API Result<std::vector<SlicedDim>> sliced_dims(const Slice& slice, const Dims& dims);

// The same memory with its dims in another order: dim d of the result is dim order[d]. `order` must
// be a permutation of the dims.
BTF_API StridedLayout permuted(const StridedLayout& storage, std::span<const std::uint32_t> order);

}  // namespace btf

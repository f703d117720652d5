#include "elements/row_major.h"

#include "elements/cast_slab.h"

namespace btf {

Mapping row_major(const Dims& counts) {
  Mapping mapping{Dims(counts.size()), {}};
  std::uint64_t stride = 1;
  for (std::size_t d = counts.size(); d-- > 0;) {
    mapping.strides[d] = stride;
    stride *= counts[d];
  }
  return mapping;
}

SourceSlab in_row_major(const SourceSlab& slab, const Dims& counts, DType dtype, Buffer& buffer) {
  Mapping mapping = row_major(counts);
  // The stride of a dim with one index does not matter.
  bool same = !slab.mapping.split;
  for (std::size_t d = 0; d < counts.size(); ++d)
    same = same && (counts[d] == 1 || slab.mapping.strides[d] == mapping.strides[d]);
  if (same) return {slab.data, std::move(mapping)};
  std::uint64_t elements = 1;
  for (const std::uint64_t count : counts) elements *= count;
  std::byte* codes = buffer.reserve(elements * info(dtype).buffer_bytes());
  LossAccount none;
  cast_slab({dtype, dtype, {}}, counts, slab, TargetSlab{{codes, mapping}}, none);
  return {codes, std::move(mapping)};
}

}  // namespace btf

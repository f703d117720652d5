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
  if (!slab.mapping.split && slab.mapping.strides == mapping.strides) return slab;
  std::uint64_t elements = 1;
  for (const std::uint64_t count : counts) elements *= count;
  std::byte* codes = buffer.reserve(elements * info(dtype).buffer_bytes());
  LossAccount none;
  cast_slab({dtype, dtype, {}}, counts, slab, TargetSlab{{codes, mapping}}, none);
  return {codes, std::move(mapping)};
}

}  // namespace btf

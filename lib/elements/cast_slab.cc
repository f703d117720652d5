#include "elements/cast_slab.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "btf/value.h"
#include "kernels/move/stream_tile.h"

namespace btf {
namespace {

std::uint64_t load_code(const std::byte* element, DType dtype) {
  std::uint64_t code = 0;
  std::memcpy(&code, element, info(dtype).buffer_bytes());
  return code;
}

std::uint64_t mapped_offset(const Mapping& mapping, std::span<const std::uint64_t> index) {
  StridedLayout storage;
  storage.strides = mapping.strides;
  storage.split = mapping.split;
  return offset(storage, index);
}

// Steps through [0, counts) in row-major order; false after the last.
bool next_index(Dims& index, std::span<const std::uint64_t> counts) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < counts[d]) return true;
    index[d] = 0;
  }
  return false;
}

// Padding that no line of a tile runs into.
void zero_padding(std::span<const std::uint64_t> counts, const TargetSlab& target,
                  std::uint64_t element_bytes) {
  Dims ends(counts.begin(), counts.end());
  ends[target.padded_dim] = 1;
  Dims first(counts.size(), 0);
  first[target.padded_dim] = counts[target.padded_dim] - 1;
  std::byte* behind = target.data + (mapped_offset(target.mapping, first) + 1) * element_bytes;
  for (const Region& region : make_plan(ends, target.mapping, target.mapping))
    for_each_tile(region, {.loops = region.axes}, [&](std::uint64_t, std::uint64_t to) {
      std::memset(behind + to * element_bytes, 0, target.padding * element_bytes);
    });
}

// Where the last index of the padded dim is.
std::uint64_t padded_end(std::span<const std::uint64_t> counts, const TargetSlab& target) {
  Dims last(counts.size(), 0);
  last[target.padded_dim] = counts[target.padded_dim] - 1;
  return mapped_offset(target.mapping, last);
}

}  // namespace

void cast_slab(const CastJob& job, std::span<const std::uint64_t> counts, const SourceSlab& source,
               const TargetSlab& target, LossAccount& account) {
  const CastKernel& kernel = pick_cast_kernel(job);
  const std::uint64_t source_bytes = info(job.from).buffer_bytes();
  const std::uint64_t target_bytes = info(job.to).buffer_bytes();
  const std::vector<Region> regions = make_plan(counts, source.mapping, target.mapping);
  bool padding_left = target.padding != 0 && !regions.empty();
  for (const Region& region : regions) {
    Tiling tiling = tile_region(region);
    // The last index alone is a line of one element and the padding.
    if (padding_left && tiling.inner.target_stride != 1 &&
        region.target_base == padded_end(counts, target)) {
      if (tiling.outer.count != 1) tiling.loops.push_back(tiling.outer);
      tiling.outer = tiling.inner;
      tiling.inner = {1, 0, 1};
    }
    Tile tile{.n0 = tiling.inner.count,
              .source_stride0 = tiling.inner.source_stride,
              .target_stride0 = tiling.inner.target_stride,
              .n1 = tiling.outer.count,
              .source_stride1 = tiling.outer.source_stride,
              .target_stride1 = tiling.outer.target_stride};
    if (padding_left && tile.target_stride0 == 1 &&
        region.target_base + tile.n0 - 1 == padded_end(counts, target)) {
      tile.width0 = tile.n0 + target.padding;
      padding_left = false;
    }
    for_each_tile(region, tiling, [&](std::uint64_t from, std::uint64_t to) {
      tile.source = source.data + from * source_bytes;
      tile.target = target.data + to * target_bytes;
      if (target.stream)
        stream_tile(kernel, job, tile, account);
      else
        kernel.run(job, tile, account);
    });
  }
  if (padding_left) zero_padding(counts, target, target_bytes);
}

namespace {

// The row-major number of an index.
std::uint64_t number_of(std::span<const std::uint64_t> index, std::span<const std::uint64_t> dims) {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d];
  return number;
}

// Sets `index` within the box; false if the element of this number is not in it.
bool place_in(const SampledBox& sampled, std::uint64_t number, Dims& index) {
  for (std::size_t d = sampled.dims.size(); d-- > 0;) {
    const std::uint64_t at = number % sampled.dims[d];
    number /= sampled.dims[d];
    if (at < sampled.box.lo[d] || at >= sampled.box.hi[d]) return false;
    index[d] = at - sampled.box.lo[d];
  }
  return true;
}

void sampled_noise(const CastJob& job, const SampledBox& sampled, const SourceSlab& source,
                   const TargetSlab& target, Noise& noise) {
  Dims last = sampled.box.hi;
  for (std::uint64_t& at : last) --at;
  const std::uint64_t step = sampled.step;
  const std::uint64_t end = number_of(last, sampled.dims);
  Dims index(sampled.dims.size(), 0);
  for (std::uint64_t n = (number_of(sampled.box.lo, sampled.dims) + step - 1) / step * step;
       n <= end; n += step)
    if (place_in(sampled, n, index))
      measure_noise(job.from, job.to,
                    {.source = source.data + mapped_offset(source.mapping, index) *
                                                 info(job.from).buffer_bytes(),
                     .target = target.data + mapped_offset(target.mapping, index) *
                                                 info(job.to).buffer_bytes(),
                     .n = 1},
                    noise);
}

}  // namespace

void slab_noise(const CastJob& job, const SampledBox& sampled, const SourceSlab& source,
                const TargetSlab& target, Noise& noise) {
  if (sampled.step > 1) return sampled_noise(job, sampled, source, target, noise);
  const Dims counts = sampled.box.counts();
  const std::uint64_t source_bytes = info(job.from).buffer_bytes();
  const std::uint64_t target_bytes = info(job.to).buffer_bytes();
  for (const Region& region : make_plan(counts, source.mapping, target.mapping)) {
    Tiling tiling = tile_region(region);
    if (tiling.outer.count != 1) tiling.loops.push_back(tiling.outer);
    for_each_tile(region, tiling, [&](std::uint64_t from, std::uint64_t to) {
      measure_noise(job.from, job.to,
                    {.source = source.data + from * source_bytes,
                     .target = target.data + to * target_bytes,
                     .n = tiling.inner.count,
                     .source_stride = tiling.inner.source_stride,
                     .target_stride = tiling.inner.target_stride},
                    noise);
    });
  }
}

void cast_run(const CastJob& job, const std::byte* source, std::byte* target, std::uint64_t n,
              LossAccount& account) {
  const Tile tile{
      .source = source, .target = target, .n0 = n, .source_stride0 = 1, .target_stride0 = 1};
  pick_cast_kernel(job).run(job, tile, account);
}

bool forbidden(const CastPolicy& policy, const LossAccount& account) {
  return (policy.overflow == Overflow::error && account.overflowed != 0) ||
         (policy.lossless && account.changed() != 0);
}

const char* what_is_lost(const LossAccount& one) {
  if (one.overflowed != 0) return " overflows ";
  return one.nan_lost != 0 ? " cannot be represented in " : " is not exact in ";
}

std::unexpected<Error> refuse_element(const CastJob& job, std::span<const std::uint64_t> index,
                                      const std::byte* element, const LossAccount& one) {
  return fail(ErrorCode::refused, "element " + dims_text(index) + " = " +
                                      value_text(job.from, load_code(element, job.from)) +
                                      what_is_lost(one) + std::string(info(job.to).name));
}

std::unexpected<Error> refuse(const CastJob& job, const Box& box, const SourceSlab& source) {
  const Dims counts = box.counts();
  Dims index(counts.size(), 0);
  for (;;) {
    const std::byte* element =
        source.data + mapped_offset(source.mapping, index) * info(job.from).buffer_bytes();
    std::uint64_t result = 0;
    LossAccount one;
    cast_run(job, element, reinterpret_cast<std::byte*>(&result), 1, one);
    if (forbidden(job.policy, one) || !next_index(index, counts)) {
      for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.lo[d];
      return refuse_element(job, index, element, one);
    }
  }
}

}  // namespace btf

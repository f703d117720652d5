#include "elements/cast.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "btf/dtype.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "formats/io/output.h"
#include "kernels/move/move.h"

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

namespace {

// Adjacent bytes that one slab writes.
struct NibbleRun {
  std::uint64_t first = 0;        // byte of the tensor
  std::optional<std::byte> head;  // shared with the previous slab
  const std::byte* codes = nullptr;
  std::uint64_t count = 0;        // odd only at the end of the tensor
  std::optional<std::byte> tail;  // shared with the next slab

  std::uint64_t packed_bytes() const { return ceil_div(count, 2); }
};

class NibbleWriter : public SlabWriter {
 public:
  NibbleWriter(StridedLayout storage, NibbleSeams& seams)
      : storage_(std::move(storage)), padded_(storage_.padded()), seams_(seams) {}

  Result<TargetSlab> begin(const Box& box) override {
    to_ = footprint(storage_, box);
    std::byte* codes = codes_.reserve(to_.elements);
    if (padded_) std::memset(codes, 0, to_.elements);
    return TargetSlab{{codes, to_.packed}};
  }

  Status finish() override {
    NibbleRun run{.first = to_.base / 2,
                  .head = {},
                  .codes = codes_.data(),
                  .count = to_.elements,
                  .tail = {}};
    if (run.count == 0) return {};
    const std::uint64_t end = to_.base + to_.elements;
    if (to_.base % 2 != 0) {
      run.head = seams_.join(run.first, *run.codes << 4);
      if (!run.head) ++run.first;
      ++run.codes;
      --run.count;
    }
    if (end % 2 != 0 && end != storage_.storage_elements) {
      --run.count;
      run.tail = seams_.join(end / 2, run.codes[run.count]);
    }
    return write(run);
  }

 protected:
  virtual Status write(const NibbleRun& run) = 0;

 private:
  StridedLayout storage_;
  bool padded_;
  NibbleSeams& seams_;
  Footprint to_;
  Buffer codes_;
};

class FileNibbleWriter final : public NibbleWriter {
 public:
  FileNibbleWriter(ByteSink& sink, std::uint64_t data_offset, StridedLayout storage,
                   NibbleSeams& seams)
      : NibbleWriter(std::move(storage), seams), sink_(sink), data_offset_(data_offset) {}

 private:
  Status write(const NibbleRun& run) override {
    std::byte* const packed = packed_.reserve(run.packed_bytes() + 2);
    std::byte* end = packed;
    if (run.head) *end++ = *run.head;
    pack_nibbles(run.codes, run.count, end);
    end += run.packed_bytes();
    if (run.tail) *end++ = *run.tail;
    return sink_.write_at(data_offset_ + run.first, std::span(packed, end));
  }

  ByteSink& sink_;
  std::uint64_t data_offset_;
  Buffer packed_;
};

class MemoryNibbleWriter final : public NibbleWriter {
 public:
  MemoryNibbleWriter(std::byte* data, StridedLayout storage, bool stream, NibbleSeams& seams)
      : NibbleWriter(std::move(storage), seams), data_(data), stream_(stream) {}

 private:
  Status write(const NibbleRun& run) override {
    std::byte* to = data_ + run.first;
    if (run.head) *to++ = *run.head;
    if (stream_)
      stream_nibbles(run.codes, run.count, to);
    else
      pack_nibbles(run.codes, run.count, to);
    if (run.tail) to[run.packed_bytes()] = *run.tail;
    return {};
  }

  void stream_nibbles(const std::byte* codes, std::uint64_t count, std::byte* to) {
    std::byte* const packed = packed_.reserve(kPiece);
    // Every piece but the last ends at the end of a cache line.
    std::uint64_t most = 2 * (kPiece - reinterpret_cast<std::uintptr_t>(to) % kLine);
    while (count != 0) {
      const std::uint64_t some = std::min(most, count);
      pack_nibbles(codes, some, packed);
      stream_copy(packed, to, ceil_div(some, 2));
      codes += some;
      count -= some;
      to += some / 2;
      most = 2 * kPiece;
    }
    stream_fence();
  }

  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kPiece = 16U << 10;  // bytes that stay in the first-level cache

  std::byte* data_;
  bool stream_;
  Buffer packed_;
};

}  // namespace

std::optional<std::byte> NibbleSeams::join(std::uint64_t byte, std::byte code) {
  const std::scoped_lock lock(mutex_);
  const auto [other, first] = waiting_.try_emplace(byte, code);
  if (first) return std::nullopt;
  const std::byte whole = other->second | code;
  waiting_.erase(other);
  return whole;
}

std::unique_ptr<SlabWriter> nibble_file_writer(ByteSink& sink, std::uint64_t data_offset,
                                               const StridedLayout& storage, NibbleSeams& seams) {
  return std::make_unique<FileNibbleWriter>(sink, data_offset, storage, seams);
}

std::unique_ptr<SlabWriter> nibble_memory_writer(std::byte* data, const StridedLayout& storage,
                                                 bool stream, NibbleSeams& seams) {
  return std::make_unique<MemoryNibbleWriter>(data, storage, stream, seams);
}

namespace {

class ShufflingSink final : public ByteSink {
 public:
  ShufflingSink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes, std::uint64_t width,
                std::uint64_t block)
      : sink_(sink), next_(first), end_(first + bytes), width_(width), block_(block * width) {}

  bool random_access() const override { return false; }
  Status commit() override { return {}; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != next_ + gathered_ || bytes.size() > end_ - offset)
      return fail(ErrorCode::unsupported,
                  "shuffled elements must be written front to back, but byte ", offset,
                  " is not the next one");
    while (!bytes.empty()) {
      const std::uint64_t block = std::min(block_, end_ - next_);
      const auto some = bytes.first(std::min<std::uint64_t>(bytes.size(), block - gathered_));
      bytes = bytes.subspan(some.size());
      if (some.size() == block) {
        BTF_TRY(write_block(some));
        continue;
      }
      std::byte* const gathered = elements_.reserve(block_);
      std::ranges::copy(some, gathered + gathered_);
      gathered_ += some.size();
      if (gathered_ == block) BTF_TRY(write_block({gathered, block}));
    }
    return {};
  }

 private:
  Status write_block(std::span<const std::byte> elements) {
    std::byte* const planes = planes_.reserve(elements.size());
    split_planes(elements.data(), elements.size() / width_, width_, planes);
    BTF_TRY(sink_.write_at(next_, std::span(planes, elements.size())));
    next_ += elements.size();
    gathered_ = 0;
    return {};
  }

  ByteSink& sink_;
  std::uint64_t next_;  // offset of the next block
  std::uint64_t end_;
  std::uint64_t width_;
  std::uint64_t block_;         // bytes
  std::uint64_t gathered_ = 0;  // bytes of the next block
  Buffer elements_;
  Buffer planes_;
};

}  // namespace

std::unique_ptr<ByteSink> shuffling_sink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes,
                                         Layout layout, DType dtype) {
  const std::uint64_t block = spec(layout).shuffle_block;
  if (block == 0) return nullptr;
  const std::uint64_t width = info(dtype).buffer_bytes();
  return std::make_unique<ShufflingSink>(sink, first, bytes, width, block);
}

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

// Advances the index through [0, counts) in row-major order; returns false after the last.
bool next_index(Dims& index, std::span<const std::uint64_t> counts) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < counts[d]) return true;
    index[d] = 0;
  }
  return false;
}

// Zeroes padding that is not at the end of a line of a tile.
void zero_padding(std::span<const std::uint64_t> counts, const TargetSlab& target,
                  std::uint64_t element_bytes) {
  Dims ends(counts.begin(), counts.end());
  ends[target.padded_dim] = 1;
  Dims first(counts.size(), 0);
  first[target.padded_dim] = counts[target.padded_dim] - 1;
  std::byte* padding = target.data + (mapped_offset(target.mapping, first) + 1) * element_bytes;
  for (const Region& region : make_plan(ends, target.mapping, target.mapping))
    for_each_tile(region, {.loops = region.axes}, [&](std::uint64_t, std::uint64_t to) {
      std::memset(padding + to * element_bytes, 0, target.padding * element_bytes);
    });
}

// The offset of the last index of the padded dim.
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
    // The last index alone is a line of one element, followed by the padding.
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

// Sets `index` relative to the box; returns false if the element of this number is not in it.
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
  const std::uint64_t end = linear_key(sampled.dims, last);
  Dims index(sampled.dims.size(), 0);
  for (std::uint64_t n = (linear_key(sampled.dims, sampled.box.lo) + step - 1) / step * step;
       n <= end; n += step)
    if (place_in(sampled, n, index))
      measure_noise(job.from, job.to,
                    {.source = source.data +
                               mapped_offset(source.mapping, index) * info(job.from).buffer_bytes(),
                     .target = target.data +
                               mapped_offset(target.mapping, index) * info(job.to).buffer_bytes(),
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

const char* loss_words(const LossAccount& one) {
  if (one.overflowed != 0) return " overflows ";
  return one.nan_lost != 0 ? " cannot be represented in " : " is not exact in ";
}

std::unexpected<Error> refuse_element(const CastJob& job, std::span<const std::uint64_t> index,
                                      const std::byte* element, const LossAccount& one) {
  return fail(ErrorCode::refused, "element " + dims_text(index) + " = " +
                                      value_text(job.from, load_code(element, job.from)) +
                                      loss_words(one) + std::string(info(job.to).name));
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

namespace {

constexpr std::uint64_t kSmall = 4U << 20;     // below this a second thread is not worth its cost
constexpr std::uint64_t kMinSlab = 64U << 10;  // below this a slab costs more than its elements

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
}

class SlabQueue {
 public:
  explicit SlabQueue(std::uint64_t count) : count_(count) {}

  std::optional<std::uint64_t> take() {
    const std::uint64_t slab = next_.fetch_add(1);
    if (slab >= count_ || slab >= stop_at_.load()) return std::nullopt;
    return slab;
  }

  void fail(std::uint64_t slab, Error error) {
    const std::scoped_lock lock(mutex_);
    if (slab >= stop_at_.load()) return;
    stop_at_ = slab;
    error_ = std::move(error);
  }

  Status status() && {
    if (error_) return std::unexpected(*std::move(error_));
    return {};
  }

 private:
  std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> stop_at_{UINT64_MAX};
  std::mutex mutex_;
  std::optional<Error> error_;
};

// Running out of memory is an error of the slab, as any other, and so does not depend on the
// worker.
Status run_slab(const std::function<Status(unsigned, std::uint64_t)>& work, unsigned worker,
                std::uint64_t slab) {
  try {
    return work(worker, slab);
  } catch (const std::bad_alloc&) {
    return system_failure(ErrorCode::no_space, ENOMEM, "out of memory");
  }
}

}  // namespace

unsigned worker_count(const Execution& execution, std::uint64_t slabs, std::uint64_t bytes) {
  if (bytes < kSmall || slabs <= 1) return 1;
  const std::uint64_t wanted = execution.jobs != 0 ? execution.jobs : usable_cpus();
  return static_cast<unsigned>(std::clamp<std::uint64_t>(slabs, 1, wanted));
}

std::uint64_t max_slab_bytes(const Execution& execution, unsigned workers) {
  return std::max(kMinSlab, execution.memory / (2 * std::uint64_t{workers}));
}

Status check_cancelled(const Execution& execution) {
  if (execution.cancel != nullptr && execution.cancel->load())
    return fail(ErrorCode::cancelled, "interrupted");
  return {};
}

Status for_each_slab(const Execution& execution, unsigned workers, std::uint64_t slabs,
                     const std::function<Status(unsigned, std::uint64_t)>& work) {
  SlabQueue queue(slabs);
  const auto run = [&](unsigned worker) {
    while (const auto slab = queue.take()) {
      Status status = check_cancelled(execution);
      if (status) status = run_slab(work, worker, *slab);
      if (!status) return queue.fail(*slab, std::move(status).error());
    }
  };
  Workers others;
  if (workers > 1) others.start(workers - 1, std::ref(run));
  run(0);
  others.join();
  return std::move(queue).status();
}

}  // namespace btf

#include "elements/slab_io.h"

#include <cstring>
#include <optional>

#include "btf/try.h"
#include "core/checked_math.h"
#include "elements/stored_elements.h"
#include "kernels/move/nibbles.h"
#include "kernels/move/stream.h"

namespace btf {
namespace {

// Runs that begin no further apart than this are read with the gaps between them, which costs less
// than a read of each.
constexpr std::uint64_t kCloseRuns = 8U << 10;
constexpr std::uint64_t kMostSpan = 256U << 10;

// Calls visit(storage offset, packed offset) for every run, in storage order.
template <typename Visit>
Status for_each_run(const Footprint& footprint, std::size_t depth, Visit&& visit) {
  std::vector<std::uint64_t> index(depth, 0);
  std::uint64_t storage = footprint.base;
  std::uint64_t packed = 0;
  std::uint64_t step = footprint.run;  // elements of a visit
  for (std::size_t d = depth; d < footprint.loops.size(); ++d) step *= footprint.loops[d].count;
  for (;;) {
    BTF_TRY(visit(storage, packed));
    packed += step;
    std::size_t d = depth;
    for (; d > 0; --d) {
      const Footprint::Loop& loop = footprint.loops[d - 1];
      storage += loop.stride;
      if (++index[d - 1] < loop.count) break;
      storage -= loop.count * loop.stride;
      index[d - 1] = 0;
    }
    if (d == 0) return {};
  }
}

// The elements of a file by their numbers in the stored array.
class FileRuns {
 public:
  FileRuns(const ByteSource& source, std::uint64_t data_offset, StoredElements elements,
           DType dtype)
      : source_(source),
        data_offset_(data_offset),
        elements_(std::move(elements)),
        bits_(info(dtype).bits) {}

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out) {
    if (bits_ >= 8) return elements_.read(first, count, out);
    const std::uint64_t first_byte = first / 2;
    const std::uint64_t bytes = ceil_div(first + count, 2) - first_byte;
    const std::uint64_t begin = data_offset_ + first_byte;
    if (const auto held = source_.held(); fits(begin, bytes, held.size())) {
      unpack_nibbles(held.data() + begin, first % 2, count, out);
      return {};
    }
    std::byte* packed = nibbles_.reserve(bytes);
    BTF_TRY(source_.read_at(begin, std::span(packed, bytes)));
    unpack_nibbles(packed, first % 2, count, out);
    return {};
  }

  const std::byte* held(std::uint64_t first, std::uint64_t count) const {
    return bits_ >= 8 ? elements_.held(first, count) : nullptr;
  }

 private:
  const ByteSource& source_;
  std::uint64_t data_offset_;
  StoredElements elements_;  // of 8 bits and more
  unsigned bits_;
  Buffer nibbles_;
};

// Any other elements by their numbers.
class OtherRuns {
 public:
  explicit OtherRuns(std::unique_ptr<ElementRuns> runs) : runs_(std::move(runs)) {}

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out) {
    return runs_->read(first, count, out);
  }

  static const std::byte* held(std::uint64_t, std::uint64_t) { return nullptr; }

 private:
  std::unique_ptr<ElementRuns> runs_;
};

// Gathers n runs of `bytes` that stand `stride` bytes apart.
using GatherFn = void (*)(const std::byte* from, std::uint64_t stride, std::uint64_t n,
                          std::uint64_t bytes, std::byte* out);

template <std::size_t kBytes>
void gather_runs(const std::byte* from, std::uint64_t stride, std::uint64_t n, std::uint64_t bytes,
                 std::byte* out) {
  const std::uint64_t run = kBytes != 0 ? kBytes : bytes;
  for (std::uint64_t i = 0; i < n; ++i) std::memcpy(out + i * run, from + i * stride, run);
}

GatherFn gather_fn(std::uint64_t bytes) {
  struct Row {
    std::uint64_t bytes;
    GatherFn gather;
  };
  static constexpr Row kRows[] = {{1, gather_runs<1>},   {2, gather_runs<2>},
                                  {4, gather_runs<4>},   {8, gather_runs<8>},
                                  {16, gather_runs<16>}, {32, gather_runs<32>}};
  for (const Row& row : kRows)
    if (row.bytes == bytes) return row.gather;
  return gather_runs<0>;
}

template <typename Runs>
class RunReader final : public SlabReader {
 public:
  RunReader(Runs runs, StridedLayout storage, std::uint64_t base, DType dtype)
      : runs_(std::move(runs)),
        storage_(std::move(storage)),
        base_(base),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    Footprint from = footprint(storage_, box);
    if (from.contiguous())
      if (const std::byte* const held = runs_.held(base_ + from.base, from.elements))
        return SourceSlab{held + from.first * bytes_, std::move(from.packed)};
    std::byte* out = slab_.reserve(from.elements * bytes_);
    if (gathers(from)) {
      const Footprint::Loop loop = from.loops.back();
      BTF_TRY(for_each_run(from, from.loops.size() - 1,
                           [&](std::uint64_t storage, std::uint64_t packed) {
                             return gather(storage, loop, from.run, out + packed * bytes_);
                           }));
    } else {
      BTF_TRY(
          for_each_run(from, from.loops.size(), [&](std::uint64_t storage, std::uint64_t packed) {
            return read_run(storage, from.run, out + packed * bytes_);
          }));
    }
    return SourceSlab{out + from.first * bytes_, std::move(from.packed)};
  }

 private:
  // Do the runs of the innermost loop stand close together?
  bool gathers(const Footprint& from) const {
    if (from.contiguous()) return false;
    const Checked apart = checked_mul(Checked(from.loops.back().stride), bytes_);
    return apart && *apart > 0 && *apart <= kCloseRuns;
  }

  Status gather(std::uint64_t storage, const Footprint::Loop& loop, std::uint64_t run,
                std::byte* out) {
    const std::uint64_t most = std::max<std::uint64_t>(1, kMostSpan / (loop.stride * bytes_));
    const GatherFn pick = gather_fn(run * bytes_);
    for (std::uint64_t i = 0; i < loop.count; i += most) {
      const std::uint64_t n = std::min(most, loop.count - i);
      const std::uint64_t span = (n - 1) * loop.stride + run;
      std::byte* wide = span_.reserve(span * bytes_);
      BTF_TRY(read_run(storage + i * loop.stride, span, wide));
      pick(wide, loop.stride * bytes_, n, run * bytes_, out + i * run * bytes_);
    }
    return {};
  }

  Status read_run(std::uint64_t storage, std::uint64_t count, std::byte* out) {
    return count == 0 ? Status{} : runs_.read(base_ + storage, count, out);
  }

  Runs runs_;
  StridedLayout storage_;
  std::uint64_t base_;
  std::uint64_t bytes_;
  Buffer slab_;
  Buffer span_;
};

class FileWriter final : public SlabWriter {
 public:
  FileWriter(ByteSink& sink, std::uint64_t data_offset, StridedLayout storage, DType dtype)
      : sink_(sink),
        data_offset_(data_offset),
        storage_(std::move(storage)),
        padded_(storage_.padded()),
        bytes_(info(dtype).buffer_bytes()) {}

  Result<TargetSlab> begin(const Box& box) override {
    to_ = footprint(storage_, box);
    std::byte* data = slab_.reserve(to_.elements * bytes_);
    if (padded_) std::memset(data, 0, to_.elements * bytes_);
    return TargetSlab{{data, to_.packed}};
  }

  Status finish() override { return write_runs(slab_.data()); }

  Result<bool> write(const Box& box, const SourceSlab& slab) override {
    to_ = footprint(storage_, box);
    if (padded_ || to_.first != 0 || slab.mapping != to_.packed) return false;
    BTF_TRY(write_runs(slab.data));
    return true;
  }

 private:
  Status write_runs(const std::byte* data) {
    return for_each_run(to_, to_.loops.size(), [&](std::uint64_t storage, std::uint64_t packed) {
      return sink_.write_at(data_offset_ + storage * bytes_,
                            std::span(data + packed * bytes_, to_.run * bytes_));
    });
  }

  ByteSink& sink_;
  std::uint64_t data_offset_;
  StridedLayout storage_;
  bool padded_;
  std::uint64_t bytes_;
  Footprint to_;
  Buffer slab_;
};

Mapping mapping_of(const StridedLayout& storage) { return {storage.strides, storage.split}; }

class MemoryReader final : public SlabReader {
 public:
  MemoryReader(const std::byte* data, StridedLayout storage, DType dtype)
      : data_(data), storage_(std::move(storage)), bytes_(info(dtype).buffer_bytes()) {}

  Result<SourceSlab> read(const Box& box) override {
    return SourceSlab{data_ + offset(storage_, box.lo) * bytes_, mapping_of(storage_)};
  }

 private:
  const std::byte* data_;
  StridedLayout storage_;
  std::uint64_t bytes_;
};

// The padding of layouts in which that of one dim is all there is, right behind its last index.
struct DimPadding {
  std::uint32_t dim = 0;
  std::uint64_t elements = 0;
};

std::optional<DimPadding> dim_padding(const StridedLayout& storage) {
  if (storage.axes.empty()) return std::nullopt;
  const StorageAxis& innermost = storage.axes.back();
  if (innermost.stride != 1 || innermost.part == AxisPart::blocks) return std::nullopt;
  const std::uint64_t dim = storage.dims[innermost.dim];
  if (dim == 0) return std::nullopt;
  const std::uint64_t stored = innermost.part == AxisPart::lanes
                                   ? ceil_div(dim, innermost.extent) * innermost.extent
                                   : innermost.extent;
  const Checked all = checked_mul(Checked(storage.elements() / dim), stored);
  if (!all || *all != storage.storage_elements) return std::nullopt;
  return DimPadding{innermost.dim, stored - dim};
}

class MemoryWriter final : public SlabWriter {
 public:
  MemoryWriter(std::byte* data, StridedLayout storage, DType dtype, bool stream)
      : data_(data),
        storage_(std::move(storage)),
        bytes_(info(dtype).buffer_bytes()),
        stream_(stream),
        padding_(stream ? dim_padding(storage_) : std::nullopt) {}

  Result<TargetSlab> begin(const Box& box) override {
    TargetSlab slab{{data_ + offset(storage_, box.lo) * bytes_, mapping_of(storage_)}, stream_};
    if (!storage_.padded()) return slab;
    if (padding_) {
      slab.padded_dim = padding_->dim;
      if (box.hi[padding_->dim] == storage_.dims[padding_->dim]) slab.padding = padding_->elements;
      return slab;
    }
    slab.stream = false;
    const Footprint to = footprint(storage_, box);
    BTF_TRY(for_each_run(to, to.loops.size(), [&](std::uint64_t storage, std::uint64_t) {
      std::memset(data_ + storage * bytes_, 0, to.run * bytes_);
      return Status{};
    }));
    return slab;
  }

  Status finish() override {
    if (stream_) stream_fence();
    return {};
  }

 private:
  std::byte* data_;
  StridedLayout storage_;
  std::uint64_t bytes_;
  bool stream_;
  std::optional<DimPadding> padding_;
};

}  // namespace

std::unique_ptr<SlabReader> file_reader(const ByteSource& source, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype) {
  return std::make_unique<RunReader<FileRuns>>(
      FileRuns(source, data_offset, StoredElements(source, data_offset, dtype), dtype), storage, 0,
      dtype);
}

std::unique_ptr<SlabReader> record_reader(const ByteSource& source, const TensorInfo& record,
                                          const StridedLayout& storage, std::uint64_t base) {
  const DType dtype = *record.dtype;
  return std::make_unique<RunReader<FileRuns>>(
      FileRuns(source, record.data_offset, StoredElements(source, record), dtype), storage, base,
      dtype);
}

std::unique_ptr<SlabReader> runs_reader(std::unique_ptr<ElementRuns> runs,
                                        const StridedLayout& storage, std::uint64_t base,
                                        DType dtype) {
  return std::make_unique<RunReader<OtherRuns>>(OtherRuns(std::move(runs)), storage, base, dtype);
}

std::unique_ptr<SlabWriter> file_writer(ByteSink& sink, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype) {
  return std::make_unique<FileWriter>(sink, data_offset, storage, dtype);
}

std::unique_ptr<SlabReader> memory_reader(const std::byte* data, const StridedLayout& storage,
                                          DType dtype) {
  return std::make_unique<MemoryReader>(data, storage, dtype);
}

std::unique_ptr<SlabWriter> memory_writer(std::byte* data, const StridedLayout& storage,
                                          DType dtype, bool stream) {
  return std::make_unique<MemoryWriter>(data, storage, dtype, stream);
}

}  // namespace btf

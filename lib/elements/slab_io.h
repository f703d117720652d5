// How the elements of a box get into memory and out of it. In memory every element has
// buffer_bytes() of its own: 4-bit codes are spread to a byte each on the way in and packed on the
// way out, so that kernels never see half a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "core/buffer.h"
#include "elements/slabs.h"
#include "formats/io/byte_sink.h"
#include "formats/io/byte_source.h"

namespace btf {

template <typename Byte>
struct Slab {
  Byte* data = nullptr;  // the element at the box's lo
  Mapping mapping;       // from there on
};

using SourceSlab = Slab<const std::byte>;

struct TargetSlab : Slab<std::byte> {
  // The target is larger than the caches and nobody reads it soon.
  bool stream = false;
  // So many elements of padding stand right behind the last index of this dim, not zeroed yet.
  std::uint32_t padded_dim = 0;
  std::uint64_t padding = 0;
};

// Not for several threads at once: every worker has its own.
class SlabReader {
 public:
  virtual ~SlabReader() = default;
  // Valid until the next call.
  virtual Result<SourceSlab> read(const Box& box) = 0;
};

class SlabWriter {
 public:
  virtual ~SlabWriter() = default;
  // Memory for the box in which everything but the elements and the reported padding is zero
  // already.
  virtual Result<TargetSlab> begin(const Box& box) = 0;
  // The box of the last begin() is complete.
  virtual Status finish() = 0;
  // Writes a box whose elements stand in the slab as they are stored. False: they do not, or this
  // writer has no use for that.
  virtual Result<bool> write(const Box&, const SourceSlab&) { return false; }
};

// A dense tensor whose stored array begins at byte `data_offset` of the source.
std::unique_ptr<SlabReader> file_reader(const ByteSource& source, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype);

// The elements of a dense record, by its layout or that layout permuted. The layout's storage begins
// at element `base` of the stored array.
std::unique_ptr<SlabReader> record_reader(const ByteSource& source, const TensorInfo& record,
                                          const StridedLayout& storage, std::uint64_t base = 0);

// An array of elements that is in no file.
class ElementRuns {
 public:
  virtual ~ElementRuns() = default;
  // Those from number `first` on, in buffer_bytes() each.
  virtual Status read(std::uint64_t first, std::uint64_t count, std::byte* out) = 0;
};

// The same of such an array.
std::unique_ptr<SlabReader> runs_reader(std::unique_ptr<ElementRuns> runs,
                                        const StridedLayout& storage, std::uint64_t base,
                                        DType dtype);

// For elements of 8 bits and more (others: nibble_writer.h). Written front to back if the sink
// cannot seek.
std::unique_ptr<SlabWriter> file_writer(ByteSink& sink, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype);

// Tensors in memory, of 8 bits and more: no copy is made.
std::unique_ptr<SlabReader> memory_reader(const std::byte* data, const StridedLayout& storage,
                                          DType dtype);
// `stream`: the target is larger than the caches.
std::unique_ptr<SlabWriter> memory_writer(std::byte* data, const StridedLayout& storage,
                                          DType dtype, bool stream);

}  // namespace btf

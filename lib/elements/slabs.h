// Slabs: a tensor is processed in boxes of its logical index space, each small enough for a buffer
// that is used again. Boxes are in the file order of the target. In memory every element takes
// buffer_bytes(): 4-bit codes are unpacked to a byte each on reading and packed on writing, so that
// kernels never see half a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "core/resources.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {

// The indices [lo, hi) of each logical dim.
struct Box {
  Dims lo;
  Dims hi;

  Dims counts() const;
};

// The part of a stored array that a box occupies: loops over runs of the same length. At the end of
// a dim, its padding belongs to the box, so the boxes of a grid cover the whole storage.
struct Footprint {
  struct Loop {
    std::uint64_t count = 0;
    std::uint64_t stride = 0;  // elements
  };
  std::uint64_t base = 0;   // elements from the start of the stored array
  std::vector<Loop> loops;  // outermost first
  std::uint64_t run = 1;    // elements without a gap
  std::uint64_t elements = 0;
  std::uint64_t first = 0;  // the offset of the box's lo after the runs have been concatenated
  Mapping packed;           // the strides from there on

  bool contiguous() const { return loops.empty(); }
};

Footprint footprint(const StridedLayout& storage, const Box& box);

// A grid of boxes. Each has `step` indices of a dim, except for the last one.
class SlabGrid {
 public:
  SlabGrid(const StridedLayout& target, Dims step);

  std::uint64_t count() const { return count_; }
  Box box(std::uint64_t slab) const;

 private:
  Dims dims_;
  Dims step_;
  std::vector<std::uint32_t> order_;  // dims in the order of the target's axes, outermost first
  std::uint64_t count_ = 0;
};

// The properties of a source or target that the size of slabs depends on.
struct SlabSide {
  const StridedLayout* storage = nullptr;
  std::uint64_t element_bytes = 1;
};

// The bytes of each run in which a box is read; UINT64_MAX if it is a single run.
std::uint64_t run_bytes(const SlabSide& side, const Box& box);

// The bytes of a slab whose elements are stored in row-major order: of the sizes from 32 KiB to
// 4 MiB the one that is read fastest, although it needs the third-level cache
// (docs/performance.md).
inline constexpr std::uint64_t kLinearSlab = 1U << 20;

struct SlabLimits {
  std::uint64_t bytes = 4U << 20;           // of a box on either side
  std::uint64_t min_run = 4U << 10;         // bytes; for shorter runs tiles are used (see below)
  bool target_contiguous = false;           // the target can only be written front to back
  std::uint64_t last_granule = 1;           // boxes begin at multiples of this in the last dim
  const SlabSide* second_source = nullptr;  // another source that is read in the same boxes
};

// Boxes of whole blocks on both sides, as long in the target's storage as the limit allows. If the
// source would be read in runs below `min_run`, as for the transpose of a large tensor, boxes are
// tiles with medium runs on both sides instead. If the target must be written front to back, every
// box is contiguous there; one that is smaller than a block of the source is inside a single block.
SlabGrid choose_slabs(const SlabSide& source, const SlabSide& target, const SlabLimits& limits);

template <typename Byte>
struct Slab {
  Byte* data = nullptr;  // the element at the box's lo
  Mapping mapping;       // the strides from there on
};

using SourceSlab = Slab<const std::byte>;

struct TargetSlab : Slab<std::byte> {
  // The target is larger than the caches and is not read soon.
  bool stream = false;
  // After the last index of this dim there are `padding` elements, which are not zeroed yet.
  std::uint32_t padded_dim = 0;
  std::uint64_t padding = 0;
};

// Not thread-safe: every worker needs its own.
class SlabReader {
 public:
  virtual ~SlabReader() = default;
  // Valid until the next call.
  virtual Result<SourceSlab> read(const Box& box) = 0;
};

class SlabWriter {
 public:
  virtual ~SlabWriter() = default;
  // Memory for the box, in which everything except for the elements and TargetSlab::padding is
  // already zero.
  virtual Result<TargetSlab> begin(const Box& box) = 0;
  // Must be called when the box of the last begin() is complete.
  virtual Status finish() = 0;
  // Writes a box directly from a slab that has the stored form. Returns false if the slab has
  // another form, or this writer cannot do that.
  virtual Result<bool> write(const Box&, const SourceSlab&) { return false; }
};

// Reads a dense tensor whose stored array begins at byte `data_offset` of the source.
std::unique_ptr<SlabReader> file_reader(const ByteSource& source, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype);

// Reads a dense record by its layout, which may be permuted. `storage` begins at element `base` of
// the stored array.
std::unique_ptr<SlabReader> record_reader(const ByteSource& source, const TensorInfo& record,
                                          const StridedLayout& storage, std::uint64_t base = 0);

// The elements of an array, which need not be stored anywhere.
class ElementRuns {
 public:
  virtual ~ElementRuns() = default;
  // Reads elements from index `first` on; each takes buffer_bytes().
  virtual Status read(std::uint64_t first, std::uint64_t count, std::byte* out) = 0;
  // Their address if they are in memory in this form; nullptr if they have to be read.
  virtual const std::byte* held(std::uint64_t, std::uint64_t) const { return nullptr; }
};

// Reads boxes of such an array.
std::unique_ptr<SlabReader> runs_reader(std::unique_ptr<ElementRuns> runs,
                                        const StridedLayout& storage, std::uint64_t base,
                                        DType dtype);

// For elements of 8 bits or more; elements/cast.h has writers for nibbles. Writes front to back if the sink
// cannot seek.
std::unique_ptr<SlabWriter> file_writer(ByteSink& sink, std::uint64_t data_offset,
                                        const StridedLayout& storage, DType dtype);

// For tensors in memory, of 8 bits or more; nothing is copied.
std::unique_ptr<SlabReader> memory_reader(const std::byte* data, const StridedLayout& storage,
                                          DType dtype);

// `stream`: bypass the caches, for a target that is larger than these.
std::unique_ptr<SlabWriter> memory_writer(std::byte* data, const StridedLayout& storage,
                                          DType dtype, bool stream);

}  // namespace btf

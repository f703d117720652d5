// Slabs: a tensor is worked on in boxes of its logical index space, each small enough for a buffer
// that is used again. Boxes come in the file order of the target.
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

// Indices from lo (included) to hi (excluded), per logical dim.
struct Box {
  Dims lo;
  Dims hi;

  Dims counts() const;
};

// The part of a stored array that a box occupies: the same run of elements in every iteration. At
// the end of a dim its padding belongs to the box, so the boxes of a grid cover all of the storage.
struct Footprint {
  struct Loop {
    std::uint64_t count = 0;
    std::uint64_t stride = 0;  // elements
  };
  std::uint64_t base = 0;   // elements from the start of the stored array
  std::vector<Loop> loops;  // outermost first
  std::uint64_t run = 1;    // elements without a gap
  std::uint64_t elements = 0;
  std::uint64_t first = 0;  // the box's lo, once the runs stand one behind the other
  Mapping packed;           // and the others from there on

  bool contiguous() const { return loops.empty(); }
};

Footprint footprint(const StridedLayout& storage, const Box& box);

// Every box but the last of a dim has `step` indices of it.
class SlabGrid {
 public:
  SlabGrid(const StridedLayout& target, Dims step);

  std::uint64_t count() const { return count_; }
  Box box(std::uint64_t slab) const;

 private:
  Dims dims_;
  Dims step_;
  std::vector<std::uint32_t> order_;  // dims by the target's storage, outermost first
  std::uint64_t count_ = 0;
};

// One side of the work, as far as the size of slabs goes.
struct SlabSide {
  const StridedLayout* storage = nullptr;
  std::uint64_t element_bytes = 1;
};

// Bytes of each run that a box is read in; UINT64_MAX: it is one.
std::uint64_t run_bytes(const SlabSide& side, const Box& box);

// Bytes of a slab whose elements are stored in the wanted order: the size from 32 KiB to 4 MiB that
// is read fastest, though it goes to the third-level cache (docs/performance.md).
inline constexpr std::uint64_t kStraightSlab = 1U << 20;

struct SlabLimits {
  std::uint64_t bytes = 4U << 20;           // of a box on either side
  std::uint64_t least_run = 4U << 10;       // bytes; shorter runs are worth a tile (see below)
  bool target_contiguous = false;           // the target can only be written front to back
  std::uint64_t last_granule = 1;           // boxes begin at multiples of it in the last dim
  const SlabSide* second_source = nullptr;  // read by the same boxes
};

// Boxes of whole blocks on both sides, as long in the target's storage as the limit allows. When
// that leaves the source in runs below `least_run` (a transpose of something large), boxes are
// tiles with middling runs on both sides instead. If the target must be written front to back every
// box is contiguous there; where that takes less than a block of the source, it lies in one block.
SlabGrid choose_slabs(const SlabSide& source, const SlabSide& target, const SlabLimits& limits);

// How the elements of a box get into memory and out of it. In memory every element has
// buffer_bytes() of its own: 4-bit codes are spread to a byte each on the way in and packed on the
// way out, so that kernels never see half a byte.

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

// The elements of a dense record, by its layout or that layout permuted. The layout's storage
// begins at element `base` of the stored array.
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

// For elements of 8 bits and more (others: elements/cast.h). Written front to back if the sink
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

// The elements of a record after its edits: as strides, in boxes, and as a stream in row-major
// order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/convert.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "core/edit_chain.h"
#include "elements/slabs.h"
#include "formats/io/byte_source.h"

namespace btf {

// A stored array after a chain of edits, in strides.

// Elements of an array by strides. Storage and strides of the layout count from element `base` of
// the array. A mirrored dim, which is never the split one, runs backwards over what the layout
// says. Index i of the split dim is the layout's index lead + i * pace.
struct EditedView {
  StridedLayout storage;
  std::uint64_t base = 0;
  std::uint64_t lead = 0;
  std::uint64_t pace = 1;
  std::vector<bool> mirrored;  // for each dim

  bool mirrors() const;
  // Do strides say where every element is?
  bool by_strides() const { return lead == 0 && pace == 1; }
  // `storage` with all indices of the split dim, by which elements are found.
  StridedLayout whole_storage() const;
};

// The first is of the stored array, each other one of the elements of the one before it in
// row-major order: where strides cannot say what an edit makes of a view, the next view begins.
// Never empty. Nothing may be read of a view without elements.
std::vector<EditedView> edited_views(const StridedLayout& storage, const EditChain& edits);

// How many buffers of the size of a box reading through the views takes; 1 without edits.
std::uint64_t buffers_of(std::span<const EditedView> views);

// Boxes of any record, dense or sparse, as its edits leave it.

// A dense record is read through `storage`, its own layout or
// that permuted, or without regard to it where there are edits. A COO record is read as if it were
// dense in `storage`: boxes must be contiguous there and come in ascending order, from the first
// on.
Result<std::unique_ptr<SlabReader>> open_slab_reader(
    const ByteSource& source, const TensorInfo& record, const EditChain& edits,
    const StridedLayout& storage, Duplicates duplicates, const Execution& execution);

// Any tensor as its elements in row-major order, whatever its layout.

// `count` elements from the row-major number `first` on; codes of buffer_bytes() each.
struct LinearSlab {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const std::byte* codes = nullptr;
};

// In slabs, over threads. How many elements a slab has depends on the memory that there may be.
class LinearSlabs {
 public:
  // Slabs of the record after its edits. A COO tensor must have each index once and is read by one
  // worker, from the first slab to the last. Source and record must outlive it.
  static Result<LinearSlabs> open(const ByteSource& source, const TensorInfo& record,
                                  const EditChain& edits, const Execution& execution,
                                  unsigned most_workers = UINT32_MAX);

  std::uint64_t count() const;
  unsigned workers() const;

  // Valid until the worker's next call.
  Result<LinearSlab> read(unsigned worker, std::uint64_t slab);

 private:
  friend class LinearWalk;
  struct State;
  explicit LinearSlabs(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Status open_readers();

  std::shared_ptr<State> state_;
};

// As a stream.
class LinearWalk {
 public:
  static Result<LinearWalk> open(const ByteSource& source, const TensorInfo& record,
                                 const EditChain& edits, const Execution& execution);

  // Nothing after the last; valid until the next call.
  Result<std::optional<LinearSlab>> next();
  Status rewind();

 private:
  explicit LinearWalk(LinearSlabs slabs) : slabs_(std::move(slabs)) {}

  LinearSlabs slabs_;
  std::uint64_t slab_ = 0;
};

// Boxes of a dense record as a chain of edits leaves it.

// The views are edited_views() of the record's storage; boxes are of the last one. Where that has a
// split dim, a box begins at a block or lies in one. Source and record must outlive the result.
std::unique_ptr<SlabReader> edited_reader(const ByteSource& source, const TensorInfo& record,
                                          std::span<const EditedView> views);

}  // namespace btf

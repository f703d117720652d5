// The elements of a record after its edits: as strides, in boxes, and in row-major order.
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

// Elements of an array by strides. The storage begins at element `base` of the array. A reversed
// dim, which is never the split one, runs backwards. Index i of the split dim is the layout's index
// split_offset + i * split_step.
struct EditedView {
  StridedLayout storage;
  std::uint64_t base = 0;
  std::uint64_t split_offset = 0;
  std::uint64_t split_step = 1;
  std::vector<bool> reversed;  // for each dim

  bool has_reversed_dims() const;
  // Returns true if the strides of `storage` alone describe every element.
  bool by_strides() const { return split_offset == 0 && split_step == 1; }
  // `storage` with the indices of the split dim that are skipped.
  StridedLayout whole_storage() const;
};

// A stored array after a chain of edits, as at least one view. The first is a view of the stored
// array. If strides cannot describe the result of an edit, the next view begins: it is a view of
// the elements of the previous one in row-major order. A view without elements must not be read.
std::vector<EditedView> edited_views(const StridedLayout& storage, const EditChain& edits);

// The number of buffers of the size of a box that reading through the views takes; 1 without edits.
std::uint64_t buffers_of(std::span<const EditedView> views);

// Reads boxes of any record after its edits. `storage` is the layout of a dense record, possibly
// permuted; it is ignored if there are edits. A COO record is read as if it were dense in
// `storage`: boxes must be contiguous there and be read in ascending order, from the first on.
Result<std::unique_ptr<SlabReader>> open_slab_reader(
    const ByteSource& source, const TensorInfo& record, const EditChain& edits,
    const StridedLayout& storage, Duplicates duplicates, const Execution& execution);

// `count` elements from the row-major index `first` on; each code takes buffer_bytes().
struct LinearSlab {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const std::byte* codes = nullptr;
};

// The elements of any record after its edits in row-major order, in slabs for several threads. The
// size of a slab depends on the memory limit.
class LinearSlabs {
 public:
  // A COO tensor must have each index once, and is read by one worker from the first slab to the
  // last. Source and record must outlive the result.
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

// The same as a stream.
class LinearWalk {
 public:
  static Result<LinearWalk> open(const ByteSource& source, const TensorInfo& record,
                                 const EditChain& edits, const Execution& execution);

  // Valid until the next call; unset after the last slab.
  Result<std::optional<LinearSlab>> next();
  Status rewind();

 private:
  explicit LinearWalk(LinearSlabs slabs) : slabs_(std::move(slabs)) {}

  LinearSlabs slabs_;
  std::uint64_t slab_ = 0;
};

// Reads boxes of a dense record after a chain of edits. `views` are edited_views() of its storage;
// boxes are those of the last view. If that has a split dim, a box must begin at a block or be
// inside one. Source and record must outlive the result.
std::unique_ptr<SlabReader> edited_reader(const ByteSource& source, const TensorInfo& record,
                                          std::span<const EditedView> views);

}  // namespace btf

// Any tensor as its elements in row-major order, whatever its layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "core/edit_chain.h"
#include "elements/slab_io.h"

namespace btf {

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

}  // namespace btf

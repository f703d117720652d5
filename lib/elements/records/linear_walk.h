// Any tensor as a stream of its elements in row-major order, whatever its layout.
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

class LinearWalk {
 public:
  // Of the record after its edits. A COO tensor must have each index once. Source and record must
  // outlive it.
  static Result<LinearWalk> open(const ByteSource& source, const TensorInfo& record,
                                 const EditChain& edits, const Execution& execution);

  // Nothing after the last; valid until the next call.
  Result<std::optional<LinearSlab>> next();
  Status rewind();

 private:
  struct State;
  explicit LinearWalk(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace btf

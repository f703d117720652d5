// Any tensor as a stream of its elements in row-major order, whatever its layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/file.h"
#include "elements/coo.h"
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
  // With the dims permuted as `order` says (empty: as they are). A COO tensor must have each index
  // once. Source and record must outlive it.
  static Result<LinearWalk> open(const ByteSource& source, const TensorInfo& record,
                                 std::span<const std::uint32_t> order, const Execution& execution);

  // Nothing after the last; valid until the next call.
  Result<std::optional<LinearSlab>> next();
  Status rewind();

 private:
  struct State;
  explicit LinearWalk(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace btf

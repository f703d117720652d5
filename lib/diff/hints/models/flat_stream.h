// A side's elements in one order, from any element on, in pieces of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "diff/pairs/side.h"

namespace btf::hints {

class FlatStream {
 public:
  // Dense: the stored array read through `view`, in row-major order of the view's dims. COO: `view`
  // arranges the tensor's dims without padding, and the order is that of the arrangement.
  static Result<FlatStream> open(const DiffSide& side, const StridedLayout& view,
                                 std::uint64_t begin);

  // The next `count` codes, buffer_bytes() each; there must be as many left.
  Status read(std::uint64_t count, std::byte* out);

 private:
  struct State;
  explicit FlatStream(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// Row-major strides on these dims.
Result<StridedLayout> linear_view(const Dims& dims, DType dtype);

// The side in row-major order of its dims.
Result<StridedLayout> own_view(const DiffSide& side);

// The side with its dims in another order, for a FlatStream.
Result<StridedLayout> permuted_view(const DiffSide& side, std::span<const std::uint32_t> order);

// The stored array itself, padding included. Dense sides only.
Result<StridedLayout> stored_view(const DiffSide& side);

}  // namespace btf::hints

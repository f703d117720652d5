// Edits met with a tensor's dims: numbers that are checked and resolved, and where an index goes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "btf/edit.h"

namespace btf {

// One of three things that all edits are made of. Squeeze and Unsqueeze are shapes.
struct EditStep {
  struct Order {
    std::vector<std::uint32_t> order;
  };
  // One for each dim of `from`; the step is 1 where the count is not above 1.
  struct Select {
    std::vector<SlicedDim> dims;
  };
  // The same elements, by their row-major numbers.
  struct Shape {};

  std::variant<Order, Select, Shape> what;
  Dims from;
  Dims to;
};

// Row-major numbers of `from` to those of `to`; false: a slice leaves the index out. `index` comes
// out with the rank of `to`. `room` is of no interest but to be used again.
bool place(const EditStep& step, Dims& index, Dims& room);

// Without steps: the tensor as it is.
class EditChain {
 public:
  static Result<EditChain> make(const Dims& dims, std::span<const Edit> edits);

  // Those that change something.
  std::span<const EditStep> steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  // Has the result every element of the source?
  bool keeps_all() const;
  // Name of the first edit that changes something: "permute"; "" without.
  std::string_view first_name() const { return first_name_; }

  // From an index of the source to that of the result; false: a slice leaves it out.
  bool place(Dims& index, Dims& room) const;

 private:
  std::vector<EditStep> steps_;
  std::string_view first_name_;
};

}  // namespace btf

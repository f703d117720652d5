// Edits applied to the dims of a tensor: checks them, and maps indices to those of the result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "btf/edit.h"

namespace btf {

// One of the three operations that all edits consist of.
struct EditStep {
  struct Order {
    std::vector<std::uint32_t> order;
  };
  // One for each dim of `from`. The step of a dim with a count of 0 or 1 is 1.
  struct Select {
    std::vector<SlicedDim> dims;
  };
  // The same elements in row-major order: a reshape, squeeze or unsqueeze.
  struct Shape {};

  std::variant<Order, Select, Shape> what;
  Dims from;
  Dims to;
};

// Maps an index into `from` to one into `to`, in place. Returns false if a slice leaves it out.
// `scratch` is reused between calls.
bool place(const EditStep& step, Dims& index, Dims& scratch);

// The steps of some edits. A chain without steps leaves the tensor as it is.
class EditChain {
 public:
  static Result<EditChain> make(const Dims& dims, std::span<const Edit> edits);

  // Only steps that change something.
  std::span<const EditStep> steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  // Returns true if the result has every element of the source.
  bool keeps_all() const;
  // Name of the first edit that changes something, such as "permute"; empty if there is none.
  std::string_view first_name() const { return first_name_; }

  // Maps an index of the source to one of the result, as the function above.
  bool place(Dims& index, Dims& scratch) const;

 private:
  std::vector<EditStep> steps_;
  std::string_view first_name_;
};

}  // namespace btf

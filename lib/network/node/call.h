// A node of a network whose inputs are at hand: what an operator is made from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "network/node/attributes.h"
#include "network/node/tensor.h"

namespace btf::network {

struct Call {
  const std::string& op;
  std::int64_t version = 0;     // of the operator set of its domain
  std::vector<Tensor*> inputs;  // nullptr: left out
  std::size_t outputs = 0;      // how many names it gives
  const Attributes& attributes;
  Tensor* value = nullptr;  // the tensor among the attributes, if there is one
  const Arithmetic& arithmetic;

  bool has(std::string_view name) const { return attributes.contains(name); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  // Takes integers too.
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  // Empty: it is not there.
  std::vector<std::int64_t> integers(std::string_view name) const;

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  // An error if the node has no such input.
  Result<Tensor*> input(std::size_t i) const;
  // All elements of an input that says shapes, axes and the like.
  Result<std::vector<std::int64_t>> whole_integers(std::size_t i) const;
  Result<std::vector<double>> whole_reals(std::size_t i) const;
  // An input, or in older versions an attribute of this name; empty: neither is there.
  Result<std::vector<std::int64_t>> integers_of(std::size_t i, std::string_view name) const;
};

// "its axis 7 is outside of rank 3" and the like.
std::unexpected<Error> not_computed(std::string why);

// An error if an element would be made of more terms than are looked at here.
Status check_terms(std::uint64_t terms);

// An axis that counts from the end if it is negative; an error outside of the rank.
Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

}  // namespace btf::network

// Operators whose elements are elements of their inputs: nothing is computed.
#pragma once

#include "network/operators/operator.h"

namespace btf::network {

// The element of one input that an element of the output is.
class Moved : public Operator {
 public:
  Moved(Tensor& data, Dims dims) : Operator({std::move(dims), data.dtype()}), data_(data) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    return data_.at(source(output, number));
  }

 protected:
  Moved(Tensor& data, std::vector<Output> outputs) : Operator(std::move(outputs)), data_(data) {}
  virtual std::uint64_t source(std::size_t output, std::uint64_t number) const = 0;

  Tensor& data_;
};

// By one index in each dim.
class MovedByIndex : public Moved {
 public:
  using Moved::Moved;

 protected:
  std::uint64_t source(std::size_t output, std::uint64_t number) const override;
  // In place: from the index of the output to that of the data, of the same rank.
  virtual void place(Dims& index) const = 0;
};

// The rows of several files.
MadeOperator make_gather(const Call& call);
MadeOperator make_gather_elements(const Call& call);
MadeOperator make_gather_nd(const Call& call);
MadeOperator make_pad(const Call& call);
MadeOperator make_slice(const Call& call);
MadeOperator make_slice_by_attributes(const Call& call);
MadeOperator make_split(const Call& call);
MadeOperator make_concat(const Call& call);
MadeOperator make_depth_to_space(const Call& call);
MadeOperator make_space_to_depth(const Call& call);
MadeOperator make_reverse_sequence(const Call& call);
MadeOperator make_trilu(const Call& call);

}  // namespace btf::network

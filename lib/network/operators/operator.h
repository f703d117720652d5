// The operators of ONNX that are computed here, element by element: a row each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "network/node/arithmetic.h"
#include "network/node/call.h"

namespace btf::network {

// A node with its inputs, as a function of the number of an element.
class Operator {
 public:
  struct Output {
    Dims dims;
    DType dtype{};
  };

  virtual ~Operator() = default;

  const std::vector<Output>& outputs() const { return outputs_; }

  // Of outputs()[output], below its number of elements: what it is, and what a right device's
  // arithmetic explains beside it. The result's own rounding is part of it.
  virtual Estimate element(std::size_t output, std::uint64_t number) = 0;

 protected:
  explicit Operator(std::vector<Output> outputs) : outputs_(std::move(outputs)) {}
  explicit Operator(Output output) : outputs_{std::move(output)} {}

 private:
  std::vector<Output> outputs_;
};

using MadeOperator = Result<std::unique_ptr<Operator>>;
using MakeOperator = MadeOperator (*)(const Call& call);

struct OperatorRow {
  std::string_view name;
  std::int64_t since = 1;  // version of the operator set: the first of this meaning
  MakeOperator make = nullptr;
  std::string_view domain = {};  // empty: ONNX's own
};

// The newest meaning that is no newer than the version; nullptr: it is not computed here.
const OperatorRow* find_operator(std::string_view name, std::string_view domain,
                                 std::int64_t version);

}  // namespace btf::network

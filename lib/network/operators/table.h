// The table of operators: a row for each, by families.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "network/node.h"
#include "network/operators/pooling.h"

namespace btf::network {

// The operators of ONNX that are computed here, element by element: a row each.

// How errors of a node's inputs come to its result.
enum class ErrorPropagation : std::uint8_t {
  unknown,   // it is not said here
  none,      // no float of its inputs is in the result: Shape, ArgMax
  moved,     // the result has numbers of the first input, or some between these
  joined,    // it has those of all inputs: Concat
  places,    // of elements at the same place: Operator::at_places()
  groups,    // of the elements of a group: Operator::of_group()
  products,  // sums of products of the first two inputs (Einsum: of all), terms() in one
  windows,   // means of the first input, of terms() numbers each
};

// The numbers that a group's result is made by way of, where a device rounds them.
struct GroupInside {
  double largest = 0;          // magnitude of a number that is on the way
  double variance = 0;         // 0: there is none on the way
  double narrow_variance = 0;  // as it is where squares and the epsilon are rounded
};

using RoundNumber = std::function<double(double)>;

// A node with its inputs, as a function of the number of an element.
class Operator {
 public:
  struct Output {
    Dims dims;
    DType dtype{};
  };

  virtual ~Operator() = default;

  const std::vector<Output>& outputs() const { return outputs_; }

  // Element `number` of outputs()[output]: what it is, and what a right device's arithmetic
  // explains beside it. The result's own rounding is part of it.
  virtual Estimate element(std::size_t output, std::uint64_t number) = 0;

  // Formulas by the row's `passing`, without errors of their own: what rounding an input does to
  // the result is told by asking twice.

  // For `places`: the dims of each input as they are broadcast to those of the result.
  virtual std::vector<Dims> places() const { return {}; }
  // The inputs at their places, as many numbers of each as `into` has room for.
  virtual void at_places(std::span<const std::span<const double>>, std::span<double>) const {}
  // For `groups`: those of the first input. One result of a group, or one of each of its elements.
  virtual const Groups* groups() const { return nullptr; }
  virtual bool one_of_group() const { return false; }
  virtual void of_group(std::span<const double>, std::span<double>) const {}
  virtual GroupInside inside(std::span<const double>, const RoundNumber&) const { return {}; }
  virtual double terms() const { return 1; }

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
  ErrorPropagation passing = ErrorPropagation::unknown;
  std::string_view domain = {};  // empty: ONNX's own
};

// The newest meaning that is no newer than the version; nullptr: it is not computed here.
const OperatorRow* find_operator(std::string_view name, std::string_view domain,
                                 std::int64_t version);

// How many inputs and outputs a node of an operator has, by any version of its operator set. Those
// left out at the end count as not there.
struct CountRange {
  std::size_t least = 1;
  std::size_t most = 1;
};
inline constexpr std::size_t kAnyCount = SIZE_MAX;

struct OperatorCounts {
  CountRange inputs;
  CountRange outputs;
};

// nullptr: it is not computed here.
const OperatorCounts* find_operator_counts(std::string_view name, std::string_view domain);

// The rows of each family of operators.

std::span<const OperatorRow> unary_rows();        // a function of one element
std::span<const OperatorRow> binary_rows();       // of elements at the same place: Add, Where, Clip
std::span<const OperatorRow> product_rows();      // Conv, MatMul, Gemm, Einsum
std::span<const OperatorRow> recurrent_rows();    // LSTM, GRU, RNN
std::span<const OperatorRow> normalising_rows();  // BatchNormalization, Softmax
std::span<const OperatorRow> reducing_rows();     // ReduceSum, ArgMax, TopK, CumSum
std::span<const OperatorRow> pooling_rows();      // MaxPool, GlobalAveragePool
std::span<const OperatorRow> moving_rows();       // Concat, Slice, Transpose, Gather
std::span<const OperatorRow> making_rows();       // Shape, Range, ConstantOfShape
std::span<const OperatorRow> resizing_rows();     // Resize, Upsample
std::span<const OperatorRow> coding_rows();       // Cast, QuantizeLinear, QLinearConv

}  // namespace btf::network

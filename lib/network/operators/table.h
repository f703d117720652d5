// The table of the ONNX operators that are computed here, element by element; families of operators
// have rows.
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

// How errors of a node's inputs propagate to its result.
enum class ErrorPropagation : std::uint8_t {
  unknown,   // unknown
  none,      // the result has no float of the inputs: Shape, ArgMax
  moved,     // the result has numbers of the first input, or between them
  joined,    // the result has numbers of all inputs: Concat
  places,    // elementwise, after broadcasting: Operator::at_places()
  groups,    // by the elements of a group: Operator::of_group()
  products,  // sums of products of the first two inputs (Einsum: of all), terms() each
  windows,   // means of terms() numbers of the first input
};

// Intermediate numbers of a group's result that a device rounds.
struct GroupInside {
  double largest = 0;          // largest intermediate magnitude
  double variance = 0;         // 0: no variance is computed
  double narrow_variance = 0;  // the variance with rounded squares and epsilon
};

using RoundNumber = std::function<double(double)>;

// A group's numbers as they are, and as a device reads them; the same of its results.
struct GroupNumbers {
  std::span<const double> exact;
  std::span<const double> narrow;
};
struct GroupResults {
  std::span<double> exact;
  std::span<double> narrow;
};
struct GroupSums {
  double exact = 0;
  double narrow = 0;
};

// A node with its inputs, as a function of the number of an element.
class Operator {
 public:
  struct Output {
    Dims dims;
    DType dtype{};
  };

  virtual ~Operator() = default;

  const std::vector<Output>& outputs() const { return outputs_; }

  // Element `number` of outputs()[output]: its value, and the distance from it that the arithmetic
  // of a correct device explains, including the rounding of the result.
  virtual Estimate element(std::size_t output, std::uint64_t number) = 0;

  // Formulas by the row's `passing`, without rounding errors. The effect of rounding an input is
  // the difference between two calls.

  // For `places`: the dims of each input, broadcast to those of the result.
  virtual std::vector<Dims> places() const { return {}; }
  // Computes into.size() results from as many numbers of each input.
  virtual void at_places(std::span<const std::span<const double>>, std::span<double>) const {}
  // For `groups`: the groups of the first input. A group has one result, or one for each element.
  virtual const Groups* groups() const { return nullptr; }
  virtual bool one_of_group() const { return false; }
  virtual void of_group(std::span<const double>, std::span<double>) const {}
  virtual GroupInside inside(std::span<const double>, const RoundNumber&) const { return {}; }
  // Whether a group's result follows from a sum over its numbers, so that they need not be in
  // memory together.
  virtual bool sums_up() const { return false; }
  virtual void add_to(GroupSums&, const GroupNumbers&) const {}
  virtual GroupInside of_sums(const GroupSums&, const GroupResults&) const { return {}; }
  virtual double terms() const { return 1; }

 protected:
  explicit Operator(std::vector<Output> outputs) : outputs_(std::move(outputs)) {}
  explicit Operator(Output output) : outputs_{std::move(output)} {}

 private:
  std::vector<Output> outputs_;
};

using OperatorResult = Result<std::unique_ptr<Operator>>;
using MakeOperator = OperatorResult (*)(const Call& call);

struct OperatorRow {
  std::string_view name;
  std::int64_t since = 1;  // first version of the operator set with this meaning
  MakeOperator make = nullptr;
  ErrorPropagation passing = ErrorPropagation::unknown;
  std::string_view domain = {};  // empty: ONNX's own
};

// The newest row that is not newer than `version`; nullptr if the operator is not supported.
const OperatorRow* find_operator(std::string_view name, std::string_view domain,
                                 std::int64_t version);

// The number of inputs and outputs that a node of an operator has in any version of its operator
// set. Omitted ones at the end do not count.
struct CountRange {
  std::size_t least = 1;
  std::size_t most = 1;
};
inline constexpr std::size_t kAnyCount = SIZE_MAX;

struct OperatorCounts {
  CountRange inputs;
  CountRange outputs;
};

// nullptr if the operator is not supported.
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

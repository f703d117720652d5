// A node as its operator sees it: attributes, inputs as numbers on demand, strides, and what
// rounding does to them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "formats/onnx_model.h"

namespace btf::network {

// Numbers of elements in row-major order, and their indices.

// How far apart neighbours in each dim are, of whole tensors in row-major order.
Dims row_major_strides(const Dims& dims);

// The index of an element; as many numbers as there are dims.
Dims index_of(std::uint64_t number, const Dims& dims);

// The same without allocating: `index` has room for them.
void index_into(std::uint64_t number, const Dims& dims, std::span<std::uint64_t> index);
std::uint64_t number_of(std::span<const std::uint64_t> index, const Dims& dims);

// The dims of an elementwise result of several inputs; an error where they do not fit.
Result<Dims> broadcast(const Dims& a, const Dims& b);

// From the number of an element of a broadcast result to that of an input's element.
class Broadcast {
 public:
  Broadcast() = default;
  // `from` fits into `to` as broadcast() has it.
  Broadcast(const Dims& from, const Dims& to);
  std::uint64_t number(std::uint64_t result) const;

 private:
  bool same_ = true;
  Dims to_;
  Dims steps_;  // in the input, for each dim of the result
};

// A right device's arithmetic on a number, and how far that may take it.

// The value that an element should have, and the distance from it that rounding explains.
struct Estimate {
  double value = 0;
  double error = 0;
};

// Half steps, relative to the number that is rounded: 2^-24 of float32.
struct Arithmetic {
  double operand = 0x1p-24;      // of what is multiplied: stored numbers, weights
  double result = 0x1p-24;       // of each result
  double accumulator = 0x1p-24;  // of the sums of products
  // Half a step of 8-bit codes, relative to the largest magnitude of a tensor; 0: there are none.
  double grid = 0;

  bool operator==(const Arithmetic&) const = default;
};

// Half steps of the formats that sums and functions are computed in, whatever is stored.
inline constexpr double kFloat32 = 0x1p-24;

inline Estimate rounded(Estimate x, const Arithmetic& arithmetic) {
  x.error += arithmetic.result * std::abs(x.value);
  return x;
}

// A sum of terms as a device adds them up, in any order.
class Sum {
 public:
  // `own`: what rounding of its own makes of the term, independent of that of other terms; `error`:
  // what has come from before.
  void add(double term, double own, double error) { add_square(term, own * own, error); }
  // The same with the square of what is the term's own.
  void add_square(double term, double own_square, double error) {
    value_ += term;
    largest_ = std::max(largest_, std::abs(value_));
    magnitude_ += std::abs(term);
    squares_ += term * term;
    own_squares_ += own_square;
    error_ += error;
    ++terms_;
  }

  // Roundings that are independent add up as the root of the sum of their squares; each is at most
  // a half step, so that four times that is beyond chance. Partial sums are rounded as often as
  // there are terms, and where terms are few different numbers not to both sides. They are about as
  // large in any order.
  Estimate result(double accumulator) const {
    constexpr double kBeyondChance = 4;
    const auto n = static_cast<double>(terms_);
    const double partial =
        std::min(magnitude_, std::max(2 * largest_, kBeyondChance * std::sqrt(squares_)));
    return {value_, error_ + kBeyondChance * std::sqrt(own_squares_) +
                        accumulator * partial * std::min(n, kBeyondChance * (1 + std::sqrt(n)))};
  }

 private:
  double value_ = 0;
  double largest_ = 0;  // of partial sums
  double magnitude_ = 0;
  double squares_ = 0;
  double own_squares_ = 0;
  double error_ = 0;
  std::uint64_t terms_ = 0;
};

// A tensor of a network as operators see it: its elements one by one, whether stored or computed.

class Tensor {
 public:
  Tensor(Dims dims, DType dtype);
  virtual ~Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const Dims& dims() const { return dims_; }
  std::uint64_t rank() const { return dims_.size(); }
  std::uint64_t elements() const { return elements_; }
  DType dtype() const { return dtype_; }
  bool floating() const { return info(dtype_).floating(); }

  // By its number in row-major order, below elements(). What cannot be had is NaN, and the
  // evaluation says why.
  virtual Estimate at(std::uint64_t number) = 0;
  double value(std::uint64_t number) { return at(number).value; }

  // As an operand of a product: `own` is the half step of what it is rounded to there.
  struct Operand {
    double value = 0;
    double own = 0;
    double error = 0;
  };
  virtual Operand operand(std::uint64_t number) = 0;
  // As many as `into` has, from `first` on: a row of weights.
  virtual void operands(std::uint64_t first, std::span<Operand> into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = operand(first + i);
  }

 private:
  Dims dims_;
  std::uint64_t elements_;
  DType dtype_;
};

// The attributes of a node that operators are described by.

// One of them is there. Graphs are none: what has one is not computed here.
struct Attribute {
  std::optional<std::int64_t> integer{};
  std::optional<double> real{};
  std::optional<std::string> text{};
  std::vector<std::int64_t> integers{};
  std::vector<double> reals{};
  std::optional<ProtoRange> tensor{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

// Those of one node. Refuses more numbers than an attribute has use for.
Result<Attributes> read_attributes(Window& window, const ProtoRange& node);

// A node of a network whose inputs are at hand: what an operator is made from.

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

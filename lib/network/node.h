// What an operator sees of its node: attributes, inputs as numbers on demand, strides, and the
// effect of rounding.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

// The distance between neighbours in each dim of a tensor in row-major order.
Dims row_major_strides(const Dims& dims);

// The index of an element, with one number per dim.
Dims index_of(std::uint64_t number, const Dims& dims);

// The same without allocating; `index` has room for one number per dim.
void index_into(std::uint64_t number, const Dims& dims, std::span<std::uint64_t> index);
std::uint64_t number_of(std::span<const std::uint64_t> index, const Dims& dims);

// The dims of an elementwise result of several inputs. Fails if they do not fit.
Result<Dims> broadcast(const Dims& a, const Dims& b);

// Maps the number of an element of a broadcast result to that of the input's element.
class Broadcast {
 public:
  Broadcast() = default;
  // `from` must broadcast to `to`.
  Broadcast(const Dims& from, const Dims& to);
  std::uint64_t number(std::uint64_t result) const;

 private:
  bool same_ = true;
  Dims to_;
  Dims steps_;  // in the input, for each dim of the result
};

// The value that an element should have, and the distance from it that rounding explains.
struct Estimate {
  double value = 0;
  double error = 0;
};

// A result whose operands are not available; the evaluation has the reason.
inline constexpr Estimate kNotAvailable{std::numeric_limits<double>::quiet_NaN(), 0};

// The precision of an arithmetic as half steps, relative to the number that is rounded: 2^-24 for
// float32.
struct Arithmetic {
  double operand = 0x1p-24;      // of factors: stored numbers, weights
  double result = 0x1p-24;       // of each result
  double accumulator = 0x1p-24;  // of sums of products
  // Half a step of 8-bit codes, relative to the largest magnitude of a tensor; 0 without codes.
  double grid = 0;

  bool operator==(const Arithmetic&) const = default;
};

// Half a step of float32, in which sums and functions are computed whatever is stored.
inline constexpr double kFloat32 = 0x1p-24;

inline Estimate rounded(Estimate x, const Arithmetic& arithmetic) {
  x.error += arithmetic.result * std::abs(x.value);
  return x;
}

// A sum of terms as a device computes it, in any order.
class Sum {
 public:
  // `own`: rounding error of the term, independent of other terms; `error`: the error of its
  // inputs.
  void add(double term, double own, double error) { add_square(term, own * own, error); }
  // The same with the square of the term's own rounding error.
  void add_square(double term, double own_square, double error) {
    value_ += term;
    largest_ = std::max(largest_, std::abs(value_));
    magnitude_ += std::abs(term);
    squares_ += term * term;
    own_squares_ += own_square;
    error_ += error;
    ++terms_;
  }

  // Independent roundings add up as the root of the sum of their squares. Each is at most half a
  // step, so four times that is beyond chance. Partial sums are rounded once per term, and with few
  // distinct terms not evenly to both sides. They have about the same size in any order.
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

// A tensor of a network as operators see it: element by element, whether stored or computed.
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

  // The element with this row-major number, which must be below elements(). NaN if it is not
  // available; the evaluation has the reason.
  virtual Estimate at(std::uint64_t number) = 0;
  double value(std::uint64_t number) { return at(number).value; }
  // Fills `into` with the elements `first`, `first + step` and so on.
  virtual void estimates(std::uint64_t first, std::uint64_t step, std::span<Estimate> into) {
    for (Estimate& one : into) {
      one = at(first);
      first += step;
    }
  }
  // Whether no element is available any more, so that what is computed from others is void.
  virtual bool exhausted() const { return false; }

  // The element as a factor: `own` is half a step of the type that factors are rounded to.
  struct Operand {
    double value = 0;
    double own = 0;
    double error = 0;
  };
  virtual Operand operand(std::uint64_t number) = 0;
  // Fills `into` with operands beginning with element `first`, such as a row of weights.
  virtual void operands(std::uint64_t first, std::span<Operand> into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = operand(first + i);
  }
  // The operands with these numbers.
  virtual void operands(std::span<const std::uint64_t> numbers, std::span<Operand> into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = operand(numbers[i]);
  }
  // Announces products of numbers that were read already. False, and the tensor is exhausted, if
  // they are more than may be computed.
  virtual bool take_products(std::uint64_t) { return true; }
  // The same of steps in a search among numbers that were read already.
  virtual bool take_steps(std::uint64_t) { return true; }

 private:
  Dims dims_;
  std::uint64_t elements_;
  DType dtype_;
};

// Calls take(estimate) for `count` elements in turn, which are read several at a time. False if the
// tensor is exhausted; what was made of the elements so far is void then.
template <typename Take>
bool for_each_element(Tensor& x, std::uint64_t first, std::uint64_t step, std::uint64_t count,
                      Take&& take) {
  constexpr std::uint64_t kFew = 8;
  constexpr std::uint64_t kAtOnce = 64;
  if (count < kFew) {
    for (std::uint64_t i = 0; i < count; ++i) take(x.at(first + i * step));
    return !x.exhausted();
  }
  std::array<Estimate, kAtOnce> some;
  while (count > 0) {
    const auto read = std::span(some).first(static_cast<std::size_t>(std::min(count, kAtOnce)));
    x.estimates(first, step, read);
    if (x.exhausted()) return false;
    for (const Estimate& one : read) take(one);
    first += read.size() * step;
    count -= read.size();
  }
  return true;
}

// An attribute of a node; one member is set. Attributes with graphs are not supported.
struct Attribute {
  std::optional<std::int64_t> integer{};
  std::optional<double> real{};
  std::optional<std::string> text{};
  std::vector<std::int64_t> integers{};
  std::vector<double> reals{};
  std::optional<ProtoRange> tensor{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

// The attributes of one node. Fails if one has more numbers than any attribute needs.
Result<Attributes> read_attributes(Window& window, const ProtoRange& node);

// A node whose inputs are available, from which an operator is made.
struct Call {
  const std::string& op;
  std::int64_t version = 0;     // of its domain's operator set
  std::vector<Tensor*> inputs;  // nullptr: omitted
  std::size_t outputs = 0;      // number of outputs with names
  const Attributes& attributes;
  Tensor* value = nullptr;  // the tensor among the attributes, or nullptr
  const Arithmetic& arithmetic;

  bool has(std::string_view name) const { return attributes.contains(name); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  // Accepts integers too.
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  // Empty if it is missing.
  std::vector<std::int64_t> integers(std::string_view name) const;

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  // Fails if the node has no such input.
  Result<Tensor*> input(std::size_t i) const;
  // All elements of an input that holds a shape, axes or the like.
  Result<std::vector<std::int64_t>> whole_integers(std::size_t i) const;
  Result<std::vector<double>> whole_reals(std::size_t i) const;
  // An input, or in older versions the attribute of this name; empty if neither exists.
  Result<std::vector<std::int64_t>> integers_of(std::size_t i, std::string_view name) const;
};

// An error such as "its axis 7 is outside of rank 3".
std::unexpected<Error> not_computed(std::string why);

// Fails if an element depends on more terms than are computed here.
Status check_terms(std::uint64_t terms);

// An axis, counted from the end if negative. Fails if it is out of range.
Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

}  // namespace btf::network

// Operators whose elements do not depend on those of their inputs: shapes, ranges, constants.
#include <array>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "formats/onnx/types.h"
#include "network/node/strides.h"
#include "network/operators/families.h"

namespace btf::network {
namespace {

class ListedNumbers final : public Operator {
 public:
  ListedNumbers(std::vector<double> numbers, Dims dims, DType dtype)
      : Operator({std::move(dims), dtype}), numbers_(std::move(numbers)) {}
  Estimate element(std::size_t, std::uint64_t number) override { return {numbers_[number], 0}; }

 private:
  std::vector<double> numbers_;
};

MadeOperator make_shape(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const auto rank = static_cast<std::int64_t>(x->rank());
  const auto inside = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank);
  };
  const std::int64_t first = inside(call.integer("start", 0));
  const std::int64_t end = inside(call.integer("end", rank));
  std::vector<double> sizes;
  for (std::int64_t d = first; d < end; ++d)
    sizes.push_back(static_cast<double>(x->dims()[static_cast<std::size_t>(d)]));
  const Dims dims{sizes.size()};
  return std::make_unique<ListedNumbers>(std::move(sizes), dims, DType::int64);
}

MadeOperator make_size(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return std::make_unique<ListedNumbers>(std::vector{static_cast<double>(x->elements())}, Dims{},
                                         DType::int64);
}

// One number, or those of a tensor, at every place.
class Filled final : public Operator {
 public:
  Filled(double value, Output output) : Operator(std::move(output)), value_(value) {}
  Estimate element(std::size_t, std::uint64_t) override { return {value_, 0}; }

 private:
  double value_;
};

MadeOperator make_constant_of_shape(const Call& call) {
  BTF_ASSIGN(const auto shape, call.whole_integers(0));
  Dims dims;
  for (const std::int64_t size : shape) {
    if (size < 0) return not_computed("its shape cannot be used");
    dims.push_back(static_cast<std::uint64_t>(size));
  }
  const bool given = call.value != nullptr && call.value->elements() == 1;
  return std::make_unique<Filled>(
      given ? call.value->value(0) : 0,
      Operator::Output{std::move(dims), given ? call.value->dtype() : DType::float32});
}

MadeOperator make_constant(const Call& call) {
  if (call.value != nullptr) {
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < call.value->elements(); ++i)
      numbers.push_back(call.value->value(i));
    return std::make_unique<ListedNumbers>(std::move(numbers), call.value->dims(),
                                           call.value->dtype());
  }
  if (call.has("value_float"))
    return std::make_unique<ListedNumbers>(std::vector{call.real("value_float", 0)}, Dims{},
                                           DType::float32);
  if (call.has("value_int"))
    return std::make_unique<ListedNumbers>(
        std::vector{static_cast<double>(call.integer("value_int", 0))}, Dims{}, DType::int64);
  std::vector<double> numbers;
  if (call.has("value_ints")) {
    for (const std::int64_t value : call.integers("value_ints"))
      numbers.push_back(static_cast<double>(value));
    const Dims dims{numbers.size()};
    return std::make_unique<ListedNumbers>(std::move(numbers), dims, DType::int64);
  }
  const auto reals = call.attributes.find("value_floats");
  if (reals == call.attributes.end()) return not_computed("its value is none of numbers");
  numbers = reals->second.reals;
  const Dims dims{numbers.size()};
  return std::make_unique<ListedNumbers>(std::move(numbers), dims, DType::float32);
}

class Range final : public Operator {
 public:
  Range(double start, double step, Output output, const Arithmetic& arithmetic)
      : Operator(std::move(output)), start_(start), step_(step), arithmetic_(arithmetic) {}
  // Devices add the step up, or multiply it.
  Estimate element(std::size_t, std::uint64_t number) override {
    const auto n = static_cast<double>(number);
    const double value = start_ + n * step_;
    if (!info(outputs()[0].dtype).floating()) return {value, 0};
    return {value,
            arithmetic_.result * (std::abs(value) + n * std::abs(step_)) * (1 + std::sqrt(n))};
  }

 private:
  double start_;
  double step_;
  const Arithmetic& arithmetic_;
};

MadeOperator make_range(const Call& call) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    if (tensor->elements() != 1) return not_computed("its inputs are no single numbers");
    numbers[i] = tensor->value(0);
  }
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  constexpr double kMost = 0x1p40;
  if (std::isnan(count) || count > kMost) return not_computed("its range cannot be used");
  return std::make_unique<Range>(
      numbers[0], numbers[2],
      Operator::Output{Dims{static_cast<std::uint64_t>(std::max(count, 0.0))},
                       call.inputs[0]->dtype()},
      call.arithmetic);
}

class Eye final : public Operator {
 public:
  Eye(double shift, Output output) : Operator(std::move(output)), shift_(shift) {}
  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t columns = outputs()[0].dims[1];
    const auto row = static_cast<double>(number / columns);
    const auto column = static_cast<double>(number % columns);
    return {column - row == shift_ ? 1.0 : 0.0, 0};
  }

 private:
  double shift_;
};

MadeOperator make_eye_like(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  if (x->rank() != 2) return not_computed("its input is no matrix");
  DType dtype = x->dtype();
  if (call.has("dtype")) {
    const OnnxType* const type =
        find_onnx_type(static_cast<std::uint64_t>(call.integer("dtype", 0)));
    if (type == nullptr || !type->dtype) return not_computed("its dtype is not supported");
    dtype = *type->dtype;
  }
  return std::make_unique<Eye>(static_cast<double>(call.integer("k", 0)),
                               Operator::Output{x->dims(), dtype});
}

class OneHot final : public Operator {
 public:
  OneHot(Tensor& indices, Tensor& values, std::size_t axis, double depth, Output output)
      : Operator(std::move(output)),
        indices_(indices),
        values_(values),
        axis_(axis),
        depth_(depth) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, outputs()[0].dims);
    const auto at = static_cast<double>(index[axis_]);
    index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis_));
    const double wanted = indices_.value(number_of(index, indices_.dims()));
    const bool hot = at == (wanted < 0 ? wanted + depth_ : wanted);
    return values_.at(hot ? 1 : 0);
  }

 private:
  Tensor& indices_;
  Tensor& values_;
  std::size_t axis_;
  double depth_;
};

MadeOperator make_one_hot(const Call& call) {
  constexpr double kMost = 0x1p40;
  BTF_ASSIGN(Tensor* const indices, call.input(0));
  BTF_ASSIGN(Tensor* const depth, call.input(1));
  BTF_ASSIGN(Tensor* const values, call.input(2));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), indices->rank() + 1));
  if (depth->elements() != 1 || values->elements() != 2)
    return not_computed("its depth or its values cannot be used");
  const double size = depth->value(0);
  if (!(size >= 0 && size <= kMost)) return not_computed("its depth cannot be used");
  Dims dims = indices->dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::uint64_t>(size));
  return std::make_unique<OneHot>(*indices, *values, axis, std::floor(size),
                                  Operator::Output{std::move(dims), values->dtype()});
}

constexpr auto kMakingRows = std::to_array<OperatorRow>({
    {"Shape", 1, make_shape, Passing::none},
    {"Size", 1, make_size, Passing::none},
    {"ConstantOfShape", 9, make_constant_of_shape, Passing::none},
    {"Constant", 1, make_constant, Passing::none},
    {"Range", 11, make_range, Passing::none},
    {"EyeLike", 9, make_eye_like, Passing::none},
    {"OneHot", 9, make_one_hot, Passing::none},
});

}  // namespace

std::span<const OperatorRow> making_rows() { return kMakingRows; }

}  // namespace btf::network

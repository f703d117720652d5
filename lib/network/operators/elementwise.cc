// Elementwise operators with one or several inputs.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "btf/try.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

enum class BinaryKind : std::uint8_t {
  exact,    // one of the inputs: nothing is rounded
  rounded,  // one operation
  power,    // a library function: exp(b log a)
  flag,     // true or false
  bits,     // integers only
};

struct BinaryFunction {
  std::string_view name;
  BinaryKind kind{};
  double (*f)(double a, double b, bool integers) = nullptr;
  bool variadic = false;
  double (*all)(double folded, double count) = nullptr;  // of all inputs together
};

std::int64_t whole_number(double x) {
  constexpr double kMax = 0x1p62;
  return std::isnan(x) ? 0 : static_cast<std::int64_t>(std::clamp(x, -kMax, kMax));
}

double divide(double a, double b, bool integers) {
  if (!integers) return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}

// The result has the sign of the divisor, like Python's %.
double modulo(double a, double b, bool) {
  if (b == 0) return std::numeric_limits<double>::quiet_NaN();
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double smaller(double a, double b, bool) {
  return std::isnan(a) ? a : b < a || std::isnan(b) ? b : a;
}
double larger(double a, double b, bool) {
  return std::isnan(a) ? a : b > a || std::isnan(b) ? b : a;
}

constexpr auto kBinary = std::to_array<BinaryFunction>({
    {"Add", BinaryKind::rounded, [](double a, double b, bool) { return a + b; }},
    {"Sub", BinaryKind::rounded, [](double a, double b, bool) { return a - b; }},
    {"Mul", BinaryKind::rounded, [](double a, double b, bool) { return a * b; }},
    {"Div", BinaryKind::rounded, divide},
    {"Pow", BinaryKind::power, [](double a, double b, bool) { return std::pow(a, b); }},
    {"Mod", BinaryKind::exact, modulo},
    {"Min", BinaryKind::exact, smaller, true},
    {"Max", BinaryKind::exact, larger, true},
    {"Sum", BinaryKind::rounded, [](double a, double b, bool) { return a + b; }, true},
    {"Mean", BinaryKind::rounded, [](double a, double b, bool) { return a + b; }, true,
     [](double sum, double count) { return sum / count; }},
    {"PRelu", BinaryKind::rounded,
     [](double x, double slope, bool) { return x < 0 ? slope * x : x; }},
    {"Equal", BinaryKind::flag, [](double a, double b, bool) { return a == b ? 1.0 : 0.0; }},
    {"Greater", BinaryKind::flag, [](double a, double b, bool) { return a > b ? 1.0 : 0.0; }},
    {"Less", BinaryKind::flag, [](double a, double b, bool) { return a < b ? 1.0 : 0.0; }},
    {"GreaterOrEqual", BinaryKind::flag,
     [](double a, double b, bool) { return a >= b ? 1.0 : 0.0; }},
    {"LessOrEqual", BinaryKind::flag, [](double a, double b, bool) { return a <= b ? 1.0 : 0.0; }},
    {"And", BinaryKind::flag,
     [](double a, double b, bool) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"Or", BinaryKind::flag, [](double a, double b, bool) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"Xor", BinaryKind::flag,
     [](double a, double b, bool) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
    {"BitwiseAnd", BinaryKind::bits,
     [](double a, double b, bool) {
       return static_cast<double>(whole_number(a) & whole_number(b));
     }},
    {"BitwiseOr", BinaryKind::bits,
     [](double a, double b, bool) {
       return static_cast<double>(whole_number(a) | whole_number(b));
     }},
    {"BitwiseXor", BinaryKind::bits,
     [](double a, double b, bool) {
       return static_cast<double>(whole_number(a) ^ whole_number(b));
     }},
});

// The largest effect of errors of both arguments, which occurs at a corner where the function is
// monotonic.
double carried(const BinaryFunction& function, const Estimate& a, const Estimate& b, bool integers,
               double value) {
  if (a.error == 0 && b.error == 0) return 0;
  double most = 0;
  for (const double x : {a.value - a.error, a.value + a.error})
    for (const double y : {b.value - b.error, b.value + b.error}) {
      const double other = function.f(x, y, integers);
      if (!std::isnan(other)) most = std::max(most, std::abs(other - value));
    }
  return most;
}

struct BroadcastInput {
  Tensor* tensor = nullptr;
  Broadcast place;
  Dims dims{};  // after broadcasting
};

class FoldOp final : public Operator {
 public:
  FoldOp(const BinaryFunction& function, std::vector<BroadcastInput> inputs, Output output,
         const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        function_(function),
        inputs_(std::move(inputs)),
        integers_(!inputs_[0].tensor->floating()),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Estimate folded = at(0, number);
    for (std::size_t i = 1; i < inputs_.size(); ++i) folded = step(folded, at(i, number));
    if (function_.all == nullptr) return folded;
    const auto count = static_cast<double>(inputs_.size());
    return rounded({function_.all(folded.value, count), function_.all(folded.error, count)},
                   arithmetic_);
  }

  std::vector<Dims> places() const override {
    std::vector<Dims> dims;
    for (const BroadcastInput& input : inputs_) dims.push_back(input.dims);
    return dims;
  }
  void at_places(std::span<const std::span<const double>> inputs,
                 std::span<double> into) const override {
    std::ranges::copy(inputs[0], into.begin());
    for (const auto& input : inputs.subspan(1))
      for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = function_.f(into[i], input[i], integers_);
    if (function_.all == nullptr) return;
    for (double& number : into) number = function_.all(number, static_cast<double>(inputs.size()));
  }

 private:
  Estimate at(std::size_t i, std::uint64_t number) {
    return inputs_[i].tensor->at(inputs_[i].place.number(number));
  }

  Estimate step(const Estimate& a, const Estimate& b) const {
    Estimate found{function_.f(a.value, b.value, integers_), 0};
    if (std::isnan(found.value)) return found;
    found.error = carried(function_, a, b, integers_, found.value);
    if (integers_ || !std::isfinite(found.value)) return found;
    if (function_.kind == BinaryKind::rounded)
      // A product of two numbers that were rounded in between has more than half a step of error.
      return rounded(rounded(found, arithmetic_), arithmetic_);
    if (function_.kind == BinaryKind::power) {
      constexpr double kLibrary = 4;
      const double turns = a.value > 0 ? std::abs(b.value * std::log(a.value)) : 0;
      found.error += (kLibrary * arithmetic_.result + kFloat32 * turns) * std::abs(found.value);
    }
    return found;
  }

  const BinaryFunction& function_;
  std::vector<BroadcastInput> inputs_;
  bool integers_;
  const Arithmetic& arithmetic_;
};

// Before version 7, the dims of the second input began at `axis` of the first.
Result<Dims> placed_at_axis(const Call& call, const Dims& first, const Dims& second) {
  if (call.version >= 7 || call.integer("broadcast", 0) == 0 || !call.has("axis")) return second;
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), first.size()));
  if (axis + second.size() > first.size()) return not_computed("its second input does not fit");
  Dims dims = second;
  dims.resize(first.size() - axis, 1);
  return dims;
}

template <std::size_t I>
OperatorResult make_folded(const Call& call) {
  constexpr const BinaryFunction& kFunction = kBinary[I];
  const std::size_t count = kFunction.variadic ? call.inputs.size() : 2;
  if (count == 0) return not_computed("it has no inputs");
  Dims dims;
  std::vector<Dims> placed;
  for (std::size_t i = 0; i < count; ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    placed.push_back(tensor->dims());
    if (i == 1) {
      BTF_ASSIGN(placed[1], placed_at_axis(call, placed[0], placed[1]));
    }
    BTF_ASSIGN(dims, broadcast(dims, placed[i]));
  }
  std::vector<BroadcastInput> inputs;
  for (std::size_t i = 0; i < count; ++i)
    inputs.push_back({call.inputs[i], Broadcast(placed[i], dims), placed[i]});
  const DType dtype = kFunction.kind == BinaryKind::flag ? DType::boolean : call.inputs[0]->dtype();
  return std::make_unique<FoldOp>(kFunction, std::move(inputs), Operator::Output{dims, dtype},
                                  call.arithmetic);
}

// fmod keeps the sign of the dividend.
OperatorResult make_mod(const Call& call) {
  static constexpr BinaryFunction kRemainder{
      "Mod", BinaryKind::exact, [](double a, double b, bool) { return std::fmod(a, b); }};
  BTF_ASSIGN(std::unique_ptr<Operator> plain, make_folded<5>(call));
  if (call.integer("fmod", 0) == 0) return plain;
  std::vector<BroadcastInput> inputs;
  const Operator::Output output = plain->outputs()[0];
  for (Tensor* const tensor : {call.inputs[0], call.inputs[1]})
    inputs.push_back({tensor, Broadcast(tensor->dims(), output.dims), tensor->dims()});
  return std::make_unique<FoldOp>(kRemainder, std::move(inputs), output, call.arithmetic);
}
static_assert(kBinary[5].name == "Mod");

class BitShiftOp final : public Operator {
 public:
  BitShiftOp(BroadcastInput x, BroadcastInput by, bool left, Output output)
      : Operator(std::move(output)), x_(std::move(x)), by_(std::move(by)), left_(left) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const double x = x_.tensor->value(x_.place.number(number));
    const double by = by_.tensor->value(by_.place.number(number));
    const unsigned bits = info(x_.tensor->dtype()).bits;
    if (!(by >= 0) || by >= bits) return {0, 0};
    if (!left_) return {std::floor(std::ldexp(x, -static_cast<int>(by))), 0};
    return {std::fmod(std::ldexp(x, static_cast<int>(by)), std::ldexp(1.0, static_cast<int>(bits))),
            0};
  }

 private:
  BroadcastInput x_;
  BroadcastInput by_;
  bool left_;
};

OperatorResult make_shift(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const by, call.input(1));
  BTF_ASSIGN(const Dims dims, broadcast(x->dims(), by->dims()));
  return std::make_unique<BitShiftOp>(BroadcastInput{x, Broadcast(x->dims(), dims)},
                                      BroadcastInput{by, Broadcast(by->dims(), dims)},
                                      call.text("direction", "LEFT") == "LEFT",
                                      Operator::Output{dims, x->dtype()});
}

class WhereOp final : public Operator {
 public:
  WhereOp(std::array<BroadcastInput, 3> inputs, Output output)
      : Operator(std::move(output)), inputs_(std::move(inputs)) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const auto at = [&](std::size_t i) {
      return inputs_[i].tensor->at(inputs_[i].place.number(number));
    };
    const Estimate condition = at(0);
    if (std::isnan(condition.value)) return condition;
    Estimate chosen = condition.value != 0 ? at(1) : at(2);
    // Numbers may be so close that a device decides the comparison differently.
    if (condition.error >= 1) chosen.error += std::abs(at(1).value - at(2).value);
    return chosen;
  }

  std::vector<Dims> places() const override {
    return {inputs_[0].dims, inputs_[1].dims, inputs_[2].dims};
  }
  void at_places(std::span<const std::span<const double>> inputs,
                 std::span<double> into) const override {
    for (std::size_t i = 0; i < into.size(); ++i)
      into[i] = inputs[0][i] != 0 ? inputs[1][i] : inputs[2][i];
  }

 private:
  std::array<BroadcastInput, 3> inputs_;
};

OperatorResult make_where(const Call& call) {
  Dims dims;
  for (std::size_t i = 0; i < 3; ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    BTF_ASSIGN(dims, broadcast(dims, tensor->dims()));
  }
  std::array<BroadcastInput, 3> inputs;
  for (std::size_t i = 0; i < 3; ++i)
    inputs[i] = {call.inputs[i], Broadcast(call.inputs[i]->dims(), dims), call.inputs[i]->dims()};
  return std::make_unique<WhereOp>(std::move(inputs),
                                   Operator::Output{dims, call.inputs[1]->dtype()});
}

class ClipOp final : public Operator {
 public:
  ClipOp(Tensor& x, double low, double high, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}), x_(x), low_(low), high_(high), arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Estimate x = x_.at(number);
    const auto clip = [&](double value) {
      return std::isnan(value) ? value : std::min(high_, std::max(low_, value));
    };
    const double value = clip(x.value);
    if (!std::isfinite(value)) return {value, 0};
    return {value,
            std::max(std::abs(clip(x.value - x.error) - value),
                     std::abs(clip(x.value + x.error) - value)) +
                // Limits are rounded to the type, too.
                (value == x.value || !x_.floating() ? 0 : arithmetic_.result * std::abs(value))};
  }

  // The limits are not inputs here. They are in the result, which is rounded anyway.
  std::vector<Dims> places() const override { return {x_.dims()}; }
  void at_places(std::span<const std::span<const double>> inputs,
                 std::span<double> into) const override {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const double x = inputs[0][i];
      into[i] = std::isnan(x) ? x : std::min(high_, std::max(low_, x));
    }
  }

 private:
  Tensor& x_;
  double low_;
  double high_;
  const Arithmetic& arithmetic_;
};

OperatorResult make_clip(const Call& call) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  BTF_ASSIGN(Tensor* const x, call.input(0));
  double low = call.real("min", -kInf);
  double high = call.real("max", kInf);
  if (call.has_input(1) && call.inputs[1]->elements() == 1) low = call.inputs[1]->value(0);
  if (call.has_input(2) && call.inputs[2]->elements() == 1) high = call.inputs[2]->value(0);
  return std::make_unique<ClipOp>(*x, low, high, call.arithmetic);
}

constexpr auto kFoldedRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{OperatorRow{kBinary[I].name, 1, make_folded<I>, ErrorPropagation::places}...};
}(std::make_index_sequence<kBinary.size()>());

constexpr auto kBinaryRows = [] {
  std::array<OperatorRow, kFoldedRows.size() + 4> rows;
  std::size_t at = 0;
  for (const OperatorRow& row : kFoldedRows) rows[at++] = row;
  rows[at++] = {"Mod", 10, make_mod, ErrorPropagation::places};
  rows[at++] = {"BitShift", 11, make_shift, ErrorPropagation::none};
  rows[at++] = {"Where", 9, make_where, ErrorPropagation::places};
  rows[at++] = {"Clip", 1, make_clip, ErrorPropagation::places};
  return rows;
}();

}  // namespace

std::span<const OperatorRow> binary_rows() { return kBinaryRows; }

namespace {

// Functions of one element.

constexpr double kUnaryInf = std::numeric_limits<double>::infinity();

// Two numbers from attributes, such as alpha and beta.
struct UnaryPair {
  double a = 0;
  double b = 0;
};

// The error of a device's arithmetic apart from rounding the result.
enum class UnaryKind : std::uint8_t {
  exact,     // nothing is rounded
  flag,      // true or false
  plain,     // one operation
  function,  // a library function, precise to a few half steps of the result
  bounded,   // a library function with an error relative to its largest result: rational
             // approximations clamp, so that sigmoid(-30) is 1e-8 and not 1e-13
};

struct UnaryFunction {
  std::string_view name;
  UnaryKind kind{};
  double (*f)(double x, const UnaryPair& c) = nullptr;
  std::string_view a{};  // name of the attribute
  double a_default = 0;
  std::string_view b{};
  double b_default = 0;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double gelu(double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }
double tanh_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double hard_sigmoid(double x, double a, double b) {
  return std::max(0.0, std::min(1.0, a * x + b));
}
double sign_of(double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }
double round_even(double x) { return std::nearbyint(x); }

constexpr double kSeluAlpha = 1.67326319217681884765625;
constexpr double kSeluGamma = 1.05070102214813232421875;

using UnaryConstants = const UnaryPair&;
constexpr auto kUnary = std::to_array<UnaryFunction>({
    {"Abs", UnaryKind::exact, [](double x, UnaryConstants) { return std::abs(x); }},
    {"Neg", UnaryKind::exact, [](double x, UnaryConstants) { return -x; }},
    {"Relu", UnaryKind::exact, [](double x, UnaryConstants) { return x < 0 ? 0 : x; }},
    {"Sign", UnaryKind::exact, [](double x, UnaryConstants) { return sign_of(x); }},
    {"Floor", UnaryKind::exact, [](double x, UnaryConstants) { return std::floor(x); }},
    {"Ceil", UnaryKind::exact, [](double x, UnaryConstants) { return std::ceil(x); }},
    {"Round", UnaryKind::exact, [](double x, UnaryConstants) { return round_even(x); }},
    {"Not", UnaryKind::flag, [](double x, UnaryConstants) { return x == 0 ? 1.0 : 0.0; }},
    {"IsNaN", UnaryKind::flag, [](double x, UnaryConstants) { return std::isnan(x) ? 1.0 : 0.0; }},
    {"IsInf", UnaryKind::flag,
     [](double x, UnaryConstants c) {
       return (x == kUnaryInf && c.a != 0) || (x == -kUnaryInf && c.b != 0) ? 1.0 : 0.0;
     },
     "detect_positive", 1, "detect_negative", 1},
    {"LeakyRelu", UnaryKind::plain, [](double x, UnaryConstants c) { return x < 0 ? c.a * x : x; },
     "alpha", 0.01},
    {"ThresholdedRelu", UnaryKind::exact,
     [](double x, UnaryConstants c) { return x > c.a ? x : 0; }, "alpha", 1},
    {"Shrink", UnaryKind::plain,
     [](double x, UnaryConstants c) { return x < -c.a  ? x + c.b
                                             : x > c.a ? x - c.b
                                                       : 0; }, "lambd",
     0.5, "bias", 0},
    {"Sqrt", UnaryKind::plain, [](double x, UnaryConstants) { return std::sqrt(x); }},
    {"Reciprocal", UnaryKind::plain, [](double x, UnaryConstants) { return 1 / x; }},
    {"Exp", UnaryKind::function, [](double x, UnaryConstants) { return std::exp(x); }},
    {"Log", UnaryKind::bounded, [](double x, UnaryConstants) { return std::log(x); }},
    {"Sin", UnaryKind::bounded, [](double x, UnaryConstants) { return std::sin(x); }},
    {"Cos", UnaryKind::bounded, [](double x, UnaryConstants) { return std::cos(x); }},
    {"Tan", UnaryKind::bounded, [](double x, UnaryConstants) { return std::tan(x); }},
    {"Asin", UnaryKind::bounded, [](double x, UnaryConstants) { return std::asin(x); }},
    {"Acos", UnaryKind::bounded, [](double x, UnaryConstants) { return std::acos(x); }},
    {"Atan", UnaryKind::bounded, [](double x, UnaryConstants) { return std::atan(x); }},
    {"Sinh", UnaryKind::bounded, [](double x, UnaryConstants) { return std::sinh(x); }},
    {"Cosh", UnaryKind::function, [](double x, UnaryConstants) { return std::cosh(x); }},
    {"Tanh", UnaryKind::bounded, [](double x, UnaryConstants) { return std::tanh(x); }},
    {"Asinh", UnaryKind::bounded, [](double x, UnaryConstants) { return std::asinh(x); }},
    {"Acosh", UnaryKind::bounded, [](double x, UnaryConstants) { return std::acosh(x); }},
    {"Atanh", UnaryKind::bounded, [](double x, UnaryConstants) { return std::atanh(x); }},
    {"Erf", UnaryKind::bounded, [](double x, UnaryConstants) { return std::erf(x); }},
    {"Sigmoid", UnaryKind::bounded, [](double x, UnaryConstants) { return sigmoid(x); }},
    {"HardSigmoid", UnaryKind::plain,
     [](double x, UnaryConstants c) { return hard_sigmoid(x, c.a, c.b); }, "alpha", 0.2, "beta",
     0.5},
    {"HardSwish", UnaryKind::plain,
     [](double x, UnaryConstants) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); }},
    {"Elu", UnaryKind::bounded,
     [](double x, UnaryConstants c) { return x < 0 ? c.a * std::expm1(x) : x; }, "alpha", 1},
    {"Selu", UnaryKind::bounded,
     [](double x, UnaryConstants c) { return x > 0 ? c.b * x : c.b * (c.a * std::expm1(x)); },
     "alpha", kSeluAlpha, "gamma", kSeluGamma},
    {"Celu", UnaryKind::bounded,
     [](double x, UnaryConstants c) { return x > 0 ? x : c.a * std::expm1(x / c.a); }, "alpha", 1},
    {"Softplus", UnaryKind::bounded, [](double x, UnaryConstants) { return softplus(x); }},
    {"Softsign", UnaryKind::plain, [](double x, UnaryConstants) { return x / (1 + std::abs(x)); }},
    {"Mish", UnaryKind::bounded,
     [](double x, UnaryConstants) { return x * std::tanh(softplus(x)); }},
    {"Swish", UnaryKind::bounded, [](double x, UnaryConstants c) { return x * sigmoid(c.a * x); },
     "alpha", 1},
    {"Gelu", UnaryKind::bounded,
     [](double x, UnaryConstants c) { return c.b != 0 ? tanh_gelu(x) : gelu(x); }},
});

// `f` may have a maximum or a jump within the error of its argument, so both ends are evaluated.
double carried_by(const UnaryFunction& function, const UnaryPair& constants, double x, double error,
                  double value) {
  double most = 0;
  for (const double other : {function.f(x - error, constants), function.f(x + error, constants)})
    if (!std::isnan(other)) most = std::max(most, std::abs(other - value));
  return most;
}

class Unary final : public Operator {
 public:
  Unary(const UnaryFunction& function, UnaryPair constants, Tensor& x, const Arithmetic& arithmetic)
      : Operator({x.dims(), function.kind == UnaryKind::flag ? DType::boolean : x.dtype()}),
        function_(function),
        constants_(constants),
        x_(x),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    // Errors of library functions in half steps.
    constexpr double kLibrary = 4;
    const Estimate x = x_.at(number);
    const double value = function_.f(x.value, constants_);
    const UnaryKind kind = function_.kind;
    if (kind == UnaryKind::flag || !x_.floating()) return {value, 0};
    const bool library = kind == UnaryKind::function || kind == UnaryKind::bounded;
    // Arguments are scaled by ln 2 or pi before tables are used.
    const double inner = x.error + (library ? arithmetic_.result * std::abs(x.value) : 0);
    Estimate found{value, inner > 0 && std::isfinite(value)
                              ? carried_by(function_, constants_, x.value, inner, value)
                              : 0};
    if (kind == UnaryKind::exact || !std::isfinite(value)) return found;
    found.error += (library ? kLibrary : 2) * arithmetic_.result * std::abs(value);
    if (kind == UnaryKind::bounded) found.error += kLibrary * kFloat32;
    return found;
  }

  std::vector<Dims> places() const override { return {x_.dims()}; }
  void at_places(std::span<const std::span<const double>> inputs,
                 std::span<double> into) const override {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = function_.f(inputs[0][i], constants_);
  }

 private:
  const UnaryFunction& function_;
  UnaryPair constants_;
  Tensor& x_;
  const Arithmetic& arithmetic_;
};

template <std::size_t I>
OperatorResult make_unary(const Call& call) {
  constexpr const UnaryFunction& kOne = kUnary[I];
  BTF_ASSIGN(Tensor* const x, call.input(0));
  UnaryPair constants{call.real(kOne.a, kOne.a_default), call.real(kOne.b, kOne.b_default)};
  if (call.op == "Gelu") constants.b = call.text("approximate", "none") == "tanh" ? 1 : 0;
  return std::make_unique<Unary>(kOne, constants, *x, call.arithmetic);
}

constexpr auto kUnaryRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{OperatorRow{kUnary[I].name, 1, make_unary<I>, ErrorPropagation::places}...};
}(std::make_index_sequence<kUnary.size()>());

}  // namespace

std::span<const OperatorRow> unary_rows() { return kUnaryRows; }

}  // namespace btf::network

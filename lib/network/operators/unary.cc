// Functions of one element.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "btf/try.h"
#include "network/operators/families.h"

namespace btf::network {
namespace {

constexpr double kUnaryInf = std::numeric_limits<double>::infinity();

// The two numbers that attributes give, such as alpha and beta.
struct UnaryPair {
  double a = 0;
  double b = 0;
};

// The error of a device's arithmetic beside rounding the result.
enum class UnaryKind : std::uint8_t {
  exact,     // nothing is rounded
  flag,      // true or false
  plain,     // one operation
  function,  // of a library, which keeps to a few half steps of the result
  bounded,   // likewise, but of the largest result where the result is near zero: rational
             // approximations clamp there, so that sigmoid(-30) is 1e-8 and not 1e-13
};

struct UnaryFunction {
  std::string_view name;
  UnaryKind kind{};
  double (*f)(double x, const UnaryPair& c) = nullptr;
  std::string_view a{};  // the attribute's name
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

// `f` may have a maximum or a jump within the error of its argument: both ends are asked.
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
    // Half steps that libraries' functions are off by.
    constexpr double kLibrary = 4;
    const Estimate x = x_.at(number);
    const double value = function_.f(x.value, constants_);
    const UnaryKind kind = function_.kind;
    if (kind == UnaryKind::flag || !x_.floating()) return {value, 0};
    const bool library = kind == UnaryKind::function || kind == UnaryKind::bounded;
    // Arguments are scaled before tables are looked up: by ln 2 or pi.
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
MadeOperator make_unary(const Call& call) {
  constexpr const UnaryFunction& kOne = kUnary[I];
  BTF_ASSIGN(Tensor* const x, call.input(0));
  UnaryPair constants{call.real(kOne.a, kOne.a_default), call.real(kOne.b, kOne.b_default)};
  if (call.op == "Gelu") constants.b = call.text("approximate", "none") == "tanh" ? 1 : 0;
  return std::make_unique<Unary>(kOne, constants, *x, call.arithmetic);
}

constexpr auto kUnaryRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{OperatorRow{kUnary[I].name, 1, make_unary<I>, Passing::places}...};
}(std::make_index_sequence<kUnary.size()>());

}  // namespace

std::span<const OperatorRow> unary_rows() { return kUnaryRows; }

}  // namespace btf::network

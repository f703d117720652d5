// Recurrent layers: LSTM, GRU, RNN. A state depends on all states before it, so the whole direction
// is computed when one of its elements is requested.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

constexpr std::uint64_t kMaxProducts = 1ULL << 28;
constexpr std::uint64_t kMaxWeights = 1ULL << 22;  // per direction

// A number, and the rms error of independent roundings.
struct Noisy {
  double value = 0;
  double spread = 0;
};

struct Activation {
  std::string_view name;
  double (*f)(double x) = nullptr;
  double (*slope)(double y) = nullptr;  // derivative as a function of the result
};

constexpr auto kActivations = std::to_array<Activation>({
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); },
     [](double y) { return y * (1 - y); }},
    {"Tanh", [](double x) { return std::tanh(x); }, [](double y) { return 1 - y * y; }},
    {"Relu", [](double x) { return x < 0 ? 0 : x; }, [](double y) { return y > 0 ? 1.0 : 0.0; }},
});

// What differs between the three operators.
struct RecurrentRow {
  std::string_view op;
  std::size_t gates = 1;
  std::array<std::string_view, 3> activations{};  // defaults of one direction
  std::size_t activation_count = 1;
  bool has_cell = false;
};

constexpr auto kRecurrent = std::to_array<RecurrentRow>({
    {"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, 3, true},
    {"GRU", 3, {"Sigmoid", "Tanh", {}}, 2, false},
    {"RNN", 1, {"Tanh", {}, {}}, 1, false},
});

struct RecurrentSizes {
  std::uint64_t steps = 0;
  std::uint64_t batch = 0;
  std::uint64_t inputs = 0;
  std::uint64_t hidden = 0;
  std::uint64_t directions = 1;
};

struct RecurrentInputs {
  Tensor* x = nullptr;
  Tensor* w = nullptr;
  Tensor* r = nullptr;
  Tensor* b = nullptr;  // this and the following: nullptr if missing
  Tensor* h = nullptr;
  Tensor* c = nullptr;
  Tensor* p = nullptr;
};

std::vector<Operator::Output> recurrent_outputs(const RecurrentRow& row,
                                                const RecurrentSizes& sizes, DType dtype) {
  const Dims last{sizes.directions, sizes.batch, sizes.hidden};
  std::vector<Operator::Output> outputs{
      {{sizes.steps, sizes.directions, sizes.batch, sizes.hidden}, dtype}, {last, dtype}};
  if (row.has_cell) outputs.push_back({last, dtype});
  return outputs;
}

class Recurrent final : public Operator {
 public:
  Recurrent(const RecurrentRow& row, const RecurrentSizes& sizes, const RecurrentInputs& inputs,
            std::vector<const Activation*> activations, bool reverse, bool reset_after,
            const Arithmetic& arithmetic)
      : Operator(recurrent_outputs(row, sizes, inputs.x->dtype())),
        row_(row),
        sizes_(sizes),
        in_(inputs),
        activations_(std::move(activations)),
        reverse_(reverse),
        reset_after_(reset_after),
        arithmetic_(arithmetic),
        directions_(sizes.directions) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    const std::uint64_t state = sizes_.batch * sizes_.hidden;
    const std::uint64_t place = number % state;
    const std::uint64_t direction = number / state % sizes_.directions;
    if (!directions_[direction]) directions_[direction] = run(direction);
    const Direction& done = *directions_[direction];
    if (done.states.empty()) return kNotAvailable;
    if (output == 0) return estimate(done.states[number / state / sizes_.directions][place]);
    return estimate(output == 1 ? done.last[place] : done.cell[place]);
  }

  double terms() const override { return static_cast<double>(sizes_.inputs + sizes_.hidden); }

 private:
  struct Direction {
    std::vector<std::vector<Noisy>> states;  // by step
    std::vector<Noisy> last;
    std::vector<Noisy> cell;
  };

  Estimate estimate(const Noisy& state) const {
    constexpr double kBeyondChance = 4;
    return rounded({state.value, kBeyondChance * state.spread}, arithmetic_);
  }

  static std::vector<double> read(Tensor* tensor, std::uint64_t first, std::uint64_t count) {
    std::vector<double> values(count, 0);
    if (tensor == nullptr) return values;
    std::vector<Tensor::Operand> row(count);
    tensor->operands(first, row);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = row[i].value;
    return values;
  }

  static std::vector<Noisy> read_states(Tensor* tensor, std::uint64_t first, std::uint64_t count) {
    std::vector<Noisy> states(count);
    if (tensor == nullptr) return states;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Estimate found = tensor->at(first + i);
      states[i] = {found.value, found.error};
    }
    return states;
  }

  // Adds a row of weights times a state.
  struct Total {
    double value = 0;
    double variance = 0;
    double squares = 0;
  };
  void add(Total& total, std::span<const double> weights, std::span<const Noisy> state) const {
    const double u = arithmetic_.operand;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double term = weights[k] * state[k].value;
      const double carried = weights[k] * state[k].spread;
      total.value += term;
      total.squares += term * term;
      total.variance += 2 * u * u * term * term + carried * carried;
    }
  }
  Noisy result(const Total& total, double bias) const {
    const double n = terms();
    const double sum = arithmetic_.accumulator * std::sqrt(total.squares * n);
    return {total.value + bias, std::sqrt(total.variance + sum * sum) +
                                    arithmetic_.result * std::abs(total.value + bias)};
  }
  Noisy activated(std::size_t which, const Noisy& x) const {
    constexpr double kLibrary = 4;
    const Activation& f = *activations_[which];
    const double y = f.f(x.value);
    return {y, std::abs(f.slope(y)) * x.spread +
                   kLibrary * (arithmetic_.result * std::abs(y) + kFloat32)};
  }
  Noisy times(const Noisy& a, const Noisy& b) const {
    const double one = a.value * b.spread;
    const double other = b.value * a.spread;
    const double value = a.value * b.value;
    return {value, std::sqrt(one * one + other * other) + arithmetic_.result * std::abs(value)};
  }
  Noisy plus(const Noisy& a, const Noisy& b) const {
    const double value = a.value + b.value;
    return {value, std::sqrt(a.spread * a.spread + b.spread * b.spread) +
                       arithmetic_.result * std::abs(value)};
  }

  Direction run(std::uint64_t direction) {
    const std::uint64_t hidden = sizes_.hidden;
    const std::uint64_t rows = row_.gates * hidden;
    const std::uint64_t state = sizes_.batch * hidden;
    Direction found;
    if (!in_.x->take_products(sizes_.steps * sizes_.batch * rows * (sizes_.inputs + hidden)))
      return found;
    w_ = read(in_.w, direction * rows * sizes_.inputs, rows * sizes_.inputs);
    r_ = read(in_.r, direction * rows * hidden, rows * hidden);
    b_ = read(in_.b, direction * 2 * rows, 2 * rows);
    p_ = read(in_.p, direction * 3 * hidden, 3 * hidden);
    shift_ = direction * activations_.size() / sizes_.directions;
    found.states.resize(sizes_.steps);
    found.last = read_states(in_.h, direction * state, state);
    found.cell = read_states(in_.c, direction * state, state);
    const bool backward = reverse_ || direction == 1;
    for (std::uint64_t k = 0; k < sizes_.steps; ++k) {
      const std::uint64_t step = backward ? sizes_.steps - 1 - k : k;
      for (std::uint64_t n = 0; n < sizes_.batch; ++n) {
        const std::vector<Noisy> x =
            read_states(in_.x, (step * sizes_.batch + n) * sizes_.inputs, sizes_.inputs);
        const std::span<Noisy> h(found.last.data() + n * hidden, hidden);
        const std::span<Noisy> c(found.cell.data() + n * hidden, hidden);
        advance(x, h, c);
      }
      found.states[step] = found.last;
    }
    w_ = r_ = b_ = p_ = {};
    return found;
  }

  Noisy gate(std::size_t which, std::uint64_t i, std::span<const Noisy> x,
             std::span<const Noisy> h) const {
    const std::uint64_t row = which * sizes_.hidden + i;
    Total total;
    add(total, std::span(w_).subspan(row * sizes_.inputs, sizes_.inputs), x);
    add(total, std::span(r_).subspan(row * sizes_.hidden, sizes_.hidden), h);
    return result(total, b_[row] + b_[row_.gates * sizes_.hidden + row]);
  }

  void advance(std::span<const Noisy> x, std::span<Noisy> h, std::span<Noisy> c) const {
    const std::uint64_t hidden = sizes_.hidden;
    std::vector<Noisy> next(hidden);
    if (row_.gates == 4) {
      for (std::uint64_t i = 0; i < hidden; ++i) {
        const auto peeped = [&](std::size_t which, const Noisy& cell) {
          const double p = p_[which * hidden + i];
          return p == 0 ? Noisy{} : times({p, 0}, cell);
        };
        const Noisy input = activated(shift_, plus(gate(0, i, x, h), peeped(0, c[i])));
        const Noisy forget = activated(shift_, plus(gate(2, i, x, h), peeped(2, c[i])));
        const Noisy fresh = activated(shift_ + 1, gate(3, i, x, h));
        c[i] = plus(times(forget, c[i]), times(input, fresh));
        const Noisy output = activated(shift_, plus(gate(1, i, x, h), peeped(1, c[i])));
        next[i] = times(output, activated(shift_ + 2, c[i]));
      }
    } else if (row_.gates == 3) {
      next = gated(x, h);
    } else {
      for (std::uint64_t i = 0; i < hidden; ++i) next[i] = activated(shift_, gate(0, i, x, h));
    }
    std::ranges::copy(next, h.begin());
  }

  // The next state of a GRU.
  std::vector<Noisy> gated(std::span<const Noisy> x, std::span<const Noisy> h) const {
    const std::uint64_t hidden = sizes_.hidden;
    std::vector<Noisy> update(hidden);
    std::vector<Noisy> reset(hidden);
    std::vector<Noisy> kept(hidden);
    for (std::uint64_t i = 0; i < hidden; ++i) {
      update[i] = activated(shift_, gate(0, i, x, h));
      reset[i] = activated(shift_, gate(1, i, x, h));
      kept[i] = times(reset[i], h[i]);
    }
    std::vector<Noisy> next(hidden);
    for (std::uint64_t i = 0; i < hidden; ++i) {
      const std::uint64_t row = 2 * hidden + i;
      const double w_bias = b_[row];
      const double r_bias = b_[3 * hidden + row];
      const auto r_row = std::span(r_).subspan(row * hidden, hidden);
      Total of_x;
      add(of_x, std::span(w_).subspan(row * sizes_.inputs, sizes_.inputs), x);
      Noisy before;
      if (reset_after_) {
        Total of_h;
        add(of_h, r_row, h);
        before = plus(result(of_x, w_bias), times(reset[i], result(of_h, r_bias)));
      } else {
        add(of_x, r_row, kept);
        before = result(of_x, w_bias + r_bias);
      }
      const Noisy fresh = activated(shift_ + 1, before);
      const Noisy rest{1 - update[i].value, update[i].spread};
      next[i] = plus(times(rest, fresh), times(update[i], h[i]));
    }
    return next;
  }

  const RecurrentRow& row_;
  RecurrentSizes sizes_;
  RecurrentInputs in_;
  std::vector<const Activation*> activations_;  // one direction after the other
  bool reverse_;
  bool reset_after_;
  const Arithmetic& arithmetic_;
  std::vector<std::optional<Direction>> directions_;
  // Of the current direction.
  std::vector<double> w_;
  std::vector<double> r_;
  std::vector<double> b_;
  std::vector<double> p_;
  std::size_t shift_ = 0;
};

Result<std::vector<const Activation*>> activations_of(const Call& call, const RecurrentRow& row,
                                                      std::uint64_t directions) {
  // Attributes with several names are not read here, so other functions than the defaults are
  // refused.
  if (call.has("activations"))
    return not_computed("its activations are given by name, which is not computed here");
  std::vector<const Activation*> found;
  for (std::uint64_t d = 0; d < directions; ++d)
    for (std::size_t k = 0; k < row.activation_count; ++k)
      found.push_back(&*std::ranges::find(kActivations, row.activations[k], &Activation::name));
  return found;
}

template <std::size_t I>
OperatorResult make_recurrent(const Call& call) {
  constexpr const RecurrentRow& kRow = kRecurrent[I];
  RecurrentInputs in;
  BTF_ASSIGN(in.x, call.input(0));
  BTF_ASSIGN(in.w, call.input(1));
  BTF_ASSIGN(in.r, call.input(2));
  const auto optional = [&](std::size_t i) { return call.has_input(i) ? call.inputs[i] : nullptr; };
  in.b = optional(3);
  in.h = optional(5);
  if (kRow.has_cell) {
    in.c = optional(6);
    in.p = optional(7);
  }
  for (const char* const refused : {"clip", "activation_alpha", "activation_beta"})
    if (call.has(refused))
      return not_computed("its " + std::string(refused) + " is not computed here");
  if (call.integer("input_forget", 0) != 0 || call.integer("layout", 0) != 0)
    return not_computed("its input_forget or layout is not computed here");
  const std::string way = call.text("direction", "forward");
  RecurrentSizes sizes;
  sizes.directions = way == "bidirectional" ? 2 : 1;
  if (in.x->rank() != 3 || in.w->rank() != 3 || in.r->rank() != 3)
    return not_computed("its inputs are not of rank 3");
  sizes.steps = in.x->dims()[0];
  sizes.batch = in.x->dims()[1];
  sizes.inputs = in.x->dims()[2];
  sizes.hidden = in.r->dims()[2];
  const Checked rows = checked_mul(kRow.gates, sizes.hidden);
  const Checked weights = checked_mul(rows, checked_add(sizes.inputs, sizes.hidden));
  const Checked products =
      checked_mul(checked_mul(checked_mul(weights, sizes.steps), sizes.batch), sizes.directions);
  if (!products || *products > kMaxProducts || *weights > kMaxWeights)
    return not_computed("it takes too many terms");
  if (in.w->dims() != Dims{sizes.directions, *rows, sizes.inputs} ||
      in.r->dims() != Dims{sizes.directions, *rows, sizes.hidden})
    return not_computed("its weights do not fit its input");
  const std::uint64_t states = sizes.directions * sizes.batch * sizes.hidden;
  if ((in.b != nullptr && in.b->elements() != 2 * sizes.directions * *rows) ||
      (in.h != nullptr && in.h->elements() != states) ||
      (in.c != nullptr && in.c->elements() != states) ||
      (in.p != nullptr && in.p->elements() != 3 * sizes.directions * sizes.hidden))
    return not_computed("its bias or its first state does not fit its input");
  if (call.has_input(4)) {
    BTF_ASSIGN(const auto lengths, call.whole_integers(4));
    for (const std::int64_t length : lengths)
      if (static_cast<std::uint64_t>(length) != sizes.steps)
        return not_computed("sequences of several lengths are not computed here");
  }
  BTF_ASSIGN(auto activations, activations_of(call, kRow, sizes.directions));
  return std::make_unique<Recurrent>(kRow, sizes, in, std::move(activations), way == "reverse",
                                     call.integer("linear_before_reset", 0) != 0, call.arithmetic);
}

constexpr auto kRecurrentRows = std::to_array<OperatorRow>({
    {kRecurrent[0].op, 1, make_recurrent<0>},
    {kRecurrent[1].op, 1, make_recurrent<1>},
    {kRecurrent[2].op, 1, make_recurrent<2>},
});

}  // namespace

std::span<const OperatorRow> recurrent_rows() { return kRecurrentRows; }

}  // namespace btf::network

// Numbers in a narrow type, tensors of a dump measured in it, and the results of a node.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"
#include "core/numbers.h"
#include "kernels/stats/stats.h"
#include "network/evaluation.h"
#include "network/network.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf {

// A number as a device has it that works in a narrow floating type.

class NarrowType {
 public:
  explicit NarrowType(DType dtype);

  DType dtype() const { return dtype_; }
  double unit_roundoff() const { return unit_roundoff_; }  // half a step, relative
  double largest() const { return largest_; }
  double smallest() const { return smallest_; }  // above zero
  // Magnitudes above it are taken for an overflow: other inputs may be larger than those seen.
  double limit() const { return largest_ / kMargin; }

  RoundingTo rounding() const;

  // To the nearest number of the type; beyond the range: Inf.
  double round(double x) const {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<std::int64_t>(bits >> kDigits & 0x7ff);
    // Adding a number this large leaves no digits below the type's last one.
    const std::int64_t place = std::max(exponent, least_) + shift_;
    const double large = std::bit_cast<double>(static_cast<std::uint64_t>(place) << kDigits |
                                               std::uint64_t{1} << (kDigits - 1));
    const double rounded = exponent == 0x7ff ? x : (x + large) - large;
    return std::copysign(std::abs(rounded) > largest_ ? kInf : rounded, x);
  }
  // The same with what is above a limit as Inf.
  double read(double x, double above) const {
    return std::abs(x) > above ? std::copysign(kInf, x) : round(x);
  }

 private:
  static constexpr double kMargin = 2;
  static constexpr int kDigits = 52;
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  DType dtype_;
  std::int64_t least_ = 0;  // exponent of the least normal number, as a double has it
  std::int64_t shift_ = 0;
  double unit_roundoff_ = 0;
  double largest_ = 0;
  double smallest_ = 0;
};

// The numbers of a value of a network, from first to last: of a dump, of the model's weights, or
// computed from these.

inline constexpr std::size_t kFitRun = 4096;  // numbers that are looked at together

class Numbers {
 public:
  explicit Numbers(network::StoredNumbers stored) : stored_(std::move(stored)) {}

  const Dims& dims() const { return stored_.tensor().dims; }
  DType dtype() const { return *stored_.tensor().dtype; }
  bool floating() const { return info(dtype()).floating(); }
  std::uint64_t elements() const { return stored_.elements(); }

  // As many as `into` has, from the row-major number `first` on.
  Status read(std::uint64_t first, std::span<double> into);

 private:
  network::StoredNumbers stored_;
};

// The numbers of an input at the places of a result, in the result's order.
class PlacedNumbers {
 public:
  // `dims`: the input's, as they are broadcast to `result`.
  PlacedNumbers(Numbers& numbers, const Dims& dims, const Dims& result);

  Status read(std::uint64_t first, std::span<double> into);
  // Is any of the numbers at places [begin, end) among those marked?
  bool any(std::uint64_t begin, std::uint64_t end, const std::vector<bool>& marked) const;

 private:
  // The last dims of the result through which the input either goes as it is, or stays at one
  // number; `count` places of the result.
  struct Inner {
    std::uint64_t count = 1;
    bool stays = false;
  };

  Numbers& numbers_;
  network::Broadcast place_;
  Inner inner_;
};

// Which runs of a large result are computed twice, and how many runs each stands for.

// The runs of a value in which rounding changes a number by more than a step.
class LossyRuns {
 public:
  LossyRuns() = default;  // not known
  explicit LossyRuns(std::uint64_t elements)
      : step_(kFitRun * std::max<std::uint64_t>(1, ceil_div(elements, kFitRun * kMaxRuns))),
        lossy_(ceil_div(elements, step_)) {}

  bool known() const { return step_ > 0; }
  void mark(std::uint64_t element) { lossy_[element / step_] = true; }
  // Whether elements [begin, end) have a lossy run.
  bool any(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t run = begin / step_; run * step_ < end && run < lossy_.size(); ++run)
      if (lossy_[run]) return true;
    return false;
  }

 private:
  static constexpr std::uint64_t kMaxRuns = 1U << 16;

  std::uint64_t step_ = 0;
  std::vector<bool> lossy_;
};

// Ordinary runs are alike, and some of them stand for all. Where a number vanishes or overflows, a
// single one may be what matters.
class RunPlan {
 public:
  // Does rounding an input change a number by more than a step, of results [begin, end)?
  using IsLossy = std::function<bool(std::uint64_t begin, std::uint64_t end)>;

  // `unit`: numbers of a run.
  RunPlan(std::uint64_t numbers, std::uint64_t unit, std::vector<IsLossy> inputs);

  // Calls take(first, weight), which returns a Status, run by run from the first on.
  template <typename Take>
  auto visit(const Take& take) const -> decltype(take(std::uint64_t{}, double{})) {
    std::uint64_t lossy = 0;
    std::uint64_t ordinary = 0;
    for (std::uint64_t first = 0; first < numbers_; first += unit_) {
      const bool is_lossy = this->is_lossy(first);
      const Part& part = is_lossy ? lossy_part_ : ordinary_part_;
      if ((is_lossy ? lossy : ordinary)++ % part.pace != 0) continue;
      if (auto done = take(first, part.weight); !done) return done;
    }
    return {};
  }

 private:
  struct Part {
    std::uint64_t pace = 1;  // every so many runs are taken
    double weight = 1;       // and stand for so many
  };

  static Part part(std::uint64_t runs, std::uint64_t most);
  bool is_lossy(std::uint64_t first) const {
    return std::ranges::any_of(inputs_, [&](const IsLossy& input) {
      return input(first, std::min(first + unit_, numbers_));
    });
  }

  std::uint64_t numbers_;
  std::uint64_t unit_;
  std::vector<IsLossy> inputs_;
  Part lossy_part_;
  Part ordinary_part_;
};

// One pass over a tensor: its range, and what rounding does to it.

struct TensorMeasure {
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  double largest = 0;        // finite
  double smallest = 0;       // above zero; 0: all are zero
  double squares = 0;        // sum of them
  double error_squares = 0;  // of rounding what is within the type's range
  std::uint64_t above = 0;   // numbers above the type's limit
  std::uint64_t beyond = 0;  // above its largest number
  std::uint64_t lost = 0;    // that become 0

  std::uint64_t finite() const { return elements - nan - infinite; }
  double mean_square() const { return finite() == 0 ? 0 : squares / static_cast<double>(finite()); }
  double rms() const { return std::sqrt(mean_square()); }
  // The error of rounding: root mean square, and relative.
  double noise() const {
    return finite() == 0 ? 0 : std::sqrt(error_squares / static_cast<double>(finite()));
  }
  double error() const { return squares > 0 ? std::sqrt(error_squares / squares) : 0; }

  void take(std::span<const double> numbers, const NarrowType& type);
  void add(const TensorMeasure& other);

 private:
  void take_odd(std::span<const double> numbers, const NarrowType& type);
};

// Marks the runs in which a number vanishes or is above the limit.
Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type, LossyRuns& lossy);

// One dump: which of its tensors are which values of the network, and their numbers.

struct DumpedTensor {
  std::string name;
  SetTensor place;
  std::uint32_t value = network::kNoValue;  // of the network
  bool twice = false;                       // none of them is the network's for sure
};

// For several threads at once, once it is listed.
class Dump {
 public:
  // `network`: nullptr, where there is none; it outlives the dump. What cannot be read is put into
  // `troubles`.
  static Result<Dump> list(TensorSet& set, const network::Network* network,
                           std::vector<std::string>& troubles);

  const TensorSet& set() const { return set_; }
  const std::vector<DumpedTensor>& tensors() const { return tensors_; }
  // nullptr: the value was not dumped.
  const DumpedTensor* find(std::uint32_t value) const;
  // The size of its numbers, as they are stored; 0: they cannot be used.
  std::uint64_t bytes(const DumpedTensor& tensor) const;
  // An error: why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedTensor& tensor) const;
  // The numbers of a value that was not dumped, computed from those that were, if they are few.
  // Each is computed once, from what the values before it came to: a chain of them costs no more
  // than its nodes. Nothing: there are many; an error: why they cannot be computed.
  Result<std::optional<network::StoredNumbers>> computed(std::uint32_t value) const;
  // Errors of reading its tensors, whatever was made of them.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }
  // Such an error of another process.
  void note(const Error& error) const { troubles_->note(error); }

 private:
  class Computed;
  Dump(TensorSet& set, const network::Network* network);
  void match(const network::Network& network, std::vector<std::string>& troubles);
  Result<network::StoredNumbers> open_locked(const DumpedTensor& tensor) const;

  TensorSet& set_;
  std::vector<DumpedTensor> tensors_;
  std::unordered_map<std::uint32_t, std::size_t> by_value_;
  std::unique_ptr<std::mutex> mutex_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  std::shared_ptr<Computed> computed_;  // with a network
};

// For evaluations of nodes; the dump outlives it.
network::FindStored stored_in(const Dump& dump);

inline constexpr std::uint64_t kMaxTerms = 1U << 24;  // elements read or computed for one node

// Those for all values that were not dumped, together: each has the same part of them, whoever
// computes it and when, and at least kMinTermsOfValue.
inline constexpr std::uint64_t kTermsOfValues = 1U << 28;
inline constexpr std::uint64_t kMinTermsOfValue = 1U << 18;

// The effect on a node's result of rounding its inputs, by the formula of its operator.

// A value as a narrow device has it.
struct ValueNoise {
  TensorMeasure measure;
  LossyRuns lossy{};      // of what was measured by this process
  bool known = false;     // it was measured
  std::string trouble{};  // an error of reading it
  bool floating = false;  // it holds floats
  double noise = 0;       // its own rounding error: root mean square
  // Its numbers are of the type by chance, while those that it is computed from are not.
  bool by_luck = false;
  // Magnitudes above it become Inf, since those that they are computed from do.
  double infinite_from = HUGE_VAL;

  // Relative to the value; a value of zeros that has an error: Inf.
  double relative() const {
    const double rms = measure.rms();
    return rms > 0 ? noise / rms : noise > 0 ? HUGE_VAL : 0;
  }
};

// The part of u that rounding any numbers costs, relative: errors are spread over a step.
inline constexpr double kTypicalNoise = 0.4;

struct InputEffect {
  std::size_t input = 0;            // among the node's
  double noise = 0;                 // of the input: root mean square
  double error = 0;                 // of the result, likewise
  std::uint64_t nonfinite = 0;      // results that become Inf or NaN
  std::uint64_t nan = 0;            // of these
  double infinite_from = HUGE_VAL;  // results above it, within the type's limit, become Inf
  std::uint64_t zeroed = 0;         // results that become 0
  double rms = 0;                   // of the results that were computed twice for it
  // The gain of a small error of the input. Rounding is none where numbers vanish or overflow.
  double gain = 1;
  // The same of an error that the input has from before: those of elements that are added up are
  // alike, as rounded weights make them, and do not shrink as independent ones do.
  double carried = 1;
  // The input as it is goes into the result, so that it is the same error there.
  bool passes_on = false;
};

struct NodeMeasure {
  network::ErrorPropagation passing = network::ErrorPropagation::unknown;
  std::string trouble;              // why it cannot be judged; empty: it can be
  std::vector<InputEffect> inputs;  // those that hold floats
  // The same if they have Inf from before; nothing: they have none.
  std::vector<InputEffect> with_infinite;
  bool averages = false;      // a result is of many numbers of the input
  double terms = 0;           // products in a sum of the result; 0: it is of no such sums
  double rms = 0;             // of the result; of places: the largest of the effects'
  double inside = 0;          // largest magnitude on the way to a result
  double variance_error = 0;  // relative
};

struct NodeContext {
  const network::Network& network;
  const Dump& dump;
  const NarrowType& type;
  const std::vector<ValueNoise>& values;
};

// Whether the input is a factor of the products that the node sums up: both operands, or all of
// Einsum's, of which there may be one or many. The others are biases and the like.
bool multiplies(const network::Node& node, std::size_t input);

// The root mean square of what an input of such a node is multiplied by; 1 where nothing is.
double other_factors(const std::vector<ValueNoise>& values, const network::Node& node,
                     std::size_t input);

// The numbers of a value: dumped, stored in the model, or computed from these where that is little.
// Nothing: there are none.
Result<std::optional<Numbers>> open_numbers(const network::Network& network, const Dump& dump,
                                            std::uint32_t value);

// Adds those effects that follow from the others, and from the values.
void finish_effects(const NodeContext& context, std::uint32_t node, NodeMeasure& measure);

// `infinite`: with the Inf that its inputs have from before.
NodeMeasure measure_node(const NodeContext& context, std::uint32_t node, bool infinite = false);

// The inputs and results of one node: what they are on a narrow device, and their numbers.

class NodeValues {
 public:
  // `infinite`: with the Inf that its inputs have from before.
  NodeValues(const NodeContext& context, std::uint32_t node, bool infinite)
      : context_(context), node_(context.network.nodes()[node]), infinite_(infinite) {}

  const NodeContext& context() const { return context_; }
  const network::Node& node() const { return node_; }
  bool infinite() const { return infinite_; }

  const ValueNoise& input(std::size_t input) const { return context_.values[node_.inputs[input]]; }
  const ValueNoise& result() const { return context_.values[node_.outputs[0]]; }
  bool is_float(std::size_t input) const;

  // An error if it was not dumped, or is all NaN.
  Status check(std::uint32_t value) const;
  // The same of the first inputs, and of the result.
  Status check_known(std::size_t inputs) const;

  // Each input's are opened once.
  Result<Numbers*> numbers(std::size_t input);

 private:
  std::unexpected<Error> not_there(std::uint32_t value) const;

  const NodeContext& context_;
  const network::Node& node_;
  bool infinite_;
  std::map<std::uint32_t, Numbers> opened_;
};

}  // namespace btf

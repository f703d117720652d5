// Numbers in a narrow type; the tensors of a dump and the results of a node measured in it.
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
#include "btf/try.h"
#include "core/numbers.h"
#include "kernels/stats/stats.h"
#include "network/evaluation.h"
#include "network/network.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf {

// A narrow floating-point type of a device.
class NarrowType {
 public:
  explicit NarrowType(DType dtype);

  DType dtype() const { return dtype_; }
  double unit_roundoff() const { return unit_roundoff_; }  // half a step, relative to the number
  double largest() const { return largest_; }
  double smallest() const { return smallest_; }  // above zero
  // Magnitudes above it count as overflows: other inputs may be larger than those of the dumps.
  double limit() const { return largest_ / kMargin; }

  RoundingTo rounding() const;

  // Rounds to the nearest number of the type; Inf beyond its range.
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
  // The same, but magnitudes above a limit become Inf.
  double read(double x, double above) const {
    return std::abs(x) > above ? std::copysign(kInf, x) : round(x);
  }

 private:
  static constexpr double kMargin = 2;
  static constexpr int kDigits = 52;
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  DType dtype_;
  std::int64_t least_ = 0;  // exponent of the least normal number, biased as in a double
  std::int64_t shift_ = 0;  // digits that a double has in addition
  double unit_roundoff_ = 0;
  double largest_ = 0;
  double smallest_ = 0;
};

inline constexpr std::size_t kFitRun = 4096;  // numbers that are processed together

// The numbers of a value of a network: dumped, weights of the model, or computed from these.
class Numbers {
 public:
  explicit Numbers(network::StoredNumbers stored) : stored_(std::move(stored)) {}

  const Dims& dims() const { return stored_.tensor().dims; }
  DType dtype() const { return *stored_.tensor().dtype; }
  bool floating() const { return info(dtype()).floating(); }
  std::uint64_t elements() const { return stored_.elements(); }

  // Fills `into`, from the element with the row-major index `first` on.
  Status read(std::uint64_t first, std::span<double> into);
  // The numbers `first`, `first + step` and so on.
  Status read(std::uint64_t first, std::uint64_t step, std::span<double> into);

  // Calls take(first, numbers), which returns a Status, for runs of `size` numbers in order.
  template <typename Take>
  Status each_run(std::size_t size, Take&& take) {
    std::vector<double> run(std::min<std::uint64_t>(size, elements()));
    for (std::uint64_t first = 0; first < elements(); first += size) {
      const auto some = std::span(run).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(size, elements() - first)));
      BTF_TRY(read(first, some));
      BTF_TRY(take(first, std::span<const double>(some)));
    }
    return {};
  }

 private:
  network::StoredNumbers stored_;
};

// The numbers of an input that is broadcast to a result, in the result's order.
class PlacedNumbers {
 public:
  // `dims`: those of the input, as they are broadcast to `result`.
  PlacedNumbers(Numbers& numbers, const Dims& dims, const Dims& result);

  Status read(std::uint64_t first, std::span<double> into);
  // Returns true if a number for the elements [begin, end) of the result is marked.
  bool any(std::uint64_t begin, std::uint64_t end, const std::vector<bool>& marked) const;

 private:
  // The last dims of the result, `count` elements, along which the input either has the same dims
  // or is constant.
  struct Inner {
    std::uint64_t count = 1;
    bool constant = false;
  };

  Numbers& numbers_;
  network::Broadcast place_;
  Inner inner_;
};

// The runs of a value in which rounding changes a number by more than a step.
class LossyRuns {
 public:
  LossyRuns() = default;  // unknown
  explicit LossyRuns(std::uint64_t elements)
      : step_(kFitRun * std::max<std::uint64_t>(1, ceil_div(elements, kFitRun * kMaxRuns))),
        lossy_(ceil_div(elements, step_)) {}

  bool known() const { return step_ > 0; }
  void mark(std::uint64_t element) { lossy_[element / step_] = true; }
  // Returns true if elements [begin, end) overlap a lossy run.
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

// The runs of a large result that are computed twice, and the number of runs that each represents.
// Ordinary runs are alike, so a few represent all. Of lossy runs, where numbers vanish or overflow,
// far more are taken, since a single number may matter.
class RunPlan {
 public:
  // Returns true if rounding an input changes a number of the results [begin, end) by more than a
  // step.
  using IsLossy = std::function<bool(std::uint64_t begin, std::uint64_t end)>;

  // `unit`: the number of results in a run; `work`: for each result.
  RunPlan(std::uint64_t numbers, std::uint64_t unit, std::uint64_t work,
          std::vector<IsLossy> inputs);

  // Calls take(first, weight), which returns a Status, run by run from the first on.
  template <typename Take>
  auto visit(const Take& take) const -> decltype(take(std::uint64_t{}, double{})) {
    std::uint64_t lossy = 0;
    std::uint64_t ordinary = 0;
    for (std::uint64_t first = 0; first < numbers_; first += unit_) {
      const bool is_lossy = this->is_lossy(first);
      const Sampling& sampling = is_lossy ? lossy_sampling_ : ordinary_sampling_;
      if ((is_lossy ? lossy : ordinary)++ % sampling.step != 0) continue;
      if (auto done = take(first, sampling.weight); !done) return done;
    }
    return {};
  }

 private:
  struct Sampling {
    std::uint64_t step = 1;  // every step-th run is taken
    double weight = 1;       // and represents this number of runs
  };

  static Sampling sampling(std::uint64_t runs, std::uint64_t most);
  bool is_lossy(std::uint64_t first) const {
    return std::ranges::any_of(inputs_, [&](const IsLossy& input) {
      return input(first, std::min(first + unit_, numbers_));
    });
  }

  std::uint64_t numbers_;
  std::uint64_t unit_;
  std::vector<IsLossy> inputs_;
  Sampling lossy_sampling_;
  Sampling ordinary_sampling_;
};

// The range of a tensor, and what rounding does to it.
struct TensorMeasure {
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  double largest = 0;        // finite
  double smallest = 0;       // above zero; 0 if all are zero
  double squares = 0;        // sum of squares
  double error_squares = 0;  // sum of squared rounding errors, of numbers in the type's range
  std::uint64_t above = 0;   // numbers above the type's limit
  std::uint64_t beyond = 0;  // numbers above the type's largest number
  std::uint64_t lost = 0;    // numbers that become 0

  std::uint64_t finite() const { return elements - nan - infinite; }
  double mean_square() const { return finite() == 0 ? 0 : squares / static_cast<double>(finite()); }
  double rms() const { return std::sqrt(mean_square()); }
  // The rounding error: its root mean square, and relative to that of the numbers.
  double noise() const {
    return finite() == 0 ? 0 : std::sqrt(error_squares / static_cast<double>(finite()));
  }
  double error() const { return squares > 0 ? std::sqrt(error_squares / squares) : 0; }

  void take(std::span<const double> numbers, const NarrowType& type);
  void add(const TensorMeasure& other);

 private:
  void take_odd(std::span<const double> numbers, const NarrowType& type);
};

// Measures in one pass; marks the runs in which a number vanishes or is above the limit.
Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type, LossyRuns& lossy);

struct DumpedTensor {
  std::string name;
  SetTensor place;
  std::uint32_t value = network::kNoValue;  // of the network
  bool twice = false;  // another one has the same name, so it is not known which is the network's
};

// One dump: which of its tensors are which values of the network, and their numbers. Thread-safe.
class Dump {
 public:
  // `network`: nullptr without a graph; it must outlive the dump. Errors of members that cannot be
  // read are put into `troubles`.
  static Result<Dump> list(TensorSet& set, const network::Network* network,
                           std::vector<std::string>& troubles);

  const TensorSet& set() const { return set_; }
  const std::vector<DumpedTensor>& tensors() const { return tensors_; }
  // nullptr if the value was not dumped.
  const DumpedTensor* find(std::uint32_t value) const;
  // The stored size of its numbers in bytes; 0 if they cannot be used.
  std::uint64_t bytes(const DumpedTensor& tensor) const;
  // The stored size of all its tensors.
  std::uint64_t bytes() const;
  // Fails if its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedTensor& tensor) const;
  // The numbers of a value that was not dumped, computed from those that were. Each value is
  // computed once, from the results of the values before it, so a chain costs no more than its
  // nodes. Unset if the value has too many numbers; fails if they cannot be computed.
  Result<std::optional<network::StoredNumbers>> computed(std::uint32_t value) const;
  // All errors of reading the dump's tensors, also those that were ignored.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }
  // Adds an error of reading to them, as one of another process.
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
  std::shared_ptr<Computed> computed_;  // nullptr without a network
};

// For evaluations of nodes. The dump must outlive the function.
network::FindStored stored_in(const Dump& dump);

inline constexpr std::uint64_t kMaxTerms = 1U << 24;  // elements read or computed for one node

// The limit for all values that were not dumped together. Each gets an equal part of it, but at
// least kMinTermsOfValue, so the results do not depend on the order in which they are computed.
inline constexpr std::uint64_t kTermsOfValues = 1U << 28;
inline constexpr std::uint64_t kMinTermsOfValue = 1U << 18;

// A value as a narrow device has it.
struct ValueNoise {
  TensorMeasure measure;
  LossyRuns lossy{};      // known if this process has measured the value
  bool known = false;     // the value was measured
  std::string trouble{};  // the error of reading it, if any
  bool floating = false;  // it holds floats
  double noise = 0;       // its own rounding error: root mean square
  // Its numbers can be represented by chance, while those that it is computed from cannot.
  bool exact_by_chance = false;
  // Magnitudes above this become Inf, since the inputs that they are computed from do.
  double infinite_from = HUGE_VAL;

  // The noise relative to the value; Inf if the value is all zeros and has an error.
  double relative() const {
    const double rms = measure.rms();
    return rms > 0 ? noise / rms : noise > 0 ? HUGE_VAL : 0;
  }
};

// The usual relative error of rounding, in u: errors are spread over a step.
inline constexpr double kTypicalNoise = 0.4;

// The effect on a node's result of rounding one input.
struct InputEffect {
  std::size_t input = 0;            // index among the node's inputs
  double noise = 0;                 // root mean square error of the input
  double error = 0;                 // root mean square error of the result
  std::uint64_t nonfinite = 0;      // results that become Inf or NaN
  std::uint64_t nan = 0;            // results that become NaN
  double infinite_from = HUGE_VAL;  // results above this, within the type's limit, become Inf
  std::uint64_t zeroed = 0;         // results that become 0
  double rms = 0;                   // root mean square of the results that were computed twice
  // The gain of a small error of the input: rounding errors are not small if numbers vanish or
  // overflow.
  double gain = 1;
  // The gain of an error that the input inherits. The inherited errors of elements that are added
  // up are similar, as rounded weights make them, and do not average out as independent ones do.
  double carried = 1;
  // The numbers of the input appear unchanged in the result, and so do their errors.
  bool passes_on = false;
};

// The effect on a node's result of rounding its inputs, by the formula of its operator.
struct NodeMeasure {
  network::ErrorPropagation passing = network::ErrorPropagation::unknown;
  std::string trouble;              // why it cannot be judged; empty if it can
  std::vector<InputEffect> inputs;  // those that hold floats
  // The same if the inputs have numbers that became Inf in earlier nodes; empty if they have none.
  std::vector<InputEffect> with_infinite;
  bool averages = false;      // a result is computed from many numbers of the input
  double terms = 0;           // products in each sum of the result; 0 if it has no such sums
  double rms = 0;             // root mean square of the result; for places the largest of `inputs`
  double inside = 0;          // largest magnitude of an intermediate number
  std::uint64_t work = 0;     // for measuring it: numbers that were added up
  double variance_error = 0;  // relative error of a variance
};

// The limit on the work for all nodes of a network, for a type and a dump; what the dump holds is
// added, several times, so that no usual network comes near it. Nodes are counted in the network's
// order, and those from which on the limit is exceeded are not judged.
inline constexpr std::uint64_t kWorkOfNodes = 1U << 30;
inline constexpr std::uint64_t kWorkPerDumped = 16;  // numbers
// The limit for a node, by which fewer of its results are looked at.
inline constexpr std::uint64_t kWorkOfNode = 1U << 28;
inline constexpr char kWorkUsedUp[] = "the work that a run may take to measure layers was used up";

struct NodeContext {
  const network::Network& network;
  const Dump& dump;
  const NarrowType& type;
  const std::vector<ValueNoise>& values;
};

// How errors pass through the node; `unknown` for an operator that is not in the table.
network::ErrorPropagation propagation_of(const network::Network& network,
                                         const network::Node& node);

// Returns true if the input is a factor of the products that the node sums up: one of the two
// operands, or any input of Einsum. The others are biases and the like.
bool multiplies(const network::Node& node, std::size_t input);

// The root mean square of what an input of such a node is multiplied by; 1 if by nothing.
double other_factors(const std::vector<ValueNoise>& values, const network::Node& node,
                     std::size_t input);

// The numbers of a value: dumped, stored in the model, or computed if they are few. Unset if there
// are none.
Result<std::optional<Numbers>> open_numbers(const network::Network& network, const Dump& dump,
                                            std::uint32_t value);

// Completes the gains, which follow from the other members and the values.
void finish_effects(const NodeContext& context, std::uint32_t node, NodeMeasure& measure);

// `infinite`: including numbers of the inputs that became Inf in earlier nodes.
NodeMeasure measure_node(const NodeContext& context, std::uint32_t node, bool infinite = false);

// The inputs and results of one node: their noise and their numbers.
class NodeValues {
 public:
  // `infinite`: as for measure_node().
  NodeValues(const NodeContext& context, std::uint32_t node, bool infinite)
      : context_(context), node_(context.network.nodes()[node]), infinite_(infinite) {}

  const NodeContext& context() const { return context_; }
  const network::Node& node() const { return node_; }
  bool infinite() const { return infinite_; }

  const ValueNoise& input(std::size_t input) const { return context_.values[node_.inputs[input]]; }
  const ValueNoise& result() const { return context_.values[node_.outputs[0]]; }
  bool is_float(std::size_t input) const;

  // Fails if the value was not dumped, or is all NaN.
  Status check(std::uint32_t value) const;
  // Checks the first `inputs` inputs and the result.
  Status check_known(std::size_t inputs) const;

  // The numbers of an input, which are opened once.
  Result<Numbers*> numbers(std::size_t input);

 private:
  std::unexpected<Error> not_there(std::uint32_t value) const;

  const NodeContext& context_;
  const network::Node& node_;
  bool infinite_;
  std::map<std::uint32_t, Numbers> opened_;
};

}  // namespace btf

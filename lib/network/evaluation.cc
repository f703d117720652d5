#include "network/evaluation.h"

#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"

namespace btf::network {
namespace {

constexpr unsigned kDeepest = 256;          // operators that wait for one another
constexpr std::size_t kMaxKept = 1U << 16;  // elements of a computed tensor
constexpr std::uint64_t kMaxElements = 1ULL << 48;
constexpr std::uint64_t kStepsPerTerm = 8;
constexpr std::uint64_t kProductsPerTerm = 16;
constexpr std::uint64_t kMaxProducts = 1ULL << 31;  // of all recurrent layers of a network
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Estimate give_up(Effort& effort, std::string why) {
  if (effort.trouble.empty()) effort.trouble = std::move(why);
  return {kNone, 0};
}

bool take_terms(Effort& effort, std::uint64_t count) {
  effort.terms += count;
  if (effort.terms <= effort.most_terms) return effort.trouble.empty();
  effort.ran_out = effort.ran_out || effort.trouble.empty();
  give_up(effort, "it takes too many terms");
  return false;
}

// Numbers in memory: the tensor among a node's attributes.
class MemoryTensor final : public Tensor {
 public:
  MemoryTensor(Dims dims, DType dtype, std::vector<double> numbers)
      : Tensor(std::move(dims), dtype), numbers_(std::move(numbers)) {}
  Estimate at(std::uint64_t number) override { return {numbers_[number], 0}; }
  Operand operand(std::uint64_t number) override { return {numbers_[number], 0, 0}; }

 private:
  std::vector<double> numbers_;
};

}  // namespace

Tensor::Tensor(Dims dims, DType dtype)
    : dims_(std::move(dims)), elements_(element_count(dims_).value_or(0)), dtype_(dtype) {}

class Evaluation::StoredTensor final : public Tensor {
 public:
  StoredTensor(Evaluation& evaluation, StoredNumbers numbers)
      : Tensor(numbers.tensor().dims, dtype_of(numbers)),
        evaluation_(evaluation),
        numbers_(std::move(numbers)) {}

  Estimate at(std::uint64_t number) override {
    const double value = read(number);
    const double half = floating() ? evaluation_.now_->arithmetic.operand * std::abs(value) : 0;
    return {value, half + numbers_.text_step(value)};
  }

  void estimates(std::uint64_t first, std::uint64_t step, std::span<Estimate> into) override {
    if (!take_terms(evaluation_.now_->effort, into.size())) {
      std::ranges::fill(into, Estimate{kNone, 0});
      return;
    }
    row_.resize(into.size());
    if (step == 1)
      numbers_.numbers_at(first, row_);
    else
      for (std::size_t i = 0; i < into.size(); ++i) row_[i] = numbers_.number_at(first + i * step);
    note_trouble();
    const double half = floating_ ? evaluation_.now_->arithmetic.operand : 0;
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = {row_[i], half * std::abs(row_[i])};
    if (numbers_.tensor().text_digits == 0) return;
    for (Estimate& one : into) one.error += numbers_.text_step(one.value);
  }

  bool exhausted() const override { return !evaluation_.now_->effort.trouble.empty(); }
  bool take_products(std::uint64_t count) override { return evaluation_.take_products(count); }
  bool take_steps(std::uint64_t count) override {
    return take_terms(evaluation_.now_->effort, count / kStepsPerTerm);
  }

  // The rounding errors of many terms are independent.
  Operand operand(std::uint64_t number) override {
    const double value = read(number);
    return {value, half_steps().of(value), 0};
  }

  void operands(std::uint64_t first, std::span<Operand> into) override {
    if (!take_terms(evaluation_.now_->effort, into.size())) {
      std::ranges::fill(into, Operand{kNone, 0, 0});
      return;
    }
    row_.resize(into.size());
    numbers_.numbers_at(first, row_);
    note_trouble();
    const HalfSteps half = half_steps();
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = {row_[i], half.of(row_[i]), 0};
  }

  void operands(std::span<const std::uint64_t> numbers, std::span<Operand> into) override {
    if (!take_terms(evaluation_.now_->effort, into.size())) {
      std::ranges::fill(into, Operand{kNone, 0, 0});
      return;
    }
    const HalfSteps half = half_steps();
    for (std::size_t i = 0; i < into.size(); ++i) {
      const double value = numbers_.number_at(numbers[i]);
      into[i] = {value, half.of(value), 0};
    }
    note_trouble();
  }

 private:
  // Half steps of the type to which factors are rounded.
  struct HalfSteps {
    double relative = 0;
    double absolute = 0;
    double of(double value) const { return relative * std::abs(value) + absolute; }
  };

  HalfSteps half_steps() {
    const Arithmetic& arithmetic = evaluation_.now_->arithmetic;
    if (!floating_) return {};
    return {arithmetic.operand, arithmetic.grid > 0 ? arithmetic.grid * peak() : 0};
  }

  static DType dtype_of(const StoredNumbers& numbers) {
    return numbers.scaled() ? DType::float32 : *numbers.tensor().dtype;
  }

  double read(std::uint64_t number) {
    if (!take_terms(evaluation_.now_->effort, 1)) return kNone;
    const double value = numbers_.number_at(number);
    note_trouble();
    return value;
  }

  void note_trouble() {
    if (!numbers_.trouble()) return;
    evaluation_.keep_read_error(*numbers_.trouble());
    give_up(evaluation_.now_->effort, numbers_.trouble()->text());
  }

  double peak() {
    const auto peak = numbers_.peak();
    if (peak) return *peak;
    note_trouble();
    return kNone;
  }

  Evaluation& evaluation_;
  StoredNumbers numbers_;
  bool floating_ = floating();
  std::vector<double> row_;
};

class Evaluation::ComputedTensor final : public Tensor {
 public:
  ComputedTensor(Evaluation& evaluation, Operator& op, std::size_t output)
      : Tensor(op.outputs()[output].dims, op.outputs()[output].dtype),
        evaluation_(evaluation),
        op_(op),
        output_(output) {}

  Estimate at(std::uint64_t number) override {
    if (const auto known = known_.find(number); known != known_.end()) return known->second;
    Effort& effort = evaluation_.now_->effort;
    if (!take_terms(effort, 1)) return {kNone, 0};
    if (effort.depth == kDeepest)
      return give_up(effort, "too many tensors before it were not dumped");
    ++effort.depth;
    const Estimate found = op_.element(output_, number);
    --effort.depth;
    if (!effort.trouble.empty()) return {kNone, 0};
    if (known_.size() < kMaxKept) known_.emplace(number, found);
    return found;
  }

  bool exhausted() const override { return !evaluation_.now_->effort.trouble.empty(); }
  bool take_products(std::uint64_t count) override { return evaluation_.take_products(count); }
  bool take_steps(std::uint64_t count) override {
    return take_terms(evaluation_.now_->effort, count / kStepsPerTerm);
  }

  // Rounded when it was computed, and again if factors have a narrower type.
  Operand operand(std::uint64_t number) override {
    const Estimate found = at(number);
    return {found.value, evaluation_.now_->arithmetic.operand * std::abs(found.value), found.error};
  }

 private:
  Evaluation& evaluation_;
  Operator& op_;
  std::size_t output_;
  std::unordered_map<std::uint64_t, Estimate> known_;
};

class Evaluation::ChangedTensor final : public Tensor {
 public:
  ChangedTensor(Tensor& tensor, ChangeNumber by)
      : Tensor(tensor.dims(), tensor.dtype()), tensor_(tensor), by_(std::move(by)) {}

  Estimate at(std::uint64_t number) override {
    Estimate found = tensor_.at(number);
    found.value = by_(number, found.value);
    return found;
  }

  bool exhausted() const override { return tensor_.exhausted(); }
  bool take_products(std::uint64_t count) override { return tensor_.take_products(count); }
  bool take_steps(std::uint64_t count) override { return tensor_.take_steps(count); }

  Operand operand(std::uint64_t number) override {
    Operand found = tensor_.operand(number);
    found.value = by_(number, found.value);
    return found;
  }

 private:
  Tensor& tensor_;
  ChangeNumber by_;
};

Evaluation::Evaluation(const Network& network, FindStored stored, std::uint64_t most_terms)
    : network_(network),
      stored_(std::move(stored)),
      most_terms_(most_terms),
      products_left_(kMaxProducts / std::max<std::uint64_t>(1, network.recurrent_nodes())) {
  set({});
}

bool Evaluation::take_products(std::uint64_t count) {
  if (count <= products_left_) {
    products_left_ -= count;
    products_ += count;
    return true;
  }
  now_->effort.ran_out = now_->effort.ran_out || now_->effort.trouble.empty();
  give_up(now_->effort, "it takes too many products");
  return false;
}

Evaluation::~Evaluation() = default;

void Evaluation::set(const Arithmetic& arithmetic) {
  auto known = std::ranges::find(computations_, arithmetic, &Computation::arithmetic);
  if (known == computations_.end()) {
    auto one = std::make_unique<Computation>();
    one->arithmetic = arithmetic;
    one->effort.most_terms = most_terms_;
    known = computations_.insert(computations_.end(), std::move(one));
  }
  now_ = known->get();
}

std::uint64_t Evaluation::all_terms() const {
  std::uint64_t terms = products_ / kProductsPerTerm;
  for (const auto& computation : computations_) terms += computation->effort.terms;
  return terms;
}

std::uint64_t Evaluation::most_terms_taken() const {
  std::uint64_t terms = 0;
  for (const auto& computation : computations_) terms = std::max(terms, computation->effort.terms);
  return std::min(terms, most_terms_);
}

bool Evaluation::ran_out() const {
  return std::ranges::any_of(computations_,
                             [](const auto& computation) { return computation->effort.ran_out; });
}

std::vector<std::string> Evaluation::operators() const {
  std::vector<std::string> names;
  for (const auto& [node, state] : now_->states)
    if (state.op) names.push_back(network_.nodes()[node].op);
  return names;
}

void Evaluation::leave_out(std::uint32_t value) { recomputed_[value] = true; }

void Evaluation::replace(std::uint32_t value, StoredNumbers numbers) {
  tensors_[value] = std::make_unique<StoredTensor>(*this, std::move(numbers));
}

void Evaluation::change(std::uint32_t value, ChangeNumber by) { changes_[value] = std::move(by); }

void Evaluation::change_readings(ChangeReading by) { change_readings_ = std::move(by); }

void Evaluation::keep_read_error(const Error& error) {
  if (!unread_ && is_read_error(error)) unread_ = error;
}

Result<Tensor*> Evaluation::tensor(std::uint32_t value) {
  BTF_ASSIGN(Tensor* const found, unchanged(value));
  const auto change = changes_.find(value);
  if (change == changes_.end()) return found;
  std::unique_ptr<Tensor>& changed = now_->changed[value];
  if (!changed) changed = std::make_unique<ChangedTensor>(*found, change->second);
  return changed.get();
}

Result<Tensor*> Evaluation::unchanged(std::uint32_t value) {
  if (const auto known = tensors_.find(value); known != tensors_.end()) return known->second.get();
  if (!recomputed_.contains(value)) {
    auto numbers = stored_(value);
    if (!numbers) {
      keep_read_error(numbers.error());
      return std::unexpected(numbers.error());
    }
    if (*numbers) {
      replace(value, **std::move(numbers));
      return tensors_[value].get();
    }
  }
  if (network_.values()[value].weight) {
    auto numbers = network_.weight(network_.values()[value]);
    if (!numbers) {
      keep_read_error(numbers.error());
      return std::unexpected(numbers.error());
    }
    replace(value, *std::move(numbers));
    return tensors_[value].get();
  }
  return computed(value);
}

Result<Tensor*> Evaluation::computed(std::uint32_t value) {
  if (const auto known = now_->values.find(value); known != now_->values.end())
    return known->second.get();
  const Value& wanted = network_.values()[value];
  if (wanted.node == kNoNode && !wanted.trouble.empty()) return not_computed(wanted.trouble);
  if (wanted.node == kNoNode)
    return not_computed("neither the model nor a dump has numbers of '" + wanted.name + "'");
  if (now_->effort.depth == kDeepest)
    return not_computed("too many tensors before it were not dumped");
  ++now_->effort.depth;
  const auto node = node_state(wanted.node);
  --now_->effort.depth;
  if (!node) return std::unexpected(node.error());
  if (wanted.output >= (*node)->op->outputs().size())
    return not_computed("output " + std::to_string(wanted.output) + " of " +
                        network_.nodes()[wanted.node].op + " is not computed here");
  return now_->values
      .emplace(value, std::make_unique<ComputedTensor>(*this, *(*node)->op, wanted.output))
      .first->second.get();
}

Result<Operator*> Evaluation::made_operator(std::uint32_t node) {
  BTF_ASSIGN(NodeState* const found, node_state(node));
  return found->op.get();
}

Result<Evaluation::NodeState*> Evaluation::node_state(std::uint32_t node) {
  const auto [at, added] = now_->states.try_emplace(node);
  NodeState& state = at->second;
  if (added)
    if (const Status status = make(node, state); !status) {
      keep_read_error(status.error());
      state.trouble = status.error().text();
    }
  if (!state.op) return not_computed(state.trouble);
  return &state;
}

Status Evaluation::make(std::uint32_t number, NodeState& state) {
  const Node& node = network_.nodes()[number];
  const std::int64_t version = network_.version(node.domain);
  const OperatorRow* const row = find_operator(node.op, node.domain, version);
  if (row == nullptr)
    return not_computed("'" + node.op + "' is not among the operators that are computed here");
  if (!network_.is_sound(number)) return not_computed(network_.why_unsound(number));
  BTF_ASSIGN(state.attributes, network_.attributes(node));
  Call call{.op = node.op,
            .version = version,
            .inputs = {},
            .outputs = node.outputs.size(),
            .attributes = state.attributes,
            .arithmetic = now_->arithmetic};
  for (const auto& [name, attribute] : state.attributes) {
    if (!attribute.tensor) continue;
    Dims dims;
    DType dtype{};
    BTF_ASSIGN(std::vector<double> numbers,
               network_.attribute_tensor(*attribute.tensor, dims, dtype));
    state.value = std::make_unique<MemoryTensor>(std::move(dims), dtype, std::move(numbers));
    call.value = state.value.get();
  }
  for (const std::uint32_t input : node.inputs) {
    call.inputs.push_back(nullptr);
    if (input == kNoValue) continue;
    BTF_ASSIGN(call.inputs.back(), tensor(input));
    ChangeNumber by = change_readings_ ? change_readings_(number, input) : ChangeNumber();
    if (!by) continue;
    state.readings.push_back(std::make_unique<ChangedTensor>(*call.inputs.back(), std::move(by)));
    call.inputs.back() = state.readings.back().get();
  }
  BTF_ASSIGN(state.op, row->make(call));
  if (state.op->outputs().empty()) {
    state.op = nullptr;
    return not_computed("it has no outputs");
  }
  for (const Operator::Output& output : state.op->outputs()) {
    const Checked elements = element_count(output.dims);
    if (elements && *elements <= kMaxElements) continue;
    const std::string dims = dims_text(output.dims);
    state.op = nullptr;
    return not_computed("its dims " + dims + " are too large");
  }
  return {};
}

}  // namespace btf::network

#include "fit/node_measure.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"
#include "fit/node_effects.h"
#include "network/evaluation.h"
#include "sets/names/match.h"

namespace btf {

constexpr int kDoubleBias = 1023;

NarrowType::NarrowType(DType dtype) : dtype_(dtype) {
  const FloatGeometry& fp = info(dtype).fp;
  const int digits = fp.mantissa_bits;
  const int least = 1 - fp.bias;
  const int most = (1 << fp.exponent_bits) - 2 - fp.bias;
  least_ = least + kDoubleBias;
  shift_ = kDigits - digits;
  unit_roundoff_ = std::ldexp(1.0, -digits - 1);
  largest_ = std::ldexp(2 - std::ldexp(1.0, -digits), most);
  smallest_ = std::ldexp(1.0, least - digits);
}

RoundingTo NarrowType::rounding() const {
  return {.least = std::ldexp(1.0, static_cast<int>(least_) - kDoubleBias),
          .factor = std::ldexp(1.5, static_cast<int>(shift_)),
          .limit = limit()};
}

constexpr std::size_t kMinRun = 1024;

Status Numbers::read(std::uint64_t first, std::span<double> into) {
  // Short reads are near one another: of a value that is broadcast, or of a group.
  if (into.size() < kMinRun)
    stored_.numbers_at(first, into);
  else
    stored_.pass_over(first, into);
  if (stored_.trouble()) return std::unexpected(*stored_.trouble());
  return {};
}

Status Numbers::read(std::uint64_t first, std::uint64_t step, std::span<double> into) {
  if (step == 1) return read(first, into);
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = stored_.number_at(first + i * step);
  if (stored_.trouble()) return std::unexpected(*stored_.trouble());
  return {};
}

PlacedNumbers::PlacedNumbers(Numbers& numbers, const Dims& dims, const Dims& result)
    : numbers_(numbers), place_(dims, result) {
  // From the last dim backwards, either all dims equal those of the result or all are 1.
  const auto own = [&](std::size_t back) {
    return back < dims.size() ? dims[dims.size() - 1 - back] : 1;
  };
  std::size_t back = 0;
  for (; back < result.size() && result[result.size() - 1 - back] == 1; ++back) {
  }
  if (back == result.size()) return;
  inner_.constant = own(back) == 1;
  for (; back < result.size(); ++back) {
    const std::uint64_t size = result[result.size() - 1 - back];
    if (size != 1 && (own(back) == 1) != inner_.constant) break;
    inner_.count *= size;
  }
}

Status PlacedNumbers::read(std::uint64_t first, std::span<double> into) {
  while (!into.empty()) {
    const std::uint64_t within = first % inner_.count;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(inner_.count - within, into.size()));
    const std::span<double> run = into.first(count);
    const std::uint64_t from = place_.number(first);
    if (inner_.constant) {
      BTF_TRY(numbers_.read(from, run.first(1)));
      std::ranges::fill(run, run[0]);
    } else {
      BTF_TRY(numbers_.read(from, run));
    }
    into = into.subspan(count);
    first += count;
  }
  return {};
}

bool PlacedNumbers::any(std::uint64_t begin, std::uint64_t end,
                        const std::vector<bool>& marked) const {
  while (begin < end) {
    const std::uint64_t count = std::min(inner_.count - begin % inner_.count, end - begin);
    const std::uint64_t from = place_.number(begin);
    const std::uint64_t numbers = inner_.constant ? 1 : count;
    for (std::uint64_t i = from; i < from + numbers; ++i)
      if (marked[i]) return true;
    begin += count;
  }
  return false;
}

constexpr std::uint64_t kMaxOrdinary = 1U << 18;  // numbers
constexpr std::uint64_t kMaxLossy = 1U << 22;

RunPlan::RunPlan(std::uint64_t numbers, std::uint64_t unit, std::uint64_t work,
                 std::vector<IsLossy> inputs)
    : numbers_(numbers), unit_(unit), inputs_(std::move(inputs)) {
  std::uint64_t count = 0;
  for (std::uint64_t first = 0; first < numbers; first += unit) count += is_lossy(first) ? 1 : 0;
  const std::uint64_t most = kWorkOfNode / work;
  lossy_sampling_ = sampling(count, std::min(kMaxLossy, most) / unit);
  ordinary_sampling_ =
      sampling(ceil_div(numbers, unit) - count, std::min(kMaxOrdinary, most) / unit);
}

RunPlan::Sampling RunPlan::sampling(std::uint64_t runs, std::uint64_t most) {
  const std::uint64_t step =
      std::max<std::uint64_t>(1, ceil_div(runs, std::max<std::uint64_t>(1, most)));
  const std::uint64_t taken = ceil_div(runs, step);
  return {.step = step,
          .weight = taken == 0 ? 1 : static_cast<double>(runs) / static_cast<double>(taken)};
}

constexpr std::size_t kReadRun = 8 * kFitRun;  // a read costs as much as thousands of numbers

void TensorMeasure::take(std::span<const double> numbers, const NarrowType& type) {
  const RoundingSums sums = rounding_sums(type.rounding(), numbers.data(), numbers.size());
  if (!sums.within) return take_odd(numbers, type);
  elements += numbers.size();
  largest = std::max(largest, sums.largest);
  if (sums.smallest < HUGE_VAL)
    smallest = smallest == 0 ? sums.smallest : std::min(smallest, sums.smallest);
  squares += sums.squares;
  error_squares += sums.error_squares;
  lost += sums.lost;
}

void TensorMeasure::take_odd(std::span<const double> numbers, const NarrowType& type) {
  double least = smallest == 0 ? HUGE_VAL : smallest;
  for (const double x : numbers) {
    const double size = std::abs(x);
    if (!(size < HUGE_VAL)) {
      (std::isnan(x) ? nan : infinite) += 1;
      continue;
    }
    const double rounded = type.round(x);
    largest = std::max(largest, size);
    least = x != 0 ? std::min(least, size) : least;
    above += size > type.limit() ? 1 : 0;
    lost += x != 0 && rounded == 0 ? 1 : 0;
    squares += x * x;
    if (std::isinf(rounded)) {
      ++beyond;
      continue;
    }
    error_squares += (rounded - x) * (rounded - x);
  }
  elements += numbers.size();
  smallest = least == HUGE_VAL ? 0 : least;
}

void TensorMeasure::add(const TensorMeasure& other) {
  elements += other.elements;
  nan += other.nan;
  infinite += other.infinite;
  largest = std::max(largest, other.largest);
  if (smallest == 0 || (other.smallest > 0 && other.smallest < smallest)) smallest = other.smallest;
  squares += other.squares;
  error_squares += other.error_squares;
  above += other.above;
  beyond += other.beyond;
  lost += other.lost;
}

Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type, LossyRuns& lossy) {
  TensorMeasure measure;
  lossy = LossyRuns(numbers.elements());
  BTF_TRY(numbers.each_run(kReadRun, [&](std::uint64_t first, std::span<const double> some) {
    for (std::size_t at = 0; at < some.size(); at += kFitRun) {
      const std::uint64_t before = measure.lost + measure.above;
      measure.take(some.subspan(at, std::min(kFitRun, some.size() - at)), type);
      if (measure.lost + measure.above > before) lossy.mark(first + at);
    }
    return Status();
  }));
  return measure;
}

// Values are computed in the network's order, each from numbers that are known already, so the
// results depend on the graph and the dump alone and not on the order of the calls.
class Dump::Computed {
 public:
  Computed(const network::Network& network) : network_(network) {}

  Result<std::optional<network::StoredNumbers>> get(const Dump& dump, std::uint32_t value) {
    const std::scoped_lock lock(mutex_);
    for (const std::uint32_t one : unknown_before(dump, value)) known_[one] = compute(dump, one);
    auto found = numbers(value);
    forget_some(value);
    return found;
  }

 private:
  // Neither numbers nor an error: the value has too many numbers.
  struct Known {
    std::shared_ptr<const std::vector<double>> numbers{};
    Dims dims{};
    DType dtype{};
    std::optional<Error> error{};
  };

  static constexpr std::uint64_t kMaxNumbers = 1U << 16;  // of one value
  static constexpr std::uint64_t kMaxKept = 1U << 22;     // of all values, between calls

  bool is_computed(const Dump& dump, std::uint32_t value) const {
    const network::Value& own = network_.values()[value];
    return own.node != network::kNoNode && !own.weight && dump.find(value) == nullptr;
  }

  // The value and those that it is computed from, without those that are known, in the network's
  // order.
  std::vector<std::uint32_t> unknown_before(const Dump& dump, std::uint32_t value) const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> found;  // by node
    std::vector<std::uint32_t> open{value};
    while (!open.empty()) {
      const std::uint32_t one = open.back();
      open.pop_back();
      if (one == network::kNoValue || known_.contains(one) || !is_computed(dump, one)) continue;
      const std::uint32_t node = network_.values()[one].node;
      if (!found.emplace(node, one).second) continue;
      const auto& inputs = network_.nodes()[node].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    std::vector<std::uint32_t> values;
    for (const auto& [node, one] : found) values.push_back(one);
    return values;
  }

  Result<std::optional<network::StoredNumbers>> numbers(std::uint32_t value) const {
    const auto at = known_.find(value);
    if (at == known_.end()) return std::nullopt;
    const Known& known = at->second;
    if (known.error) return std::unexpected(*known.error);
    if (!known.numbers) return std::nullopt;
    return std::optional(network::StoredNumbers::of(known.numbers, known.dims, known.dtype));
  }

  Known compute(const Dump& dump, std::uint32_t value) {
    const auto find = [&](std::uint32_t input) -> Result<std::optional<network::StoredNumbers>> {
      if (const DumpedTensor* const dumped = dump.find(input)) {
        BTF_ASSIGN(network::StoredNumbers stored, dump.open(*dumped));
        return std::optional(std::move(stored));
      }
      return numbers(input);
    };
    const std::uint64_t share = kTermsOfValues / std::max<std::size_t>(1, network_.nodes().size());
    network::Evaluation evaluation(network_, find, std::clamp(share, kMinTermsOfValue, kMaxTerms));
    const auto tensor = evaluation.computed(value);
    if (evaluation.unread()) return {.error = *evaluation.unread()};
    if (!tensor) return {.error = tensor.error()};
    if ((*tensor)->elements() > kMaxNumbers) return {};
    auto numbers = std::make_shared<std::vector<double>>((*tensor)->elements());
    for (std::uint64_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = (*tensor)->value(i);
    if (evaluation.unread()) return {.error = *evaluation.unread()};
    if (const std::string& trouble = evaluation.effort().trouble; !trouble.empty())
      return {.error = Error{ErrorCode::unsupported, trouble}};
    kept_ += numbers->size();
    order_.push_back(value);
    return {.numbers = std::move(numbers), .dims = (*tensor)->dims(), .dtype = (*tensor)->dtype()};
  }

  // Drops those that were computed first; they are computed again if needed.
  void forget_some(std::uint32_t asked) {
    while (kept_ > kMaxKept && order_.front() != asked) {
      kept_ -= known_[order_.front()].numbers->size();
      known_.erase(order_.front());
      order_.pop_front();
    }
  }

  const network::Network& network_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, Known> known_;
  std::deque<std::uint32_t> order_;  // values with numbers, the oldest first
  std::uint64_t kept_ = 0;           // numbers of all values
};

Dump::Dump(TensorSet& set, const network::Network* network)
    : set_(set), mutex_(std::make_unique<std::mutex>()) {
  if (network != nullptr) computed_ = std::make_shared<Computed>(*network);
}

Result<std::optional<network::StoredNumbers>> Dump::computed(std::uint32_t value) const {
  if (computed_ == nullptr) return std::nullopt;
  return computed_->get(*this, value);
}

Result<Dump> Dump::list(TensorSet& set, const network::Network* network,
                        std::vector<std::string>& troubles) {
  Dump dump(set, network);
  for (std::uint64_t member = 0; member < set.member_count(); ++member) {
    const auto file = set.file(member);
    if (!file) {
      troubles.push_back(file.error().in_file(set.path(member)).text());
      continue;
    }
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      const auto name = (*file)->name(i);
      if (!name) {
        troubles.push_back(name.error().of_tensor(i).in_file(set.path(member)).text());
        continue;
      }
      dump.tensors_.push_back({.name = *name, .place = {member, i}});
    }
  }
  if (network != nullptr) dump.match(*network, troubles);
  return dump;
}

void Dump::match(const network::Network& network, std::vector<std::string>& troubles) {
  // Weights are not matched, even if a dumped tensor has the name of one.
  std::vector<std::string> values;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    if (network.values()[value].weight) continue;
    values.push_back(network.values()[value].name);
    numbers.push_back(value);
  }
  std::vector<std::string> names;
  for (const DumpedTensor& tensor : tensors_) names.push_back(tensor.name);
  for (const NameMatch& found : match_values(names, values)) {
    const std::uint32_t value = numbers[found.right];
    if (!by_value_.emplace(value, found.left).second) continue;
    tensors_[found.left].value = value;
  }
  // If two dumped tensors have the same name, neither is used.
  std::unordered_map<std::string_view, DumpedTensor*> first;
  for (DumpedTensor& tensor : tensors_) {
    if (tensor.value != network::kNoValue) continue;
    const auto [known, is_new] = first.emplace(tensor.name, &tensor);
    if (is_new) continue;
    tensor.twice = known->second->twice = true;
    const std::string other = set_.path(known->second->place.member);
    const std::string own = set_.path(tensor.place.member);
    troubles.push_back(own + ": '" + tensor.name + "' occurs twice, here and " +
                       (other == own ? "again in this file" : "in " + other) +
                       "; neither tensor is used");
  }
}

const DumpedTensor* Dump::find(std::uint32_t value) const {
  const auto at = by_value_.find(value);
  return at == by_value_.end() ? nullptr : &tensors_[at->second];
}

std::uint64_t Dump::bytes(const DumpedTensor& tensor) const {
  const std::scoped_lock lock(*mutex_);
  const auto file = set_.file(tensor.place.member);
  const auto info = file ? (*file)->tensor(tensor.place.index) : std::unexpected(file.error());
  if (info) return info->data_bytes;
  note(info.error().in_file(set_.path(tensor.place.member)).within("'" + tensor.name + "'"));
  return 0;
}

std::uint64_t Dump::bytes() const {
  std::uint64_t all = 0;
  for (const DumpedTensor& tensor : tensors_)
    all = checked_add(all, bytes(tensor)).value_or(UINT64_MAX);
  return all;
}

Result<network::StoredNumbers> Dump::open(const DumpedTensor& tensor) const {
  Result<network::StoredNumbers> found = open_locked(tensor);
  if (found) {
    found->note_troubles(troubles_, tensor.name);
  } else {
    found = std::unexpected(
        found.error().in_file(set_.path(tensor.place.member)).within("'" + tensor.name + "'"));
    note(found.error());
  }
  return found;
}

Result<network::StoredNumbers> Dump::open_locked(const DumpedTensor& tensor) const {
  // Sets and files are not thread-safe; reading elements is.
  const std::scoped_lock lock(*mutex_);
  BTF_ASSIGN(std::shared_ptr<const TensorFile> file, set_.file(tensor.place.member));
  BTF_ASSIGN(std::optional<TensorInfo> info, file->dequantized(tensor.place.index));
  if (!info) {
    BTF_ASSIGN(info, file->tensor(tensor.place.index));
  }
  BTF_TRY(file->check_overlap(*info));
  return network::StoredNumbers::open(std::move(file), *std::move(info));
}

network::FindStored stored_in(const Dump& dump) {
  return [&dump](std::uint32_t value) -> Result<std::optional<network::StoredNumbers>> {
    const DumpedTensor* const dumped = dump.find(value);
    if (dumped == nullptr) return dump.computed(value);
    BTF_ASSIGN(network::StoredNumbers numbers, dump.open(*dumped));
    return std::optional(std::move(numbers));
  };
}
bool NodeValues::is_float(std::size_t input) const {
  return input < node_.inputs.size() && node_.inputs[input] != network::kNoValue &&
         this->input(input).floating;
}

std::unexpected<Error> NodeValues::not_there(std::uint32_t value) const {
  return fail(ErrorCode::refused, "'" + context_.network.values()[value].name + "' was not dumped");
}

Status NodeValues::check(std::uint32_t value) const {
  const ValueNoise& own = context_.values[value];
  if (!own.trouble.empty()) return fail(ErrorCode::io, own.trouble);
  if (!own.known) return not_there(value);
  if (own.floating && own.measure.elements > 0 && own.measure.nan == own.measure.elements)
    return fail(ErrorCode::refused, "'" + context_.network.values()[value].name + "' is all NaN");
  return {};
}

Status NodeValues::check_known(std::size_t inputs) const {
  for (std::size_t i = 0; i < std::min(inputs, node_.inputs.size()); ++i)
    if (node_.inputs[i] != network::kNoValue) BTF_TRY(check(node_.inputs[i]));
  if (node_.outputs.empty() || node_.outputs[0] == network::kNoValue)
    return fail(ErrorCode::refused, "its result has no name");
  return check(node_.outputs[0]);
}

Result<Numbers*> NodeValues::numbers(std::size_t input) {
  const std::uint32_t which = node_.inputs[input];
  if (const auto known = opened_.find(which); known != opened_.end()) return &known->second;
  BTF_ASSIGN(std::optional<Numbers> found, open_numbers(context_.network, context_.dump, which));
  if (!found) return not_there(which);
  return &opened_.emplace(which, *std::move(found)).first->second;
}

Result<std::optional<Numbers>> open_numbers(const network::Network& network, const Dump& dump,
                                            std::uint32_t value) {
  if (const DumpedTensor* const dumped = dump.find(value)) {
    BTF_ASSIGN(network::StoredNumbers stored, dump.open(*dumped));
    return std::optional<Numbers>(std::in_place, std::move(stored));
  }
  if (network.values()[value].weight) {
    BTF_ASSIGN(network::StoredNumbers stored, network.weight(network.values()[value]));
    return std::optional<Numbers>(std::in_place, std::move(stored));
  }
  auto computed = dump.computed(value);
  if (!computed && is_read_error(computed.error())) return std::unexpected(computed.error());
  if (!computed || !*computed) return std::nullopt;
  return std::optional<Numbers>(std::in_place, **std::move(computed));
}

namespace {

using network::ErrorPropagation;
using network::Operator;

constexpr double kMaxProducts = 1U << 14;  // that are computed to measure cancellation
constexpr double kMinResults = 16;
constexpr std::uint64_t kWorkOfTerm = 4;
constexpr double kManyResults = 64;

// Returns true if the dims are the same apart from dims of 1, or the dump is flat.
bool are_alike(const Dims& dumped, const Dims& made) {
  const auto without_ones = [](Dims dims) {
    std::erase(dims, 1U);
    return dims;
  };
  return without_ones(dumped) == without_ones(made) ||
         (dumped.size() == 1 && element_count(dumped) == element_count(made));
}

class NodeMeasuring {
 public:
  NodeMeasuring(const NodeContext& context, std::uint32_t number, bool infinite)
      : context_(context),
        node_(context.network.nodes()[number]),
        values_(context, number, infinite),
        evaluation_(context.network, stored_in(context.dump), kMaxTerms),
        number_(number) {}

  Status run(NodeMeasure& measure) {
    const ErrorPropagation passing = propagation_of(context_.network, node_);
    if (passing == ErrorPropagation::unknown)
      return fail(ErrorCode::unsupported,
                  "fit does not know how errors pass through '" + node_.op + "'");
    measure.passing = passing;
    if (!context_.network.is_sound(number_))
      return network::not_computed(context_.network.why_unsound(number_));
    if (passing == ErrorPropagation::none) return {};
    const Result<Operator*> made = evaluation_.made_operator(number_);
    if (evaluation_.unread()) return std::unexpected(*evaluation_.unread());
    if (made) BTF_TRY(check_dims(**made));
    if (passing == ErrorPropagation::moved) return moved(measure);
    if (passing == ErrorPropagation::joined) return joined(measure);
    BTF_ASSIGN(op_, made);
    switch (passing) {
      case ErrorPropagation::places:
        return measure_places(values_, *op_, measure);
      case ErrorPropagation::groups:
        return measure_groups(values_, *op_, measure);
      case ErrorPropagation::products:
        return products(measure);
      default:
        return windows(measure);
    }
  }

 private:
  // Fails if a result was dumped with other dims than the node's inputs give.
  Status check_dims(const Operator& op) const {
    for (std::size_t i = 0; i < std::min(op.outputs().size(), node_.outputs.size()); ++i) {
      const std::uint32_t output = node_.outputs[i];
      const DumpedTensor* const dumped =
          output == network::kNoValue ? nullptr : context_.dump.find(output);
      if (dumped == nullptr) continue;
      const auto stored = context_.dump.open(*dumped);
      if (!stored && is_read_error(stored.error())) return std::unexpected(stored.error());
      if (!stored || are_alike(stored->tensor().dims, op.outputs()[i].dims)) continue;
      return fail(ErrorCode::refused, "'" + context_.network.values()[output].name +
                                          "' was dumped as " + dims_text(stored->tensor().dims) +
                                          ", but its dumped inputs give " +
                                          dims_text(op.outputs()[i].dims));
    }
    return {};
  }

  Status moved(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(1));
    measure.rms = values_.result().measure.rms();
    if (values_.is_float(0))
      measure.inputs.push_back({.input = 0,
                                .noise = values_.input(0).noise,
                                .error = values_.input(0).noise,
                                .passes_on = true});
    return {};
  }

  Status joined(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(node_.inputs.size()));
    measure.rms = values_.result().measure.rms();
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!values_.is_float(i)) continue;
      const auto all = static_cast<double>(values_.result().measure.elements);
      const double part =
          all > 0 ? std::sqrt(static_cast<double>(values_.input(i).measure.elements) / all) : 0;
      measure.inputs.push_back({.input = i,
                                .noise = values_.input(i).noise,
                                .error = values_.input(i).noise * part,
                                .gain = part,
                                .passes_on = true});
    }
    return {};
  }

  // Rounding errors of the inputs are independent of each other.
  Status products(NodeMeasure& measure) {
    BTF_TRY(values_.check_known(node_.inputs.size()));
    measure.rms = values_.result().measure.rms();
    measure.terms = op_->terms();
    const std::optional<double> growth = growth_in_sums(measure);
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!values_.is_float(i)) continue;
      const double own = values_.input(i).measure.rms();
      double gain = 1;
      if (multiplies(node_, i) && own > 0)
        gain = growth ? *growth * measure.rms / own
                      : std::sqrt(op_->terms()) * other_factors(context_.values, node_, i);
      const double noise = values_.input(i).noise;
      measure.inputs.push_back({.input = i, .noise = noise, .error = noise * gain, .gain = gain});
    }
    return {};
  }

  // The ratio of the relative error of a sum of products to that of one operand's numbers, root
  // mean square over some of the results. It is large if terms cancel. Unset if the sums cannot be
  // computed, or if operands would have to be computed, since these have errors themselves.
  std::optional<double> growth_in_sums(NodeMeasure& measure) {
    for (const std::uint32_t input : node_.inputs)
      if (input != network::kNoValue && context_.dump.find(input) == nullptr &&
          !context_.network.values()[input].weight)
        return std::nullopt;
    constexpr double kStep = 0x1p-6;  // large enough to hide other errors
    constexpr double kBounds = 4;     // estimates of independent errors are this much above them
    const std::uint64_t all = values_.result().measure.elements;
    const double terms = std::max(1.0, op_->terms());
    const auto wanted =
        static_cast<std::uint64_t>(std::clamp(kMaxProducts / terms, kMinResults, kManyResults));
    const std::uint64_t count = std::min(all, wanted);
    evaluation_.set({.operand = kStep, .result = 0, .accumulator = 0});
    const auto op = evaluation_.made_operator(number_);
    double errors = 0;
    double squares = 0;
    for (std::uint64_t i = 0; op && i < count; ++i) {
      const network::Estimate found = (*op)->element(0, sample_index(i, count, all));
      if (!std::isfinite(found.value) || !std::isfinite(found.error)) continue;
      errors += found.error * found.error;
      squares += found.value * found.value;
    }
    evaluation_.set({});
    measure.work += kWorkOfTerm * evaluation_.all_terms();
    if (!op || squares == 0 || !evaluation_.effort().trouble.empty()) return std::nullopt;
    return std::sqrt(errors / squares / 2) / (kBounds * kStep);
  }

  Status windows(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(1));
    const double terms = op_->terms();
    measure.averages = true;
    measure.inside = values_.result().measure.largest * terms;
    measure.rms = values_.result().measure.rms();
    measure.inputs.push_back({.input = 0,
                              .noise = values_.input(0).noise,
                              .error = values_.input(0).noise / std::sqrt(terms),
                              .gain = 1 / std::sqrt(terms)});
    return {};
  }

  const NodeContext& context_;
  const network::Node& node_;
  NodeValues values_;
  network::Evaluation evaluation_;
  std::uint32_t number_;
  Operator* op_ = nullptr;
};

}  // namespace

ErrorPropagation propagation_of(const network::Network& network, const network::Node& node) {
  const auto* const row =
      network::find_operator(node.op, node.domain, network.version(node.domain));
  return row == nullptr ? ErrorPropagation::unknown : row->passing;
}

bool multiplies(const network::Node& node, std::size_t input) {
  return input < 2 || node.op == "Einsum";
}

double other_factors(const std::vector<ValueNoise>& values, const network::Node& node,
                     std::size_t input) {
  double product = 1;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (i != input && multiplies(node, i) && node.inputs[i] != network::kNoValue)
      product *= values[node.inputs[i]].measure.rms();
  return product;
}

NodeMeasure measure_node(const NodeContext& context, std::uint32_t node, bool infinite) {
  NodeMeasure measure;
  const Status done = NodeMeasuring(context, node, infinite).run(measure);
  if (!done) measure.trouble = done.error().text();
  finish_effects(context, node, measure);
  return measure;
}

void finish_effects(const NodeContext& context, std::uint32_t node, NodeMeasure& measure) {
  const network::Node& own = context.network.nodes()[node];
  for (InputEffect& effect : measure.inputs) {
    const double rms = context.values[own.inputs[effect.input]].measure.rms();
    const double ratio = rms > 0 ? measure.rms / rms : 1;
    if (effect.noise == 0 && !effect.passes_on) effect.gain = ratio;  // it could not be measured
    effect.carried = measure.averages ? std::max(effect.gain, ratio) : effect.gain;
  }
}

}  // namespace btf

#include "diff/layers/spot_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/grids.h"
#include "diff/loaded_pair.h"
#include "network/evaluation.h"
#include "network/node.h"
#include "sets/names/match.h"
#include "sets/names/name_keys.h"

namespace btf {
namespace {

// Values that the model computes from weights alone, which are not numbers of the run.
std::vector<bool> computed_from_weights(const network::Network& network) {
  const auto& values = network.values();
  std::vector<bool> constant(values.size(), false);
  for (std::uint32_t value = 0; value < values.size(); ++value)
    constant[value] = values[value].weight.has_value();
  for (const network::Node& node : network.nodes()) {
    const bool all = std::ranges::all_of(node.inputs, [&](std::uint32_t input) {
      return input == network::kNoValue || constant[input];
    });
    for (const std::uint32_t output : node.outputs)
      if (output != network::kNoValue && !node.inputs.empty()) constant[output] = all;
  }
  return constant;
}

// The dims of a graph input with this many elements; the number determines open dims and the batch.
std::optional<Dims> dims_of_input(const network::Value& input, std::uint64_t elements) {
  if (!input.shape || input.shape->empty()) return std::nullopt;
  Dims dims;
  std::optional<std::size_t> open;
  for (const auto& dim : *input.shape) {
    if (!dim && open) return std::nullopt;
    if (!dim) open = dims.size();
    dims.push_back(dim.value_or(1));
  }
  const Checked known = element_count(dims);
  if (!known || *known == 0 || elements % *known != 0) return std::nullopt;
  dims[open.value_or(0)] *= elements / *known;
  return dims;
}

// Stands in for an input that was not dumped, if the graph has all its dims.
std::optional<network::StoredNumbers> placeholder_for(const network::Value& input) {
  constexpr std::uint64_t kMax = 1U << 24;
  if (input.node != network::kNoNode || input.weight || !input.shape) return std::nullopt;
  Dims dims;
  for (const auto& dim : *input.shape) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  const Checked elements = element_count(dims);
  if (!elements || *elements > kMax) return std::nullopt;
  return network::StoredNumbers::of(
      std::make_shared<const std::vector<double>>(static_cast<std::size_t>(*elements), 0.0),
      std::move(dims), DType::float32);
}

}  // namespace

SpotDumps::SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
                     const LayerOptions& options, bool of_actual,
                     const std::vector<std::uint64_t>& places, const LayerReport& report,
                     bool fitted)
    : set_(set),
      paired_(paired),
      options_(options),
      of_actual_(of_actual),
      report_(report),
      fitted_(fitted) {
  const std::vector<NamedDump>& dumps = of_actual ? paired.actual_dumps : paired.golden_dumps;
  const std::vector<bool> constant = computed_from_weights(network);
  // Weights are not dumps, even if a dump has the same name.
  std::vector<std::string> values;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    if (network.values()[value].weight) continue;
    values.push_back(network.values()[value].name);
    numbers.push_back(value);
  }
  // Looks for its own name first; the graph may have the name of the other tensor of the pair.
  const std::vector<NamedDump>& others = of_actual ? paired.golden_dumps : paired.actual_dumps;
  std::unordered_map<std::uint64_t, const std::string*> other_names;
  for (const NamedDump& dump : others)
    if (dump.layer) other_names[*dump.layer] = &dump.name;
  const auto other_name = [&](const NamedDump& dump) -> const std::string* {
    const auto other = dump.layer ? other_names.find(*dump.layer) : other_names.end();
    return other == other_names.end() ? nullptr : other->second;
  };
  // If the graph is the quantised model, it has both names of a pair. The tensor that the graph
  // computes with is meant.
  const auto is_by_other = [&](const NamedDump& dump) {
    const std::string* const other = other_name(dump);
    if (other == nullptr || places[*dump.layer] == kNowhere ||
        report.layers[places[*dump.layer]].tier != PairTier::qdq)
      return false;
    const bool own_is_plain = qdq_name(dump.name).form == QdqForm::plain;
    const std::string& made = own_is_plain ? *other : dump.name;
    return (network.find(made) != network::kNoValue) == own_is_plain;
  };
  std::vector<bool> taken(dumps.size(), false);
  const auto match = [&](bool own) {
    std::vector<std::string> names;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      if (taken[i]) continue;
      const std::string* const other = other_name(dumps[i]);
      if (!own && other == nullptr) continue;
      names.push_back(own == is_by_other(dumps[i]) && other != nullptr ? *other : dumps[i].name);
      which.push_back(i);
    }
    for (const NameMatch& found : match_values(names, values)) {
      const NamedDump& dump = dumps[which[found.left]];
      const std::uint32_t value = numbers[found.right];
      if (dumped_.contains(value) || (!dump.layer && constant[value])) continue;
      // Other forms of a compared tensor are recomputed; an input of the network is taken as it is.
      if (dump.beside && network.values()[value].node != network::kNoNode) continue;
      taken[which[found.left]] = true;
      DumpedValue& dumped = dumped_[value];
      dumped.tensor = dump.tensor;
      if (!dump.layer || places[*dump.layer] == kNowhere) continue;
      dumped.layer = places[*dump.layer];
      values_[*dumped.layer] = value;
    }
  };
  match(true);
  match(false);
  find_dims(network);
}

std::optional<Dims> SpotDumps::own_dims(const DumpedValue& dumped) const {
  if (dumped.layer) {
    const Layer& layer = report_.layers[*dumped.layer];
    return of_actual_ ? layer.actual_dims : layer.golden_dims;
  }
  const auto file = set_.file(dumped.tensor.member);
  if (!file) return std::nullopt;
  const auto tensor = (*file)->tensor(dumped.tensor.index);
  return tensor ? std::optional(tensor->dims) : std::nullopt;
}

// If no dump has more than two dims, all may be flat. Their dims are then those of the partners, or
// those that the network computes from its inputs.
void SpotDumps::find_dims(const network::Network& network) {
  constexpr std::size_t kFlat = 2;
  std::unordered_map<std::uint32_t, Dims> own;
  for (auto& [value, dumped] : dumped_) {
    const auto dims = own_dims(dumped);
    if (!dims) continue;
    own.emplace(value, *dims);
    if (dumped.layer && Layer::is_flat(*dims, report_.layers[*dumped.layer].dims()))
      dumped.dims = report_.layers[*dumped.layer].dims();
  }
  if (std::ranges::any_of(own, [&](const auto& one) { return one.second.size() > kFlat; })) return;
  // Nothing is known about the dims of single rows until the network gives them.
  const bool rows = own.size() > 1 && std::ranges::all_of(own, [](const auto& one) {
                      return one.second.size() == 1;
                    });
  for (const auto& [value, dims] : own)
    dumped_.at(value).dims_known = !rows || dumped_.at(value).dims.has_value();
  const auto take = [&](std::uint32_t value, const Dims& dims) {
    DumpedValue& dumped = dumped_.at(value);
    const Dims& known = own.at(value);
    if (dumped.dims || element_count(dims) != element_count(known)) return;
    dumped.dims_known = true;
    if (dims != known) dumped.dims = dims;
  };
  for (const auto& [value, dims] : own)
    if (network.values()[value].node == network::kNoNode)
      if (const auto found =
              dims_of_input(network.values()[value], element_count(dims).value_or(0)))
        take(value, *found);
  constexpr std::uint64_t kTerms = 1ULL << 24;
  network::Evaluation evaluation(
      network,
      [&](std::uint32_t value) -> Result<std::optional<network::StoredNumbers>> {
        const DumpedValue* const dumped = find(value);
        if (dumped == nullptr) return placeholder_for(network.values()[value]);
        BTF_ASSIGN(network::StoredNumbers numbers, open_locked(*dumped));
        return numbers;
      },
      kTerms);
  for (const network::Node& node : network.nodes())
    for (const std::uint32_t output : node.outputs)
      if (output != network::kNoValue && own.contains(output))
        if (const auto computed = evaluation.computed(output)) take(output, (*computed)->dims());
}

bool SpotDumps::has_flat() const {
  return std::ranges::any_of(dumped_, [](const auto& one) { return one.second.dims.has_value(); });
}

const Dims& SpotDumps::dims_of(std::uint64_t layer) const {
  const DumpedValue* const dumped = find(value_of(layer));
  return dumped != nullptr && dumped->dims ? *dumped->dims : report_.layers[layer].dims();
}

const DumpedValue* SpotDumps::find(std::uint32_t value) const {
  const auto at = dumped_.find(value);
  return at == dumped_.end() ? nullptr : &at->second;
}

std::uint32_t SpotDumps::value_of(std::uint64_t layer) const {
  const auto at = values_.find(layer);
  return at == values_.end() ? network::kNoValue : at->second;
}

std::string SpotDumps::name_of(const DumpedValue& dumped) const {
  const auto& dumps = of_actual_ ? paired_.actual_dumps : paired_.golden_dumps;
  const auto own = std::ranges::find_if(dumps, [&](const NamedDump& dump) {
    return dump.tensor.member == dumped.tensor.member && dump.tensor.index == dumped.tensor.index;
  });
  return own == dumps.end() ? "" : own->name;
}

Result<network::StoredNumbers> SpotDumps::open(const DumpedValue& dumped) const {
  Result<network::StoredNumbers> found = open_locked(dumped);
  if (found) {
    found->note_troubles(troubles_, name_of(dumped));
    if (const Status read = read_once(dumped, *found); !read) found = std::unexpected(read.error());
  } else {
    found = std::unexpected(
        found.error().in_file(set_.path(dumped.tensor.member)).within("'" + name_of(dumped) + "'"));
    troubles_->note(found.error());
  }
  return found;
}

// The dump of a layer was read completely when it was measured, so damage was detected then. Of
// other dumps only some elements would be read, so all of it is read once.
Status SpotDumps::read_once(const DumpedValue& dumped, network::StoredNumbers& numbers) const {
  constexpr std::uint64_t kRun = 1U << 16;
  const std::pair own(dumped.tensor.member, dumped.tensor.index);
  {
    const std::scoped_lock lock(mutex_);
    if (dumped.layer || !read_.insert(own).second) return {};
  }
  std::vector<double> run(std::min(kRun, numbers.elements()));
  for (std::uint64_t first = 0; first < numbers.elements(); first += kRun) {
    numbers.pass_over(
        first,
        std::span(run).first(static_cast<std::size_t>(std::min(kRun, numbers.elements() - first))));
    if (numbers.trouble()) return std::unexpected(*numbers.trouble());
  }
  return {};
}

Result<network::StoredNumbers> SpotDumps::open_locked(const DumpedValue& dumped) const {
  if (!dumped.dims_known)
    return network::not_computed("its dumps are flat, and the dims of '" + name_of(dumped) +
                                 "' are not known");
  // Sets and files may be used by one thread at a time only; reading elements may be concurrent.
  const std::scoped_lock lock(mutex_);
  BTF_ASSIGN(const std::shared_ptr<const TensorFile> file, set_.file(dumped.tensor.member));
  const std::uint64_t index = dumped.tensor.index;
  BTF_ASSIGN(std::optional<TensorInfo> tensor, file->dequantized(index));
  if (!tensor) {
    BTF_ASSIGN(tensor, file->tensor(index));
  }
  BTF_TRY(file->check_overlap(*tensor));
  if (dumped.dims && tensor->known() && !tensor->storage->split) {
    BTF_ASSIGN(const StridedLayout rows, resolve(Layout::linear, tensor->dims, *tensor->dtype));
    if (tensor->storage->strides == rows.strides) {
      BTF_ASSIGN(tensor->storage, resolve(Layout::linear, *dumped.dims, *tensor->dtype));
      tensor->dims = *dumped.dims;
    }
  }
  QuantizePlan plan;
  BTF_ASSIGN(const std::optional<GivenScale> given,
             paired_.given_scale(options_, set_, dumped.tensor.member, of_actual_));
  if (options_.dequantize || given) {
    BTF_ASSIGN(const FileScales scales,
               FileScales::of(*file, {options_.dequantize, given, options_.scale_blocks},
                              options_.execution));
    BTF_ASSIGN(plan, scales.plan(*file, *tensor, options_.execution));
  }
  BTF_ASSIGN(auto numbers, network::StoredNumbers::open(file, *std::move(tensor), std::move(plan)));
  const auto is_fitted = [&](std::uint64_t layer) {
    return paired_.codes[report_.layers[layer].number];
  };
  if (fitted_ && dumped.layer && is_fitted(*dumped.layer) && !numbers.scaled() &&
      !info(*numbers.tensor().dtype).floating())
    return network::not_computed("what it reads are codes without a scale");
  return numbers;
}

namespace {

using network::Arithmetic;

constexpr double kHalfFloat16 = 0x1p-11;
constexpr double kHalfBfloat16 = 0x1p-8;

// Half a step of codes from -127 to 127, doubled for ranges that were measured on other inputs.
constexpr double kGrid = 1.0 / 127;
constexpr std::size_t kGridLevel = kSpotLevels - 1;

constexpr auto kLevels = std::to_array<PrecisionLevel>({
    {"float32", {}},
    {"TF32", {.operand = kHalfFloat16}},
    {"float16", {.operand = kHalfFloat16, .result = kHalfFloat16}},
    {"bfloat16", {.operand = kHalfBfloat16, .result = kHalfBfloat16}},
    {"int8", {.grid = kGrid}},
});
static_assert(kLevels.size() == kSpotLevels);

template <typename Change>
std::array<PrecisionLevel, kSpotLevels> changed(Change change) {
  std::array<PrecisionLevel, kSpotLevels> levels = kLevels;
  for (PrecisionLevel& level : levels) change(level.arithmetic);
  return levels;
}

double half_step(DType dtype) {
  return std::ldexp(1.0, -static_cast<int>(info(dtype).fp.mantissa_bits + 1U));
}

}  // namespace

std::span<const PrecisionLevel> spot_levels(std::optional<DType> accumulate) {
  static const auto kFloat16 = changed([](Arithmetic& a) { a.accumulator = kHalfFloat16; });
  static const auto kBfloat16 = changed([](Arithmetic& a) { a.accumulator = kHalfBfloat16; });
  if (accumulate == DType::float16) return kFloat16;
  if (accumulate == DType::bfloat16) return kBfloat16;
  return kLevels;
}

std::size_t first_level(DType stored) {
  return info(stored).floating() ? level_at(half_step(stored)) : 0;
}

std::size_t level_of(DType compute) {
  return info(compute).floating() ? first_level(compute) : kGridLevel;
}

std::size_t level_at(double unit_roundoff) {
  std::size_t level = 0;
  while (level + 1 < kGridLevel && kLevels[level].arithmetic.result < unit_roundoff) ++level;
  return level;
}

std::optional<std::size_t> LevelVotes::choose() const {
  if (layers == 0) return std::nullopt;
  const auto enough = [&](std::uint64_t some) { return 2 * some >= layers; };
  const std::uint64_t most = *std::max_element(follow, follow + kGridLevel);
  // Codes explain far larger errors than a fault may have, so floats have precedence: a few layers
  // that only codes explain may be faults.
  constexpr std::uint64_t kFew = 3;
  const std::uint64_t coded = follow[kGridLevel];
  if (!enough(most) || (5 * most < 4 * coded && coded >= most + kFew)) {
    if (enough(coded)) return kGridLevel;
    // A few layers that nothing explains are no evidence against the model.
    return layers <= kFew ? std::optional<std::size_t>(0) : std::nullopt;
  }
  // Operators that only move numbers follow at any precision, so they are no evidence for one.
  const std::uint64_t always = follow[0];
  if (5 * (most - always) < layers) return 0;
  const auto nearly = std::ranges::find_if(std::span(follow, kGridLevel), [&](std::uint64_t some) {
    return 5 * (some - always) >= 4 * (most - always);
  });
  return static_cast<std::size_t>(nearly - std::span(follow, kGridLevel).begin());
}

namespace {

using network::Estimate;
using network::Evaluation;
using network::StoredNumbers;
using network::Tensor;

// Estimates bound what is likely, not what is possible.
constexpr double kSlack = 2;

// A device may flush results below these to zero: 2^-14 for float16; for others 2^-126 for each of
// the many terms of a sum.
constexpr double kMinFloat16 = 0x1p-14;
constexpr double kMinFloat32 = 0x1p-110;
constexpr double kLargestFloat16 = 65504;

bool is_product(std::string_view op) {
  return op.contains("Conv") || op.contains("MatMul") || op == "Gemm" || op == "Einsum" ||
         op == "LSTM" || op == "GRU" || op == "RNN";
}

bool is_float16(const network::Arithmetic& arithmetic) { return arithmetic.result == 0x1p-11; }

class LayerCheck {
 public:
  LayerCheck(const SpotSide& side, std::uint32_t value, const LayerScale& scale,
             std::span<const std::uint32_t> without)
      : side_(side),
        value_(value),
        scale_(scale),
        levels_end_(side.levels.size()),
        evaluation_(side.network, stored_in(side.input_dumps, found_.read), side.terms()) {
    for (const std::uint32_t other : without) evaluation_.leave_out(other);
  }
  ~LayerCheck() {
    if (side_.work != nullptr) side_.work->take(evaluation_);
  }
  LayerCheck(const LayerCheck&) = delete;
  LayerCheck& operator=(const LayerCheck&) = delete;

  SideCheck run(std::span<const std::uint64_t> sample) {
    found_.least_level = side_.least_level;
    if (const Status status = check(sample); !status) {
      found_.why = status.error().text();
      found_.checked = 0;
    }
    found_.terms = evaluation_.most_terms_taken();
    found_.ran_out = evaluation_.ran_out();
    return std::move(found_);
  }

  // As many points as can be recomputed.
  std::vector<SpotPoint> points(std::span<const std::uint64_t> sample, std::size_t level) {
    std::vector<SpotPoint> points;
    const Status unused = collect(sample, level, points);
    return points;
  }

 private:
  Status collect(std::span<const std::uint64_t> sample, std::size_t level,
                 std::vector<SpotPoint>& points) {
    const DumpedValue* const dumped = side_.dumps.find(value_);
    if (dumped == nullptr) return {};
    BTF_ASSIGN(StoredNumbers stored, side_.dumps.open(*dumped));
    const network::Arithmetic& arithmetic = side_.levels[level].arithmetic;
    BTF_ASSIGN(Tensor* const tensor, computed_at(level, stored));
    for (const std::uint64_t number : sample) {
      BTF_ASSIGN(const double actual, stored.at(number));
      const Estimate recomputed = tensor->at(number);
      if (!evaluation_.effort().trouble.empty()) break;
      const double explained = explained_distance(recomputed, stored, number, arithmetic, scale_);
      BTF_ASSIGN(const bool at_end, stored.at_end(number));
      const bool off =
          !follows(actual, recomputed, explained, *stored.tensor().dtype, arithmetic) &&
          !(at_end && std::abs(recomputed.value) > std::abs(actual));
      points.push_back({number, actual, recomputed.value, explained, off});
    }
    return {};
  }

  Status check(std::span<const std::uint64_t> sample) {
    const DumpedValue* const dumped = side_.dumps.find(value_);
    if (dumped == nullptr) return network::not_computed("it is not in the graph");
    if (side_.network.values()[value_].node == network::kNoNode)
      return network::not_computed("no node of the graph makes it");
    BTF_ASSIGN(StoredNumbers stored, side_.dumps.open(*dumped));
    const DType dtype = *stored.tensor().dtype;
    found_.first_level =
        std::max(side_.least_level, stored.scaled() ? std::size_t{0} : first_level(dtype));
    // All levels for one element before the next one, so that its inputs are read once.
    for (const std::uint64_t number : sample) {
      if (levels_end_ == found_.first_level) break;
      for (std::size_t level = found_.first_level; level < levels_end_; ++level) {
        BTF_ASSIGN(const bool off, is_off(level, number, stored));
        if (!off) break;
      }
    }
    for (std::size_t level = 0; level < side_.levels.size(); ++level)
      found_.off[level] = found_.off_numbers[level].size();
    found_.product = std::ranges::any_of(evaluation_.operators(), is_product);
    return {};
  }

  Result<Tensor*> computed_at(std::size_t level, const StoredNumbers& stored) {
    evaluation_.set(side_.levels[level].arithmetic);
    BTF_ASSIGN(Tensor* const tensor, evaluation_.computed(value_));
    if (tensor->elements() != stored.elements())
      return network::not_computed("it should have the dims " + dims_text(tensor->dims()) +
                                   ", and has " + dims_text(stored.tensor().dims));
    if (tensor->floating() && !info(*stored.tensor().dtype).floating() && !stored.scaled())
      return network::not_computed("its numbers are codes without a scale");
    return tensor;
  }

  // An element that is off is tried again at the next level.
  Result<bool> is_off(std::size_t level, std::uint64_t number, StoredNumbers& stored) {
    constexpr std::uint64_t kEnough = 16;
    const network::Arithmetic& arithmetic = side_.levels[level].arithmetic;
    BTF_ASSIGN(Tensor* const tensor, computed_at(level, stored));
    BTF_ASSIGN(const double dumped, stored.at(number));
    const Estimate recomputed = tensor->at(number);
    if (!evaluation_.effort().trouble.empty()) {
      // The sample begins with the worst elements, which are evidence too.
      if (level == found_.first_level && found_.checked < kEnough)
        return network::not_computed(evaluation_.effort().trouble);
      levels_end_ = level;
      return false;
    }
    if (level == found_.first_level) {
      ++found_.checked;
      add_own(dumped, recomputed.value);
    }
    const double explained = explained_distance(recomputed, stored, number, arithmetic, scale_);
    if (follows(dumped, recomputed, explained, *stored.tensor().dtype, arithmetic)) {
      found_.overflowed += std::isinf(dumped) && std::isfinite(recomputed.value) ? 1U : 0U;
      return false;
    }
    BTF_ASSIGN(const bool at_end, stored.at_end(number));
    if (at_end && std::abs(recomputed.value) > std::abs(dumped)) return false;
    found_.off_numbers[level].push_back(number);
    const double distance = std::abs(dumped - recomputed.value);
    const double times = std::isfinite(distance) && explained > 0
                             ? distance / explained
                             : std::numeric_limits<double>::max();
    if (!found_.worst[level] || times > worst_[level]) {
      worst_[level] = times;
      found_.worst[level] = {number, dumped, recomputed.value, explained};
    }
    return true;
  }

  void add_own(double dumped, double recomputed) {
    if (!std::isfinite(dumped) || !std::isfinite(recomputed)) return;
    found_.off_square += (dumped - recomputed) * (dumped - recomputed);
    found_.square += recomputed * recomputed;
  }

  const SpotSide& side_;
  std::uint32_t value_;
  LayerScale scale_;
  SideCheck found_;
  std::array<double, kSpotLevels> worst_{};  // relative to what is explained
  std::size_t levels_end_;  // the first level that takes more effort than is allowed
  Evaluation evaluation_;
};

}  // namespace

network::FindStored stored_in(const SpotDumps& dumps, std::vector<std::uint32_t>& read) {
  return [&dumps, &read](std::uint32_t value) -> Result<std::optional<StoredNumbers>> {
    const DumpedValue* const dumped = dumps.find(value);
    if (dumped == nullptr) return std::nullopt;
    BTF_ASSIGN(StoredNumbers numbers, dumps.open(*dumped));
    read.push_back(value);
    return numbers;
  };
}

bool is_anything(const Estimate& recomputed) {
  return std::isnan(recomputed.value) && std::isinf(recomputed.error);
}

double explained_distance(const Estimate& recomputed, const StoredNumbers& stored,
                          std::uint64_t number, const network::Arithmetic& arithmetic,
                          const LayerScale& scale) {
  // What is below the type's normal range, or below half a step of the tensor's usual numbers, is
  // no evidence.
  const double least =
      std::max(is_float16(arithmetic) ? kMinFloat16 : kMinFloat32, arithmetic.result * scale.rms);
  const bool floats = stored.scaled() || info(*stored.tensor().dtype).floating();
  const double half = std::max(stored.half_step(number, recomputed.value),
                               floats ? arithmetic.result * std::abs(recomputed.value) : 0);
  return kSlack * recomputed.error + half + least + kSlack * arithmetic.grid * scale.peak;
}

bool follows(double dumped, const Estimate& recomputed, double explained, DType dtype,
             const network::Arithmetic& arithmetic) {
  const double value = recomputed.value;
  if (is_anything(recomputed)) return true;
  if (std::isnan(value) || std::isnan(dumped)) return std::isnan(value) && std::isnan(dumped);
  if (std::abs(dumped - value) <= explained || dumped == value) return true;
  // Beyond the type's largest number the result is Inf or that number.
  const double limit =
      std::min(static_cast<double>(hints::limits_of(dtype).highest),
               is_float16(arithmetic) ? kLargestFloat16 : std::numeric_limits<double>::max());
  return std::abs(value) + explained >= limit && std::abs(dumped) >= limit &&
         std::signbit(value) == std::signbit(dumped);
}

LayerScale scale_of(const LayerFigures& figures) {
  const double n = std::sqrt(static_cast<double>(std::max<std::uint64_t>(figures.pairs, 1)));
  return {.peak = figures.actual.peak,
          .rms = std::min(figures.actual.norm, figures.golden.norm) / n};
}

SideCheck check_layer(const SpotSide& side, std::uint32_t value,
                      std::span<const std::uint64_t> sample, const LayerScale& scale,
                      std::span<const std::uint32_t> without) {
  return LayerCheck(side, value, scale, without).run(sample);
}

std::vector<SpotPoint> points_of(const SpotSide& side, std::uint32_t value,
                                 std::span<const std::uint64_t> sample, const LayerScale& scale,
                                 std::size_t level, std::span<const std::uint32_t> without) {
  return LayerCheck(side, value, scale, without).points(sample, level);
}

}  // namespace btf

#include "diff/layers/spot/dumps.h"

#include <algorithm>
#include <span>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/scaled_side.h"
#include "network/evaluation.h"
#include "network/node/call.h"
#include "sets/names/match.h"
#include "sets/names/names.h"

namespace btf {

namespace {

// What the model makes of its weights alone, by value: it is no number of the run.
std::vector<bool> made_of_weights(const network::Network& network) {
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

// The dims of an input of the graph that has so many elements; open ones and that of the batch are
// told by these.
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

// In place of an input that was not dumped, where the graph has all its dims.
std::optional<network::StoredNumbers> nothing_of(const network::Value& input) {
  constexpr std::uint64_t kMost = 1U << 24;
  if (input.node != network::kNoNode || input.weight || !input.shape) return std::nullopt;
  Dims dims;
  for (const auto& dim : *input.shape) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  const Checked elements = element_count(dims);
  if (!elements || *elements > kMost) return std::nullopt;
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
  const std::vector<bool> constant = made_of_weights(network);
  // Weights are no dumps, whatever is called like them.
  std::vector<std::string> values;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t value = 0; value < network.values().size(); ++value) {
    if (network.values()[value].weight) continue;
    values.push_back(network.values()[value].name);
    numbers.push_back(value);
  }
  // By its own name first; a pair's other name may be the one that the graph has.
  const std::vector<NamedDump>& others = of_actual ? paired.golden_dumps : paired.actual_dumps;
  std::unordered_map<std::uint64_t, const std::string*> other_names;
  for (const NamedDump& dump : others)
    if (dump.layer) other_names[*dump.layer] = &dump.name;
  const auto other_name = [&](const NamedDump& dump) -> const std::string* {
    const auto other = dump.layer ? other_names.find(*dump.layer) : other_names.end();
    return other == other_names.end() ? nullptr : other->second;
  };
  // Of a pair that a quantised model makes, the graph has both names if it is that model. What is
  // computed with is meant.
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
      // What is compared is recomputed through its other forms; an input of the network is given.
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

// Where no dump has more than two dims, they may all be flat: the dims are then those of the
// partners, and of the network from its inputs on.
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
  // Of what is one row each, nothing is known until the network says it.
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
      if (const auto found = dims_of_input(network.values()[value], element_count(dims).value_or(0)))
        take(value, *found);
  constexpr std::uint64_t kTerms = 1ULL << 24;
  network::Evaluation evaluation(
      network,
      [&](std::uint32_t value) -> Result<std::optional<network::StoredNumbers>> {
        const DumpedValue* const dumped = find(value);
        if (dumped == nullptr) return nothing_of(network.values()[value]);
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
    found = std::unexpected(found.error()
                                .in_file(set_.path(dumped.tensor.member))
                                .within("'" + name_of(dumped) + "'"));
    troubles_->note(found.error());
  }
  return found;
}

// A layer's dump was read to its end when it was measured, so that damaged bytes have shown. Of
// what is no layer only some elements would be read, and it would be judged by these.
Status SpotDumps::read_once(const DumpedValue& dumped, network::StoredNumbers& numbers) const {
  constexpr std::uint64_t kRun = 1U << 16;
  const std::pair own(dumped.tensor.member, dumped.tensor.index);
  {
    const std::scoped_lock lock(mutex_);
    if (dumped.layer || !read_.insert(own).second) return {};
  }
  std::vector<double> run(std::min(kRun, numbers.elements()));
  for (std::uint64_t first = 0; first < numbers.elements(); first += kRun) {
    numbers.pass_over(first, std::span(run).first(static_cast<std::size_t>(
                                 std::min(kRun, numbers.elements() - first))));
    if (numbers.trouble()) return std::unexpected(*numbers.trouble());
  }
  return {};
}

Result<network::StoredNumbers> SpotDumps::open_locked(const DumpedValue& dumped) const {
  if (!dumped.dims_known)
    return network::not_computed("its dumps are flat, and the dims of '" + name_of(dumped) +
                                 "' are not known");
  // Sets and files are not for several threads at once; reading elements is.
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

}  // namespace btf

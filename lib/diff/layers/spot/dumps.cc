#include "diff/layers/spot/dumps.h"

#include <algorithm>
#include <span>
#include <string>

#include "btf/try.h"
#include "diff/scaled_side.h"
#include "network/node/call.h"
#include "sets/names/match.h"

namespace btf {

SpotDumps::SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
                     const LayerOptions& options, bool of_actual,
                     const std::vector<std::uint64_t>& places, const LayerReport* fitted)
    : set_(set), paired_(paired), options_(options), of_actual_(of_actual), fitted_(fitted) {
  const std::vector<NamedDump>& dumps = of_actual ? paired.actual_dumps : paired.golden_dumps;
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
  std::vector<bool> taken(dumps.size(), false);
  const auto match = [&](bool own) {
    std::vector<std::string> names;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      if (taken[i]) continue;
      const auto other = dumps[i].layer ? other_names.find(*dumps[i].layer) : other_names.end();
      if (!own && other == other_names.end()) continue;
      names.push_back(own ? dumps[i].name : *other->second);
      which.push_back(i);
    }
    for (const NameMatch& found : match_values(names, values)) {
      const NamedDump& dump = dumps[which[found.left]];
      const std::uint32_t value = numbers[found.right];
      if (dumped_.contains(value)) continue;
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
  // Sets and files are not for several threads at once; reading elements is.
  const std::scoped_lock lock(mutex_);
  BTF_ASSIGN(const std::shared_ptr<const TensorFile> file, set_.file(dumped.tensor.member));
  const std::uint64_t index = dumped.tensor.index;
  BTF_ASSIGN(std::optional<TensorInfo> tensor, file->dequantized(index));
  if (!tensor) {
    BTF_ASSIGN(tensor, file->tensor(index));
  }
  BTF_TRY(file->check_overlap(*tensor));
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
    return paired_.codes[fitted_->layers[layer].number];
  };
  if (fitted_ != nullptr && dumped.layer && is_fitted(*dumped.layer) && !numbers.scaled() &&
      !info(*numbers.tensor().dtype).floating())
    return network::not_computed("what it reads are codes without a scale");
  return numbers;
}

}  // namespace btf

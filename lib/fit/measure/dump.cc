#include "fit/measure/dump.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "sets/names/match.h"

namespace btf {

Result<Dump> Dump::list(TensorSet& set, const network::Network* network,
                        std::vector<std::string>& troubles) {
  Dump dump(set);
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
  // Weights are no dumps, whatever is called like them.
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
  // Which of two tensors of one name is the graph's is not known.
  std::unordered_map<std::string_view, DumpedTensor*> first;
  for (DumpedTensor& tensor : tensors_) {
    if (tensor.value != network::kNoValue) continue;
    const auto [known, is_new] = first.emplace(tensor.name, &tensor);
    if (is_new) continue;
    tensor.twice = known->second->twice = true;
    const std::string other = set_.path(known->second->place.member);
    const std::string own = set_.path(tensor.place.member);
    troubles.push_back(own + ": '" + tensor.name + "' is there twice, " +
                       (other == own ? "in this file" : "in " + other + " too") +
                       ", and none of them is taken");
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

Result<network::StoredNumbers> Dump::open(const DumpedTensor& tensor) const {
  Result<network::StoredNumbers> found = open_locked(tensor);
  if (found) {
    found->note_troubles(troubles_, tensor.name);
  } else {
    found = std::unexpected(found.error()
                                .in_file(set_.path(tensor.place.member))
                                .within("'" + tensor.name + "'"));
    note(found.error());
  }
  return found;
}

Result<network::StoredNumbers> Dump::open_locked(const DumpedTensor& tensor) const {
  // Sets and files are not for several threads at once; reading elements is.
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
    if (dumped == nullptr) return std::nullopt;
    BTF_ASSIGN(network::StoredNumbers numbers, dump.open(*dumped));
    return std::optional(std::move(numbers));
  };
}

}  // namespace btf

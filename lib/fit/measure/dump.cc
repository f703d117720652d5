#include "fit/measure/dump.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "sets/names/match.h"

namespace btf {

// Values are computed in the network's order, each by itself, out of numbers that are there. What
// comes out depends on the graph and the dump alone, not on who asked first.
class Dump::Computed {
 public:
  Computed(const network::Network& network) : network_(network) {}

  Result<std::optional<network::StoredNumbers>> get(const Dump& dump, std::uint32_t value) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::uint32_t> lacking = lacking_before(dump, value);
    for (const std::uint32_t one : lacking) known_[one] = compute(dump, one);
    auto found = numbers(value);
    forget_some(value);
    return found;
  }

 private:
  // None of them: it has too many.
  struct Known {
    std::shared_ptr<const std::vector<double>> numbers{};
    Dims dims{};
    DType dtype{};
    std::optional<Error> error{};
  };

  static constexpr std::uint64_t kMostNumbers = 1U << 16;  // of one
  static constexpr std::uint64_t kMostKept = 1U << 22;     // of all, from one question to the next

  bool is_computed(const Dump& dump, std::uint32_t value) const {
    const network::Value& own = network_.values()[value];
    return own.node != network::kNoNode && !own.weight && dump.find(value) == nullptr;
  }

  // It, and those that it is computed from, that are not known: in the network's order.
  std::vector<std::uint32_t> lacking_before(const Dump& dump, std::uint32_t value) const {
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
    const std::uint64_t share =
        kTermsOfValues / std::max<std::size_t>(1, network_.nodes().size());
    network::Evaluation evaluation(network_, find,
                                   std::clamp(share, kLeastTermsOfValue, kMostTerms));
    const auto tensor = evaluation.computed(value);
    if (evaluation.unread()) return {.error = *evaluation.unread()};
    if (!tensor) return {.error = tensor.error()};
    if ((*tensor)->elements() > kMostNumbers) return {};
    auto numbers = std::make_shared<std::vector<double>>((*tensor)->elements());
    for (std::uint64_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = (*tensor)->value(i);
    if (evaluation.unread()) return {.error = *evaluation.unread()};
    if (const std::string& trouble = evaluation.effort().trouble; !trouble.empty())
      return {.error = Error{ErrorCode::unsupported, trouble}};
    kept_ += numbers->size();
    order_.push_back(value);
    return {.numbers = std::move(numbers), .dims = (*tensor)->dims(), .dtype = (*tensor)->dtype()};
  }

  // Those that were computed first, and are computed again if they are asked for.
  void forget_some(std::uint32_t asked) {
    while (kept_ > kMostKept && order_.front() != asked) {
      kept_ -= known_[order_.front()].numbers->size();
      known_.erase(order_.front());
      order_.pop_front();
    }
  }

  const network::Network& network_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, Known> known_;
  std::deque<std::uint32_t> order_;  // of those with numbers
  std::uint64_t kept_ = 0;           // numbers
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
    if (dumped == nullptr) return dump.computed(value);
    BTF_ASSIGN(network::StoredNumbers numbers, dump.open(*dumped));
    return std::optional(std::move(numbers));
  };
}

}  // namespace btf

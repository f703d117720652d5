#include "fit/items/fit_plan.h"

#include <algorithm>
#include <utility>

#include "core/checked_math.h"
#include "fit/scales/scaled_layers.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;

namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return checked_add(a, b).value_or(UINT64_MAX);
}

using SharedMembers = std::shared_ptr<const std::set<std::uint64_t>>;

SharedMembers joined(const SharedMembers& a, const SharedMembers& b) {
  if (a == nullptr || b == nullptr || a == b) return a == nullptr ? b : a;
  if (std::ranges::includes(*a, *b)) return a;
  if (std::ranges::includes(*b, *a)) return b;
  std::set<std::uint64_t> both = *a;
  both.insert(b->begin(), b->end());
  return std::make_shared<const std::set<std::uint64_t>>(std::move(both));
}

SharedMembers member_of(const std::vector<SharedMembers>& members, std::uint32_t value) {
  return value == kNoValue ? nullptr : members[value];
}

}  // namespace

FitPlan::FitPlan(const network::Network* network, const std::vector<Dump>& dumps,
                 std::span<const DType> dtypes)
    : network_(network), dumps_(dumps) {
  for (const DType dtype : dtypes) (fits_by_scale(dtype) ? scaled_ : narrow_).push_back(dtype);
  if (network_ != nullptr && !scaled_.empty() &&
      std::ranges::find(narrow_, kGainsBy) == narrow_.end())
    narrow_.push_back(kGainsBy);
  wanted_ = wanted_scales(network_, dumps_);
  if (network_ != nullptr)
    take_network();
  else
    for (std::size_t i = 0; i < wanted_.size(); ++i) items_.push_back({.wanted = {i}});
}

std::size_t FitPlan::ranked_by() const {
  return static_cast<std::size_t>(std::ranges::find(narrow_, kGainsBy) - narrow_.begin());
}

void FitPlan::take_network() {
  wanted_of_.assign(network_->values().size(), kNotWanted);
  for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_of_[wanted_[i].value] = i;
  for (std::uint32_t node = 0; node < network_->nodes().size(); ++node) {
    FitItem& item = items_.emplace_back(FitItem{.node = node});
    for (const std::uint32_t made : network_->nodes()[node].outputs)
      if (made != kNoValue) item.values.push_back(made);
  }
  for (const ScaledWanted& wanted : wanted_)
    if (network_->values()[wanted.value].node == kNoNode)
      items_.push_back({.values = {wanted.value}});
  for (FitItem& item : items_)
    for (const std::uint32_t value : item.values) item.wanted.push_back(wanted_of_[value]);
  find_members();
}

std::size_t FitPlan::runs(const FitItem& item) const {
  return network_ != nullptr ? dumps_.size() : wanted_[item.wanted[0]].places.size();
}

std::uint64_t FitPlan::bytes_of(std::uint32_t value) const {
  const std::size_t which = wanted_of_[value];
  if (which == kNotWanted) return 0;
  if (wanted_[which].weight) {
    const auto stored = network_->weight(network_->values()[value]);
    return stored ? stored->tensor().data_bytes : 0;
  }
  std::uint64_t bytes = 0;
  for (const auto& [dump, tensor] : wanted_[which].places) bytes = sum(bytes, dump->bytes(*tensor));
  return bytes;
}

std::vector<PlannedFit> FitPlan::planned() const {
  std::vector<PlannedFit> planned;
  if (network_ == nullptr) {
    for (const ScaledWanted& wanted : wanted_) {
      PlannedFit& item =
          planned.emplace_back(PlannedFit{.name = wanted.name, .signature = wanted.name});
      for (const auto& [dump, tensor] : wanted.places)
        item.bytes = sum(item.bytes, dump->bytes(*tensor));
    }
    return planned;
  }
  std::vector<std::uint64_t> bytes(network_->values().size());
  for (std::uint32_t value = 0; value < bytes.size(); ++value) bytes[value] = bytes_of(value);
  for (const FitItem& item : items_) {
    PlannedFit& plan = planned.emplace_back();
    for (const std::uint32_t value : item.values) plan.bytes = sum(plan.bytes, bytes[value]);
    if (item.node == kNoNode) {
      plan.name = plan.signature = network_->values()[item.values[0]].name;
      continue;
    }
    const network::Node& node = network_->nodes()[item.node];
    plan.name = layer_name(*network_, item.node);
    plan.signature = plan.name + "\n" + node.op;
    for (const std::uint32_t input : node.inputs) {
      plan.signature += "\n";
      if (input == kNoValue) continue;
      plan.signature += network_->values()[input].name;
      plan.read_bytes = sum(plan.read_bytes, bytes[input]);
    }
  }
  return planned;
}

// A value that was not dumped is computed from those that it follows from: nodes come in an order in
// which what they read is known, and a chain shares one set.
void FitPlan::find_members() {
  for (const Dump& dump : dumps_) {
    std::vector<SharedMembers>& members = members_.emplace_back(network_->values().size());
    for (std::uint32_t value = 0; value < members.size(); ++value)
      if (const DumpedTensor* const tensor = dump.find(value);
          tensor != nullptr && !network_->values()[value].weight)
        members[value] =
            std::make_shared<const std::set<std::uint64_t>>(std::set{tensor->place.member});
    for (const network::Node& node : network_->nodes()) {
      SharedMembers all;
      for (const std::uint32_t input : node.inputs) all = joined(all, member_of(members, input));
      for (const std::uint32_t output : node.outputs)
        if (output != kNoValue && !members[output] && !network_->values()[output].weight)
          members[output] = all;
    }
  }
}

std::set<std::pair<std::size_t, std::uint64_t>> FitPlan::members(const FitItem& item) const {
  std::set<std::pair<std::size_t, std::uint64_t>> found;
  if (network_ == nullptr) {
    for (const auto& [dump, tensor] : wanted_[item.wanted[0]].places)
      found.emplace(static_cast<std::size_t>(dump - dumps_.data()), tensor->place.member);
    return found;
  }
  std::vector<std::uint32_t> asked = item.values;
  if (item.node != kNoNode)
    for (const std::uint32_t input : network_->nodes()[item.node].inputs) asked.push_back(input);
  for (std::size_t d = 0; d < dumps_.size(); ++d)
    for (const std::uint32_t value : asked)
      if (const SharedMembers of_value = member_of(members_[d], value))
        for (const std::uint64_t member : *of_value) found.emplace(d, member);
  return found;
}

}  // namespace btf

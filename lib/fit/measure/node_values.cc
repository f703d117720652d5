#include "fit/measure/node_values.h"

#include <algorithm>

#include "btf/try.h"

namespace btf {
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
  if (!computed && is_of_reading(computed.error())) return std::unexpected(computed.error());
  if (!computed || !*computed) return std::nullopt;
  return std::optional<Numbers>(std::in_place, **std::move(computed));
}

}  // namespace btf

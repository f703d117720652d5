#include "fit/scales/operator_terms.h"

#include <optional>
#include <utility>

#include "btf/try.h"
#include "network/operators/operator.h"

namespace btf {

network::FindStored stored_in_dump(const Dump& dump) {
  return [&dump](std::uint32_t value) -> Result<std::optional<network::StoredNumbers>> {
    const DumpedTensor* const dumped = dump.find(value);
    if (dumped == nullptr) return std::nullopt;
    BTF_ASSIGN(network::StoredNumbers numbers, dump.open(*dumped));
    return std::optional(std::move(numbers));
  };
}

std::vector<double> terms_of(const network::Network& network, const Dump& dump,
                             const DumpMeasures& measures) {
  std::vector<double> terms(network.nodes().size(), 0);
  for (std::uint32_t node = 0; node < terms.size(); ++node) {
    if (measures.nodes[node].passing != network::Passing::products) continue;
    network::Evaluation evaluation(network, stored_in_dump(dump), kMostOperatorTerms);
    if (const auto op = evaluation.made_operator(node)) terms[node] = (*op)->terms();
  }
  return terms;
}

}  // namespace btf

#include "fit/inputs.h"

#include <algorithm>
#include <string>

#include "btf/try.h"

namespace btf {
namespace {

using network::kNoValue;
using network::Network;

// Finds tensors of the dumps that are no floats, are narrow already, or are not in the graph.
Status look_at_dumps(const std::vector<Dump>& dumps, std::span<TensorSet> sets, bool graph,
                     FitReport& report) {
  std::uint64_t floats = 0;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    std::uint64_t narrow = 0;
    std::string first;
    for (const DumpedTensor& tensor : dumps[d].tensors()) {
      BTF_ASSIGN(const auto file, sets[d].file(tensor.place.member));
      const auto read = file->tensor(tensor.place.index);
      if (!read) dumps[d].note(read.error().in_file(sets[d].path()).within("'" + tensor.name + "'"));
      if (!read || !read->dtype) continue;
      const DTypeInfo& dtype = info(*read->dtype);
      if (!dtype.floating()) {
        ++report.integers;
        continue;
      }
      ++floats;
      if (dtype.bits < 32 && narrow++ == 0) first = tensor.name + "' is " + std::string(dtype.name);
      if (graph && tensor.value == kNoValue && !tensor.twice &&
          std::ranges::find(report.unused, tensor.name) == report.unused.end())
        report.unused.push_back(tensor.name);
    }
    if (narrow > 0)
      report.warnings.push_back(
          sets[d].path() + ": '" + first + (narrow > 1 ? ", and others are narrow too" : "") +
          ": what its numbers lost before does not show; dump a run in float32");
  }
  if (floats == 0 && !report.troubles.empty()) return fail(ErrorCode::io, report.troubles.front());
  if (floats == 0)
    for (const Dump& dump : dumps)
      for (const std::string& trouble : dump.read_troubles()) return fail(ErrorCode::io, trouble);
  if (floats == 0)
    return fail(ErrorCode::refused, "no tensor of " + sets[0].path() + " holds floats");
  if (graph && report.unused.size() == floats)
    return fail(ErrorCode::refused, "no tensor of " + sets[0].path() + " is in the graph: '" +
                                        report.unused.front() + "' is not");
  return {};
}

}  // namespace

Result<FitInputs> open_fit(std::span<TensorSet> sets, const FitOptions& options) {
  if (sets.empty() || options.dtypes.empty())
    return fail(ErrorCode::invalid_argument, "there is no dump, or no dtype");
  for (const DType dtype : options.dtypes)
    if (dtype != DType::float16 && dtype != DType::bfloat16 && !fits_by_scale(dtype))
      return fail(ErrorCode::unsupported,
                  std::string(info(dtype).name) +
                      " is not judged: float16, bfloat16 and signed types of 8 bits or fewer are");
  FitInputs inputs;
  inputs.report.graph = options.graph;
  if (options.graph) {
    BTF_ASSIGN(Network network, Network::read(*options.graph));
    if (network.nodes().empty())
      return std::unexpected(
          Error{ErrorCode::refused, "it has no graph with nodes"}.in_file(*options.graph));
    inputs.network = std::make_unique<const Network>(std::move(network));
  }
  for (TensorSet& set : sets) {
    inputs.report.dumps.push_back(set.path());
    BTF_ASSIGN(Dump dump, Dump::list(set, inputs.network.get(), inputs.report.troubles));
    inputs.dumps.push_back(std::move(dump));
  }
  BTF_TRY(look_at_dumps(inputs.dumps, sets, inputs.network != nullptr, inputs.report));
  return inputs;
}

}  // namespace btf

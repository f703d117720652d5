// All that is measured of one dump: tensors and nodes one by one, on threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/try.h"
#include "elements/cast.h"
#include "fit/node_measure.h"
#include "network/network.h"

namespace btf {

// Tensors, nodes and the like, one by one on threads.

inline Status for_each_piece(const Execution& execution, std::uint64_t pieces,
                             const std::function<Status(std::uint64_t)>& work) {
  constexpr std::uint64_t kBytesPerPiece = 1U << 20;  // so much work is worth a thread
  const unsigned workers = worker_count(execution, pieces, pieces * kBytesPerPiece);
  return for_each_slab(execution, workers, pieces, [&](unsigned, std::uint64_t piece) -> Status {
    BTF_TRY(check_cancelled(execution));
    return work(piece);
  });
}

// The effect of rounding on a node's result, as far as its own inputs tell. Whether these have
// their numbers by chance, what stands before them tells: both cases are measured.

struct NodeVariants {
  NodeMeasure plain;
  // With all inputs by chance of which that may be so; nothing: there is none.
  std::optional<NodeMeasure> lucky{};
};

// Has the value its numbers by chance, if those that it is computed from are off by more?
bool may_be_lucky(const ValueNoise& value, const NarrowType& type);

// Takes the numbers for such as are the type's by chance. `largest`: where all are zero, the root
// mean square of what they are computed from.
void make_lucky(ValueNoise& value, const NarrowType& type, double largest);

// The noise of a value of the network, before what stands before it is known.
ValueNoise lucky_if_it_may(const network::Network& network, std::uint32_t which,
                           const ValueNoise& value, const NarrowType& type);

// `lucky`: all values by lucky_if_it_may().
NodeVariants measure_variants(const NodeContext& context, const std::vector<ValueNoise>& lucky,
                              std::uint32_t node);

// Once all values are known. The node is measured here where a value of zeros is by chance off by
// something: by how much was not known.
NodeMeasure chosen(const NodeContext& context, std::uint32_t node, const NodeVariants& variants);

// All values and nodes of a network, measured in one dump.

// The measures of one dump.
struct DumpMeasures {
  std::vector<ValueNoise> values;  // of the network
  std::vector<NodeMeasure> nodes;
};

// The same by several processes, each some of the values and nodes.
struct DumpPieces {
  std::vector<ValueNoise> values;  // each by itself
  std::vector<NodeVariants> nodes;
};

// A value by itself: noise is that of its own numbers. One that cannot be used is one that is not
// there; one that cannot be read says so, and so does what needs it.
ValueNoise measure_value(const network::Network& network, const Dump& dump, const NarrowType& type,
                         std::uint32_t which, const Execution& execution);

// `known`: of another dump, whose weights are the same; nullptr: there is none yet.
Result<DumpMeasures> measure_dump(const network::Network& network, const Dump& dump,
                                  const NarrowType& type, const DumpMeasures* known,
                                  const Execution& execution);

// The same out of its pieces. Nodes behind numbers that become Inf are measured here.
DumpMeasures measures_of(const network::Network& network, const Dump& dump, const NarrowType& type,
                         const DumpPieces& pieces);

// One tensor of a dump, without a network. Nothing: it holds no floats.
Result<std::optional<TensorMeasure>> measure_dumped(const Dump& dump, const DumpedTensor& tensor,
                                                    const NarrowType& type);

}  // namespace btf

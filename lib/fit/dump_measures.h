// Measures all values and nodes of a network in one dump, on several threads.
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

// Calls work(0), ..., work(pieces - 1) on several threads: for tensors, nodes and the like.
inline Status for_each_piece(const Execution& execution, std::uint64_t pieces,
                             const std::function<Status(std::uint64_t)>& work) {
  constexpr std::uint64_t kBytesPerPiece = 1U << 20;  // assumed, to choose the number of threads
  const unsigned workers = worker_count(execution, pieces, pieces * kBytesPerPiece);
  return for_each_slab(execution, workers, pieces, [&](unsigned, std::uint64_t piece) -> Status {
    BTF_TRY(check_cancelled(execution));
    return work(piece);
  });
}

// The effect of rounding on a node's result. Some inputs round with less error than usual, possibly
// only by chance in this dump. Whether that is so depends on the nodes before them, which another
// process may measure, so both cases are measured.
struct NodeVariants {
  NodeMeasure plain;
  // With typical noise in all inputs that may be exact by chance; unset if there is no such input.
  std::optional<NodeMeasure> typical{};
};

// Returns true if rounding the value costs less than is typical: that is by chance if the values
// that it is computed from have a larger error.
bool may_be_exact_by_chance(const ValueNoise& value, const NarrowType& type);

// Gives the value the noise that rounding usually has. `largest`: the root mean square of its
// inputs, used if the value is all zeros.
void assume_typical_noise(ValueNoise& value, const NarrowType& type, double largest);

// The value with typical noise if it may be exact by chance. Weights and inputs stay as they are.
ValueNoise with_typical_noise(const network::Network& network, std::uint32_t which,
                              const ValueNoise& value, const NarrowType& type);

// `typical`: with_typical_noise() of each value.
NodeVariants measure_variants(const NodeContext& context, const std::vector<ValueNoise>& typical,
                              std::uint32_t node);

// Chooses a variant for each input, once it is known which values are exact by chance. The node is
// measured again if one of these is all zeros, since its noise was not known before.
NodeMeasure resolve_variants(const NodeContext& context, std::uint32_t node,
                             const NodeVariants& variants);

// Counts the work for nodes, which must come in the network's order. So the nodes that are left out
// do not depend on who measures which of them.
class NodeWork {
 public:
  explicit NodeWork(const Dump& dump);

  bool used_up() const { return used_up_; }
  // Returns false if that is too much: neither this node nor later ones are judged.
  bool take(std::uint64_t work);

 private:
  std::uint64_t left_ = 0;
  bool used_up_ = false;
};

// The measure of a node that is not judged for that reason.
NodeMeasure left_out(const network::Network& network, std::uint32_t node);

// The measures of one dump, by value and by node of the network.
struct DumpMeasures {
  std::vector<ValueNoise> values;
  std::vector<NodeMeasure> nodes;
};

// The same, as measured by several processes that each know some of the values.
struct DumpPieces {
  std::vector<ValueNoise> values;
  std::vector<NodeVariants> nodes;
};

// Measures one value; its noise is that of rounding its own numbers. A value that cannot be used is
// treated as not dumped. If it cannot be read, the error is in `trouble` and is noted in the dump.
ValueNoise measure_value(const network::Network& network, const Dump& dump, const NarrowType& type,
                         std::uint32_t which, const Execution& execution);

// `known`: the measures of another dump, whose weights are used again; nullptr for the first dump.
Result<DumpMeasures> measure_dump(const network::Network& network, const Dump& dump,
                                  const NarrowType& type, const DumpMeasures* known,
                                  const Execution& execution);

// Combines the pieces of several processes. Nodes that read numbers which become Inf are measured
// again here.
DumpMeasures assemble_measures(const network::Network& network, const Dump& dump,
                               const NarrowType& type, const DumpPieces& pieces);

// Measures one tensor of a dump, without a network. Unset if it does not hold floats.
Result<std::optional<TensorMeasure>> measure_dumped(const Dump& dump, const DumpedTensor& tensor,
                                                    const NarrowType& type);

}  // namespace btf

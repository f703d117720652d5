// The inputs and results of one node: what they are on a narrow device, and their numbers.
#pragma once

#include <cstdint>
#include <map>

#include "btf/error.h"
#include "fit/measure/node_measure.h"
#include "fit/measure/numbers.h"
#include "network/network.h"

namespace btf {

class NodeValues {
 public:
  // `infinite`: with the Inf that its inputs have from before.
  NodeValues(const NodeContext& context, std::uint32_t node, bool infinite)
      : context_(context), node_(context.network.nodes()[node]), infinite_(infinite) {}

  const NodeContext& context() const { return context_; }
  const network::Node& node() const { return node_; }
  bool infinite() const { return infinite_; }

  const ValueNoise& input(std::size_t input) const { return context_.values[node_.inputs[input]]; }
  const ValueNoise& result() const { return context_.values[node_.outputs[0]]; }
  bool is_float(std::size_t input) const;

  // An error if it was not dumped, or is all NaN.
  Status check(std::uint32_t value) const;
  // The same of the first inputs, and of the result.
  Status check_known(std::size_t inputs) const;

  // Each input's are opened once.
  Result<Numbers*> numbers(std::size_t input);

 private:
  std::unexpected<Error> not_there(std::uint32_t value) const;

  const NodeContext& context_;
  const network::Node& node_;
  bool infinite_;
  std::map<std::uint32_t, Numbers> opened_;
};

}  // namespace btf

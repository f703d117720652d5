// The effect of rounding a value on a result farther on, computed anew from there on. Each answer
// is kept for the next time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fit/measure/dump.h"
#include "fit/measure/dump_measures.h"
#include "fit/measure/narrow_type.h"
#include "fit/rule/flow.h"
#include "network/network.h"

namespace btf {

class Replay {
 public:
  Replay(const network::Network& network, const Flow& flow, const Dump& dump,
         const DumpMeasures& measures, const NarrowType& type)
      : network_(network), flow_(flow), dump_(dump), measures_(measures), type_(type) {}

  // The error of the node's first result where the value alone is rounded, root mean square over
  // some elements, since errors of one number may cancel where several ways meet. Nothing: it comes
  // there by one way only, what is in between cannot be computed, takes too long, or becomes Inf or
  // NaN.
  std::optional<double> error(std::uint32_t value, std::uint32_t node);
  // The same by chain_error(), by one way or several.
  std::optional<double> error_at_places(std::uint32_t value, std::uint32_t node);

 private:
  using Known = std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<double>>;

  std::optional<double> computed(std::uint32_t value, std::uint32_t node);

  const network::Network& network_;
  const Flow& flow_;
  const Dump& dump_;
  const DumpMeasures& measures_;
  const NarrowType& type_;
  Known known_;
  Known at_places_;
  std::uint64_t terms_ = 0;  // of all that was computed so far
};

}  // namespace btf

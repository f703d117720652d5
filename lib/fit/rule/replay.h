// What rounding a value does to a result farther on that it comes to by several ways: computed anew
// from there on, since errors of one number may cancel where the ways meet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fit/measure/dump.h"
#include "fit/measure/dump_measures.h"
#include "fit/measure/narrow_type.h"
#include "network/network.h"

namespace btf {

class Replay {
 public:
  Replay(const network::Network& network, const Dump& dump, const DumpMeasures& measures,
         const NarrowType& type)
      : network_(network), dump_(dump), measures_(measures), type_(type) {}

  // The error of the node's first result where the value alone is rounded: root mean square over
  // some elements, kept for the next time. Nothing: it comes there by one way only, what is in
  // between cannot be computed, takes too long, or becomes Inf or NaN.
  std::optional<double> error(std::uint32_t value, std::uint32_t node);

 private:
  // Outputs of the nodes by which the value comes to the node; empty: by one way, or by too many.
  std::vector<std::uint32_t> between(std::uint32_t value, std::uint32_t node) const;
  std::optional<double> computed(std::uint32_t value, std::uint32_t node);

  const network::Network& network_;
  const Dump& dump_;
  const DumpMeasures& measures_;
  const NarrowType& type_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<double>> known_;
  std::uint64_t terms_ = 0;  // of all that was computed so far
};

}  // namespace btf

// Is it the layer that is off, or its dump? What is computed from it tells.
#pragma once

#include <cstdint>

#include "btf/layers/layers.h"
#include "diff/layers/verdict/explained.h"
#include "diff/layers/verdict/inputs.h"
#include "diff/layers/verdict/neighbours.h"

namespace btf {

class DumpJudge {
 public:
  // All of them outlive it.
  DumpJudge(const LayerReport& report, const JudgeLayers& options, const Neighbours& neighbours,
            const Explained& explained)
      : report_(report), options_(options), neighbours_(neighbours), explained_(explained) {}

  // True if the consumers of layer i behave as if it were right. `before`: of all layers before it.
  bool is_dump(std::uint64_t i, const Inputs& before) const;

  // For the network's only input, which all layers depend on: no layer shows its error.
  bool is_input_dump(std::uint64_t i, const Inputs& before) const;

  // For a layer with NaN or Inf: with a graph, every consumer has none and agrees, and one of them
  // would have to have some.
  bool is_special_dump(std::uint64_t i) const;

  // By order alone: do the next layers agree and have none?
  bool next_are_finite(std::uint64_t i, const Inputs& before) const;

 private:
  bool agrees(std::uint64_t consumer, std::uint64_t i, const Inputs& before) const;
  Inputs inputs_without(std::uint64_t layer, std::uint64_t i, const Inputs& before) const;
  double carried(std::uint64_t i, std::uint64_t consumer) const;
  bool is_explained(std::uint64_t consumer, const Inputs& in) const;
  bool comes_back(std::uint64_t i, const Inputs& before, std::uint64_t far) const;

  const LayerReport& report_;
  const JudgeLayers& options_;
  const Neighbours& neighbours_;
  const Explained& explained_;
};

}  // namespace btf

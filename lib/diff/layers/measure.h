// One pass over a pair of layers in bounded memory, and the pairs on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layers/figures.h"
#include "convert/quantize/scales.h"
#include "diff/pairs/side.h"
#include "sets/pairs/pairs.h"

namespace btf {

// One pass over a pair of layers, by one thread and in bounded memory.

// Both sides have the same dims. `quantised`: steps of grids are looked for that have up to 65536
// values, not 256.
Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution, bool quantised = false);

// Pairs of layers, measured on threads while the caller opens the next ones.

struct LayerPair {
  std::shared_ptr<const TensorFile> actual_file;
  std::shared_ptr<const TensorFile> golden_file;
  TensorInfo actual;  // of the same number of elements
  TensorInfo golden;
  QuantizePlan actual_scales{};  // Scaling::none: it is measured as it is
  QuantizePlan golden_scales{};
  bool quantised = false;  // one side holds what codes stand for, of 16 bits it may be
};

// Called by the thread that adds pairs. `settled`: of files that held nothing else, which were not
// changed up to here.
using TakeFigures =
    std::function<void(std::uint64_t number, const Result<LayerFigures>& figures, bool settled)>;

class MeasureQueue {
 public:
  MeasureQueue(const Execution& execution, TakeFigures take);

  // An error ends the queue: it was cancelled, or memory ran out.
  Status add(std::uint64_t number, LayerPair pair);
  // Delivers all that was added.
  Status drain() { return queue_.drain(); }

 private:
  class Job;

  Execution execution_;
  std::function<void(std::uint64_t)> progress_;  // told of whole pairs
  TakeFigures take_;
  PairQueue queue_;  // the last: it ends first
};

}  // namespace btf

// Measures a pair of layers in one pass and bounded memory, and many pairs on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layers.h"
#include "convert/quantize/scales.h"
#include "diff/sides/side.h"
#include "sets/pairs/pair_queue.h"

namespace btf {

// Measures a pair on the calling thread. Both sides have the same dims. `quantised`: looks for
// grids of up to 65536 values instead of 256.
Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution, bool quantised = false);

struct LayerPair {
  std::shared_ptr<const TensorFile> actual_file;
  std::shared_ptr<const TensorFile> golden_file;
  TensorInfo actual;  // has the same number of elements as golden
  TensorInfo golden;
  QuantizePlan actual_scales{};  // Scaling::none: measured as it is stored
  QuantizePlan golden_scales{};
  bool quantised = false;  // one side is dequantised, possibly from 16 bits
};

// Called on the thread that adds pairs. `settled`: the pair's files hold no other tensors and have
// not been changed so far.
using TakeFigures =
    std::function<void(std::uint64_t number, const Result<LayerFigures>& figures, bool settled)>;

// Measures pairs of layers on threads while the caller opens the next ones.
class MeasureQueue {
 public:
  MeasureQueue(const Execution& execution, TakeFigures take);

  // An error ends the queue: the work was cancelled, or memory ran out.
  Status add(std::uint64_t number, LayerPair pair);
  // Delivers everything that was added.
  Status drain() { return queue_.drain(); }

 private:
  class Job;

  Execution execution_;
  std::function<void(std::uint64_t)> progress_;  // called with the bytes of whole pairs
  TakeFigures take_;
  PairQueue queue_;  // last member, so that it is destroyed first
};

}  // namespace btf

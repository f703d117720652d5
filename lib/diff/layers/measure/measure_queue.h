// Pairs of layers, measured on threads while the caller opens the next ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layers/figures.h"
#include "convert/quantize/plan.h"
#include "core/workers.h"

namespace btf {

struct LayerPair {
  std::shared_ptr<const TensorFile> actual_file;
  std::shared_ptr<const TensorFile> golden_file;
  TensorInfo actual;  // of the same number of elements
  TensorInfo golden;
  QuantizePlan actual_scales{};  // Scaling::none: it is measured as it is
  QuantizePlan golden_scales{};
};

// Called by the thread that adds pairs. `settled`: of files that held nothing else, which were not
// changed up to here.
using TakeFigures =
    std::function<void(std::uint64_t number, const Result<LayerFigures>& figures, bool settled)>;

class MeasureQueue {
 public:
  MeasureQueue(const Execution& execution, TakeFigures take);
  ~MeasureQueue();

  // Measures some itself where several wait already.
  void add(std::uint64_t number, LayerPair pair);
  // Waits for all of them, and throws what a thread threw.
  void finish();

 private:
  struct Job;
  struct Measured;
  // Small pairs go together: one by one they would wait for each other most of the time.
  using Jobs = std::vector<Job>;

  void send();
  void work();
  void measure(const Jobs& jobs);
  void deliver();

  Execution execution_;
  std::function<void(std::uint64_t)> progress_;  // told of whole pairs
  TakeFigures take_;
  unsigned helpers_ = 0;
  std::size_t small_together_;
  Jobs small_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Jobs> waiting_;
  std::vector<Measured> measured_;  // and not yet delivered
  bool closed_ = false;
  bool workers_started_ = false;
  std::mutex telling_;
  Workers workers_;  // the last: it ends first
};

}  // namespace btf

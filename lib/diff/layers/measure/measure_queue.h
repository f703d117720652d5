// Pairs of layers, measured on threads while the caller opens the next ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layers/figures.h"
#include "core/workers.h"

namespace btf {

struct LayerPair {
  std::shared_ptr<const TensorFile> actual_file;
  std::shared_ptr<const TensorFile> golden_file;
  TensorInfo actual;  // of the same number of elements
  TensorInfo golden;
};

// Called under a lock, one at a time.
using TakeFigures = std::function<void(std::uint64_t number, const Result<LayerFigures>& figures)>;

class MeasureQueue {
 public:
  MeasureQueue(const Execution& execution, TakeFigures take);
  ~MeasureQueue();

  // Waits where several wait already. Small pairs are measured at once.
  void add(std::uint64_t number, LayerPair pair);
  // Waits for all of them, and throws what a thread threw.
  void finish();

 private:
  struct Job;

  void work();
  void measure(const Job& job);

  Execution execution_;
  std::function<void(std::uint64_t)> progress_;  // told of whole pairs
  TakeFigures take_;
  unsigned helpers_ = 0;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::unique_ptr<Job>> waiting_;
  bool closed_ = false;
  bool workers_started_ = false;
  std::mutex taking_;
  Workers workers_;  // the last: it ends first
};

}  // namespace btf

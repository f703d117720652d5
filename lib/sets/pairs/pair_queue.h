// The scheduler of pairs: threads compare them while the caller prepares the next ones, and results
// come back in the order of the pairs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "core/workers.h"

namespace btf {

// A pair in the queue, with all that its comparison needs.
class QueuedPair {
 public:
  virtual ~QueuedPair() = default;
  // On any thread. Files that nobody else needs are best closed here: results may wait.
  virtual Status compare() = 0;
  // On the caller's thread, in the order of the pairs. `compared`: what compare() returned, or that
  // memory ran out in it, or `cancelled` instead of it. An error is the last that the queue does.
  virtual Status deliver(const Status& compared) = 0;
};

struct PairQueueLimits {
  unsigned workers = 1;               // threads, the caller's among them
  std::size_t most_together = 1;      // small pairs that a thread takes at once
  std::uint64_t small = 0;            // bytes; a pair of more is taken alone
  std::size_t most_waiting = 1;       // lots that no thread has begun; beyond it the caller helps
  std::size_t most_unreported = 256;  // pairs that are not delivered
};

class PairQueue {
 public:
  PairQueue(const PairQueueLimits& limits, const Execution& execution);
  // Pairs that no thread has begun are dropped.
  ~PairQueue();
  PairQueue(const PairQueue&) = delete;
  PairQueue& operator=(const PairQueue&) = delete;

  // Delivers what is ready.
  Status add(std::unique_ptr<QueuedPair> pair, std::uint64_t bytes);
  // Delivers all that was added.
  Status drain();

 private:
  struct Entry {
    std::unique_ptr<QueuedPair> pair;
    Status compared{};
    std::exception_ptr thrown{};
    std::atomic<bool> done = false;
  };
  using Lot = std::vector<Entry*>;  // one by one, small pairs would spend their time on the lock

  Status send();
  void work();
  void compare(const Lot& lot);
  void compare(Entry& entry) const noexcept;
  bool help();
  Status deliver_first();
  Status deliver_ready();

  PairQueueLimits limits_;
  Execution execution_;
  std::deque<Entry> entries_;  // those that are not delivered; of the caller's thread
  Lot lot_;                    // the last of these, which no thread can take yet
  std::mutex mutex_;
  std::condition_variable more_;
  std::condition_variable done_;
  std::deque<Lot> waiting_;
  bool closed_ = false;
  bool started_ = false;
  Workers workers_;  // the last: it ends first
};

}  // namespace btf

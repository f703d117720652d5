// A queue of pairs: threads compare them while the caller prepares the next ones, and results are
// delivered in the order of the pairs.
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
#include "core/resources.h"

namespace btf {

// A pair in the queue, with everything that its comparison needs.
class QueuedPair {
 public:
  virtual ~QueuedPair() = default;
  // Called on any thread. Files that are not used elsewhere should be closed here, since the result
  // may have to wait.
  virtual Status compare() = 0;
  // Called on the caller's thread, in the order of the pairs. `compared` is the result of
  // compare(), or an error if it ran out of memory or was cancelled. If this returns an error, the
  // queue stops.
  virtual Status deliver(const Status& compared) = 0;
};

struct PairQueueLimits {
  unsigned workers = 1;               // threads including the caller's
  std::size_t max_batch = 1;          // small pairs that a thread takes at once
  std::uint64_t small = 0;            // pairs with more bytes are taken alone
  std::size_t max_waiting = 1;        // batches waiting for a thread; with more, the caller helps
  std::size_t max_undelivered = 256;  // pairs that have not been delivered
};

class PairQueue {
 public:
  PairQueue(const PairQueueLimits& limits, const Execution& execution);
  // Drops pairs that no thread has begun.
  ~PairQueue();
  PairQueue(const PairQueue&) = delete;
  PairQueue& operator=(const PairQueue&) = delete;

  // Also delivers the results that are ready.
  Status add(std::unique_ptr<QueuedPair> pair, std::uint64_t bytes);
  // Delivers the results of all pairs.
  Status drain();

 private:
  struct Entry {
    std::unique_ptr<QueuedPair> pair;
    Status compared{};
    std::exception_ptr thrown{};
    std::atomic<bool> done = false;
  };
  using Batch = std::vector<Entry*>;  // avoids taking the lock for every small pair

  Status send();
  void work();
  void compare(const Batch& batch);
  void compare(Entry& entry) const noexcept;
  bool help();
  Status deliver_first();
  Status deliver_ready();

  PairQueueLimits limits_;
  Execution execution_;
  std::deque<Entry> entries_;  // pairs not yet delivered; used by the caller's thread only
  Batch batch_;                // the last pairs of entries_, not yet sent to the threads
  std::mutex mutex_;
  std::condition_variable more_;
  std::condition_variable done_;
  std::deque<Batch> waiting_;
  bool closed_ = false;
  bool started_ = false;
  Workers workers_;  // the last member, since its threads use the others
};

}  // namespace btf

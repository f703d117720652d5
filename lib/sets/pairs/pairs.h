// Pairs of two sets: members by path and name, else single tensors by name, map or number; and the
// queue that compares pairs on several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/tensor_set.h"
#include "core/resources.h"

namespace btf {

// Two members, or a tensor of each; or one side alone if the other has no partner.
struct MemberPair {
  std::string name;  // the path if it is equal, else the name
  std::optional<std::uint64_t> actual{};
  std::optional<std::uint64_t> golden{};
  // For single tensors of members that are not a pair.
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // Set if several have this name and it is not clear which belong together.
  std::shared_ptr<const Error> error{};
  // For single tensors: the tier that paired different names.
  std::optional<PairTier> tier{};
  std::string note{};  // for a tensor without a pair: a close name on the other side

  bool of_tensors() const { return actual_tensor || golden_tensor; }
};

// Pairs members with equal paths, then those with equal names (a.npy and a.btf), then tensors with
// equal names in the remaining members, which are opened for that. Only considers wanted members.
// The order is golden's if it has one, else actual's, else natural.
std::vector<MemberPair> pair_members(const TensorSet& actual, const TensorSet& golden,
                                     const MemberFilter& wanted = {});

struct SetPairing {
  std::vector<MemberPair> pairs;
  MapUse map;
};

struct PairSets {
  MemberFilter wanted{};
  PairBy by = PairBy::automatic;
  NameMap map{};  // map of tensor names, with the highest precedence
};

// Like pair_members(), and then pairs what remains by the tiers of names of all tensors. By number,
// if no files are pairs: the order of the wanted tensors in each set, whose files must then be
// readable.
Result<SetPairing> pair_sets(const TensorSet& actual, const TensorSet& golden,
                             const PairSets& options);

// Opens the files of these pairs ahead, on one thread for each set, if there are enough to be worth
// a thread and if the execution allows several. Call at most once for a set.
void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution);

// The tensors of members of a set, with their names.

struct NamedTensor {
  SetTensor tensor;
  std::string name;
  bool waits_for_dims = false;
};

// Returns true for raw bytes whose dims are those of their partner.
bool waits_for_dims(const TensorSet& set, std::uint64_t member);

// Leaves out files that cannot be opened and names that cannot be read; the set records system
// errors.
std::vector<NamedTensor> named_tensors(const TensorSet& set,
                                       std::span<const std::uint64_t> members);

// The indexes of the wanted members.
std::vector<std::uint64_t> wanted_members(const TensorSet& set, const MemberFilter& wanted);

// Golden's order if it has one, else actual's, else natural order.
void put_in_order(std::vector<MemberPair>& pairs, const TensorSet& actual, const TensorSet& golden);

// A queue of pairs: threads compare them while the caller prepares the next ones, and results are
// delivered in the order of the pairs.

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

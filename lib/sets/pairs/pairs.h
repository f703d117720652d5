// The pairs of two sets: members by path and name, else single tensors by name, map or number.
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

// Two members, or a tensor of each; one side alone where the other has no partner for it.
struct MemberPair {
  std::string name;  // the path in both; else the name of both
  std::optional<std::uint64_t> actual{};
  std::optional<std::uint64_t> golden{};
  // For members that are no pair, but have tensors with names of the other side.
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // Several have this name, and which belong together is not known.
  std::shared_ptr<const Error> error{};
  // For single tensors: the tier at which names that are not equal made them a pair.
  std::optional<PairTier> tier{};
  std::string note{};  // of a tensor that is alone: which name of the other side is close

  bool of_tensors() const { return actual_tensor || golden_tensor; }
};

// Members with the same path, then those of one name (a.npy with a.btf), then tensors of one name
// in what is left, which is opened for that; of the members that are wanted. In the order that
// golden gives, else actual; else in natural order.
std::vector<MemberPair> pair_members(const TensorSet& actual, const TensorSet& golden,
                                     const MemberFilter& wanted = {});

struct SetPairing {
  std::vector<MemberPair> pairs;
  MapUse map;
};

struct PairSets {
  MemberFilter wanted{};
  PairBy by = PairBy::automatic;
  NameMap map{};  // of tensors; goes before all else
};

// As pair_members(), and what that leaves by the tiers of names of all tensors. By number,
// if no files are pairs: as tensors stand in all that is wanted of a set, whose files must then be
// readable.
Result<SetPairing> pair_sets(const TensorSet& actual, const TensorSet& golden,
                             const PairSets& options);

// Opens the files of these pairs ahead, each set on a thread of its own, if there are enough that
// it is worth a thread and the execution allows more than one. Once for a set.
void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution);

// The tensors of members of a set, by what they are called.

struct NamedTensor {
  SetTensor tensor;
  std::string name;
  bool waits_for_dims = false;
};

// Is it raw bytes whose dims are known once their partner is?
bool waits_for_dims(const TensorSet& set, std::uint64_t member);

// Files that cannot be opened and names that cannot be read are left out; errors of the system are
// then noted by the set.
std::vector<NamedTensor> named_tensors(const TensorSet& set,
                                       std::span<const std::uint64_t> members);

// Those that are wanted, by index.
std::vector<std::uint64_t> wanted_members(const TensorSet& set, const MemberFilter& wanted);

// In the order that golden gives, else actual; else in natural order.
void put_in_order(std::vector<MemberPair>& pairs, const TensorSet& actual, const TensorSet& golden);

// The scheduler of pairs: threads compare them while the caller prepares the next ones, and results
// come back in the order of the pairs.

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

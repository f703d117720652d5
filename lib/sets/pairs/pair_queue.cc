#include "sets/pairs/pair_queue.h"

#include <algorithm>
#include <new>
#include <utility>

#include "btf/try.h"

namespace btf {

PairQueue::PairQueue(const PairQueueLimits& limits, const Execution& execution)
    : limits_(limits), execution_(execution) {}

PairQueue::~PairQueue() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  waiting_.clear();
  more_.notify_all();
}

Status PairQueue::add(std::unique_ptr<QueuedPair> pair, std::uint64_t bytes) {
  const bool alone = bytes > limits_.small || limits_.workers <= 1;
  if (alone) BTF_TRY(send());
  batch_.push_back(&entries_.emplace_back(std::move(pair)));
  if (!alone && batch_.size() < limits_.max_batch) return {};
  BTF_TRY(send());
  while (entries_.size() > limits_.max_undelivered) {
    if (!entries_.front().done && help())
      BTF_TRY(deliver_ready());
    else
      BTF_TRY(deliver_first());
  }
  return {};
}

// Sends the batch to the threads, or compares it here if they have enough to do.
Status PairQueue::send() {
  if (batch_.empty()) return {};
  Batch batch = std::exchange(batch_, {});
  std::unique_lock lock(mutex_);
  const bool full = limits_.workers <= 1 || waiting_.size() >= limits_.max_waiting;
  if (!full) waiting_.push_back(std::move(batch));
  lock.unlock();
  if (full) {
    compare(batch);
  } else {
    more_.notify_one();
    if (!std::exchange(started_, true))
      workers_.start(limits_.workers - 1, [this](unsigned) { work(); });
  }
  return deliver_ready();
}

void PairQueue::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    compare(batch);
  }
}

void PairQueue::compare(const Batch& batch) {
  for (Entry* const entry : batch) compare(*entry);
  const std::scoped_lock lock(mutex_);
  for (Entry* const entry : batch) entry->done = true;
  done_.notify_one();
}

void PairQueue::compare(Entry& entry) const noexcept {
  try {
    if (execution_.cancel != nullptr && execution_.cancel->load())
      entry.compared = fail(ErrorCode::cancelled, "interrupted");
    else
      entry.compared = entry.pair->compare();
  } catch (const std::bad_alloc&) {
    try {
      entry.compared = fail(ErrorCode::no_space, "out of memory");
    } catch (...) {
      entry.thrown = std::current_exception();
    }
  } catch (...) {
    entry.thrown = std::current_exception();
  }
}

// Compares a batch that no thread has begun. Returns false if there is none.
bool PairQueue::help() {
  std::unique_lock lock(mutex_);
  if (waiting_.empty()) return false;
  const Batch batch = std::move(waiting_.front());
  waiting_.pop_front();
  lock.unlock();
  compare(batch);
  return true;
}

Status PairQueue::deliver_first() {
  Entry& first = entries_.front();
  if (!first.done) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return first.done.load(); });
  }
  if (first.thrown) std::rethrow_exception(first.thrown);
  const Status delivered = first.pair->deliver(first.compared);
  entries_.pop_front();
  return delivered;
}

Status PairQueue::deliver_ready() {
  while (!entries_.empty() && entries_.front().done) BTF_TRY(deliver_first());
  return {};
}

Status PairQueue::drain() {
  BTF_TRY(send());
  while (!entries_.empty()) {
    if (!entries_.front().done && help())
      BTF_TRY(deliver_ready());
    else
      BTF_TRY(deliver_first());
  }
  return {};
}

}  // namespace btf

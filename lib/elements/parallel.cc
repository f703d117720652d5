#include "elements/parallel.h"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>

#include "core/workers.h"
#include "formats/io/system.h"

namespace btf {
namespace {

// Below this a second thread costs more than it saves.
constexpr std::uint64_t kSmall = 4U << 20;

// And below this a slab costs more than its elements.
constexpr std::uint64_t kLeastSlab = 64U << 10;

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
}

class SlabQueue {
 public:
  explicit SlabQueue(std::uint64_t count) : count_(count) {}

  std::optional<std::uint64_t> take() {
    const std::uint64_t slab = next_.fetch_add(1);
    if (slab >= count_ || slab >= stop_at_.load()) return std::nullopt;
    return slab;
  }

  void fail(std::uint64_t slab, Error error) {
    const std::scoped_lock lock(mutex_);
    if (slab >= stop_at_.load()) return;
    stop_at_ = slab;
    error_ = std::move(error);
  }

  Status status() && {
    if (error_) return std::unexpected(*std::move(error_));
    return {};
  }

 private:
  std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> stop_at_{UINT64_MAX};
  std::mutex mutex_;
  std::optional<Error> error_;
};

// Which slab runs out of memory must not depend on who works on it, so that is an error of the
// slab.
Status run_slab(const std::function<Status(unsigned, std::uint64_t)>& work, unsigned worker,
                std::uint64_t slab) {
  try {
    return work(worker, slab);
  } catch (const std::bad_alloc&) {
    return system_failure(ErrorCode::no_space, ENOMEM, "out of memory");
  }
}

}  // namespace

unsigned worker_count(const Execution& execution, std::uint64_t slabs, std::uint64_t bytes) {
  if (bytes < kSmall || slabs <= 1) return 1;
  const std::uint64_t wanted = execution.jobs != 0 ? execution.jobs : usable_cpus();
  return static_cast<unsigned>(std::clamp<std::uint64_t>(slabs, 1, wanted));
}

std::uint64_t most_slab_bytes(const Execution& execution, unsigned workers) {
  return std::max(kLeastSlab, execution.memory / (2 * std::uint64_t{workers}));
}

Status check_cancelled(const Execution& execution) {
  if (execution.cancel != nullptr && execution.cancel->load())
    return fail(ErrorCode::cancelled, "interrupted");
  return {};
}

Status for_each_slab(const Execution& execution, unsigned workers, std::uint64_t slabs,
                     const std::function<Status(unsigned, std::uint64_t)>& work) {
  SlabQueue queue(slabs);
  const auto run = [&](unsigned worker) {
    while (const auto slab = queue.take()) {
      Status status = check_cancelled(execution);
      if (status) status = run_slab(work, worker, *slab);
      if (!status) return queue.fail(*slab, std::move(status).error());
    }
  };
  Workers others;
  if (workers > 1) others.start(workers - 1, std::ref(run));
  run(0);
  others.join();
  return std::move(queue).status();
}

}  // namespace btf

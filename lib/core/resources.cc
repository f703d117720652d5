#include "core/resources.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace btf {

std::size_t open_files(std::size_t most) {
  constexpr std::size_t kShare = 16;
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::clamp<std::size_t>(limit.rlim_cur / kShare, 1, most);
}

namespace {

// Linux may queue a new thread on the CPU of the thread that made it, where it waits for the next
// tick, usually 4 ms, even if another CPU is idle. Excluding this CPU moves it at once; afterwards
// it may run anywhere again.
void move_to_another_cpu(std::thread& thread) noexcept {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const int here = ::sched_getcpu();
  if (here < 0 || ::sched_getaffinity(0, sizeof(usable), &usable) != 0) return;
  cpu_set_t others = usable;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0) return;
  ::pthread_setaffinity_np(thread.native_handle(), sizeof(others), &others);
  ::pthread_setaffinity_np(thread.native_handle(), sizeof(usable), &usable);
}

}  // namespace

void Workers::start(unsigned count, std::function<void(unsigned)> work) noexcept {
  work_ = std::move(work);
  try {
    threads_.reserve(count);
    for (unsigned worker = 1; worker <= count; ++worker)
      move_to_another_cpu(threads_.emplace_back([this, worker] { run(worker); }));
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
}

void Workers::run(unsigned worker) noexcept {
  try {
    work_(worker);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

void Workers::wait() noexcept {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::join() {
  wait();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

}  // namespace btf

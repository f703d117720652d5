#include "core/workers.h"

#include <new>
#include <system_error>
#include <utility>

namespace btf {

void Workers::start(unsigned count, std::function<void(unsigned)> work) noexcept {
  work_ = std::move(work);
  try {
    threads_.reserve(count);
    for (unsigned worker = 1; worker <= count; ++worker)
      threads_.emplace_back([this, worker] { run(worker); });
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

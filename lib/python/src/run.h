// Work of the library without the GIL, which Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "btf/execution.h"
#include "python/src/raise.h"

namespace btf::python {

// Signals arrive in the main thread only.
bool in_main_thread();

// Below so many bytes a call is over before a thread for it pays.
inline constexpr std::uint64_t kLong = 16U << 20;

// Calls work(execution), which returns a Result or a Status and touches no object of Python. Long
// work runs on a thread of its own while this one looks for signals.
template <typename Work>
auto run(unsigned jobs, std::uint64_t bytes, Work&& work) {
  std::atomic<bool> cancel = false;
  Execution execution;
  execution.jobs = jobs;
  execution.cancel = &cancel;
  std::optional<decltype(work(execution))> answer;
  if (bytes < kLong || !in_main_thread()) {
    const nanobind::gil_scoped_release free;
    answer.emplace(work(execution));
    return *std::move(answer);
  }
  constexpr std::chrono::milliseconds kLook(20);
  std::exception_ptr thrown;
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  bool interrupted = false;
  {
    const nanobind::gil_scoped_release free;
    std::thread worker([&] {
      try {
        answer.emplace(work(execution));
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      finished = true;
      done.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kLook, [&] { return finished; })) {
      if (interrupted) continue;
      lock.unlock();
      {
        const nanobind::gil_scoped_acquire hold;
        interrupted = PyErr_CheckSignals() != 0;
      }
      if (interrupted) cancel = true;
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interrupted) throw nanobind::python_error();
  if (thrown) std::rethrow_exception(thrown);
  return *std::move(answer);
}

}  // namespace btf::python

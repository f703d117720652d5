// How an operation runs: threads, cancellation, progress. None of it changes a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace btf {

struct Execution {
  unsigned jobs = 0;                          // threads; 0: the CPUs that this process may use
  const std::atomic<bool>* cancel = nullptr;  // asked between slabs
  // Bytes of input dealt with since the last call; from any thread, one at a time.
  std::function<void(std::uint64_t)> progress;
};

}  // namespace btf

// How an operation runs: threads, cancellation, progress. None of it changes a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace btf {

struct Execution {
  unsigned jobs = 0;  // threads; 0: the CPUs that this process may use
  // Bytes that the buffers of all threads may take, and again the COO entries that one side sorts;
  // entries beyond it go to a temporary file without a name.
  std::uint64_t memory = 32U << 20;
  const std::atomic<bool>* cancel = nullptr;  // checked between slabs
  // Bytes of input dealt with since the last call; from any thread, one at a time.
  std::function<void(std::uint64_t)> progress{};
};

}  // namespace btf

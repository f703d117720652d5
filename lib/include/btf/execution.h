// How an operation runs: threads, memory, cancellation, progress. Results do not depend on any of
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace btf {

struct Execution {
  // Number of threads. 0: one for each CPU that the process may use.
  unsigned jobs = 0;
  // Bytes for the buffers of all threads, and as much again for sorting the entries of a COO
  // tensor; entries beyond that are sorted in an unnamed temporary file. The default is large
  // enough for full speed.
  std::uint64_t memory = 32U << 20;
  // If set, checked every few MiB; the operation then ends with ErrorCode::cancelled. Must outlive
  // the operation.
  const std::atomic<bool>* cancel = nullptr;
  // Called with the number of input bytes processed since the last call. It may be called from any
  // thread, but never from two at once.
  std::function<void(std::uint64_t)> progress{};
};

}  // namespace btf

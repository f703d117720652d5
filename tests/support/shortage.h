// Memory and threads that run short when a test says so. Replaces operator new and pthread_create
// of the whole test program.
#pragma once

#include <cstddef>

namespace shortage {

// False under sanitizers, which have operators of their own: then nothing here has an effect.
bool can_fail();

// The largest allocation since the last call.
std::size_t largest_request();

// As long as it lives, one allocation fails, of whatever thread: that before which `before` others
// are made.
class FailingAllocation {
 public:
  explicit FailingAllocation(long before);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  static bool happened();
};

// As long as it lives, only so many threads can be started.
class FewThreads {
 public:
  explicit FewThreads(long threads);
  FewThreads(const FewThreads&) = delete;
  FewThreads& operator=(const FewThreads&) = delete;
  ~FewThreads();

  // How many were wanted beyond that.
  static long refused();
};

}  // namespace shortage

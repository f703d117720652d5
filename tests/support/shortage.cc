#include "support/shortage.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BTF_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BTF_SANITIZED 1
#endif

namespace {

std::atomic<std::size_t> largest = 0;
std::atomic<long> allocations_left = -1;  // below 0: none fails
std::atomic<bool> failed = false;
std::atomic<long> threads_left = LONG_MAX;
std::atomic<long> threads_refused = 0;

#ifndef BTF_SANITIZED
// May this allocation succeed?
bool admitted(std::size_t size) {
  std::size_t most = largest.load(std::memory_order_relaxed);
  while (size > most && !largest.compare_exchange_weak(most, size, std::memory_order_relaxed)) {
  }
  if (allocations_left.load(std::memory_order_relaxed) < 0) return true;
  if (allocations_left.fetch_sub(1) != 0) return true;
  failed = true;
  return false;
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
#endif

}  // namespace

#ifndef BTF_SANITIZED
// All other forms of new and delete call these. Where they are inlined, g++ takes free() for a
// mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return checked(admitted(size) ? std::malloc(std::max<std::size_t>(size, 1)) : nullptr);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (!admitted(size) || size > SIZE_MAX - unit) throw std::bad_alloc();
  return checked(
      std::aligned_alloc(unit, (std::max<std::size_t>(size, 1) + unit - 1) / unit * unit));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.load() != LONG_MAX && threads_left.fetch_sub(1) <= 0) {
    ++threads_refused;
    return EAGAIN;
  }
  return create(thread, attributes, start, argument);
}
#endif

namespace shortage {

bool can_fail() {
#ifdef BTF_SANITIZED
  return false;
#else
  return true;
#endif
}

std::size_t largest_request() { return largest.exchange(0); }

FailingAllocation::FailingAllocation(long before) {
  failed = false;
  allocations_left = before;
}
FailingAllocation::~FailingAllocation() { allocations_left = -1; }
bool FailingAllocation::happened() { return failed; }

FewThreads::FewThreads(long threads) {
  threads_refused = 0;
  threads_left = threads;
}
FewThreads::~FewThreads() { threads_left = LONG_MAX; }
long FewThreads::refused() { return threads_refused; }

}  // namespace shortage

// Worker threads: no other code of the library starts any.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace btf {

// Threads that help the calling one. There may be fewer than were asked for, or none: where the
// system has no thread or no memory to give, those that there are must do the work.
class Workers {
 public:
  Workers() = default;
  ~Workers() { wait(); }

  // Calls work(1), ..., work(count), each on a thread of its own. Once, and never throws.
  void start(unsigned count, std::function<void(unsigned)> work) noexcept;

  // Waits until all of them have returned, and throws what the first of them threw.
  void join();

 private:
  void run(unsigned worker) noexcept;
  void wait() noexcept;

  std::function<void(unsigned)> work_;
  std::mutex mutex_;
  std::exception_ptr thrown_;
  std::vector<std::thread> threads_;
};

}  // namespace btf

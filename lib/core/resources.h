// What a process has little of: work memory that is allocated once and used again, open files, and
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace btf {

// Work memory that is allocated once and used again: fresh pages cost many times what a copy does.

class Buffer {
 public:
  // At least `bytes`, aligned for any vector unit. Growing discards the contents.
  std::byte* reserve(std::uint64_t bytes) {
    if (bytes > size_) {
      size_ = 0;  // until there is memory again
      data_.reset();
      data_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
      size_ = bytes;
    }
    return data_.get();
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::uint64_t size_ = 0;
};

// How many files may be open at a time.

// `most`, or fewer where a process may have few; one at least. Several ask for their share.
std::size_t open_files(std::size_t most);

// Worker threads: no other code of the library starts any.

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

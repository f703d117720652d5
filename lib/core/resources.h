// Resources that a process has to use sparingly: work memory, open files, and threads.
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

// Work memory that is allocated once and used again, since fresh pages cost many times more than a
// copy.
class Buffer {
 public:
  // At least `bytes`, aligned for any vector unit. Growing discards the contents.
  std::byte* reserve(std::uint64_t bytes) {
    if (bytes > size_) {
      size_ = 0;  // in case the allocation throws
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

// The number of files that one part of the library may keep open: `most`, or less if the process
// has a low limit, since several parts share it; at least one.
std::size_t open_files(std::size_t most);

// Threads that help the calling one; no other code of the library starts threads. There may be
// fewer than requested, or none, if the system is out of threads or memory: the caller must be able
// to do the work alone.
class Workers {
 public:
  Workers() = default;
  ~Workers() { wait(); }

  // Calls work(1), ..., work(count), each on its own thread. May be called once; never throws.
  void start(unsigned count, std::function<void(unsigned)> work) noexcept;

  // Waits until all have returned, and rethrows the first exception of any of them.
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

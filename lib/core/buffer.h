// Work memory that is allocated once and used again: fresh pages cost many times what a copy does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace btf {

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

}  // namespace btf

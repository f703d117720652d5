// A temporary file without a name, in $TMPDIR (or /tmp): gone when it is closed, however that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/error.h"
#include "formats/system.h"

namespace btf {

class Spool {
 public:
  static Result<Spool> create();

  Status append(std::span<const std::byte> bytes);
  // Anywhere; size() counts up to the end of what was written last in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  std::uint64_t size() const { return size_; }

  // Bytes that may be kept now in all spools together: others need some too.
  static std::uint64_t room();

  // The file itself, for who reads it as a source.
  Descriptor release() && { return std::move(fd_); }

 private:
  explicit Spool(Descriptor fd) : fd_(std::move(fd)) {}
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

}  // namespace btf

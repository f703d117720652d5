// Bytes that are kept for a while. If they are many, in a temporary file without a name, in $TMPDIR
// (or /tmp): gone when it is closed, however that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "btf/error.h"
#include "formats/io/system.h"

namespace btf {

class Spool {
 public:
  // In a file. Threads may write to different offsets inside it, and read what is there.
  static Result<Spool> create();
  // In memory up to kInMemory bytes.
  static Spool in_memory() { return Spool(Descriptor{}); }
  static constexpr std::uint64_t kInMemory = 256U << 10;

  Status append(std::span<const std::byte> bytes);
  // Anywhere; size() counts up to the end of what was written last in the file.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  std::uint64_t size() const { return size_; }

  // Bytes that may be kept now in all spools together: others need some too.
  static std::uint64_t room();

 private:
  explicit Spool(Descriptor fd) : fd_(std::move(fd)) {}
  Status move_to_file();

  Descriptor fd_;
  std::vector<std::byte> start_;  // all of it, as long as there is no file
  std::uint64_t size_ = 0;
};

}  // namespace btf

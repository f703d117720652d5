// Where bytes go. A regular file appears under its name whole, in commit(), or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "btf/error.h"

namespace btf {

struct SinkOptions {
  std::uint64_t size = 0;  // bytes that will be written, known before the first one
  bool sync = false;       // survive a power cut: fsync the file and its directory in commit()
  // So many entries of the directory are looked at for what killed runs have left, which is
  // removed.
  std::uint64_t tidied = 65536;
};

// Errors name the file.
class ByteSink {
 public:
  virtual ~ByteSink() = default;  // without commit(): the path keeps what it held

  // False: offsets must follow on one another (a pipe, a device, stdout).
  virtual bool random_access() const = 0;

  // Several threads may write to different offsets when random_access().
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;

  // Announces that the next bytes, about this many up to the next call, will be read together and
  // often without those around them. Only a sink that compresses uses it.
  virtual Status begin_piece(std::uint64_t) { return {}; }

  // Nothing may be written afterwards.
  virtual Status commit() = 0;
};

// "-" is stdout. Anything but a regular file (a pipe, /dev/null) is written in place; a terminal is
// refused. A symbolic link is followed: its target is replaced and the link stays. Refuses a size
// that the file system has no room for, before a byte is written.
Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options);

// Passes everything on to `sink`, but small writes that follow on one another as one. commit()
// passes on what is left; the sink itself is not committed by it. Pieces are not passed on: what
// compresses gathers by itself.
std::unique_ptr<ByteSink> gather_small_writes(ByteSink& sink);

}  // namespace btf

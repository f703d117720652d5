// Where bytes come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "btf/error.h"

namespace btf {

// A frame of a compressed file: its bytes of the content, and what is wrong with it.
struct FrameCheck {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Status status;
};

// The state of a file, by which changes are detected.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  // when it was written last, in nanoseconds

  bool operator==(const FileStamp&) const = default;
};

// Error: bytes do not fit those read before.
inline std::unexpected<Error> file_changed() {
  return fail(ErrorCode::io, "the file was changed while it was read");
}

// Bytes that can be read at any offset, by several threads at once. Errors name the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  // All of `out` or an error: reading past the end is one.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  // First bytes that are in memory: reading them costs nothing. They stay where they are.
  virtual std::span<const std::byte> held() const { return {}; }

  // Are these the contents of a compressed file?
  virtual bool compressed() const { return false; }

  // Did it come through a pipe whose end was not waited for? More follows than can be wanted, and
  // size() is what was read of it.
  virtual bool more_follows() const { return false; }

  // Up to where it costs little more to read on from `offset`: the end of the frame that holds it.
  virtual std::uint64_t read_ahead_end(std::uint64_t) const { return size(); }

  // Frames of a compressed file, which can be checked each on its own; 0: there are none.
  virtual std::uint64_t frame_count() const { return 0; }
  // Reads one whole. An error: the frame cannot be found.
  virtual Result<FrameCheck> check_frame(std::uint64_t index) const;

  // An error if the file was changed since it was opened. Ask after the last read.
  virtual Status check_unchanged() const = 0;

  // The state of a regular file when it was opened. Nothing: no regular file, or not known.
  virtual std::optional<FileStamp> stamp() const { return std::nullopt; }
};

}  // namespace btf

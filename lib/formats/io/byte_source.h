// Where bytes come from. With byte_sink.h the only place that talks to the system about files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "btf/error.h"

namespace btf {

// A frame of a compressed file: its bytes of the content, and what is wrong with it.
struct FrameCheck {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Status status;
};

// Bytes that can be read at any offset, by several threads at once. Errors name the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  // All of `out` or an error: reading past the end is one.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  // Are these the contents of a compressed file?
  virtual bool compressed() const { return false; }

  // Up to where it costs little more to read on from `offset`: the end of the frame that holds it.
  virtual std::uint64_t read_ahead_end(std::uint64_t) const { return size(); }

  // Frames of a compressed file, which can be checked each on its own; 0: there are none.
  virtual std::uint64_t frame_count() const { return 0; }
  // Reads one whole. An error: it cannot be told where the frame is.
  virtual Result<FrameCheck> check_frame(std::uint64_t index) const;

  // An error if the file was changed since it was opened. Ask after the last read.
  virtual Status check_unchanged() const = 0;
};

// By pread, never by mmap: a file that is cut while it is read is an error and not a signal.
// "-" is stdin. What cannot seek is first copied, into memory if it is short, else to an unlinked
// file in $TMPDIR (or /tmp). zstd, known by its magic number, is decompressed: frame by frame as
// they are needed if the file has a seek table, else it is copied in the same way.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

// Likewise. `told`: so many bytes are there if what was said of the file is right, or kNobodyKnows;
// nothing: its first bytes say what can be wanted of it. Of a pipe and of zstd no more is read (see
// content_bound.h).
Result<std::unique_ptr<ByteSource>> open_told_source(const std::string& path,
                                                     std::optional<std::uint64_t> told);

// The same of bytes that are there already; `name` is for errors.
Result<std::unique_ptr<ByteSource>> unpacked_source(const std::string& name,
                                                    std::unique_ptr<ByteSource> bytes,
                                                    std::optional<std::uint64_t> told);

// A pipe whose end was not waited for: more follows than can be wanted, and size() is what was read
// of it.
bool goes_on(const ByteSource& source);

}  // namespace btf

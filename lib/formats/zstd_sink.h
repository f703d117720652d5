// A seekable zstd file written: frames compressed by several threads and handed out in order.
#pragma once

#include <zstd.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/resources.h"
#include "formats/io/output.h"

namespace btf::zstd {

// Frames of a seekable file, compressed by several threads and handed out in order.

// One frame: its content goes in, the frame comes out.
struct FrameJob {
  std::vector<std::byte> content;
  std::vector<std::byte> frame;
  std::size_t result = 0;  // bytes of the frame, or an error code of libzstd
  bool done = false;
};

struct Compression {
  int level = 0;
  bool shuffled = false;  // most of the content is elements with their bytes shuffled
};

// A ring of jobs. The owner fills the next, submits it and takes the oldest back when it is done;
// meanwhile the other threads compress, and it helps them when it would have to wait. It gets along
// without them.
class FrameEncoder {
 public:
  FrameEncoder(Compression compression, unsigned threads);
  ~FrameEncoder();

  // To be filled and submitted. There must be room: pending() < capacity().
  FrameJob& next() { return jobs_[submitted_ % jobs_.size()]; }
  void submit();

  // The oldest job once it is done; release() gives its room back.
  FrameJob& wait_oldest();
  bool oldest_done();
  void release() { ++released_; }

  std::uint64_t pending() const { return submitted_ - released_; }
  std::uint64_t capacity() const { return jobs_.size(); }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  using Context = std::unique_ptr<ZSTD_CCtx, Free>;

  Context make_context() const;
  static void compress(ZSTD_CCtx* context, FrameJob& job) noexcept;
  void work();

  Compression compression_;
  unsigned threads_;
  std::vector<FrameJob> jobs_;
  Context own_;
  std::uint64_t submitted_ = 0;  // changed under the lock; the owner alone changes it
  std::uint64_t taken_ = 0;      // under the lock
  std::uint64_t released_ = 0;   // the owner's
  bool stop_ = false;
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  Workers workers_;  // last: they use everything above
};

// Compresses what is written to it into the seekable zstd format.

// A piece has frames of its own, of so much content each, and less only in the last.
inline constexpr std::size_t kFrameContent = 1U << 20;

// But pieces up to this that follow on one another share frames,
inline constexpr std::uint64_t kSmallPiece = 256;

// as many as fit whole.
inline constexpr std::size_t kSharedFrame = 16U << 10;

class CompressingSink : public ByteSink {
 public:
  // The size of the compressed file. Ask after commit().
  virtual std::uint64_t file_bytes() const = 0;
};

// To be written front to back. `threads` compress, the calling one being one of them; the bytes do
// not depend on their number. commit() writes the seek table; `file` itself is not committed by it.
std::unique_ptr<CompressingSink> compressing_sink(ByteSink& file, Compression compression,
                                                  unsigned threads);

}  // namespace btf::zstd

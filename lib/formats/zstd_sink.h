// Writing seekable zstd files: frames compressed on several threads.
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

// The content and compressed bytes of one frame.
struct FrameJob {
  std::vector<std::byte> content;
  std::vector<std::byte> frame;
  std::size_t result = 0;  // size of the frame, or an error code of libzstd
  bool done = false;
};

struct Compression {
  int level = 0;
  bool shuffled = false;  // most of the content is shuffled elements
};

// A ring of jobs. The owner fills the next job, submits it, and takes the oldest one back when it
// is done. Other threads compress meanwhile, and the owner helps when it would have to wait. Works
// single-threaded too.
class FrameEncoder {
 public:
  FrameEncoder(Compression compression, unsigned threads);
  ~FrameEncoder();

  // The next job to fill and submit. Requires pending() < capacity().
  FrameJob& next() { return jobs_[submitted_ % jobs_.size()]; }
  void submit();

  // Waits for the oldest job; release() makes it available again.
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
  std::uint64_t submitted_ = 0;  // written by the owner only, under the lock
  std::uint64_t taken_ = 0;      // under the lock
  std::uint64_t released_ = 0;   // used by the owner only
  bool stop_ = false;
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  Workers workers_;  // last member, since its threads use the others
};

// Compresses what is written to it into the seekable zstd format.

// A piece has its own frames, with this much content each except for the last.
inline constexpr std::size_t kFrameContent = 1U << 20;

// Consecutive pieces of up to this size share frames,
inline constexpr std::uint64_t kSmallPiece = 256;

// with as many whole pieces as fit this size.
inline constexpr std::size_t kSharedFrame = 16U << 10;

class CompressingSink : public ByteSink {
 public:
  // The size of the compressed file, valid after commit().
  virtual std::uint64_t file_bytes() const = 0;
};

// Must be written front to back. `threads` includes the calling one; the output does not depend on
// it. commit() writes the seek table but does not commit `file`.
std::unique_ptr<CompressingSink> compressing_sink(ByteSink& file, Compression compression,
                                                  unsigned threads);

}  // namespace btf::zstd

#define ZSTD_STATIC_LINKING_ONLY  // for the name of the literal mode; every libzstd has it
#include "formats/zstd/frame_encoder.h"

#include <zstd_errors.h>

#include <iterator>
#include <new>

namespace btf::zstd {
namespace {

// So many frames may wait per thread: enough that none runs dry while the owner writes.
constexpr unsigned kJobsPerThread = 4;
// Threads are started when there is work for them.
constexpr std::uint64_t kFramesAlone = 3;

// In shuffled elements a byte says little of its successors, so their own frequencies are worth
// more than matches. The fast levels therefore give up the search sooner: positions skipped
// after each one without a match, by level.
constexpr int kSkipped[] = {0, 8, 4};

}  // namespace

FrameEncoder::FrameEncoder(Compression compression, unsigned threads)
    : compression_(compression),
      threads_(threads),
      jobs_(threads > 1 ? kJobsPerThread * threads : 1),
      own_(make_context()) {
  if (own_ == nullptr) throw std::bad_alloc();
}

FrameEncoder::~FrameEncoder() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

// Nothing if there is no memory.
FrameEncoder::Context FrameEncoder::make_context() const {
  Context context(ZSTD_createCCtx());
  if (context == nullptr) return context;
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 1);
  if (compression_.shuffled && compression_.level < static_cast<int>(std::size(kSkipped))) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_targetLength, kSkipped[compression_.level]);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
  }
  return context;
}

void FrameEncoder::compress(ZSTD_CCtx* context, FrameJob& job) noexcept {
  try {
    job.frame.resize(ZSTD_compressBound(job.content.size()));
  } catch (const std::bad_alloc&) {
    job.result = static_cast<std::size_t>(-ZSTD_error_memory_allocation);
    return;
  }
  job.result = ZSTD_compress2(context, job.frame.data(), job.frame.size(), job.content.data(),
                              job.content.size());
}

void FrameEncoder::work() {
  const Context context = make_context();
  if (context == nullptr) return;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || taken_ < submitted_; });
    if (stop_) return;
    FrameJob& job = jobs_[taken_++ % jobs_.size()];
    lock.unlock();
    compress(context.get(), job);
    lock.lock();
    job.done = true;
    changed_.notify_all();
  }
}

void FrameEncoder::submit() {
  {
    const std::scoped_lock lock(mutex_);
    jobs_[submitted_ % jobs_.size()].done = false;
    ++submitted_;
  }
  changed_.notify_all();
  if (!started_ && threads_ > 1 && pending() > kFramesAlone) {
    started_ = true;
    workers_.start(threads_ - 1, [this](unsigned) { work(); });
  }
}

bool FrameEncoder::oldest_done() {
  const std::scoped_lock lock(mutex_);
  return pending() > 0 && jobs_[released_ % jobs_.size()].done;
}

FrameJob& FrameEncoder::wait_oldest() {
  FrameJob& oldest = jobs_[released_ % jobs_.size()];
  std::unique_lock lock(mutex_);
  while (!oldest.done) {
    if (taken_ == submitted_) {
      changed_.wait(lock);
      continue;
    }
    FrameJob& job = jobs_[taken_++ % jobs_.size()];
    lock.unlock();
    compress(own_.get(), job);
    lock.lock();
    job.done = true;
  }
  return oldest;
}

}  // namespace btf::zstd

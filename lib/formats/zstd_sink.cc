#include "formats/zstd_sink.h"

#include <zstd_errors.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <vector>

#include "btf/try.h"
#include "core/errors.h"
#include "formats/zstd.h"

namespace btf::zstd {
namespace {

// Frames that may wait per thread, so that no thread runs dry while the owner writes.
constexpr unsigned kJobsPerThread = 4;

// Threads are only started when there is work for them.
constexpr std::uint64_t kFramesAlone = 3;

// In shuffled elements a byte predicts little of its successors, so entropy coding helps more than
// matches. Fast levels therefore give up searching sooner: the number of positions skipped after
// each one without a match, by level.
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

// Null if there is no memory.
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

namespace {

// Readers of the seekable format refuse more.
constexpr std::uint64_t kMaxFrames = 1U << 27;

class Sink final : public CompressingSink {
 public:
  Sink(ByteSink& file, Compression compression, unsigned threads)
      : file_(file), encoder_(compression, threads) {}

  bool random_access() const override { return false; }
  std::uint64_t file_bytes() const override { return file_bytes_; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != content_bytes_)
      return fail(ErrorCode::unsupported, "a compressed output is written front to back and byte ",
                  offset, " is not the next one");
    while (!bytes.empty()) {
      std::vector<std::byte>& content = encoder_.next().content;
      const auto some = bytes.first(std::min(bytes.size(), kFrameContent - content.size()));
      content.insert(content.end(), some.begin(), some.end());
      content_bytes_ += some.size();
      bytes = bytes.subspan(some.size());
      if (content.size() == kFrameContent) BTF_TRY(end_frame());
    }
    return {};
  }

  Status begin_piece(std::uint64_t bytes) override {
    const bool small = bytes <= kSmallPiece;
    const bool joins = small && shared_ && encoder_.next().content.size() + bytes <= kSharedFrame;
    if (!joins) BTF_TRY(end_frame());
    shared_ = small;
    return {};
  }

  Status commit() override {
    BTF_TRY(end_frame());
    while (encoder_.pending() > 0) BTF_TRY(write_oldest());
    return write_table();
  }

 private:
  Status end_frame() {
    if (encoder_.next().content.empty()) return {};
    encoder_.submit();
    while (encoder_.pending() == encoder_.capacity() || encoder_.oldest_done())
      BTF_TRY(write_oldest());
    return {};
  }

  Status write_oldest() {
    FrameJob& job = encoder_.wait_oldest();
    if (ZSTD_getErrorCode(job.result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(job.result) != 0)
      return fail(ErrorCode::io, std::string("cannot compress: ") + ZSTD_getErrorName(job.result));
    const std::span<const std::byte> frame(job.frame.data(), job.result);
    BTF_TRY(put(frame));
    if (entries_.size() == kMaxFrames * entry_bytes(true))
      return fail(ErrorCode::unsupported, "the compressed file would have more than ", kMaxFrames,
                  " frames, more than readers take");
    std::byte entry[entry_bytes(true)];
    store_u32(entry, static_cast<std::uint32_t>(frame.size()));
    store_u32(entry + 4, static_cast<std::uint32_t>(job.content.size()));
    // A frame ends with its checksum, which is also that of the table.
    std::copy_n(frame.end() - 4, 4, entry + 8);
    entries_.insert(entries_.end(), std::begin(entry), std::end(entry));
    job.content.clear();
    encoder_.release();
    return {};
  }

  Status write_table() {
    const std::uint64_t frames = entries_.size() / entry_bytes(true);
    std::byte header[kSkippableHeader];
    store_u32(header, kSeekTableMagic);
    store_u32(header + 4, static_cast<std::uint32_t>(entries_.size() + kFooter));
    std::byte footer[kFooter];
    store_u32(footer, static_cast<std::uint32_t>(frames));
    footer[4] = std::byte{kChecksumFlag};
    store_u32(footer + 5, kSeekableMagic);
    BTF_TRY(put(header));
    BTF_TRY(put(entries_));
    return put(footer);
  }

  Status put(std::span<const std::byte> bytes) {
    BTF_TRY(file_.write_at(file_bytes_, bytes));
    file_bytes_ += bytes.size();
    return {};
  }

  ByteSink& file_;
  FrameEncoder encoder_;
  std::vector<std::byte> entries_;
  bool shared_ = false;  // the current frame has small pieces
  std::uint64_t content_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CompressingSink> compressing_sink(ByteSink& file, Compression compression,
                                                  unsigned threads) {
  return std::make_unique<Sink>(file, compression, threads);
}

}  // namespace btf::zstd

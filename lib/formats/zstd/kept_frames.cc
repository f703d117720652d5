#include "formats/zstd/kept_frames.h"

namespace btf::zstd {

bool KeptFrames::has(const FramePlace& place) const {
  const std::scoped_lock lock(mutex_);
  return !kept_.empty() && kept_[place.index];
}

Status KeptFrames::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  return spool_->read_at(offset, out);
}

void KeptFrames::offer(const FramePlace& place, std::span<const std::byte> content) {
  const std::scoped_lock lock(mutex_);
  if (given_up_) return;
  if (seen_.empty()) seen_.resize(frames_);
  if (!seen_[place.index]) {
    seen_[place.index] = true;
    return;
  }
  if (!spool_) {
    auto spool = Spool::create();
    if (spool) spool_.emplace(*std::move(spool));
    given_up_ = !spool_;
    kept_.resize(frames_);
  }
  if (given_up_ || kept_[place.index]) return;
  given_up_ = !spool_->write_at(place.content_offset, content);
  kept_[place.index] = !given_up_;
}

}  // namespace btf::zstd

#include "formats/zstd/kept_frames.h"

#include <exception>

namespace btf::zstd {

bool KeptFrames::has(const FramePlace& place) const {
  const std::scoped_lock lock(mutex_);
  return !kept_.empty() && kept_[place.index];
}

Status KeptFrames::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  return spool_->read_at(offset, out);
}

void KeptFrames::offer(const FramePlace& place, std::span<const std::byte> content) noexcept {
  const std::scoped_lock lock(mutex_);
  if (given_up_) return;
  try {
    given_up_ = !keep(place, content);
  } catch (const std::exception&) {
    given_up_ = true;
  }
}

// False: there is no room.
bool KeptFrames::keep(const FramePlace& place, std::span<const std::byte> content) {
  if (seen_.empty()) seen_.resize(frames_);
  if (!seen_[place.index]) {
    seen_[place.index] = true;
    return true;
  }
  if (kept_.empty()) {
    std::vector<bool> kept(frames_);
    auto spool = Spool::create();
    if (!spool) return false;
    spool_.emplace(*std::move(spool));
    kept_ = std::move(kept);
  }
  if (kept_[place.index]) return true;
  if (!spool_->write_at(place.content_offset, content)) return false;
  kept_[place.index] = true;
  return true;
}

}  // namespace btf::zstd

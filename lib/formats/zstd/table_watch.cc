#include "formats/zstd/table_watch.h"

#include <algorithm>
#include <string>

#include "formats/zstd/zstd_errors.h"
#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

std::uint64_t sizes_of(std::uint64_t compressed, std::uint64_t content) {
  return compressed << 32 ^ content;
}

}  // namespace

void TableWatch::feed(std::span<const std::byte> bytes) {
  while (at_ < kSkippableHeader && !bytes.empty()) {
    header_[at_++] = bytes.front();
    bytes = bytes.subspan(1);
    if (at_ < kSkippableHeader) continue;
    table_ = load_u32(header_.data()) == kSeekTableMagic;
    size_ = load_u32(header_.data() + 4);
    width_ = 0;
    if (size_ == frames_ * entry_bytes(true) + kFooter) width_ = entry_bytes(true);
    if (size_ == frames_ * entry_bytes(false) + kFooter) width_ = entry_bytes(false);
    told_ = {};
  }
  if (table_) take_table(bytes);
  at_ += bytes.size();
}

// `bytes` stand at byte `at_` of the frame.
void TableWatch::take_table(std::span<const std::byte> bytes) {
  std::uint64_t at = at_ - kSkippableHeader;
  const std::uint64_t footer = size_ - std::min<std::uint64_t>(size_, kFooter);
  for (; !bytes.empty() && at < footer && width_ > 0; ++at) {
    entry_[at % width_] = bytes.front();
    bytes = bytes.subspan(1);
    if ((at + 1) % width_ == 0)
      told_.add(sizes_of(load_u32(entry_.data()), load_u32(entry_.data() + 4)));
  }
  if (at < footer) {
    const auto some = std::min<std::uint64_t>(footer - at, bytes.size());
    bytes = bytes.subspan(some);
    at += some;
  }
  for (; !bytes.empty() && at - footer < footer_.size(); ++at) {
    footer_[at - footer] = bytes.front();
    bytes = bytes.subspan(1);
  }
}

void TableWatch::end_frame(std::uint64_t content) {
  if (!found()) {
    sizes_.add(sizes_of(at_, content));
    ++frames_;
    entries_at_ += at_;
  }
  at_ = 0;
}

bool TableWatch::found() const {
  return table_ && size_ >= kFooter && load_u32(footer_.data() + 5) == kSeekableMagic;
}

Status TableWatch::check() const {
  const std::uint64_t entries = entries_at_ + kSkippableHeader;
  const std::uint64_t footer = entries_at_ + kSkippableHeader + size_ - kFooter;
  if ((std::to_integer<std::uint8_t>(footer_[4]) & kReservedBits) != 0)
    return wrong_table(footer + 4, "the reserved bits of its descriptor are not 0");
  if (const std::uint32_t told = load_u32(footer_.data()); told != frames_)
    return wrong_table(footer, "it has " + std::to_string(told) + " frames, " +
                                   std::to_string(frames_) + " stand before it");
  if (width_ == 0)
    return wrong_table(entries_at_ + 4, "its frame says " + std::to_string(size_) +
                                            " bytes, which fits no " + std::to_string(frames_) +
                                            " frames");
  if (told_ != sizes_)
    return wrong_table(entries, "the frames before it have other sizes than it says");
  return {};
}

}  // namespace btf::zstd

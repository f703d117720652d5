#include "formats/zstd/frame_walk.h"

#include <algorithm>

#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

// The size of the dictionary field, by a frame header's descriptor.
constexpr std::array<std::size_t, 4> kDictionaryBytes{0, 1, 2, 4};

// Blocks, by the type in their headers.
enum : std::uint64_t { kRaw, kRepeated, kCompressed, kReserved };

}  // namespace

void FrameWalk::feed(std::span<const std::byte> bytes) {
  while (!bytes.empty() && part_ != Part::end) {
    if (part_ == Part::block || part_ == Part::checksum) {
      const auto some = std::min<std::uint64_t>(left_, bytes.size());
      bytes = bytes.subspan(some);
      left_ -= some;
      if (left_ == 0) end_block();
      continue;
    }
    take(bytes.front());
    bytes = bytes.subspan(1);
  }
}

// A byte of a header.
void FrameWalk::take(std::byte byte) {
  bytes_[count_++] = byte;
  if (--left_ > 0) return;
  const std::span<const std::byte> all(bytes_.data(), count_);
  count_ = 0;
  if (part_ == Part::magic) {
    part_ = load_u32(all.data()) == kFrameMagic ? Part::descriptor : Part::end;
    left_ = 1;
  } else if (part_ == Part::descriptor) {
    const auto descriptor = std::to_integer<unsigned>(all[0]);
    const bool single = (descriptor & kSingleSegmentBit) != 0;
    checksum_ = (descriptor & kChecksumBit) != 0;
    window_ = single ? 0 : 1;
    dictionary_ = kDictionaryBytes[descriptor & 3];
    const std::size_t size =
        descriptor >> 6 == 0 ? (single ? 1 : 0) : std::size_t{1} << (descriptor >> 6);
    part_ = Part::header;
    left_ = window_ + dictionary_ + size;
    if (left_ == 0) begin_block();
  } else if (part_ == Part::header) {
    const auto size = all.subspan(window_ + dictionary_);
    // Two bytes begin where one ends.
    if (!size.empty()) says_ = little_endian(size) + (size.size() == 2 ? 256 : 0);
    begin_block();
  } else {
    const std::uint64_t header = little_endian(all);
    const std::uint64_t type = header >> 1 & 3;
    const std::uint64_t size = header >> 3;
    last_ = (header & 1) != 0;
    reserved_block_ = type == kReserved;
    if (reserved_block_) {
      part_ = Part::end;
      return;
    }
    holds_ = type == kCompressed || !holds_ ? std::nullopt : std::optional(*holds_ + size);
    part_ = Part::block;
    left_ = type == kRepeated ? 1 : size;
    if (left_ == 0) end_block();
  }
}

void FrameWalk::begin_block() {
  part_ = Part::block_header;
  left_ = 3;
}

// Or the checksum.
void FrameWalk::end_block() {
  if (part_ == Part::block && !last_) return begin_block();
  part_ = part_ == Part::block && checksum_ ? Part::checksum : Part::end;
  left_ = 4;
}

std::string FrameWalk::fault() const {
  if (reserved_block_) return "a block in it is of a reserved type";
  if (!says_ || (part_ != Part::end && part_ != Part::checksum)) return {};
  const std::string header = "its header says " + std::to_string(*says_) + " bytes of content, ";
  if (!holds_) return {};
  if (*holds_ < *says_) return header + "its blocks end after " + std::to_string(*holds_);
  if (*holds_ > *says_) return header + "its blocks go on to " + std::to_string(*holds_);
  return {};
}

std::string_view FrameWalk::inside() const {
  switch (part_) {
    case Part::magic:
      return "its first four bytes";
    case Part::descriptor:
    case Part::header:
      return "its header";
    case Part::checksum:
      return "its checksum";
    default:
      return "a block";
  }
}

}  // namespace btf::zstd

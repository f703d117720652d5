// A part of a source that is held: small things that stand side by side cost one read for many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/byte_source.h"

namespace btf {

class Window {
 public:
  // Nothing at or behind `end` is read, which lies inside the source.
  Window(const ByteSource& source, std::uint64_t end) : source_(source), end_(end) {}

  // [offset, offset + length) must lie before the end, and length within kBytes.
  Result<const std::byte*> at(std::uint64_t offset, std::uint64_t length) {
    const std::span<const std::byte> held = source_.held();
    if (fits(offset, length, held.size())) return held.data() + offset;
    if (!holds(offset, length)) BTF_TRY(move_to(offset, length));
    return bytes_.data() + (offset - begin_);
  }
  bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset >= begin_ && offset - begin_ <= held_ && held_ - (offset - begin_) >= length;
  }

  std::uint64_t end() const { return end_; }

  static constexpr std::uint64_t kBytes = 4096;

 private:
  // Bytes after those asked for are read ahead; failing to read them is no error.
  Status move_to(std::uint64_t offset, std::uint64_t length) {
    held_ = 0;  // until the read has succeeded
    begin_ = offset;
    bytes_.resize(kBytes);
    const std::uint64_t last = offset + std::max<std::uint64_t>(length, 1) - 1;
    const std::uint64_t ahead =
        std::min({kBytes, end_ - offset, source_.read_ahead_end(last) - offset});
    if (ahead > length && source_.read_at(offset, std::span(bytes_).first(ahead))) {
      held_ = ahead;
      return {};
    }
    BTF_TRY(source_.read_at(offset, std::span(bytes_).first(length)));
    held_ = length;
    return {};
  }

  const ByteSource& source_;
  std::uint64_t end_;
  std::uint64_t begin_ = 0;
  std::uint64_t held_ = 0;  // bytes from there on
  std::vector<std::byte> bytes_;
};

}  // namespace btf

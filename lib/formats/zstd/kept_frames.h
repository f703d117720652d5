// Frames that are wanted again and again, as when a matrix is transposed: from the third time on
// their content is read from a file without a name and no longer decompressed.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "btf/error.h"
#include "formats/io/spool.h"
#include "formats/zstd/seek_table.h"

namespace btf::zstd {

// For several threads at once. Where there is no room for the file, or no memory, nothing more is
// kept.
class KeptFrames {
 public:
  explicit KeptFrames(std::uint64_t frames) : frames_(frames) {}

  bool has(const FramePlace& place) const;
  // [offset, offset + out.size()) of the content; of a frame that is kept.
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // The frame was decompressed: the first time that is noted, the next time it is kept.
  void offer(const FramePlace& place, std::span<const std::byte> content) noexcept;

 private:
  bool keep(const FramePlace& place, std::span<const std::byte> content);

  std::uint64_t frames_;
  mutable std::mutex mutex_;
  std::optional<Spool> spool_;  // frames where they are in the content
  bool given_up_ = false;
  std::vector<bool> seen_;
  std::vector<bool> kept_;  // empty, or of all frames and the file is there
};

}  // namespace btf::zstd

// Reading seekable zstd files at any offset: the seek table, and decoding and caching of frames.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "core/resources.h"
#include "formats/io/byte_source.h"

namespace btf::zstd {

// The seek table at the end of a seekable zstd file: the sizes of its frames, which determine their
// offsets.

struct FramePlace {
  std::uint64_t index = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t content_offset = 0;
  std::uint32_t compressed = 0;  // bytes
  std::uint32_t content = 0;
  std::optional<std::uint32_t> checksum;  // low half of XXH64 of the content

  std::uint64_t content_end() const { return content_offset + content; }
};

// The table stays in the file; memory holds one entry of every kInterval, and all entries around
// the last lookup. Thread-safe, like the source, which must outlive it.
class SeekTable {
 public:
  // Reads the whole table once and checks all sizes against the file.
  static Result<SeekTable> read(const ByteSource& file);
  SeekTable(SeekTable&&) noexcept;
  ~SeekTable();

  std::uint64_t frames() const { return frames_; }
  std::uint64_t content_bytes() const { return content_bytes_; }
  std::uint32_t largest_content() const { return largest_content_; }

  // The frame that contains a byte of the content, which must be less than content_bytes().
  Result<FramePlace> find(std::uint64_t content_offset) const;

  // Any frame, also one without content. `index` must be less than frames().
  Result<FramePlace> frame(std::uint64_t index) const;

 private:
  using Block = std::vector<FramePlace>;
  struct LastBlock;

  explicit SeekTable(const ByteSource& file);
  Status read_footer();
  Status check_entries();
  // The frames from a checkpoint to the next.
  Result<std::shared_ptr<const Block>> block(std::uint64_t number) const;
  // Calls visit(place) from a checkpoint on until it returns false.
  template <typename Visit>
  Status for_entries(FramePlace place, std::uint64_t count, Visit&& visit) const;

  const ByteSource* file_;
  std::uint64_t frames_ = 0;
  bool checksums_ = false;
  std::uint64_t entries_offset_ = 0;
  std::uint64_t content_bytes_ = 0;
  std::uint32_t largest_content_ = 0;
  std::vector<FramePlace> checkpoints_;  // every kInterval-th frame
  std::unique_ptr<LastBlock> last_;
};

// Returns true if the file ends like one with a seek table.
Result<bool> has_seek_table(const ByteSource& file);

// Decompresses and checks single frames of a seekable file.

// Not for several threads at once.
class FrameDecoder {
 public:
  FrameDecoder();

  // `out` must have place.content bytes. Refuses a frame whose header, content or checksum differs
  // from the table.
  Status read(const ByteSource& file, const FramePlace& place, std::span<std::byte> out);

  // Checks a frame, which may have no content, without returning its content.
  Status check(const ByteSource& file, const FramePlace& place);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  Buffer compressed_;
  Buffer content_;  // for check()
};

// The content of a seekable zstd file: a read only decompresses the frames that it needs.

// Larger frames are not kept in memory: such a file is read front to back.
inline constexpr std::uint32_t kLargestFrame = 8U << 20;

// `table` must be that of `file` and have no frame above kLargestFrame. `name` is for errors.
std::unique_ptr<ByteSource> seekable_source(std::string name, std::unique_ptr<ByteSource> file,
                                            SeekTable table);

}  // namespace btf::zstd

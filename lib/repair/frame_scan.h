// Scans a damaged seekable file for valid frames and where their content belongs.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "core/resources.h"
#include "formats/io/byte_source.h"
#include "formats/zstd.h"
#include "formats/zstd_source.h"

namespace btf::zstd {

// A piece of the content: one frame, or lost bytes.
struct Piece {
  std::uint64_t file_offset = 0;
  std::uint64_t content_offset = 0;
  std::uint64_t content = 0;     // bytes
  std::uint32_t compressed = 0;  // 0 if it is lost
  std::uint32_t damage = 0;      // if it is lost: the reason, an index into FrameScan::damage()

  bool lost() const { return compressed == 0; }
  std::uint64_t end() const { return content_offset + content; }
};

// Consecutive frames. The offset of the first run's content is known; other runs follow lost frames
// of unknown size.
struct Run {
  std::vector<Piece> pieces;  // content_offset is relative to the first one
  std::uint64_t content = 0;  // size of the content
  std::uint32_t damage = 0;   // what precedes it: an index into FrameScan::damage()
  bool reaches_end = false;   // followed by the seek table, so nothing was cut off
};

// Reports progress in bytes; an error if the work was cancelled.
Status report_progress(const Execution* execution, std::uint64_t bytes);

class FrameScan {
 public:
  explicit FrameScan(const ByteSource& file, const Execution* execution = nullptr)
      : file_(file), execution_(execution) {}

  Status run();

  // True if frames are too large to be checked; nothing else is known then.
  bool too_large() const { return too_large_; }
  // True if the only fault is that the file ends within its last frame.
  bool only_cut() const { return cut_ && lost_ == 1; }
  std::vector<Run>& runs() { return runs_; }
  std::vector<Error>& damage() { return damage_; }
  std::uint64_t frames() const { return frames_; }
  std::uint64_t lost() const { return lost_; }

 private:
  enum class Worth : std::uint8_t { sound, known_size, lost };
  struct Frame {
    Worth worth = Worth::lost;
    std::uint64_t content = 0;
    std::optional<Error> error;
  };

  Result<bool> by_table(const SeekTable& table);
  Status walk();
  Result<std::optional<std::uint64_t>> next_start(std::uint64_t from);
  Result<bool> starts_here(std::uint64_t offset);
  Result<Frame> judge(std::uint64_t offset, const FrameShape& shape);
  void take(std::uint64_t offset, std::uint64_t compressed, std::uint64_t content);
  void lose(std::uint64_t frames, std::uint64_t content, Error error);
  void begin_run();
  std::uint32_t note(Error error);
  void clear();

  const ByteSource& file_;
  const Execution* execution_;
  std::vector<Run> runs_;
  std::vector<Error> damage_;
  std::uint64_t frames_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t work_ = 0;  // cost of false starts
  bool too_large_ = false;
  bool cut_ = false;
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  Buffer compressed_;
  Buffer content_;
};

}  // namespace btf::zstd

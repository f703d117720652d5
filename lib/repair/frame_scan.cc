#include "repair/frame_scan.h"

#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "btf/try.h"
#include "core/errors.h"
#include "formats/zstd.h"
#include "formats/zstd_source.h"

namespace btf::zstd {
namespace {

using Fault = FrameShape::Fault;

// The most frames whose offsets, and lost frames whose messages, are kept in memory.
constexpr std::uint64_t kMaxPieces = 1U << 23;
constexpr std::size_t kMaxDamage = 1000;
// More blocks than any frame of kLargestFrame; longer sequences are not frames.
constexpr std::uint64_t kMaxBlocks = 4096;
// More than libzstd makes of kLargestFrame.
constexpr std::uint64_t kMaxCompressed = kLargestFrame + kLargestFrame / 128 + (1U << 16);

bool about_frame(const Error& error) { return error.finding == "zstd-frame"; }

// The offset of the seek table according to its footer.
Result<std::optional<std::uint64_t>> table_by_footer(const ByteSource& file) {
  BTF_ASSIGN(const bool there, has_seek_table(file));
  if (!there) return std::nullopt;
  std::array<std::byte, kFooter> footer;
  BTF_TRY(file.read_at(file.size() - kFooter, footer));
  const bool checksums = (std::to_integer<std::uint8_t>(footer[4]) & kChecksumFlag) != 0;
  const std::uint64_t bytes =
      kSkippableHeader + load_u32(footer.data()) * entry_bytes(checksums) + kFooter;
  if (bytes > file.size()) return std::nullopt;
  return file.size() - bytes;
}

}  // namespace

Status report_progress(const Execution* execution, std::uint64_t bytes) {
  if (execution == nullptr) return {};
  if (execution->progress) execution->progress(bytes);
  if (execution->cancel == nullptr || !*execution->cancel) return {};
  return fail(ErrorCode::cancelled, "interrupted");
}

Status FrameScan::run() {
  BTF_ASSIGN(const bool seekable, has_seek_table(file_));
  if (seekable) {
    const auto table = SeekTable::read(file_);
    if (!table && table.error().finding != "seek-table") return std::unexpected(table.error());
    if (!table) {
      note(table.error());
    } else if (table->largest_content() <= kLargestFrame) {
      BTF_ASSIGN(const bool agreed, by_table(*table));
      if (agreed) return {};
      clear();
      note({ErrorCode::malformed, "the seek table contradicts the frames", {}, "seek-table", 0});
    }
  }
  return walk();
}

// Returns false if the table contradicts a valid frame and therefore cannot be trusted.
Result<bool> FrameScan::by_table(const SeekTable& table) {
  begin_run();
  FrameDecoder decoder;
  for (std::uint64_t at = 0; at < table.content_bytes();) {
    BTF_ASSIGN(const FramePlace place, table.find(at));
    at = place.content_end();
    BTF_TRY(report_progress(execution_, place.compressed));
    ++frames_;
    const std::span out(content_.reserve(place.content), place.content);
    const Status read = decoder.read(file_, place, out);
    if (read) {
      take(place.file_offset, place.compressed, place.content);
      continue;
    }
    if (!about_frame(read.error())) return std::unexpected(read.error());
    BTF_ASSIGN(const FrameShape shape, frame_shape(file_, place.file_offset, kMaxBlocks));
    if (shape.fault == Fault::none && shape.bytes == place.compressed) {
      if (shape.content && *shape.content != place.content) return false;
      BTF_ASSIGN(const Frame frame, judge(place.file_offset, shape));
      if (frame.worth == Worth::sound && frame.content != place.content) return false;
      if (frame.worth == Worth::sound && shape.checksum) {
        note(read.error());
        take(place.file_offset, place.compressed, place.content);
        continue;
      }
    } else if (shape.fault == Fault::none && shape.checksum) {
      BTF_ASSIGN(const Frame frame, judge(place.file_offset, shape));
      if (frame.worth == Worth::sound) return false;
    }
    lose(1, place.content, read.error());
  }
  runs_.back().reaches_end = true;
  return true;
}

Status FrameScan::walk() {
  begin_run();
  BTF_ASSIGN(const auto table_at, table_by_footer(file_));
  std::uint64_t at = 0;
  while (at < file_.size()) {
    if (at == table_at) {
      runs_.back().reaches_end = true;
      return {};
    }
    if (frames_ == kMaxPieces) {
      note({ErrorCode::malformed,
            concat("there are more than ", kMaxPieces, " frames"),
            {},
            "zstd-frame",
            at});
      return {};
    }
    std::array<std::byte, kSkippableHeader> start{};
    const std::uint64_t left = file_.size() - at;
    BTF_TRY(file_.read_at(at, std::span(start).first(std::min<std::uint64_t>(left, start.size()))));
    const std::uint32_t magic = load_u32(start.data());
    if (skippable(magic) && left >= kSkippableHeader) {
      const std::uint64_t bytes = kSkippableHeader + load_u32(start.data() + 4);
      // Nothing follows the table, so no frame is missing where one begins.
      runs_.back().reaches_end = magic == kSeekTableMagic && bytes >= left;
      if (runs_.back().reaches_end) return {};
      if (bytes <= left) {
        at += bytes;
        continue;
      }
    }
    BTF_TRY(report_progress(execution_, 0));
    FrameShape shape;
    shape.fault = Fault::wrong;
    if (magic == kFrameMagic) {
      BTF_ASSIGN(shape, frame_shape(file_, at));
      // A frame that claims more than its blocks can hold is damaged and not large.
      const bool large =
          shape.content ? *shape.content > kLargestFrame &&
                              (shape.fault == Fault::cut || *shape.content <= shape.most_content)
                        : shape.most_content > kLargestFrame;
      if (frames_ == 0 && large && shape.fault != Fault::wrong) {
        too_large_ = true;
        return {};
      }
    }
    const std::uint64_t index = frames_;
    // Its first bytes may be damaged too. Skippable frames have no content to lose.
    const std::uint64_t frames = skippable(magic) ? 0 : 1;
    frames_ += frames;
    Frame frame;
    if (shape.fault == Fault::none) {
      BTF_ASSIGN(frame, judge(at, shape));
      if (frame.worth == Worth::sound) {
        take(at, shape.bytes, frame.content);
        BTF_TRY(report_progress(execution_, shape.bytes));
        at += shape.bytes;
        continue;
      }
      frame.error = wrong_frame(index, at, std::move(frame.error->message)).error();
    } else {
      frame.error = wrong_frame(index, at,
                                magic != kFrameMagic        ? "no frame begins here"
                                : shape.fault == Fault::cut ? "the file ends within it"
                                                            : "its headers are damaged")
                        .error();
    }
    std::optional<std::uint64_t> next;
    if (shape.fault == Fault::none) {
      BTF_ASSIGN(const bool starts, starts_here(at + shape.bytes));
      if (starts) next = at + shape.bytes;
    }
    const bool known = frame.worth == Worth::known_size && next;
    if (!next) {
      BTF_ASSIGN(next, next_start(at + 1));
    }
    lose(frames, known ? frame.content : 0, *std::move(frame.error));
    cut_ = !next && shape.fault == Fault::cut;
    if (!next) return {};
    if (!known) begin_run();
    at = *next;
  }
  return {};
}

// The next offset from `from` on at which a valid frame or the seek table begins.
Result<std::optional<std::uint64_t>> FrameScan::next_start(std::uint64_t from) {
  BTF_ASSIGN(const auto table_at, table_by_footer(file_));
  const std::uint64_t budget = (1U << 20) + file_.size() / 256;
  std::vector<std::byte> chunk(64U << 10);
  while (from < file_.size() && file_.size() - from >= kMagicBytes) {
    BTF_TRY(report_progress(execution_, 0));
    const std::uint64_t some = std::min<std::uint64_t>(chunk.size(), file_.size() - from);
    BTF_TRY(file_.read_at(from, std::span(chunk).first(some)));
    for (std::uint64_t i = 0; i + kMagicBytes <= some; ++i) {
      if (from + i == table_at) return table_at;
      if (load_u32(chunk.data() + i) != kFrameMagic) continue;
      if (work_ > budget) {
        note({ErrorCode::malformed,
              "too many bytes look like frames but are not",
              {},
              "zstd-frame",
              from + i});
        return std::nullopt;
      }
      BTF_ASSIGN(const FrameShape shape, frame_shape(file_, from + i, kMaxBlocks));
      work_ += 1 + shape.blocks;
      if (shape.fault != Fault::none) continue;
      BTF_ASSIGN(const Frame frame, judge(from + i, shape));
      if (frame.worth == Worth::sound) return from + i;
      work_ += (shape.bytes + frame.content) / 1024;
    }
    from += some - (kMagicBytes - 1);
  }
  return std::nullopt;
}

Result<bool> FrameScan::starts_here(std::uint64_t offset) {
  if (offset == file_.size()) return true;
  if (file_.size() - offset < kMagicBytes) return false;
  std::array<std::byte, kMagicBytes> magic;
  BTF_TRY(file_.read_at(offset, magic));
  return recognizes(magic);
}

// The error only describes the fault, without the number of the frame.
Result<FrameScan::Frame> FrameScan::judge(std::uint64_t offset, const FrameShape& shape) {
  const auto lost = [](std::string what) {
    return Frame{Worth::lost, 0, Error{ErrorCode::malformed, std::move(what), {}, "zstd-frame"}};
  };
  const std::uint64_t content =
      shape.content.value_or(std::min<std::uint64_t>(shape.most_content, kLargestFrame));
  if (content > shape.most_content) return lost("its header says more than its blocks can hold");
  if (content > kLargestFrame || shape.bytes > kMaxCompressed)
    return lost("it is larger than frames of a seekable file");
  if (context_ == nullptr) context_.reset(ZSTD_createDCtx());
  if (context_ == nullptr) throw std::bad_alloc();
  const std::span packed(compressed_.reserve(shape.bytes), shape.bytes);
  BTF_TRY(file_.read_at(offset, packed));
  std::byte* out = content_.reserve(std::max<std::uint64_t>(content, 1));
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), out, content, packed.data(), packed.size());
  if (ZSTD_isError(got) == 0) return Frame{Worth::sound, got, {}};
  Frame frame = lost(std::string("it is damaged (") + ZSTD_getErrorName(got) + ")");
  switch (ZSTD_getErrorCode(got)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_checksum_wrong:
      frame.error->message = "its content does not match its checksum";
      // The content has the size that the header gives.
      if (shape.content) frame.worth = Worth::known_size;
      frame.content = content;
      break;
    case ZSTD_error_dictionary_wrong:
      frame.error->message = "it needs a dictionary, which is not supported";
      break;
    default:
      break;
  }
  return frame;
}

void FrameScan::begin_run() {
  runs_.emplace_back();
  runs_.back().damage = damage_.empty() ? 0 : static_cast<std::uint32_t>(damage_.size() - 1);
}

void FrameScan::take(std::uint64_t offset, std::uint64_t compressed, std::uint64_t content) {
  Run& run = runs_.back();
  if (content > 0)
    run.pieces.push_back({offset, run.content, content, static_cast<std::uint32_t>(compressed), 0});
  run.content += content;
}

// Frames of unknown size count as 0 bytes.
void FrameScan::lose(std::uint64_t frames, std::uint64_t content, Error error) {
  lost_ += frames;
  const std::uint64_t at = error.offset;
  const std::uint32_t damage = note(std::move(error));
  Run& run = runs_.back();
  if (content > 0) run.pieces.push_back({at, run.content, content, 0, damage});
  run.content += content;
}

std::uint32_t FrameScan::note(Error error) {
  if (damage_.size() < kMaxDamage) damage_.push_back(std::move(error));
  return static_cast<std::uint32_t>(damage_.size() - 1);
}

void FrameScan::clear() {
  runs_.clear();
  damage_.clear();
  frames_ = lost_ = work_ = 0;
}

}  // namespace btf::zstd

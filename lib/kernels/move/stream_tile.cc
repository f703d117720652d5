#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/cpu_level.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

constexpr std::uint64_t kLine = 64;
// Bytes of the target that are computed at a time. With more, reading and writing would alternate;
// with less, calls cost too much.
constexpr std::uint64_t kPart = 4U << 10;
// The same if larger parts have longer lines, since fewer lines are then written in two steps.
constexpr std::uint64_t kMaxPart = 36U << 10;
// The same if a cast makes elements longer; enough for the rows that it takes at a time.
constexpr std::uint64_t kWidenedPart = 32U << 10;
// The most lines of a piece of the target if the pieces are not contiguous.
constexpr std::uint64_t kMaxLines = 32;
// The distance in bytes at which to prefetch.
constexpr std::uint64_t kAhead = 8U << 10;
// Columns that a cast takes at a time in a transpose.
constexpr std::uint64_t kCastColumns = 256;
// Bytes of a row from which fetch_pages() is used: the pages that it alternates between.
constexpr std::uint64_t kLongRow = 16U << 10;
// The elements of one step of a cast; fewer take the same time.
constexpr std::uint64_t kCastBlock = 64;

class TileStreamer {
 public:
  TileStreamer(const CastKernel& kernel, const CastJob& job, const Tile& tile, LossAccount& account)
      : kernel_(kernel),
        job_(job),
        tile_(tile),
        account_(account),
        from_bytes_(info(job.from).buffer_bytes()),
        to_bytes_(info(job.to).buffer_bytes()),
        width_(std::max(tile.width0, tile.n0)) {}

  void run() {
    if (tile_.target_stride0 == 1 && tile_.source_stride0 == 1 && width_ == tile_.n0 &&
        tile_.n0 * to_bytes_ >= kPart / 4)
      lines();
    else if (tile_.target_stride0 == 1 && tile_.source_stride1 == 1 && choose_parts())
      parts();
    else
      plainly();
  }

 private:
  const std::byte* source(std::uint64_t i0, std::uint64_t i1) const {
    return tile_.source + (i0 * tile_.source_stride0 + i1 * tile_.source_stride1) * from_bytes_;
  }
  std::byte* target(std::uint64_t i0, std::uint64_t i1) const {
    return tile_.target + (i0 + i1 * tile_.target_stride1) * to_bytes_;
  }

  void plainly() {
    if (width_ > tile_.n0)
      for (std::uint64_t i1 = 0; i1 < tile_.n1; ++i1)
        for (std::uint64_t i0 = tile_.n0; i0 < width_; ++i0)
          std::memset(
              tile_.target + (i0 * tile_.target_stride0 + i1 * tile_.target_stride1) * to_bytes_, 0,
              to_bytes_);
    kernel_.run(job_, tile_, account_);
  }

  // For elements that are contiguous on both sides.
  void lines() {
    for (std::uint64_t i1 = 0; i1 < tile_.n1; ++i1) {
      const std::uint64_t past = reinterpret_cast<std::uintptr_t>(target(0, i1)) % kLine;
      if (job_.from != job_.to && past % to_bytes_ == 0) {
        cast_line(i1, past == 0 ? 0 : std::min((kLine - past) / to_bytes_, tile_.n0));
        continue;
      }
      // The first part ends at the beginning of a line.
      std::uint64_t n = (kPart - past) / to_bytes_;
      for (std::uint64_t i0 = 0; i0 < tile_.n0; i0 += n, n = kPart / to_bytes_) {
        n = std::min(n, tile_.n0 - i0);
        if (job_.from == job_.to) {
          if (!fetches_long_runs()) fetch_run(source(i0, i1) + kAhead, n * from_bytes_);
          stream_copy(source(i0, i1), target(i0, i1), n * to_bytes_);
          account_.elements += n;
          continue;
        }
        const Tile part{.source = source(i0, i1),
                        .target = buffer_.data(),
                        .n0 = n,
                        .source_stride0 = 1,
                        .target_stride0 = 1};
        kernel_.run(job_, part, account_);
        stream_copy(buffer_.data(), target(i0, i1), n * to_bytes_);
      }
    }
  }

  // The first `head` elements are those before the first whole line of the target.
  void cast_line(std::uint64_t i1, std::uint64_t head) {
    Tile run{.source = source(0, i1),
             .target = target(0, i1),
             .n0 = head,
             .source_stride0 = 1,
             .target_stride0 = 1};
    if (head != 0) kernel_.run(job_, run, account_);
    if (head == tile_.n0) return;
    run.source = source(head, i1);
    run.target = target(head, i1);
    run.n0 = tile_.n0 - head;
    run.stream = true;
    kernel_.run(job_, run, account_);
  }

  // Chooses the numbers of rows (elements of a line of the target) and columns that are transposed
  // at a time. Returns false if bypassing the caches is not worth it.
  bool choose_parts() {
    const bool moves = job_.from == job_.to;
    const std::uint64_t line_columns = kLine / std::min(from_bytes_, to_bytes_);
    const bool packed = tile_.n1 == 1 || tile_.target_stride1 == width_;
    const bool aligned = reinterpret_cast<std::uintptr_t>(tile_.target) % kLine == 0 &&
                         tile_.target_stride1 * to_bytes_ % kLine == 0;
    const std::uint64_t line_bytes = width_ * to_bytes_;
    const bool narrow = line_bytes * kCastColumns <= kMaxPart;
    whole_ = packed && (moves || !aligned || narrow) && line_bytes * line_columns <= kMaxPart;
    if (whole_) {
      // Rows that do not begin at a line share lines with the previous columns.
      const bool shared = tile_.source_stride0 * from_bytes_ % kLine != 0;
      const std::uint64_t part = shared || !moves ? kMaxPart : kPart;
      rows_ = width_;
      pitch_ = line_bytes;
      columns_ = std::max(part / line_bytes / line_columns, std::uint64_t{1}) * line_columns;
      if (!moves && columns_ > kCastBlock) columns_ -= columns_ % kCastBlock;
    } else if (aligned) {
      line_aligned_ = true;
      columns_ = std::min(tile_.n1, moves                     ? kLine / to_bytes_
                                    : from_bytes_ < to_bytes_ ? line_columns
                                                              : kCastColumns);
      const std::uint64_t part = from_bytes_ < to_bytes_ ? kWidenedPart : moves ? kPart : kMaxPart;
      rows_ = std::max(part / kLine / columns_, std::uint64_t{1}) * kLine / to_bytes_;
      pitch_ = rows_ * to_bytes_;
    } else {
      columns_ = std::min(tile_.n1, line_columns);
      const std::uint64_t part = from_bytes_ < to_bytes_ ? kWidenedPart : kMaxPart;
      rows_ = std::min(part / kLine / columns_, kMaxLines) * kLine / to_bytes_;
      pitch_ = rows_ * to_bytes_ + kLine + tile_.target_stride1 * to_bytes_ % kLine;
      return tile_.n0 >= rows_;
    }
    return true;
  }

  void parts() {
    if (whole_ && width_ > tile_.n0) buffer_.fill(std::byte{0});
    const bool wide = tile_.n1 > columns_;
    // Short contiguous rows, or long pieces of rows that a cast reads.
    const bool short_rows = !wide && tile_.source_stride0 * from_bytes_ <= kLine;
    const bool long_rows = wide && from_bytes_ > to_bytes_ && columns_ * from_bytes_ >= kLongRow;
    const bool by_pages = short_rows || long_rows;
    for (std::uint64_t i1 = 0; i1 < tile_.n1; i1 += columns_) {
      const std::uint64_t n1 = std::min(columns_, tile_.n1 - i1);
      for (std::uint64_t i0 = 0; i0 < width_; i0 += rows_)
        part(i0, std::min(rows_, width_ - i0), i1, n1, by_pages ? kByPages : to_next(i0, i1));
    }
  }

  // The distance in bytes from a part to the one to prefetch: the next one or, if parts are small,
  // a later one; after the last part, those of a tile that follows in memory.
  std::ptrdiff_t to_next(std::uint64_t i0, std::uint64_t i1) const {
    const std::uint64_t bytes =
        std::min(rows_, tile_.n0) * std::min(columns_, tile_.n1) * from_bytes_;
    const std::uint64_t in_column = (width_ + rows_ - 1) / rows_;
    const std::uint64_t next = i0 / rows_ + (kAhead + bytes - 1) / bytes;
    std::uint64_t row = next % in_column * rows_;
    std::uint64_t column = i1 + next / in_column * columns_;
    if (column >= tile_.n1) {
      row += tile_.n0;
      column = 0;
    }
    const std::uint64_t elements = (row - i0) * tile_.source_stride0 + column - i1;
    return static_cast<std::ptrdiff_t>(elements * from_bytes_);
  }

  // The address in the buffer of column i1 + c of a part: at the same distance from a line as in
  // the target, with space before it for the rest of that line from the previous part.
  std::byte* buffered(std::uint64_t i1, std::uint64_t c) {
    if (whole_) return buffer_.data() + c * pitch_;
    const std::uint64_t past = reinterpret_cast<std::uintptr_t>(target(0, i1)) % kLine;
    return buffer_.data() + kLine + past + c * pitch_;
  }

  void part(std::uint64_t i0, std::uint64_t width, std::uint64_t i1, std::uint64_t n1,
            std::ptrdiff_t ahead) {
    const std::uint64_t n0 = std::min(width, tile_.n0 - std::min(i0, tile_.n0));
    if (n0 < width && !whole_)
      for (std::uint64_t c = 0; c < n1; ++c) std::memset(buffered(i1, c), 0, width * to_bytes_);
    if (n0 != 0) {
      const Tile part{.source = source(i0, i1),
                      .target = buffered(i1, 0),
                      .n0 = n0,
                      .source_stride0 = tile_.source_stride0,
                      .target_stride0 = 1,
                      .n1 = n1,
                      .source_stride1 = 1,
                      .target_stride1 = pitch_ / to_bytes_,
                      .width0 = width,
                      .ahead = ahead};
      kernel_.run(job_, part, account_);
    }
    if (whole_) return stream_copy(buffered(i1, 0), target(0, i1), width * n1 * to_bytes_);
    const std::uint64_t line_bytes = width * to_bytes_;
    if (line_aligned_ && width == rows_)
      return stream_pieces(buffered(i1, 0), target(i0, i1), line_bytes,
                           tile_.target_stride1 * to_bytes_, n1);
    for (std::uint64_t c = 0; c < n1; ++c)
      write_line(buffered(i1, c), target(i0, i1 + c), line_bytes, i0 == 0, i0 + width == width_);
  }

  // Writes a part of a line of the tile, which need not be aligned to cache lines: the rest of the
  // last cache line is written with the next part, so that each is written once.
  static void write_line(std::byte* buffered, std::byte* target, std::uint64_t bytes, bool first,
                         bool last) {
    const std::uint64_t past = reinterpret_cast<std::uintptr_t>(target) % kLine;
    const std::uint64_t before = first ? 0 : past;
    const std::uint64_t left = last ? 0 : past;  // parts but the last are of whole lines
    stream_copy(buffered - before, target - before, before + bytes - left);
    std::memcpy(buffered - left, buffered + bytes - left, left);
  }

  const CastKernel& kernel_;
  const CastJob& job_;
  const Tile& tile_;
  LossAccount& account_;
  std::uint64_t from_bytes_;
  std::uint64_t to_bytes_;
  std::uint64_t width_;
  bool whole_ = false;  // parts are whole lines of the target, which are contiguous
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
  bool line_aligned_ = false;  // every line of the target is aligned to a cache line
  std::uint64_t pitch_ = 0;    // bytes from a line of a part to the next
  // With a cache line before the part, and up to two more for each of at most kLine columns.
  alignas(kLine) std::array<std::byte, kMaxPart + 2 * kLine*(kLine + 1)> buffer_;
};

}  // namespace

void stream_tile(const CastKernel& kernel, const CastJob& job, const Tile& tile,
                 LossAccount& account) {
  TileStreamer(kernel, job, tile, account).run();
}

}  // namespace btf

#include "formats/zstd/unpack.h"

#include <sys/statvfs.h>
#include <zstd.h>

#include <memory>
#include <new>
#include <vector>

#include "core/checked_math.h"
#include "core/try.h"
#include "formats/zstd/content_bound.h"
#include "formats/zstd/frame_walk.h"
#include "formats/zstd/table_watch.h"
#include "formats/zstd/zstd_errors.h"

namespace btf::zstd {
namespace {

// What may be taken of the room where spools are: others need some too.
std::uint64_t room_left() {
  struct statvfs room {};
  if (::statvfs(temporary_directory().c_str(), &room) != 0) return UINT64_MAX;
  const Checked bytes = checked_mul(room.f_bavail, room.f_frsize);
  return bytes ? *bytes - *bytes / 16 : UINT64_MAX;
}

// Keeps the content within what the header and the file system allow.
class BoundedSpool {
 public:
  BoundedSpool(Spool spool, bool by_header)
      : spool_(std::move(spool)), bound_(by_header), room_(room_left()) {}

  Status append(std::span<const std::byte> bytes) {
    if (bytes.size() > room_ - spool_.size())
      return fail(ErrorCode::no_space, "decompressing it takes more than the " +
                                           std::to_string(room_) + " bytes that may be used in " +
                                           temporary_directory());
    BTF_TRY(spool_.append(bytes));
    if (spool_.size() <= allowed_) return {};
    BTF_ASSIGN(allowed_, bound_.most(spool_));
    if (spool_.size() <= allowed_) return {};
    return malformed("decompression-bomb", 0,
                     "the compressed file goes on after " + std::to_string(allowed_) +
                         " bytes of content, more than " + std::string(bound_.whose()) + " needs");
  }

  std::uint64_t size() const { return spool_.size(); }

  // Of several frames the last may be missing, which nothing but the records in them can tell.
  Status check_end(std::uint64_t frames, std::uint64_t offset) {
    BTF_ASSIGN(const std::uint64_t least, bound_.least(spool_, frames));
    if (spool_.size() >= least) return {};
    return malformed("zstd-frame", offset,
                     "the compressed file was cut off behind frame " + std::to_string(frames - 1) +
                         ": there are " + std::to_string(spool_.size()) +
                         " bytes of content, the records need " + std::to_string(least));
  }

  Spool release() && { return std::move(spool_); }

 private:
  Spool spool_;
  ContentBound bound_;
  std::uint64_t room_;
  std::uint64_t allowed_ = 1U << 20;
};

// Where a frame begins, in the file and in its content.
struct Place {
  std::uint64_t index = 0;
  std::uint64_t offset = 0;
  std::uint64_t content = 0;
};

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

Result<Spool> unpack(const Pull& pull, bool by_header) {
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  BTF_ASSIGN(Spool spool, Spool::create());
  BoundedSpool content(std::move(spool), by_header);
  std::vector<std::byte> packed(ZSTD_DStreamInSize());
  std::vector<std::byte> plain(256U << 10);
  Place frame;
  TableWatch table;
  FrameWalk walk;
  std::uint64_t packed_at = 0;
  std::size_t wanted = 0;  // 0: between two frames
  for (;;) {
    BTF_ASSIGN(const std::size_t got, pull(packed));
    if (got == 0) break;
    ZSTD_inBuffer in{packed.data(), got, 0};
    // A full output buffer may leave content behind in the context.
    bool more = true;
    while (in.pos < in.size || more) {
      ZSTD_outBuffer out{plain.data(), plain.size(), 0};
      const std::size_t before = in.pos;
      wanted = ZSTD_decompressStream(context.get(), &out, &in);
      const std::size_t end = ZSTD_isError(wanted) != 0 ? in.size : in.pos;
      const auto taken = std::span<const std::byte>(packed).subspan(before, end - before);
      walk.feed(taken);
      if (ZSTD_isError(wanted) != 0) return frame_error(wanted, frame.index, frame.offset, walk);
      table.feed(taken);
      BTF_TRY(content.append(std::span(plain).first(out.pos)));
      more = out.pos == out.size && wanted != 0;
      if (wanted == 0) {
        table.end_frame(content.size() - frame.content);
        frame = {frame.index + 1, packed_at + in.pos, content.size()};
        walk = {};
      }
    }
    packed_at += got;
  }
  if (wanted != 0)
    return wrong_frame(frame.index, frame.offset,
                       "the file ends within " + std::string(walk.inside()) + ", at byte " +
                           std::to_string(packed_at));
  if (table.found())
    BTF_TRY(table.check());
  else
    BTF_TRY(content.check_end(frame.index, frame.offset));
  return std::move(content).release();
}

}  // namespace btf::zstd

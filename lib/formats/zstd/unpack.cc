#include "formats/zstd/unpack.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/table/bounded_spool.h"
#include "formats/zstd/frame_shape.h"
#include "formats/zstd/frame_walk.h"
#include "formats/zstd/table_watch.h"
#include "formats/zstd/zstd_errors.h"
#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

constexpr std::size_t kPlain = 256U << 10;  // decompressed at once

// Keeps the content within what the header and the file system allow. What turns out to be of no
// known kind ends at kContentSlack, however the bytes come: false.
Result<bool> append(BoundedSpool& content, std::span<const std::byte> bytes) {
  if (content.size() <= kContentSlack && bytes.size() > kContentSlack - content.size()) {
    const std::uint64_t some = kContentSlack - content.size();
    BTF_TRY(content.append(bytes.first(some)));
    BTF_TRY(content.most());
    bytes = bytes.subspan(some);
    if (content.bound().foreign()) return false;
  }
  BTF_TRY(content.append(bytes));
  BTF_ASSIGN(const std::uint64_t most, content.most());
  if (content.size() <= most || !content.bound().complete()) return true;
  BTF_TRY(content.check_room());
  return malformed("decompression-bomb", 0,
                   "the compressed file goes on after " + std::to_string(most) +
                       " bytes of content, more than " + std::string(content.bound().whose()) +
                       " needs");
}

// Asked once, when what is needed is not there yet.
class Need {
 public:
  explicit Need(const Capacity& capacity) : capacity_(capacity) {}

  Status check(const BoundedSpool& content) {
    const std::uint64_t needed = content.bound().needed();
    if (asked_ || !capacity_ || needed <= content.size()) return {};
    asked_ = true;
    BTF_ASSIGN(const std::optional<std::uint64_t> most, capacity_());
    if (!most || *most >= needed) return {};
    return malformed("data-past-end", *most,
                     std::string(content.bound().whose()) + " needs " + std::to_string(needed) +
                         " bytes of content, the compressed file has no more than " +
                         std::to_string(*most));
  }

 private:
  const Capacity& capacity_;
  bool asked_ = false;
};

// The last of several frames may be missing, which only the records in them show.
Status check_end(BoundedSpool& content, std::uint64_t frames, std::uint64_t offset) {
  BTF_ASSIGN(const std::uint64_t least, content.least(frames));
  if (content.size() >= least) return {};
  return malformed("zstd-frame", offset,
                   "the compressed file was cut off after frame " + std::to_string(frames - 1) +
                       ": there are " + std::to_string(content.size()) +
                       " bytes of content, the records need " + std::to_string(least));
}

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

Result<std::optional<std::uint64_t>> most_content(const ByteSource& file) {
  std::uint64_t most = 0;
  for (std::uint64_t at = 0; at < file.size();) {
    std::array<std::byte, kSkippableHeader> start{};
    if (file.size() - at < start.size()) return std::nullopt;
    BTF_TRY(file.read_at(at, start));
    if (skippable(load_u32(start.data()))) {
      at += kSkippableHeader + load_u32(start.data() + 4);
      continue;
    }
    BTF_ASSIGN(const FrameShape frame, frame_shape(file, at));
    if (frame.fault != FrameShape::Fault::none) return std::nullopt;
    const Checked sum =
        checked_add(most, std::min(frame.content.value_or(UINT64_MAX), frame.most_content));
    if (!sum) return std::nullopt;
    most = *sum;
    at += frame.bytes;
  }
  return most;
}

Result<Unpacked> unpack(const Pull& pull, std::optional<std::uint64_t> expected,
                        const Capacity& capacity) {
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  BTF_ASSIGN(BoundedSpool content, BoundedSpool::create(expected));
  Buffer packed_memory;
  Buffer plain_memory;
  const std::span packed(packed_memory.reserve(ZSTD_DStreamInSize()), ZSTD_DStreamInSize());
  const std::span plain(plain_memory.reserve(kPlain), kPlain);
  Place frame;
  TableWatch table;
  Need need(capacity);
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
      const auto taken = packed.subspan(before, end - before);
      walk.feed(taken);
      if (ZSTD_isError(wanted) != 0) return frame_error(wanted, frame.index, frame.offset, walk);
      table.feed(taken);
      BTF_ASSIGN(const bool all, append(content, plain.first(out.pos)));
      if (!all) return Unpacked{std::move(content).release(), true};
      BTF_TRY(need.check(content));
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
    BTF_TRY(check_end(content, frame.index, frame.offset));
  return Unpacked{std::move(content).release(), false};
}

}  // namespace btf::zstd

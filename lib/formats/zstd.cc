// Reads zstd streams front to back: frames, their faults, and a seek table that arrives after the
// frames it describes.
#include "formats/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "btf/error.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "formats/stream_bound.h"

namespace btf::zstd {
namespace {

// Checks the seek table of a stream. Sees every byte, but only keeps sums of frame sizes.
class TableWatch {
 public:
  // Processes the next bytes of the current frame.
  void feed(std::span<const std::byte> bytes);
  // The frame is complete and has this much content.
  void end_frame(std::uint64_t content);

  // True if the file ends with a seek table.
  bool found() const;
  // An error if the table is wrong. Called at the end of the file.
  Status check() const;

 private:
  // A sum over the sizes of frames, which depends on their order.
  class Sum {
   public:
    void add(std::uint64_t sizes) {
      value_ = (value_ ^ sizes) * 0x9e3779b97f4a7c15U;
      value_ ^= value_ >> 32;
    }
    bool operator==(const Sum&) const = default;

   private:
    std::uint64_t value_ = 1;
  };

  void take_table(std::span<const std::byte> bytes);

  std::uint64_t frames_ = 0;      // frames before the one that may be the table
  Sum sizes_;                     // of these frames
  std::uint64_t at_ = 0;          // position in the current frame
  std::uint64_t entries_at_ = 0;  // offset of the table's entries in the file
  std::array<std::byte, 8> header_{};
  bool table_ = false;       // the current or last frame may be the table
  std::uint64_t size_ = 0;   // of its content
  std::uint64_t width_ = 0;  // of its entries; 0 if their number does not fit
  std::array<std::byte, 12> entry_{};
  Sum table_sizes_;  // sizes according to the table
  std::array<std::byte, 9> footer_{};
};

std::uint64_t sizes_of(std::uint64_t compressed, std::uint64_t content) {
  return compressed << 32 ^ content;
}

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
    table_sizes_ = {};
  }
  if (table_) take_table(bytes);
  at_ += bytes.size();
}

// `bytes` are at position `at_` of the frame.
void TableWatch::take_table(std::span<const std::byte> bytes) {
  std::uint64_t at = at_ - kSkippableHeader;
  const std::uint64_t footer = size_ - std::min<std::uint64_t>(size_, kFooter);
  for (; !bytes.empty() && at < footer && width_ > 0; ++at) {
    entry_[at % width_] = bytes.front();
    bytes = bytes.subspan(1);
    if ((at + 1) % width_ == 0)
      table_sizes_.add(sizes_of(load_u32(entry_.data()), load_u32(entry_.data() + 4)));
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
  if (const std::uint32_t listed = load_u32(footer_.data()); listed != frames_)
    return wrong_table(footer, concat("it has ", listed, " frames, but ", frames_, " precede it"));
  if (width_ == 0)
    return wrong_table(entries_at_ + 4, concat("its frame has ", size_,
                                               " bytes, which does not fit ", frames_, " frames"));
  if (table_sizes_ != sizes_)
    return wrong_table(entries, "the frames before it have other sizes than in the table");
  return {};
}

}  // namespace

std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what) {
  return malformed("zstd-frame", offset, "zstd frame ", index, " at byte ", offset, ": ",
                   std::move(what));
}

std::unexpected<Error> wrong_table(std::uint64_t offset, std::string what) {
  return malformed("seek-table", offset, "seek table: " + std::move(what));
}

std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset,
                                   const FrameWalk& walk) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_checksum_wrong:
      return wrong_frame(index, offset, "its content does not match its checksum");
    case ZSTD_error_dictionary_wrong: {
      auto error = wrong_frame(index, offset, "it needs a dictionary, which is not supported");
      error.error().code = ErrorCode::unsupported;
      return error;
    }
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
      return wrong_frame(index, offset, "no frame begins here");
    case ZSTD_error_frameParameter_windowTooLarge: {
      auto error = wrong_frame(index, offset, "it needs a window of more than 128 MiB of memory");
      error.error().code = ErrorCode::unsupported;
      return error;
    }
    case ZSTD_error_frameParameter_unsupported:
      return wrong_frame(index, offset, "a reserved bit of its header is set");
    case ZSTD_error_srcSize_wrong:
      return wrong_frame(index, offset, "it ends too early");
    case ZSTD_error_dstSize_tooSmall:
      return wrong_frame(index, offset, "it holds more than it says");
    default:
      if (std::string fault = walk.fault(); !fault.empty())
        return wrong_frame(index, offset, std::move(fault));
      return wrong_frame(index, offset,
                         std::string("it is damaged (") + ZSTD_getErrorName(code) + ")");
  }
}

namespace {

constexpr std::uint64_t kMaxBlock = 128U << 10;  // content of a block
constexpr std::uint64_t kBlockHeader = 3;
constexpr std::uint64_t kChecksum = 4;
constexpr unsigned kReservedBit = 0x08;  // of the descriptor

// Reads block headers; many small blocks cost few reads.
class Headers {
 public:
  explicit Headers(const ByteSource& file) : file_(file) {}

  // Returns false at the end of the file.
  Result<bool> read(std::uint64_t offset, std::span<std::byte> out) {
    if (offset > file_.size() || file_.size() - offset < out.size()) return false;
    if (offset < begin_ || offset - begin_ + out.size() > count_) {
      count_ = std::min<std::uint64_t>(window_.size(), file_.size() - offset);
      begin_ = offset;
      BTF_TRY(file_.read_at(offset, std::span(window_).first(count_)));
    }
    std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(offset - begin_), out.size(),
                out.begin());
    return true;
  }

 private:
  const ByteSource& file_;
  std::array<std::byte, 64> window_{};
  std::uint64_t begin_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<FrameShape> frame_shape(const ByteSource& file, std::uint64_t offset,
                               std::uint64_t most_blocks) {
  using Fault = FrameShape::Fault;
  FrameShape shape;
  Headers headers(file);
  std::array<std::byte, 5> start;
  BTF_ASSIGN(const bool begun, headers.read(offset, start));
  shape.fault = begun ? Fault::wrong : Fault::cut;
  if (!begun || load_u32(start.data()) != kFrameMagic) return shape;
  const unsigned descriptor = std::to_integer<unsigned>(start[4]);
  if ((descriptor & kReservedBit) != 0) return shape;
  shape.checksum = (descriptor & kChecksumBit) != 0;
  const bool single = (descriptor & kSingleSegmentBit) != 0;
  constexpr std::array<std::uint64_t, 4> kDictionary{0, 1, 2, 4};
  const std::array<std::uint64_t, 4> says{single ? 1U : 0U, 2, 4, 8};
  const std::uint64_t size_bytes = says[descriptor >> 6];
  const std::uint64_t size_at =
      offset + start.size() + (single ? 0 : 1) + kDictionary[descriptor & 3];
  std::array<std::byte, 8> size;
  const auto size_field = std::span(size).first(size_bytes);
  shape.fault = Fault::cut;
  BTF_ASSIGN(const bool sized, headers.read(size_at, size_field));
  if (!sized) return shape;
  if (size_bytes > 0) shape.content = little_endian(size_field) + (size_bytes == 2 ? 256 : 0);
  std::uint64_t at = size_at + size_bytes;
  for (bool last = false; !last; ++shape.blocks) {
    std::array<std::byte, kBlockHeader> header;
    BTF_ASSIGN(const bool there, headers.read(at, header));
    if (!there) return shape;
    const std::uint64_t word = little_endian(header);
    last = (word & 1) != 0;
    const unsigned kind = static_cast<unsigned>(word >> 1 & 3);
    const std::uint64_t length = word >> 3;
    if (kind == 3 || length > kMaxBlock || shape.blocks == most_blocks) {
      shape.fault = Fault::wrong;
      return shape;
    }
    at += kBlockHeader + (kind == 1 ? 1 : length);         // kind 1 repeats one byte
    shape.most_content += kind == 2 ? kMaxBlock : length;  // kind 2: compressed
  }
  at += shape.checksum ? kChecksum : 0;
  if (at > file.size()) return shape;
  shape.fault = Fault::none;
  shape.bytes = at - offset;
  return shape;
}

namespace {

// The size of the dictionary field by the descriptor of a frame header.
constexpr std::array<std::size_t, 4> kDictionaryBytes{0, 1, 2, 4};

// Types of blocks.
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

// Takes a byte of a header.
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
    // Two-byte sizes start where one-byte sizes end.
    if (!size.empty()) header_content_ = little_endian(size) + (size.size() == 2 ? 256 : 0);
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
    blocks_content_ = type == kCompressed || !blocks_content_
                          ? std::nullopt
                          : std::optional(*blocks_content_ + size);
    part_ = Part::block;
    left_ = type == kRepeated ? 1 : size;
    if (left_ == 0) end_block();
  }
}

void FrameWalk::begin_block() {
  part_ = Part::block_header;
  left_ = 3;
}

// After a block comes the next one, or the checksum.
void FrameWalk::end_block() {
  if (part_ == Part::block && !last_) return begin_block();
  part_ = part_ == Part::block && checksum_ ? Part::checksum : Part::end;
  left_ = 4;
}

std::string FrameWalk::fault() const {
  if (reserved_block_) return "a block in it is of a reserved type";
  if (!header_content_ || (part_ != Part::end && part_ != Part::checksum)) return {};
  const std::string header = concat("its header says ", *header_content_, " bytes of content, ");
  if (!blocks_content_) return {};
  if (*blocks_content_ < *header_content_)
    return concat(header, "its blocks end after ", *blocks_content_);
  if (*blocks_content_ > *header_content_)
    return concat(header, "its blocks go on to ", *blocks_content_);
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

namespace {

constexpr std::size_t kPlain = 256U << 10;  // bytes decompressed at once

// Appends as much as the header and the file system allow. Returns false if the content is of no
// known kind, which is independent of how it is split: it ends at kContentSlack.
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
  return malformed("decompression-bomb", 0, "the compressed file goes on after ", most,
                   " bytes of content, more than ", content.bound().subject(), " needs");
}

// Evaluated once, when needed content is not there yet.
class Need {
 public:
  explicit Need(const Capacity& capacity) : capacity_(capacity) {}

  Status check(const BoundedSpool& content) {
    const std::uint64_t needed = content.bound().needed();
    if (asked_ || !capacity_ || needed <= content.size()) return {};
    asked_ = true;
    BTF_ASSIGN(const std::optional<std::uint64_t> most, capacity_());
    if (!most || *most >= needed) return {};
    return malformed("data-past-end", *most, content.bound().subject(), " needs ", needed,
                     " bytes of content, the compressed file has no more than ", *most);
  }

 private:
  const Capacity& capacity_;
  bool asked_ = false;
};

// If the last of several frames is missing, only the records in the others show it.
Status check_end(BoundedSpool& content, std::uint64_t frames, std::uint64_t offset) {
  BTF_ASSIGN(const std::uint64_t least, content.least(frames));
  if (content.size() >= least) return {};
  return malformed("zstd-frame", offset, "the compressed file was cut off after frame ", frames - 1,
                   ": there are ", content.size(), " bytes of content, the records need ", least);
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
  std::size_t wanted = 0;  // 0 between two frames
  for (;;) {
    BTF_ASSIGN(const std::size_t got, pull(packed));
    if (got == 0) break;
    ZSTD_inBuffer in{packed.data(), got, 0};
    // A full output buffer may leave content in the context.
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
                       concat("the file ends within ", walk.inside(), ", at byte ", packed_at));
  if (table.found())
    BTF_TRY(table.check());
  else
    BTF_TRY(check_end(content, frame.index, frame.offset));
  return Unpacked{std::move(content).release(), false};
}

}  // namespace btf::zstd

// Frames of zstd on the wire: headers followed without decompressing, damage in words, and files
// without a seek table unpacked.
#pragma once

#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "btf/error.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"

namespace btf::zstd {

// Follows the headers inside a zstd frame, without decompressing: libzstd calls a frame damaged,
// and this says in what way.

// One frame with content, from its magic number on.
class FrameWalk {
 public:
  // The next bytes of the frame. Bytes after its end are ignored.
  void feed(std::span<const std::byte> bytes);

  // The fault in it, as far as its headers show; "" if there is none.
  std::string fault() const;

  // The part that an incomplete frame lacks: "its header", "a block", "its checksum".
  std::string_view inside() const;

 private:
  enum class Part : std::uint8_t { magic, descriptor, header, block_header, block, checksum, end };

  void take(std::byte byte);
  void begin_block();
  void end_block();

  Part part_ = Part::magic;
  std::uint64_t left_ = 4;             // bytes of the part
  std::array<std::byte, 16> bytes_{};  // of a header, so far
  std::size_t count_ = 0;              // of them
  std::size_t window_ = 0;             // bytes of the window's descriptor
  std::size_t dictionary_ = 0;         // of the dictionary's number
  bool checksum_ = false;
  bool last_ = false;  // the block is the last one
  bool reserved_block_ = false;
  std::optional<std::uint64_t> says_;       // content, by the header
  std::optional<std::uint64_t> holds_ = 0;  // by the blocks; nothing once one is compressed
};

// Errors of libzstd, in this library's words.

// `code` is what libzstd returned for the frame `index`, which begins at byte `offset` of the file;
// `walk` has seen its bytes.
std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset,
                                   const FrameWalk& walk);

// "frame 3 at byte 1000: WHAT"
std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what);

// "seek table: WHAT", of the byte `offset` of the file.
std::unexpected<Error> wrong_table(std::uint64_t offset, std::string what);

// Numbers of the zstd format and of its seekable form. All are little-endian.

inline constexpr std::uint32_t kFrameMagic = 0xFD2FB528;

// 16 magic numbers, in the low four bits whatever the writer likes.
inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;
inline constexpr std::uint32_t kSeekTableMagic = 0x184D2A5E;  // of the skippable frame
inline constexpr std::uint32_t kSeekableMagic = 0x8F92EAB1;   // the last bytes of the file

inline constexpr std::uint64_t kSkippableHeader = 8;  // magic, bytes that follow
inline constexpr std::uint64_t kFooter = 9;           // frames, descriptor, magic
inline constexpr std::uint8_t kChecksumFlag = 0x80;
inline constexpr std::uint8_t kReservedBits = 0x7C;

constexpr std::uint64_t entry_bytes(bool checksums) { return checksums ? 12 : 8; }

// A bit of a frame header's descriptor, after the magic number.
inline constexpr unsigned kSingleSegmentBit = 0x20;
inline constexpr unsigned kChecksumBit = 0x04;

inline std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

inline std::uint32_t load_u32(const std::byte* from) { return load_little<std::uint32_t>(from); }

inline void store_u32(std::byte* to, std::uint32_t value) { store_little(to, value); }

constexpr bool skippable(std::uint32_t magic) { return (magic & ~0xFU) == kSkippableMagic; }

inline constexpr std::size_t kMagicBytes = 4;

// Is it zstd, by its first bytes? A BTF file that began so would have 400 million tensors.
inline bool recognizes(std::span<const std::byte, kMagicBytes> start) {
  const std::uint32_t magic = load_u32(start.data());
  return magic == kFrameMagic || skippable(magic);
}

// Where a zstd frame ends, by the headers in it and without decompressing: what is needed to go
// from frame to frame in a file that has no seek table, or a wrong one.

struct FrameShape {
  enum class Fault : std::uint8_t {
    none,
    cut,    // the file ends within it
    wrong,  // no such frame can be
  };

  Fault fault = Fault::none;
  std::uint64_t bytes = 0;               // in the file; of a frame without fault
  std::optional<std::uint64_t> content;  // bytes, as its header says
  std::uint64_t blocks = 0;
  std::uint64_t most_content = 0;  // what its blocks can hold
  bool checksum = false;
};

// The frame with content that begins there; one of more blocks is wrong. An error is one of
// reading.
Result<FrameShape> frame_shape(const ByteSource& file, std::uint64_t offset,
                               std::uint64_t most_blocks = UINT64_MAX);

// zstd from front to back: whatever has no seek table, and what cannot seek.

// The next compressed bytes, as many as there are up to the size of `out`; 0: the end.
using Pull = std::function<Result<std::size_t>(std::span<std::byte> out)>;

// An upper bound of the content, by headers alone; nothing: it is not known.
using Capacity = std::function<Result<std::optional<std::uint64_t>>()>;

// The bound of a whole file: its frames' sizes, or the most that blocks hold. Nothing: a bad frame.
Result<std::optional<std::uint64_t>> most_content(const ByteSource& file);

struct Unpacked {
  Spool content;
  bool more_follows = false;  // it is of no known kind: the beginning is enough to say so
};

// The content of all frames in a file without a name. Stops at more content than can be wanted (see
// content_bound.h), when that is less than it takes, and before the file system is full.
Result<Unpacked> unpack(const Pull& pull, std::optional<std::uint64_t> expected,
                        const Capacity& capacity = {});

}  // namespace btf::zstd

// zstd frames: following headers without decompressing, describing damage, and unpacking files
// without a seek table.
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

// Follows the headers in a zstd frame without decompressing, to describe damage that libzstd only
// detects.

// One frame with content, from its magic number on.
class FrameWalk {
 public:
  // Takes the next bytes of the frame. Bytes after its end are ignored.
  void feed(std::span<const std::byte> bytes);

  // Describes the fault as far as headers show it; empty if there is none.
  std::string fault() const;

  // The part that an incomplete frame lacks: "its header", "a block", "its checksum".
  std::string_view inside() const;

 private:
  enum class Part : std::uint8_t { magic, descriptor, header, block_header, block, checksum, end };

  void take(std::byte byte);
  void begin_block();
  void end_block();

  Part part_ = Part::magic;
  std::uint64_t left_ = 4;             // bytes left of the part
  std::array<std::byte, 16> bytes_{};  // header bytes so far
  std::size_t count_ = 0;              // number of them
  std::size_t window_ = 0;             // size of the window descriptor
  std::size_t dictionary_ = 0;         // size of the dictionary ID
  bool checksum_ = false;
  bool last_ = false;  // this is the last block
  bool reserved_block_ = false;
  std::optional<std::uint64_t> header_content_;  // content size in the header
  // Content size of the blocks; unset once one is compressed.
  std::optional<std::uint64_t> blocks_content_ = 0;
};

// Errors of libzstd as messages of this library.

// `code` is libzstd's result for the frame `index`, which begins at byte `offset` of the file;
// `walk` has seen its bytes.
std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset,
                                   const FrameWalk& walk);

// The error "frame 3 at byte 1000: WHAT".
std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what);

// The error "seek table: WHAT" for byte `offset` of the file.
std::unexpected<Error> wrong_table(std::uint64_t offset, std::string what);

// Constants of the zstd format and of its seekable form. All numbers are little-endian.

inline constexpr std::uint32_t kFrameMagic = 0xFD2FB528;

// There are 16 magic numbers; the low four bits are free.
inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;
inline constexpr std::uint32_t kSeekTableMagic = 0x184D2A5E;  // of the skippable frame
inline constexpr std::uint32_t kSeekableMagic = 0x8F92EAB1;   // the last bytes of the file

inline constexpr std::uint64_t kSkippableHeader = 8;  // magic, size
inline constexpr std::uint64_t kFooter = 9;           // number of frames, descriptor, magic
inline constexpr std::uint8_t kChecksumFlag = 0x80;
inline constexpr std::uint8_t kReservedBits = 0x7C;

constexpr std::uint64_t entry_bytes(bool checksums) { return checksums ? 12 : 8; }

// A bit of the frame header's descriptor, which follows the magic number.
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

// Recognises zstd by its first bytes. A BTF file with these bytes would have 400 million tensors.
inline bool recognizes(std::span<const std::byte, kMagicBytes> start) {
  const std::uint32_t magic = load_u32(start.data());
  return magic == kFrameMagic || skippable(magic);
}

// Finds the end of a zstd frame by its headers, without decompressing, for files whose seek table
// is missing or wrong.

struct FrameShape {
  enum class Fault : std::uint8_t {
    none,
    cut,    // the file ends within it
    wrong,  // not a valid frame
  };

  Fault fault = Fault::none;
  std::uint64_t bytes = 0;               // size in the file, if there is no fault
  std::optional<std::uint64_t> content;  // size according to its header
  std::uint64_t blocks = 0;
  std::uint64_t most_content = 0;  // upper bound of the content of its blocks
  bool checksum = false;
};

// The frame with content at `offset`; one with more blocks than allowed is wrong. An error only if
// the file cannot be read.
Result<FrameShape> frame_shape(const ByteSource& file, std::uint64_t offset,
                               std::uint64_t most_blocks = UINT64_MAX);

// zstd from front to back, for inputs that have no seek table or cannot seek.

// Reads the next compressed bytes, up to the size of `out`; 0 at the end.
using Pull = std::function<Result<std::size_t>(std::span<std::byte> out)>;

// An upper bound of the content from headers alone; unset if it is not known.
using Capacity = std::function<Result<std::optional<std::uint64_t>>()>;

// The bound for a whole file, from frame sizes or the limits of blocks. Unset if a frame is bad.
Result<std::optional<std::uint64_t>> most_content(const ByteSource& file);

struct Unpacked {
  Spool content;
  bool more_follows = false;  // the content is of no known kind, for which the beginning suffices
};

// Unpacks all frames into a file without a name. Stops when there is more content than can be
// needed (see ContentBound), and before the file system is full.
Result<Unpacked> unpack(const Pull& pull, std::optional<std::uint64_t> expected,
                        const Capacity& capacity = {});

}  // namespace btf::zstd

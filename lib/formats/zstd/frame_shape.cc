#include "formats/zstd/frame_shape.h"

#include <algorithm>
#include <array>
#include <span>

#include "btf/try.h"
#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

constexpr std::uint64_t kMostBlock = 128U << 10;  // content of a block
constexpr std::uint64_t kBlockHeader = 3;
constexpr std::uint64_t kChecksum = 4;
constexpr unsigned kReservedBit = 0x08;  // of the descriptor

// Reads block headers; a file of many small blocks costs few reads.
class Headers {
 public:
  explicit Headers(const ByteSource& file) : file_(file) {}

  // False: the file ends before.
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
    if (kind == 3 || length > kMostBlock || shape.blocks == most_blocks) {
      shape.fault = Fault::wrong;
      return shape;
    }
    at += kBlockHeader + (kind == 1 ? 1 : length);          // kind 1: one byte again and again
    shape.most_content += kind == 2 ? kMostBlock : length;  // kind 2: compressed
  }
  at += shape.checksum ? kChecksum : 0;
  if (at > file.size()) return shape;
  shape.fault = Fault::none;
  shape.bytes = at - offset;
  return shape;
}

}  // namespace btf::zstd

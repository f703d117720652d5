#include "formats/zstd/frame_decoder.h"

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>
#include <zstd_errors.h>

#include <array>
#include <new>
#include <string>

#include "btf/try.h"
#include "formats/zstd/zstd_errors.h"
#include "formats/zstd/zstd_wire.h"

namespace btf::zstd {
namespace {

// A bit of the frame header's descriptor, the byte after the magic number.
constexpr std::byte kHasChecksum{0x04};
// Far more than a frame without content takes.
constexpr std::uint32_t kMostEmpty = 1U << 10;

std::unexpected<Error> explained(std::size_t code, const FramePlace& place,
                                 std::span<const std::byte> frame) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong && place.checksum) {
    const bool same = load_u32(frame.data() + frame.size() - 4) == *place.checksum;
    return wrong_frame(place.index, place.file_offset,
                       std::string("its content does not match its checksum; the seek table has ") +
                           (same ? "the same one" : "another one"));
  }
  FrameWalk walk;
  walk.feed(frame);
  return frame_error(code, place.index, place.file_offset, walk);
}

std::unexpected<Error> wrong_length(const FramePlace& place, std::uint64_t length) {
  return wrong_frame(place.index, place.file_offset,
                     "it ends after " + std::to_string(length) + " bytes, the seek table says " +
                         std::to_string(place.compressed));
}

Status check_header(const FramePlace& place, std::span<const std::byte> frame) {
  const auto wrong = [&](std::string what) {
    return wrong_frame(place.index, place.file_offset, std::move(what));
  };
  if (load_u32(frame.data()) != kFrameMagic)
    return wrong("no frame with content begins here, the seek table says " +
                 std::to_string(place.content) + " bytes of it");
  const std::size_t length = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (ZSTD_isError(length) != 0) return explained(length, place, frame);
  if (length != frame.size()) return wrong_length(place, length);
  const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != place.content)
    return wrong("its header says " + std::to_string(content) +
                 " bytes of content, the seek table " + std::to_string(place.content));
  return {};
}

}  // namespace

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

Status FrameDecoder::read(const ByteSource& file, const FramePlace& place,
                          std::span<std::byte> out) {
  const std::span<std::byte> frame(compressed_.reserve(place.compressed), place.compressed);
  BTF_TRY(file.read_at(place.file_offset, frame));
  BTF_TRY(check_header(place, frame));
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) return explained(got, place, frame);
  if (got != out.size())
    return wrong_frame(place.index, place.file_offset,
                       "it holds " + std::to_string(got) + " bytes, the seek table says " +
                           std::to_string(out.size()));
  if (!place.checksum) return {};
  // libzstd has compared a frame's own checksum with the content: the same 32 bits.
  const bool own = (frame[4] & kHasChecksum) != std::byte{};
  const std::uint32_t checksum = own ? load_u32(frame.data() + frame.size() - 4)
                                     : static_cast<std::uint32_t>(XXH64(out.data(), out.size(), 0));
  if (checksum == *place.checksum) return {};
  return wrong_frame(place.index, place.file_offset,
                     own ? "its checksum differs from that in the seek table"
                         : "its content does not match the checksum in the seek table");
}

// One without content may be skippable, of any length; its checksum in the table means nothing.
Status FrameDecoder::check(const ByteSource& file, const FramePlace& place) {
  if (place.content == 0) {
    std::array<std::byte, kSkippableHeader> header;
    BTF_TRY(file.read_at(place.file_offset, header));
    if (skippable(load_u32(header.data()))) {
      const std::uint64_t length = kSkippableHeader + load_u32(header.data() + 4);
      return length == place.compressed ? Status{} : wrong_length(place, length);
    }
    if (place.compressed > kMostEmpty)
      return wrong_frame(place.index, place.file_offset,
                         "it has " + std::to_string(place.compressed) +
                             " bytes and no content, by the seek table");
  }
  return read(file, place, std::span(content_.reserve(place.content), place.content));
}

}  // namespace btf::zstd

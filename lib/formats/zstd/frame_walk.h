// Follows the headers inside a zstd frame, without decompressing: libzstd calls a frame damaged,
// and this says in what way.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace btf::zstd {

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

}  // namespace btf::zstd

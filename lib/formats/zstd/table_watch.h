// A seek table that arrives behind the frames, from front to back: are they those that it speaks
// of?
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "btf/error.h"

namespace btf::zstd {

// Sees every byte of the file. Keeps sums of the sizes of frames and not the sizes.
class TableWatch {
 public:
  // Bytes of one frame, the next ones.
  void feed(std::span<const std::byte> bytes);
  // It is complete and had so much content.
  void end_frame(std::uint64_t content);

  // Ends the file with a seek table?
  bool found() const;
  // And is it true? Asked at the end of the file.
  Status check() const;

 private:
  // A sum over the sizes of frames, in order.
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

  std::uint64_t frames_ = 0;      // before the one that may be the table
  Sum sizes_;                     // of these
  std::uint64_t at_ = 0;          // bytes of the current frame so far
  std::uint64_t entries_at_ = 0;  // of the file: where the table's begin
  std::array<std::byte, 8> header_{};
  bool table_ = false;       // the current frame, or the last one, may be the table
  std::uint64_t size_ = 0;   // of its content
  std::uint64_t width_ = 0;  // of its entries; 0: their number is another
  std::array<std::byte, 12> entry_{};
  Sum told_;  // sizes that it says
  std::array<std::byte, 9> footer_{};
};

}  // namespace btf::zstd

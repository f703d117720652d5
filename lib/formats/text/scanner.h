// The numbers of a text one after another, whatever stands between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/io/byte_source.h"

namespace btf {

// White space separates numbers, or a comma does, which may also stand behind the last one of a
// line. The rest of a line after a # with which a word would begin, and words of nothing but dashes,
// are ignored. So is the text that Tengine writes beside numbers:
//
//   Shape is {1 2 2 3}, data type is fp32
//   Batch 0:
//           Channel 0:
//                    0.5000 -1.2500  3.0000
class TextScanner {
 public:
  explicit TextScanner(const ByteSource& source);

  // The shape in the first line, if it has one.
  const std::optional<Dims>& shape() const { return shape_; }

  // The next number, as it is written; it is held until the next call. False: there is none, or
  // it cannot be read: trouble() tells.
  bool next(std::string_view& number);
  const Status& trouble() const { return trouble_; }
  // Where the number is that next() gave.
  std::uint64_t offset() const { return block_offset_ + begin_; }

 private:
  bool find_word();
  // Is what begins with this # a comment, and no value that a program could not print?
  bool check_comment();
  bool skip_line();
  bool skip_label(std::string_view word);
  void read_shape();
  // Keeps what stands from `begin_` on; false: there is no more.
  bool refill();
  bool fail_at(std::uint64_t offset, const std::string& what);

  const ByteSource& source_;
  std::vector<char> block_;
  std::uint64_t block_offset_ = 0;  // in the source
  std::size_t begin_ = 0;           // of the word, in the block
  std::size_t at_ = 0;              // behind it
  std::size_t end_ = 0;             // of what is held
  bool comma_may_follow_ = false;
  std::optional<Dims> shape_;
  Status trouble_;
};

// "line 3, column 14" of a byte of the text.
Result<std::string> text_place(const ByteSource& source, std::uint64_t offset);

// A word of the text as a message may have it.
std::string shown_word(std::string_view word);

}  // namespace btf

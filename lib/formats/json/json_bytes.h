// The bytes of a text one after another, out of a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/json/token.h"

namespace btf {

class JsonBytes {
 public:
  static constexpr int kEnd = -1;

  JsonBytes(const ByteSource& source, JsonExtent extent);

  // The next byte; kEnd behind the last one, or if it could not be read: trouble() tells.
  int peek() { return at_ < window_.size() ? byte(at_) : refill(); }
  // The byte that peek() gave, or this many of those held.
  void take(std::size_t count = 1) { at_ += count; }
  // The bytes available without another read.
  std::string_view held() const {
    return {reinterpret_cast<const char*>(window_.data()) + at_, window_.size() - at_};
  }

  std::uint64_t offset() const { return window_offset_ + at_; }
  const Status& trouble() const { return trouble_; }

 private:
  int byte(std::size_t at) const { return std::to_integer<int>(window_[at]); }
  int refill();

  const ByteSource& source_;
  std::uint64_t end_;            // of the text in the source
  std::uint64_t window_offset_;  // of the window in the source
  std::size_t at_ = 0;           // in the window
  std::vector<std::byte> window_;
  Status trouble_;
};

// Is the first byte that is no space a bracket or a brace? Looks at few bytes only.
Result<bool> begins_as_json(const ByteSource& source);
// And has no zeros there, as the count of a BTF file does.
Result<bool> stream_of_json(const ByteSource& beginning);

}  // namespace btf

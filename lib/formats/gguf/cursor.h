// A header that is read from front to back, one thing behind the other.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/io/same_names.h"
#include "formats/io/window.h"

namespace btf {

class GgufCursor {
 public:
  // `most`: nothing behind it is read.
  GgufCursor(const ByteSource& source, std::uint64_t at, std::uint64_t most, bool big_endian)
      : size_(source.size()),
        most_(most),
        big_endian_(big_endian),
        at_(at),
        window_(source, source.size()) {}

  std::uint64_t at() const { return at_; }
  void set_big_endian() { big_endian_ = true; }

  // Names the part that is read next, for errors: "key", 3.
  void enter(std::string_view what, std::uint64_t number) {
    what_ = what;
    number_ = number;
  }

  template <std::unsigned_integral Number>
  Result<Number> number() {
    BTF_TRY(need(sizeof(Number)));
    BTF_ASSIGN(const std::byte* const bytes, window_.at(at_, sizeof(Number)));
    at_ += sizeof(Number);
    const auto value = load_little<Number>(bytes);
    return big_endian_ ? std::byteswap(value) : value;
  }

  // Skips a length and its string.
  Result<NamePlace> text() {
    BTF_ASSIGN(const auto bytes, number<std::uint64_t>());
    const NamePlace place{at_, bytes};
    BTF_TRY(skip(bytes));
    return place;
  }

  Status skip(std::uint64_t bytes) {
    BTF_TRY(need(bytes));
    at_ += bytes;
    return {};
  }

  Status need(Checked bytes) const {
    const Checked end = checked_add(at_, bytes);
    if (end && *end <= size_ && *end <= most_) return {};
    const std::string what =
        what_.empty() ? "the header" : std::string(what_) + " " + std::to_string(number_);
    const std::string from = " from byte " + std::to_string(at_) + " on";
    const std::string some = bytes ? std::to_string(*bytes) : "more than 2^64";
    if (end && *end <= most_)
      return malformed("data-past-end", size_,
                       "the file is cut off in its header: " + what + " needs " + some + " bytes" +
                           from + ", the file ends at byte " + std::to_string(size_));
    return malformed("gguf-header", at_,
                     what + " needs " + some + " bytes" + from + "; at most " +
                         std::to_string(most_) + " bytes of header are read");
  }

 private:
  std::uint64_t size_;
  std::uint64_t most_;
  bool big_endian_;
  std::uint64_t at_;
  std::string_view what_;
  std::uint64_t number_ = 0;
  Window window_;
};

}  // namespace btf

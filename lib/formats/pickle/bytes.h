// The operands in a pickle's byte stream: numbers, lines and strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/window.h"

namespace btf {

// Nothing longer is a name, of a tensor or of a class.
inline constexpr std::uint64_t kLongestPickleText = 65535;

class PickleBytes {
 public:
  // The source outlives it.
  explicit PickleBytes(const ByteSource& source)
      : source_(source), window_(source, source.size()) {}

  // The offset of the current opcode.
  Result<std::uint64_t> next_operation();

  std::uint64_t left() const { return source_.size() - next_; }
  std::unexpected<Error> wrong(const std::string& what) const { return wrong_at(at_, what); }
  std::unexpected<Error> wrong_behind(const std::string& what) const {
    return wrong_at(next_, what);
  }

  // Little-endian, of at most 8 bytes.
  Result<std::uint64_t> number(std::uint64_t bytes);
  // Without its end.
  Result<std::string> line();
  // At most kLongestPickleText bytes.
  Result<std::string> text(std::uint64_t bytes);
  // `bytes` is a number of the pickle.
  Status check_length(std::uint64_t bytes, std::string_view what) const;
  Status skip(std::uint64_t bytes, bool utf8);

 private:
  static std::unexpected<Error> wrong_at(std::uint64_t at, const std::string& what);

  const ByteSource& source_;
  Window window_;
  std::uint64_t next_ = 0;
  std::uint64_t at_ = 0;  // of the operation
};

}  // namespace btf

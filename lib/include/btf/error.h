// Errors are values: the library returns them, it never prints, logs, exits or throws its own.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "btf/api.h"

namespace btf {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the caller asked for something that cannot be (unknown name, bad index)
  malformed,         // the bytes of a file contradict the format
  unsupported,       // well-formed, but not supported (a code or a pair that this library has not)
  io,                // the system refused: open, read, write, rename
  closed_pipe,       // nobody reads the output any more
  no_space,          // the result does not fit on the target
  refused,           // the caller's own policy forbids the result (lossless, overflow error)
  cancelled,         // the caller asked to stop
};

// `message` says what was wrong, where, what was expected and what was found. Layers above put what
// they know in front of it ("tensor 3: ..."); `file` is the file that it is about, if any. What
// contradicts the format carries the code of its finding (docs/format.md) and the byte it is at.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::string file{};
  std::string_view finding{};
  std::uint64_t offset = 0;

  [[nodiscard]] BTF_API Error within(std::string_view where) const;
  // Names the file unless a layer below already has.
  [[nodiscard]] BTF_API Error in_file(std::string_view path) const;
  // "file: message", the line that a user reads.
  [[nodiscard]] BTF_API std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] BTF_API std::unexpected<Error> fail(ErrorCode code, std::string message);

// `finding` must outlive the error: a literal.
[[nodiscard]] BTF_API std::unexpected<Error> malformed(std::string_view finding,
                                                       std::uint64_t offset, std::string message);

}  // namespace btf

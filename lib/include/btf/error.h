// Errors are values: the library returns them, it never prints, logs, exits or throws its own.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "btf/api.h"

namespace btf {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // an impossible request (unknown name, bad index)
  malformed,         // the bytes of a file contradict the format
  unsupported,       // well-formed, but not supported (a code or a pair unknown to this library)
  io,                // the system refused: open, read, write, rename
  closed_pipe,       // nobody reads the output any more
  no_space,          // the result does not fit on the target
  refused,           // the caller's own policy forbids the result (lossless, overflow error)
  cancelled,         // cancelled by the caller
};

// "invalid_argument"
BTF_API std::string_view error_name(ErrorCode code);

// `message` has the problem, the expected and the found value; `file` and `tensor` say
// where, as far as that is known. A violation of the format carries the code of its finding and
// its byte offset.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::string file{};
  std::string_view finding{};
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> tensor{};  // its number in the file
  int system = 0;                         // errno, where the system refused; else 0

  [[nodiscard]] BTF_API Error within(std::string_view where) const;
  // Names the tensor, or the file, unless a layer below already has.
  [[nodiscard]] BTF_API Error of_tensor(std::uint64_t index) const;
  [[nodiscard]] BTF_API Error in_file(std::string_view path) const;
  // "file: tensor 3: message", the line that a user reads.
  [[nodiscard]] BTF_API std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] BTF_API std::unexpected<Error> fail(ErrorCode code, std::string message);

}  // namespace btf

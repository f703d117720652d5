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
  unsupported,       // well-formed, but this library does not support it
  io,                // open, read, write or rename failed
  closed_pipe,       // the reader of the output is gone
  no_space,          // the result does not fit on the target
  refused,           // an option of the caller forbids the result (lossless, overflow error)
  cancelled,         // cancelled by the caller
};

// "invalid_argument"
BTF_API std::string_view error_name(ErrorCode code);

// An error with its context. `message` says what was wrong, what was expected and what was found;
// `file` and `tensor` say where, as far as that is known.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::string file{};
  std::string_view finding{};             // code of a violation of the format, else empty
  std::uint64_t offset = 0;               // of that violation, in bytes from the start of the file
  std::optional<std::uint64_t> tensor{};  // number of the tensor in the file
  int system = 0;                         // errno if a system call failed, else 0

  // The error with "where: " in front of its message.
  [[nodiscard]] BTF_API Error within(std::string_view where) const;
  // The error with the tensor, or the file, unless it already has one.
  [[nodiscard]] BTF_API Error of_tensor(std::uint64_t index) const;
  [[nodiscard]] BTF_API Error in_file(std::string_view path) const;
  // "file: tensor 3: message", the line to show to users.
  [[nodiscard]] BTF_API std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] BTF_API std::unexpected<Error> fail(ErrorCode code, std::string message);

}  // namespace btf

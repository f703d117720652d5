#include "btf/error.h"

#include <utility>

namespace btf {

Error Error::within(std::string_view where) const {
  Error outer = *this;
  outer.message = std::string(where) + ": " + message;
  return outer;
}

Error Error::in_file(std::string_view path) const {
  Error named = *this;
  if (named.file.empty()) named.file = path;
  return named;
}

std::string Error::text() const { return file.empty() ? message : file + ": " + message; }

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

std::unexpected<Error> malformed(std::string_view finding, std::uint64_t offset,
                                 std::string message) {
  return std::unexpected(Error{ErrorCode::malformed, std::move(message), {}, finding, offset});
}

}  // namespace btf

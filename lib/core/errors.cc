#include "core/errors.h"

#include <array>
#include <utility>

#include "btf/error.h"
#include "core/finding_table.h"

namespace btf {

// In the order of ErrorCode.
constexpr std::array<std::string_view, 8> kErrorNames{
    "invalid_argument", "malformed", "unsupported", "io",
    "closed_pipe",      "no_space",  "refused",     "cancelled"};

std::string_view error_name(ErrorCode code) { return kErrorNames[static_cast<std::size_t>(code)]; }

Error Error::within(std::string_view where) const {
  Error outer = *this;
  outer.message = std::string(where) + ": " + message;
  return outer;
}

Error Error::of_tensor(std::uint64_t index) const {
  Error named = *this;
  if (!named.tensor) named.tensor = index;
  return named;
}

Error Error::in_file(std::string_view path) const {
  Error named = *this;
  if (named.file.empty()) named.file = path;
  return named;
}

std::string Error::text() const {
  std::string text = file.empty() ? "" : file + ": ";
  if (tensor) text += concat("tensor ", *tensor, ": ");
  return text + message;
}

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

std::unexpected<Error> malformed(FindingCode finding, std::uint64_t offset, std::string message) {
  return std::unexpected(Error{ErrorCode::malformed, std::move(message), {}, finding, offset});
}

}  // namespace btf

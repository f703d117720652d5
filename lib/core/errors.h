// Messages of errors, made of parts; errors of reading, and their collection by several threads.
#pragma once

#include <concepts>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "core/finding_table.h"

namespace btf {

namespace message {

inline void append(std::string& text, std::string_view part) { text += part; }
inline void append(std::string& text, char part) { text += part; }
template <std::integral Number>
void append(std::string& text, Number part) {
  text += std::to_string(part);
}

}  // namespace message

// The text of all parts: strings, characters and integers.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (message::append(text, parts), ...);
  return text;
}

// As fail() and malformed(), with a message of several parts.
template <typename... Parts>
  requires(sizeof...(Parts) > 1)
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, const Parts&... parts) {
  return fail(code, concat(parts...));
}
template <typename... Parts>
  requires(sizeof...(Parts) > 1)
[[nodiscard]] std::unexpected<Error> malformed(FindingCode finding, std::uint64_t offset,
                                               const Parts&... parts) {
  return malformed(finding, offset, concat(parts...));
}

// Returns true for an error of the system or damaged bytes. Other errors say that something is not
// supported or does not fit, and a layer is then not judged; an error of reading must be reported.
inline bool is_read_error(const Error& error) {
  return error.code == ErrorCode::io || error.code == ErrorCode::malformed ||
         error.code == ErrorCode::no_space || error.code == ErrorCode::closed_pipe;
}

// An error of the system, which may not come again: not even "there is none" may be made of it.
inline bool is_system_error(const Error& error) {
  return error.code == ErrorCode::io || error.code == ErrorCode::no_space;
}

// Errors of reading, noted where they arise, so that each is reported at the end whatever became of
// the value that could not be read. Thread-safe.
class ReadTroubles {
 public:
  // Ignores errors other than those of reading.
  void note(const Error& error) {
    if (!is_read_error(error)) return;
    const std::scoped_lock lock(mutex_);
    texts_.insert(error.text());
  }
  // Each text once, in alphabetical order.
  std::vector<std::string> texts() const {
    const std::scoped_lock lock(mutex_);
    return {texts_.begin(), texts_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> texts_;
};

}  // namespace btf

// Errors as values, and those of reading, which never become another value.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "btf/error.h"

namespace btf {

// Errors of reading: an error of the system or damaged bytes, which never becomes a value.

// Is it an error of reading, of the system or of damaged bytes? Others say what is not supported,
// or does not fit, and leave a layer without a judgement; an error of reading is never a value.
inline bool is_read_error(const Error& error) {
  return error.code == ErrorCode::io || error.code == ErrorCode::malformed ||
         error.code == ErrorCode::no_space || error.code == ErrorCode::closed_pipe;
}

// Errors of reading, noted where they arise: whatever is made of a value that could not be read,
// its error is heard at the end. For several threads at once.
class ReadTroubles {
 public:
  // Others than those of reading are not noted.
  void note(const Error& error) {
    if (!is_read_error(error)) return;
    const std::scoped_lock lock(mutex_);
    texts_.insert(error.text());
  }
  // Each once, in an order that does not depend on threads.
  std::vector<std::string> texts() const {
    const std::scoped_lock lock(mutex_);
    return {texts_.begin(), texts_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> texts_;
};

}  // namespace btf

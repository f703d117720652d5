// The library's errors as exceptions of Python.
#pragma once

#include <utility>

#include "btf/error.h"

namespace btf::python {

// Sets the exception that btf/_errors.py has for the error and throws it. Needs the GIL.
[[noreturn]] void raise(const Error& error);

inline void check(const Status& status) {
  if (!status) raise(status.error());
}

template <typename T>
T value(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace btf::python

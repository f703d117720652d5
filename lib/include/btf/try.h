// Returns the error of an expression to the caller: BTF_TRY(expression) for a Status, and
// BTF_ASSIGN(declaration, expression) for a Result whose value is needed. BTF_ASSIGN is three
// statements, so it needs braces after `if` and `for`.
#pragma once

#include <utility>

#include "btf/error.h"

#define BTF_CONCAT_(a, b) a##b
#define BTF_CONCAT(a, b) BTF_CONCAT_(a, b)

#define BTF_TRY(expression)                                  \
  do {                                                       \
    if (auto try_status = (expression); !try_status)         \
      return std::unexpected(std::move(try_status).error()); \
  } while (false)

#define BTF_ASSIGN(declaration, expression)                                   \
  auto BTF_CONCAT(result_, __LINE__) = (expression);                          \
  if (!BTF_CONCAT(result_, __LINE__))                                         \
    return std::unexpected(std::move(BTF_CONCAT(result_, __LINE__)).error()); \
  declaration = *std::move(BTF_CONCAT(result_, __LINE__))

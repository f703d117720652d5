// Hands an error up to the caller. Statement form and assignment form.
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

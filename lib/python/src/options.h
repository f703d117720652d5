// Options of reading and casting, by the names that they have in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/duplicates.h"
#include "btf/layout.h"

namespace btf::python {

struct CastOptions {
  std::optional<DType> dtype{};    // nothing: as it is
  std::optional<Layout> layout{};  // likewise
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  unsigned jobs = 0;
};

// Keyword arguments: dtype, layout, overflow, rounding, lossless, duplicates, jobs. Another one is
// a TypeError that names it.
CastOptions cast_options(const nanobind::dict& given);

}  // namespace btf::python

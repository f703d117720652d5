// Options of reading and casting, by the names that they have in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/layout.h"
#include "python/src/raise.h"

namespace btf::python {

// The value that an option's name stands for; another name is an error that lists them.
template <typename Value>
Value named(std::string_view option, const std::string& name, std::span<const Named<Value>> rows) {
  std::string there;
  for (const Named<Value>& row : rows) {
    if (row.name == name) return row.value;
    there += (there.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  raise(fail(ErrorCode::invalid_argument,
             std::string(option) + " '" + name + "' is not supported; there are " + there)
            .error());
}

struct CastOptions {
  std::optional<DType> dtype{};    // nothing: as it is
  std::optional<Layout> layout{};  // likewise
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  unsigned jobs = 0;
};

// By any of its names, and with the DLA that its rows are for: "kDLA_HWC4:xavier".
Layout layout_named(const std::string& name);

// A number, or several.
std::vector<std::uint64_t> sizes_of(nanobind::handle argument);

// Keyword arguments: dtype, layout, overflow, rounding, lossless, duplicates, jobs. Another one is
// a TypeError that names it.
CastOptions cast_options(const nanobind::dict& given);

}  // namespace btf::python

#include "python/src/options.h"

#include <nanobind/stl/string.h>

#include <span>
#include <string_view>

#include "python/src/raise.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

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

}  // namespace

CastOptions cast_options(const nb::dict& given) {
  CastOptions options;
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    if (name == "dtype") {
      options.dtype = value(parse_dtype(nb::cast<std::string>(argument)));
    } else if (name == "layout") {
      options.layout = value(parse_layout(nb::cast<std::string>(argument)));
    } else if (name == "overflow") {
      options.policy.overflow =
          named<Overflow>(name, nb::cast<std::string>(argument), overflow_names());
    } else if (name == "rounding") {
      options.policy.rounding =
          named<Rounding>(name, nb::cast<std::string>(argument), rounding_names());
    } else if (name == "lossless") {
      options.policy.lossless = nb::cast<bool>(argument);
    } else if (name == "duplicates") {
      options.duplicates =
          named<Duplicates>(name, nb::cast<std::string>(argument), duplicates_names());
    } else if (name == "jobs") {
      options.jobs = nb::cast<unsigned>(argument);
    } else {
      throw nb::type_error(("there is no option '" + name + "'").c_str());
    }
  }
  return options;
}

}  // namespace btf::python

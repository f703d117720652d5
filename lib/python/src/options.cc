#include "python/src/options.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/raise.h"

namespace btf::python {
namespace nb = nanobind;

Layout layout_named(const std::string& name) {
  const std::size_t colon = name.find(':');
  const Layout layout = value(parse_layout(name.substr(0, colon)));
  if (colon == name.npos) return layout;
  const std::string dla = name.substr(colon + 1);
  for (const LayoutSpec& row : layouts())
    if (row.name == spec(layout).name && row.dla == dla) return row.layout;
  raise(fail(ErrorCode::invalid_argument, "unknown layout '" + name + "'").error());
}

std::vector<std::uint64_t> sizes_of(nb::handle argument) {
  if (nb::isinstance<nb::int_>(argument)) return {nb::cast<std::uint64_t>(argument)};
  return nb::cast<std::vector<std::uint64_t>>(argument);
}

CastOptions cast_options(const nb::dict& given) {
  CastOptions options;
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    if (name == "dtype") {
      options.dtype = value(parse_dtype(nb::cast<std::string>(argument)));
    } else if (name == "layout") {
      options.layout = layout_named(nb::cast<std::string>(argument));
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

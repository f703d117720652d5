// Errors as exceptions, options and their names in Python.
#include "python/src/support.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace btf::python {

void raise(const Error& error) {
  namespace nb = nanobind;
  const nb::object make = nb::module_::import_("btf._errors").attr("make_error");
  const nb::object exception = make(
      std::string(error_name(error.code)), python_words(error.text()), python_words(error.message),
      error.file, std::string(error.finding), error.offset, error.tensor, error.system);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

bool in_main_thread() {
  namespace nb = nanobind;
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

namespace {

struct Word {
  std::string_view member;
  std::string_view option;
};

// Options with different names in Python and C++.
constexpr auto kWords = std::to_array<Word>({
    {"ConvertOptions::spec", "output_spec"},
    {"drop_names", "names='drop'"},
    {"quantization.automatic", "scale='auto'"},
    {"quantization.axis", "scale_axis"},
    {"quantization.block", "block_scale"},
    {"scale_blocks", "block"},
    {"quantization.find_zero_point", "zero_point='auto'"},
    {"tensors", "tensor"},
    {"pairs", "pair"},
    {"text.all", "all"},
});

std::string_view option_of(std::string_view member) {
  const auto* const row = std::ranges::find(kWords, member, &Word::member);
  return row != kWords.end() ? row->option : member.substr(member.rfind('.') + 1);
}

}  // namespace

std::string python_words(std::string text) {
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '`' ? text.find('`', at + 1) : text.npos;
    if (end == text.npos) {
      words += text[at++];
      continue;
    }
    words += option_of(std::string_view(text).substr(at + 1, end - at - 1));
    at = end + 1;
    // A number that follows is its value.
    const bool valued = at + 1 < text.size() && text[at] == ' ' &&
                        (text[at + 1] == '-' || (text[at + 1] >= '0' && text[at + 1] <= '9'));
    if (!valued) continue;
    words += '=';
    ++at;
  }
  return words;
}
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

#include "python/src/raise.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "python/src/words.h"

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

}  // namespace btf::python

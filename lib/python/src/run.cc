#include "python/src/run.h"

namespace btf::python {

bool in_main_thread() {
  namespace nb = nanobind;
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace btf::python

// btf._btf: what the package btf is made of.
#include <nanobind/nanobind.h>

#include "python/src/bindings.h"

NB_MODULE(_btf, module) {
  btf::python::bind_tables(module);
  btf::python::bind_array(module);
  btf::python::bind_set(module);
  btf::python::bind_write(module);
  btf::python::bind_sparse(module);
  btf::python::bind_convert(module);
  btf::python::bind_diff(module);
  btf::python::bind_batch(module);
  btf::python::bind_layers(module);
  btf::python::bind_fit(module);
  btf::python::bind_validate(module);
}

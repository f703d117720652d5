// The parts of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace btf::python {

void bind_array(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_convert(nanobind::module_& module);
void bind_diff(nanobind::module_& module);
void bind_fit(nanobind::module_& module);
void bind_layers(nanobind::module_& module);
void bind_set(nanobind::module_& module);
void bind_sparse(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_validate(nanobind::module_& module);
void bind_write(nanobind::module_& module);

}  // namespace btf::python

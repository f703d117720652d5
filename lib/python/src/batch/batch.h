// Work in pieces for the workers of an executor, which is kept in a part.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"

namespace btf::python {

struct BatchPlan {
  std::string command;
  std::vector<std::string> operands;
  std::string digest{};
  bool directories = false;
  std::vector<std::string> others{};
  std::vector<std::uint64_t> costs{};  // by number of the item
};

// A worker has other files before it than the plan was made of.
inline Status check_plan(const std::string& found, const std::string& planned) {
  if (found == planned) return {};
  return fail(ErrorCode::refused,
              "the files are not those of the plan: some were added, "
              "removed or got another size since");
}

void bind_layer_batch(nanobind::module_& module);
void bind_convert_batch(nanobind::module_& module);

}  // namespace btf::python

// "0,2-5,-1,conv*,!fc": which tensors are meant.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"

namespace btf {

// The tensors to select from. `name` is called if the selection has names.
struct Selectable {
  std::uint64_t count = 0;
  std::function<std::string(std::uint64_t)> name;
  std::string_view what;  // "the file"
};

// Numbers and ranges, negative ones from the end; else names or globs; behind @ always names; behind
// ! what is left out, of everything if nothing else is said. In the order that is written, what a
// glob finds in that of the tensors.
Result<std::vector<std::uint64_t>> select_tensors(std::string_view text,
                                                  const Selectable& tensors);

}  // namespace btf

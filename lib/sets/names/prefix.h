// A prefix that all names of one list have and those of another do not: "module.", "0/".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sets/names/names.h"

namespace btf {

struct NamePrefix {
  bool of_left = false;
  std::size_t bytes = 0;
};

// The one without which most names have a partner, by their keys. Nothing: there is none, or
// several are as good.
std::optional<NamePrefix> find_prefix(const std::vector<std::string_view>& left,
                                      const std::vector<std::string_view>& right, NameKey key);

}  // namespace btf

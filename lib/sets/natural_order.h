// How people count: "fc2" before "fc10".
#pragma once

#include <string_view>

namespace btf {

// Runs of digits by their value, all else by bytes. Different names are never equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace btf

// Suggests the name that was probably meant by a mistyped word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "btf/api.h"

namespace btf {

// Returns " (did you mean 'layout'?)" if one of `names` is similar to `word`: at most one letter in
// three is missing, added, replaced or swapped with its neighbour. Else empty. Case and leading
// dashes are ignored.
BTF_API std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace btf

// A word that somebody typed, where a name of ours was meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "btf/api.h"

namespace btf {

// " (did you mean 'layout'?)" where one of `names` is a slip of the finger away from `word`
// ('layot', 'alyout'): at most a letter in three is missing, one too many, another one, or exchanged
// with the next. Else empty. Neither case nor leading dashes count.
BTF_API std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace btf

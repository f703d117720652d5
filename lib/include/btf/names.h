// Words that people type, where a name of ours was meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "btf/api.h"

namespace btf {

// " (did you mean 'layout'?)" where one of `names` is a slip of the finger away from `word`
// ('layot', 'alyout'): at most a letter in three is missing, one too many, another one, or
// exchanged with the next. Else empty. Case does not count.
BTF_API std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

// How others write one of our names as code of their own: "float16" of "torch.float16" or
// "np.float16", "kHWC8" of "nvinfer1::TensorFormat::kHWC8". Any other word as it is.
BTF_API std::string_view without_owner(std::string_view name);

}  // namespace btf

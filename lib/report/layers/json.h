// "btftool/layers/1"
#pragma once

#include <string_view>

namespace btf::report {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

}  // namespace btf::report

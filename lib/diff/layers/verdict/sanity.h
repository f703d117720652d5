// Anomalies of a dump that do not depend on what the layers compute.
#pragma once

#include <string_view>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

inline constexpr std::string_view kReusedBuffer = "reused-buffer";
inline constexpr std::string_view kShifted = "shifted";
inline constexpr std::string_view kAllZero = "all-zero";
inline constexpr std::string_view kNoSignal = "no-signal";
inline constexpr std::string_view kQuantised = "quantised";

std::vector<SanityFinding> check_sanity(const LayerReport& report);

}  // namespace btf

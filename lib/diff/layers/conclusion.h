// The conclusion of a run: anomalies of dumps that do not depend on what is computed, the kind of
// verdict, and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layers.h"
#include "diff/layers/noise_model.h"

namespace btf {

// Codes of anomalies of a dump that do not depend on what the layers compute.
inline constexpr std::string_view kReusedBuffer = "reused-buffer";
inline constexpr std::string_view kShifted = "shifted";
inline constexpr std::string_view kAllZero = "all-zero";
inline constexpr std::string_view kNoSignal = "no-signal";
inline constexpr std::string_view kQuantised = "quantised";

std::vector<SanityFinding> check_sanity(const LayerReport& report);

// The name in quotes, as the texts of all reports have it.
std::string quoted(const std::string& name);

// Sets `words` and `detail` of the report's verdict.
void describe_verdict(LayerReport& report, const LayerLimits& options);

// Sets the verdict on a network whose layers have been judged. `amplified`: the roots that a
// cancelling signal explains. `earlier`: the verdict of an earlier judgement, which has the
// location of its layer.
void settle(LayerReport& report, const LayerLimits& options, const RunPrecision& precision,
            const std::set<std::uint64_t>& amplified, const LayerVerdict& earlier);

void conclude(LayerReport& report, const LayerLimits& options, VerdictKind kind,
              std::optional<std::uint64_t> layer, const LayerVerdict& earlier);

}  // namespace btf

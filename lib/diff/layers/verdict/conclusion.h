// The verdict on a network whose layers have been judged.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "btf/layers/layers.h"
#include "diff/layers/verdict/noise.h"

namespace btf {

// `amplified`: those of the roots that a cancelling signal explains. `earlier`: the verdict of an
// earlier judgement, which knows where its layer is.
void settle(LayerReport& report, const JudgeLayers& options, const RunPrecision& precision,
            const std::set<std::uint64_t>& amplified, const LayerVerdict& earlier);

void conclude(LayerReport& report, const JudgeLayers& options, VerdictKind kind,
              std::optional<std::uint64_t> layer, const LayerVerdict& earlier);

}  // namespace btf

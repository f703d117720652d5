#include "explain/explanations.h"

#include <array>

namespace btftool {

std::span<const Topic> topics() {
  static const auto kTopics = std::to_array<Topic>(
      {{"finding", "validate", "findings in BTF, compressed or not", "docs/format.md",
        btf_findings()},
       {"finding", "validate", "findings in files of other formats", "docs/formats.md",
        format_findings()},
       {"finding", "repair and convert", "findings of repair and convert",
        "docs/repair.md and docs/convert.md", work_findings()},
       {"cause", "diff", "causes that diff names", "docs/hints.md", causes()},
       {"verdict", "layers", "verdicts of layers", "docs/layers.md", verdicts()},
       {"reason", "fit", "reasons of fit for which a layer must stay wide", "docs/fit.md",
        fit_reasons()},
       {"state", "fit", "states of layers in fit", "docs/fit.md and docs/json.md",
        fit_layer_states()},
       {"state", "fit", "states of tensors that take a scale in fit",
        "docs/fit.md and docs/json.md", fit_tensor_states()}});
  return kTopics;
}

}  // namespace btftool

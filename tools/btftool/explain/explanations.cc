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
       {"verdict", "layers", "verdicts of layers", "docs/layers.md", verdicts()}});
  return kTopics;
}

}  // namespace btftool

// The text of a verdict, shared by all reports.
#pragma once

#include <string>

#include "btf/layers/layers.h"

namespace btf {

std::string quoted(const std::string& name);

// Sets `words` and `detail` of the report's verdict.
void say_verdict(LayerReport& report, const JudgeLayers& options);

}  // namespace btf

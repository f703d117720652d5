// Errors along the layers, as a drawing: what inputs and dtype explain is a band behind them.
#pragma once

#include <string>

#include "btf/layers/layers.h"

namespace btf::report {

// Empty where no layer has an error above 0.
std::string layers_chart(const LayerReport& report);

}  // namespace btf::report

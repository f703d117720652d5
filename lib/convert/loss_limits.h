// Has a tensor lost more than it may?
#pragma once

#include "btf/convert.h"
#include "convert/tensor/losses.h"

namespace btf {

// An error that names what was found and the limit.
Status check_limits(const LossLimits& limits, const Losses& losses);

}  // namespace btf

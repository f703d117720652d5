// Scales that were given with a tensor, and not found in its file.
#pragma once

#include "btf/error.h"
#include "btf/file.h"
#include "btf/quantize.h"
#include "convert/quantize/scales.h"

namespace btf {

// Are they scales that this tensor of codes can have?
Status check_given_scale(const GivenScale& given, const TensorInfo& codes);

// Puts them into the scales of a plan.
void take_given_scale(const GivenScale& given, Scales& scales);

}  // namespace btf

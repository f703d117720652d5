// Records of a file that its recipient does not take.
#pragma once

#include "btf/validate.h"

namespace btf {

// Checks records whose headers can be read; the others are errors for everybody.
Status check_recipient(const TensorFile& file, Recipient recipient, const FindingSink& report);

}  // namespace btf

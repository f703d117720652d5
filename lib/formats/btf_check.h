// Reports where the structure of a BTF file deviates from the canonical form. Does not read
// elements.
#pragma once

#include "btf/file.h"
#include "btf/validate.h"

namespace btf {

Status check_btf(const TensorFile& file, const FindingSink& report);

}  // namespace btf

// What every format's check asks of its tensors.
#pragma once

#include "btf/file.h"
#include "btf/finding.h"
#include "btf/validate.h"

namespace btf {

// Reports tensors that are not sound and, as `of_type`, those of types that no dtype stands for. An
// error: the system refused to read.
Status check_tensors(const TensorFile& file, FindingCode of_type, const FindingSink& report);

}  // namespace btf

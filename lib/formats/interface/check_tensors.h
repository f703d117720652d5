// The checks of tensors that all formats share.
#pragma once

#include "btf/file.h"
#include "btf/validate.h"
#include "core/finding_table.h"

namespace btf {

// Reports tensors that are not sound and, as `of_type`, those of types that no dtype stands for. An
// error: the system refused to read.
Status check_tensors(const TensorFile& file, FindingCode of_type, const FindingSink& report);

// Reads all elements of the tensors that are sound, for the text or the stream that they are in may
// be none; that is reported too.
Status check_elements(const TensorFile& file, const FindingSink& report);

}  // namespace btf

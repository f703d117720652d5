// Scales and zero points that only their names tell of.
#pragma once

#include "btf/attributes.h"
#include "btf/file.h"

namespace btf {

// Links codes that the attributes link with none with the tensors that are called as theirs are
// (docs/cli.md, section 3.2).
void link_by_names(const TensorFile& file, FileAttributes& attributes);

}  // namespace btf

// Files that come through a pipe, of which no more is read than can be wanted.
#pragma once

#include "btf/api.h"
#include "btf/file.h"

namespace btf {

// True: there is more behind what was read; file.size() is that.
BTF_API bool goes_on(const TensorFile& file);

}  // namespace btf

// Specs of files and tensors by their names.
#pragma once

#include <span>
#include <string>

#include "btf/error.h"
#include "btf/file.h"

namespace btftool {

// An error if a spec matches nothing in any of the operands. stdin, which can be read only once, is
// not checked.
btf::Status check_named_specs(std::span<const std::string> operands, const btf::OpenOptions& open);

}  // namespace btftool

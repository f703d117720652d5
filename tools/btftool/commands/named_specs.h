// Specs that apply to files and tensors by name.
#pragma once

#include <span>
#include <string>

#include "btf/error.h"
#include "btf/file.h"

namespace btftool {

// Fails if a spec matches nothing in any of the operands. Checks nothing if one of them is stdin,
// which can be read only once.
btf::Status check_named_specs(std::span<const std::string> operands, const btf::OpenOptions& open);

}  // namespace btftool

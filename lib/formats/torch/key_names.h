// The form of dict keys in the names of tensors.
#pragma once

#include <string>

#include "formats/pickle/pickle.h"

namespace btf {

// Strings as they are, all else about as Python prints it; only the beginning of long ones.
std::string key_name(const Pickle& pickle, Pickle::Node key);

}  // namespace btf

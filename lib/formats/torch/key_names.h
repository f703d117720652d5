// What keys of dicts are called in the names of tensors.
#pragma once

#include <string>

#include "formats/pickle/pickle.h"

namespace btf {

// Texts as they are, all else about as Python prints it. Of what is long only the beginning.
std::string key_name(const Pickle& pickle, Pickle::Node key);

}  // namespace btf

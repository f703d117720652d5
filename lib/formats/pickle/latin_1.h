// Bytes as pickles up to protocol 2 have them: a text whose characters are the bytes.
#pragma once

#include <optional>
#include <string>

#include "formats/pickle/pickle.h"

namespace btf {

// Nothing: the node is no such call.
std::optional<std::string> latin_1_of(const Pickle& pickle, Pickle::Node node);

}  // namespace btf

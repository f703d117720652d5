// Text for standard output: pieces that reports have too, and its width.
#pragma once

#include <cstddef>

#include "report/text/text.h"

namespace btftool {

using namespace btf::report;

// How wide standard output is: $COLUMNS, else what its terminal says, else 80.
std::size_t output_columns();

}  // namespace btftool

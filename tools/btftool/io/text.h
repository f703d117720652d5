// Text for standard output: pieces that reports have too, and its width.
#pragma once

#include <cstddef>

#include "report/text/text.h"

namespace btftool {

using namespace btf::report;

// How wide standard output, or another descriptor, is: $COLUMNS, else what its terminal says, else
// 80.
std::size_t output_columns(int fd = 1);

// Is no line to be longer than that? On a terminal, where people read it.
bool fits_columns(int fd = 1);

}  // namespace btftool

// Compressed files put together by libzstd and not by this library.
#pragma once

#include "input.h"

namespace fuzz {

// 15 bytes say how, the rest is the content: cut into frames, with right checksums, with a seek table
// or without, and then some bytes of the table or of anything are changed.
Bytes packed_file(Input& input);

}  // namespace fuzz

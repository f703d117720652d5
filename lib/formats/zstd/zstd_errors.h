// What libzstd complains about, in this library's words.
#pragma once

#include <zstd.h>

#include <cstdint>

#include "btf/error.h"

namespace btf::zstd {

// `code` is what libzstd returned for the frame `index`, which begins at byte `offset` of the file.
std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset);

// "frame 3 at byte 1000: WHAT"
std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what);

}  // namespace btf::zstd

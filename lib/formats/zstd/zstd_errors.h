// Errors of libzstd, in this library's words.
#pragma once

#include <zstd.h>

#include <cstdint>

#include "btf/error.h"
#include "formats/zstd/frame_walk.h"

namespace btf::zstd {

// `code` is what libzstd returned for the frame `index`, which begins at byte `offset` of the file;
// `walk` has seen its bytes.
std::unexpected<Error> frame_error(std::size_t code, std::uint64_t index, std::uint64_t offset,
                                   const FrameWalk& walk);

// "frame 3 at byte 1000: WHAT"
std::unexpected<Error> wrong_frame(std::uint64_t index, std::uint64_t offset, std::string what);

// "seek table: WHAT", of the byte `offset` of the file.
std::unexpected<Error> wrong_table(std::uint64_t offset, std::string what);

}  // namespace btf::zstd

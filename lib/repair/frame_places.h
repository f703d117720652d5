// Where the content of frames belongs that stand behind lost ones of unknown size: a record, or
// several small ones that share frames, begin with a frame and end with one, and the offset table
// says how long each of them is.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "repair/frame_scan.h"

namespace btf::zstd {

// `known` is the content up to there, with the offset table; `file` has the frames. Nothing if the
// lengths of the records in the run fit no offset, or several.
Result<std::optional<std::uint64_t>> place_of(const ByteSource& known, const ByteSource& file,
                                              const Run& run);

}  // namespace btf::zstd

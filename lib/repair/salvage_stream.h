// The front of a file whose frames are too large to be checked one by one.
#pragma once

#include <memory>
#include <string>

#include "repair/salvage_frames.h"

namespace btf::zstd {

// The content of the frames before the first damaged one, in a file without a name; no more than
// the records in it can need.
Result<std::unique_ptr<SalvagedContent>> salvage_stream(std::string name,
                                                        std::unique_ptr<ByteSource> file,
                                                        const SalvageOptions& options);

}  // namespace btf::zstd

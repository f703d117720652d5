// A file that appears under its name whole, in commit(), or not at all.
#pragma once

#include <memory>

#include "formats/io/byte_sink.h"
#include "formats/io/output_place.h"

namespace btf {

// For a path that is no descriptor and not written in place. `name` is for messages. Until it is
// finished it has no name; where that cannot be, or is not wanted, a temporary one.
Result<std::unique_ptr<ByteSink>> replacing_sink(std::string name, const OutputPlace& place,
                                                 const SinkOptions& options, bool nameless = true);

}  // namespace btf

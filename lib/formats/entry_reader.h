// A file as a manifest describes it: one tensor of several, under another name.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

// The source without what stands before the entry's bytes and behind them; the source itself if
// the entry does not say where it begins.
Result<std::unique_ptr<ByteSource>> entry_source(std::unique_ptr<ByteSource> source,
                                                 const OpenRequest& request);

// `reader` itself if there is no entry.
Result<std::unique_ptr<TensorReader>> entry_reader(std::unique_ptr<TensorReader> reader,
                                                   const OpenRequest& request);

}  // namespace btf

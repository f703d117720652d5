// Takes elements and writes them with their bytes shuffled, as a layout wants it.
#pragma once

#include <cstdint>
#include <memory>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "formats/io/byte_sink.h"

namespace btf {

// `bytes` of elements from byte `first` on, front to back; the last one completes what is written.
// nullptr if the layout shuffles nothing. The sink outlives the result and is not committed by it.
std::unique_ptr<ByteSink> shuffling_sink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes,
                                         Layout layout, DType dtype);

}  // namespace btf

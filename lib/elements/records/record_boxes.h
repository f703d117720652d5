// Boxes of any record, dense or sparse, as its edits leave it.
#pragma once

#include <memory>

#include "btf/convert.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "core/edit_chain.h"
#include "elements/slab_io.h"
#include "formats/io/byte_source.h"

namespace btf {

// A dense record is read through `storage`, its own layout or
// that permuted, or without regard to it where there are edits. A COO record is read as if it were
// dense in `storage`: boxes must be contiguous there and come in ascending order, from the first
// on.
Result<std::unique_ptr<SlabReader>> open_slab_reader(
    const ByteSource& source, const TensorInfo& record, const EditChain& edits,
    const StridedLayout& storage, Duplicates duplicates, const Execution& execution);

}  // namespace btf

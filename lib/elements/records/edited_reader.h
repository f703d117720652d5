// Boxes of a dense record as a chain of edits leaves it.
#pragma once

#include <memory>
#include <span>

#include "btf/file.h"
#include "elements/records/edited_view.h"
#include "elements/slab_io.h"

namespace btf {

// The views are edited_views() of the record's storage; boxes are of the last one. Where that has a
// split dim, a box begins at a block or lies in one. Source and record must outlive the result.
std::unique_ptr<SlabReader> edited_reader(const ByteSource& source, const TensorInfo& record,
                                          std::span<const EditedView> views);

}  // namespace btf

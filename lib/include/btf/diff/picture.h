// A pair of tensors as a picture: what diff() compares, after scales and edits of dims.
#pragma once

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/inspect/picture.h"

namespace btf {

// actual | golden | error = actual - golden, of the numbers that diff() compares with these
// options. The first two share a scale, the error has one around 0, from blue over white to red.
// The part is of the dims as they are compared, which must be equal. Read are the part and gaps in
// it; of COO all entries.
BTF_API Result<DrawnTensor> draw_difference(const TensorFile& actual, const TensorFile& golden,
                                            const TensorPair& pair, const DiffOptions& options,
                                            const PictureOptions& picture = {});

}  // namespace btf

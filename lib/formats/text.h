// Numbers in text, as np.savetxt and tools of edge devices write them: one tensor, for which a spec
// gives the dtype. Read only.
#pragma once

#include <memory>

#include "formats/format.h"

namespace btf {

Result<bool> recognizes_text(const ByteSource& source, const OpenRequest& request);

// Returns true if the first thing after comments is a number.
bool begins_with_number(const ByteSource& source);

// Reads the whole text once to count its numbers.
Result<std::unique_ptr<TensorReader>> open_text(const ByteSource& source,
                                                const OpenRequest& request);

// Parses all numbers.
Status check_text(const TensorFile& file, const FindingSink& report);

}  // namespace btf

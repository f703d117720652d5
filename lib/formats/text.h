// Numbers in text, as np.savetxt and the tools of edge devices write them: one tensor, of which a
// spec says that it is text and of which type. Read only.
#pragma once

#include <memory>

#include "formats/format.h"

namespace btf {

Result<bool> recognizes_text(const ByteSource& source, const OpenRequest& request);

// Is a number the first that it holds, behind comments?
bool begins_with_number(const ByteSource& source);

// Goes through all of the text once to count its numbers.
Result<std::unique_ptr<TensorReader>> open_text(const ByteSource& source,
                                                const OpenRequest& request);

// Reads all numbers.
Status check_text(const TensorFile& file, const FindingSink& report);

}  // namespace btf

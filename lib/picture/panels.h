// Two parts and their difference, side by side: actual | golden | error.
#pragma once

#include "btf/inspect/picture.h"
#include "picture/numbers.h"

namespace btf {

// Parts of as many tiles, rows and columns. The facts count what the errors are.
Result<DrawnTensor> draw_panels(const PartNumbers& actual, const PartNumbers& golden,
                                const PartNumbers& error, const PictureOptions& options);

}  // namespace btf

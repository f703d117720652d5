// JSON of Polygraphy: what "polygraphy run --save-outputs" and "--save-inputs" write.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

Result<bool> recognizes_polygraphy(const ByteSource& source, const OpenRequest& request);

// A spec gives the dtype of arrays whose own type only has a width.
Result<std::unique_ptr<TensorReader>> open_polygraphy(const ByteSource& source,
                                                      const OpenRequest& request);

// Reads all arrays, since only that verifies that their text is base64.
Status check_polygraphy(const TensorFile& file, const FindingSink& report);

// Writers for "polygraphy run --load-outputs" and for --load-inputs.
std::unique_ptr<TensorWriter> polygraphy_outputs_writer(const WriteRequest& request);
std::unique_ptr<TensorWriter> polygraphy_inputs_writer(const WriteRequest& request);

}  // namespace btf

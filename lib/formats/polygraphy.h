// JSON of Polygraphy: what "polygraphy run --save-outputs" and "--save-inputs" write.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

Result<bool> recognizes_polygraphy(const ByteSource& source, const OpenRequest& request);

// A spec tells the dtype of those arrays whose own says only how wide they are.
Result<std::unique_ptr<TensorReader>> open_polygraphy(const ByteSource& source,
                                                      const OpenRequest& request);

// Reads all arrays: only so their text is known to be base64.
Status check_polygraphy(const TensorFile& file, const FindingSink& report);

// For "polygraphy run --load-outputs", and for --load-inputs.
std::unique_ptr<TensorWriter> polygraphy_outputs_writer(const WriteRequest& request);
std::unique_ptr<TensorWriter> polygraphy_inputs_writer(const WriteRequest& request);

}  // namespace btf

// GGUF: the tensors of a language model behind a header of keys and values. Read only.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

Result<bool> recognizes_gguf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_gguf(const ByteSource& source,
                                                const OpenRequest& request);
Status check_gguf(const TensorFile& file, const FindingSink& report);

Result<bool> begins_as_gguf(const ByteSource& beginning);
std::unique_ptr<StreamBound> gguf_bound();

}  // namespace btf

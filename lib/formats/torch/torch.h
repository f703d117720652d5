// What torch.save writes since PyTorch 1.6: ".pt", ".pth", ".bin". Read only.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

// A zip file with a member "NAME/data.pkl".
Result<bool> recognizes_torch(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_torch(const ByteSource& source,
                                                 const OpenRequest& request);
Status check_torch(const TensorFile& file, const FindingSink& report);

}  // namespace btf

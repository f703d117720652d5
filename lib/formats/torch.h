// Files of torch.save since PyTorch 1.6: ".pt", ".pth", ".bin". Read only.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

inline constexpr std::string_view kTorchPickleMember = "/data.pkl";

// Recognises a zip file with a member "NAME/data.pkl". An error for checkpoints of
// torch.distributed, whose parts may look like one.
Result<bool> recognizes_torch(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_torch(const ByteSource& source,
                                                 const OpenRequest& request);
Status check_torch(const TensorFile& file, const FindingSink& report);

}  // namespace btf

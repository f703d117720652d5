// Checks shared by operations on single records.
#pragma once

#include <span>
#include <vector>

#include "btf/read.h"
#include "formats/io/byte_source.h"

namespace btf {

// Refuses a record whose dtype or layout is unknown.
Status check_known(const TensorInfo& record);

Result<std::vector<Element>> elements_at(const ByteSource& source, const TensorInfo& tensor,
                                         std::span<const Dims> indices);

}  // namespace btf

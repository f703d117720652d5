// Errors and oddities in the name table of a BTF file.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/file.h"
#include "btf/validate.h"

namespace btf {

// Where the table begins, if there is one, be it unusable.
Result<std::optional<std::uint64_t>> check_names(const TensorFile& file, const FindingSink& report);

// Bytes that belong to no record and follow the last one, from `offset` on.
Status report_trailing_bytes(const TensorFile& file, std::uint64_t offset,
                             const FindingSink& report);

}  // namespace btf

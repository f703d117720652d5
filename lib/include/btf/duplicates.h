// The value of an index that occurs more than once in a COO record.
#pragma once

#include <cstdint>
#include <span>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

enum class Duplicates : std::uint8_t { error, sum, first, last };

BTF_API std::span<const Named<Duplicates>> duplicates_names();

}  // namespace btf

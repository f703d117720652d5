// Sorting COO entries in bounded memory.
#pragma once

#include <cstdint>
#include <memory>

#include "elements/coo.h"

namespace btf {

// All `count` entries. Sorted runs of at most `memory` bytes; more than one go to an unlinked file
// and are merged.
Result<std::unique_ptr<CooSource>> sort_entries(CooSource& entries, std::uint64_t count,
                                                std::uint64_t memory);

}  // namespace btf

// Slabs over threads. Which thread takes which slab is left open, so whatever a slab produces must
// not depend on it.
#pragma once

#include <cstdint>
#include <functional>

#include "btf/error.h"
#include "btf/execution.h"

namespace btf {

// Threads for `slabs` pieces of work of `bytes` bytes in all: small work starts none.
unsigned worker_count(const Execution& execution, std::uint64_t slabs, std::uint64_t bytes);

// The most bytes of a slab on either side when so many workers have buffers for both.
std::uint64_t most_slab_bytes(const Execution& execution, unsigned workers);

// For loops of their own: an error once the caller has asked to stop.
Status check_cancelled(const Execution& execution);

// Calls work(worker, slab) once for every slab, ascending within a worker. One worker means the
// calling thread and ascending order over all. The error of the lowest slab is returned: the answer
// is the same for every number of workers.
Status for_each_slab(const Execution& execution, unsigned workers, std::uint64_t slabs,
                     const std::function<Status(unsigned worker, std::uint64_t slab)>& work);

}  // namespace btf

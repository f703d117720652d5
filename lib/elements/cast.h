// Slabs of elements moved and cast on threads, in row-major order, into nibbles, or shuffled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layout.h"
#include "core/resources.h"
#include "elements/slabs.h"
#include "formats/io/output.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/stats/stats.h"

namespace btf {

// Boxes whose elements stand side by side in row-major order.

Mapping row_major(const Dims& counts);

// The slab itself if it is so already, else a copy in `buffer`.
SourceSlab in_row_major(const SourceSlab& slab, const Dims& counts, DType dtype, Buffer& buffer);

// How 4-bit elements get out of memory, two to a byte and by several workers. Slabs begin and end
// wherever the dims let them, in the middle of a byte too.

// The bytes of a tensor whose two codes come from two slabs: who brings the second one writes the
// byte, so that every byte is written once and by one worker.
class NibbleSeams {
 public:
  // The whole byte if its other code is here already. Each code comes once, the other one being 0.
  std::optional<std::byte> join(std::uint64_t byte, std::byte code);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::byte> waiting_;  // about two for each worker
};

// All writers of a tensor share `seams`, which outlive them. Boxes must be contiguous in the
// layout; where they come in order, what is written is in order too.
std::unique_ptr<SlabWriter> nibble_file_writer(ByteSink& sink, std::uint64_t data_offset,
                                               const StridedLayout& storage, NibbleSeams& seams);

// `stream`: the target is larger than the caches.
std::unique_ptr<SlabWriter> nibble_memory_writer(std::byte* data, const StridedLayout& storage,
                                                 bool stream, NibbleSeams& seams);

// Takes elements and writes them with their bytes shuffled, as a layout wants it.

// `bytes` of elements from byte `first` on, front to back; the last one completes what is written.
// nullptr if the layout shuffles nothing. The sink outlives the result and is not committed by it.
std::unique_ptr<ByteSink> shuffling_sink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes,
                                         Layout layout, DType dtype);

// Carries the elements of one box from one slab to another.

// Casts and rearranges every element of a box with these counts, and adds it to the account.
void cast_slab(const CastJob& job, std::span<const std::uint64_t> counts, const SourceSlab& source,
               const TargetSlab& target, LossAccount& account);

// A box of a tensor with these dims, and of its elements those whose row-major number is a multiple
// of `step`.
struct SampledBox {
  const Box& box;
  std::span<const std::uint64_t> dims;
  std::uint64_t step = 1;
};

// The noise of a box that was cast.
void slab_noise(const CastJob& job, const SampledBox& sampled, const SourceSlab& source,
                const TargetSlab& target, Noise& noise);

// Does the policy forbid what the account says?
bool forbidden(const CastPolicy& policy, const LossAccount& account);

// The first element of the box, row-major, that the policy forbids, as an error that names it.
std::unexpected<Error> refuse(const CastJob& job, const Box& box, const SourceSlab& source);

// " overflows ", " is not exact in ": the words between an element with this account and its dtype.
const char* what_is_lost(const LossAccount& one);

// The same as refuse() for one element, wherever it was found; `one` is its account.
std::unexpected<Error> refuse_element(const CastJob& job, std::span<const std::uint64_t> index,
                                      const std::byte* element, const LossAccount& one);

// n elements that stand side by side on both sides.
void cast_run(const CastJob& job, const std::byte* source, std::byte* target, std::uint64_t n,
              LossAccount& account);

// Slabs over threads. Which thread takes which slab is left open, so whatever a slab produces must
// not depend on it.

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

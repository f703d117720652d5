// Casts slabs of elements, writes them as nibbles or shuffled, and distributes slabs over threads.
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

// The strides of a box whose elements are stored in row-major order without gaps.
Mapping row_major(const Dims& counts);

// The slab itself if it is in row-major order already, otherwise a copy in `buffer`.
SourceSlab in_row_major(const SourceSlab& slab, const Dims& counts, DType dtype, Buffer& buffer);

// Joins the bytes of a tensor of 4-bit elements whose two codes are in different slabs. The worker
// with the second code writes the byte, so that every byte is written once.
class NibbleSeams {
 public:
  // `code`: a byte in which the other code is 0. Returns the whole byte if the other code has been
  // passed before. Each code must be passed once.
  std::optional<std::byte> join(std::uint64_t byte, std::byte code);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::byte> waiting_;  // about two for each worker
};

// Writers for 4-bit elements. All writers of a tensor share `seams`, which must outlive them. Boxes
// must be contiguous in the layout; if they come in order, so do the writes.
std::unique_ptr<SlabWriter> nibble_file_writer(ByteSink& sink, std::uint64_t data_offset,
                                               const StridedLayout& storage, NibbleSeams& seams);

// `stream`: bypass the caches, for a target that is larger than these.
std::unique_ptr<SlabWriter> nibble_memory_writer(std::byte* data, const StridedLayout& storage,
                                                 bool stream, NibbleSeams& seams);

// A sink that shuffles the bytes of elements as the layout requires, or nullptr if the layout does
// not shuffle. It takes `bytes` bytes of elements from offset `first` on, front to back. `sink`
// must outlive the result, which does not commit it.
std::unique_ptr<ByteSink> shuffling_sink(ByteSink& sink, std::uint64_t first, std::uint64_t bytes,
                                         Layout layout, DType dtype);

// Casts and rearranges the elements of a box with these counts from one slab to another, and adds
// them to the account.
void cast_slab(const CastJob& job, std::span<const std::uint64_t> counts, const SourceSlab& source,
               const TargetSlab& target, LossAccount& account);

// The elements of a box of a tensor with these dims whose row-major index is a multiple of `step`.
struct SampledBox {
  const Box& box;
  std::span<const std::uint64_t> dims;
  std::uint64_t step = 1;
};

// Adds the noise of a box that was cast.
void slab_noise(const CastJob& job, const SampledBox& sampled, const SourceSlab& source,
                const TargetSlab& target, Noise& noise);

// Returns true if the policy forbids the losses in the account.
bool forbidden(const CastPolicy& policy, const LossAccount& account);

// The error for the first element of the box, in row-major order, whose loss the policy forbids.
std::unexpected<Error> refuse(const CastJob& job, const Box& box, const SourceSlab& source);

// The words of an error between an element with this account and its dtype: " overflows ".
const char* loss_words(const LossAccount& one);

// The same error for a given element; `one` is its account.
std::unexpected<Error> refuse_element(const CastJob& job, std::span<const std::uint64_t> index,
                                      const std::byte* element, const LossAccount& one);

// Casts n elements that are contiguous on both sides.
void cast_run(const CastJob& job, const std::byte* source, std::byte* target, std::uint64_t n,
              LossAccount& account);

// The number of threads for `slabs` pieces of work of `bytes` bytes in all: 1 for small work.
unsigned worker_count(const Execution& execution, std::uint64_t slabs, std::uint64_t bytes);

// The largest size of a slab, in bytes, if each of the workers has a buffer for both sides.
std::uint64_t max_slab_bytes(const Execution& execution, unsigned workers);

// Fails once the caller has cancelled; for loops other than for_each_slab().
Status check_cancelled(const Execution& execution);

// Calls work(worker, slab) once for every slab, in ascending order within a worker; a single worker
// is the calling thread. Any thread may get any slab, so results must not depend on the worker.
// Returns the error of the lowest slab, so that it is the same for every number of workers.
Status for_each_slab(const Execution& execution, unsigned workers, std::uint64_t slabs,
                     const std::function<Status(unsigned worker, std::uint64_t slab)>& work);

}  // namespace btf

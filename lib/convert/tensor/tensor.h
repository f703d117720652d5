// One tensor from a source to a sink.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "btf/convert.h"
#include "convert/tensor/losses.h"
#include "convert/tensor/target.h"
#include "elements/slab_io.h"
#include "formats/io/byte_sink.h"
#include "formats/io/byte_source.h"

namespace btf {

struct TensorConversion {
  const ByteSource& source;
  const TensorInfo& record;
  const ConvertTarget& target;
  const ConvertOptions& options;

  // Whether the noise of all elements is asked for.
  bool measures_noise() const { return options.limits.snr.has_value(); }
};

// Where the elements of a dense target come from.
struct ElementSource {
  StridedLayout storage;           // what is read, for choosing slabs: dims of the target
  DType stored{};                  // its dtype
  DType dtype{};                   // of the elements that the readers give
  bool in_order = false;           // boxes must be contiguous and ascending in the target
  std::uint64_t last_granule = 1;  // see SlabLimits
  std::uint64_t slab_bytes = SlabLimits{}.bytes;
  std::uint64_t buffers = 1;  // of the size of a box, that a reader keeps
  std::uint64_t bytes = 0;  // of input
  std::uint64_t reported = 0;  // as progress, by who writes the elements
  bool accounted = false;   // the readers count elements and losses themselves
  bool noise = false;       // is to be measured
  std::uint64_t noise_step = 1;  // of every so many elements, in row-major order
  // A worker's own reader; what it loses goes to the account. Both outlived by this source.
  std::function<Result<std::unique_ptr<SlabReader>>(Losses&)> open;
};

// The elements of the record itself. `work` and what it refers to must outlive the result.
ElementSource record_elements(const TensorConversion& work);

// A tensor in memory, which must be there as long as the result is.
ElementSource memory_elements(const TensorView& view);

// Writes all elements, and zeros where there is padding, to memory: every element must have an
// offset of its own there, and 4-bit ones must leave no gaps.
Result<LossAccount> write_memory(const ElementSource& source, const CastPolicy& policy,
                                 const MutableTensorView& target, const Execution& execution);

// Is the stored array without gaps, but for padding?
bool packed(const StridedLayout& storage);

// The boxes in which a dense target is written; `in_order`: from front to back.
SlabGrid dense_slabs(const ElementSource& source, const StridedLayout& storage, DType dtype,
                     bool in_order, const Execution& execution);

// Writes the payload of a dense target.
Result<Losses> write_dense(const ElementSource& source, const CastPolicy& policy,
                           const StridedLayout& storage, DType dtype, const Execution& execution,
                           ByteSink& sink, std::uint64_t offset);

// The entries that a sparse result will have.
struct EntryCounts {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> by_slab{};  // of a dense source
};

Result<EntryCounts> count_entries(const TensorConversion& work);

// Writes the payload of a sparse target, which must have this many entries.
Result<Losses> write_coo(const TensorConversion& work, ByteSink& sink, std::uint64_t offset,
                         const EntryCounts& counts);

}  // namespace btf

// What a tensor becomes: only here do the options meet a record. Its losses, and the record without
// the packing of its codes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btf/cast.h"
#include "btf/convert.h"
#include "core/edit_chain.h"
#include "elements/slabs.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/stats/noise.h"

namespace btf {

struct Losses : LossAccount {
  std::optional<Noise> noise{};

  Losses() = default;
  explicit Losses(bool measure_noise) {
    if (measure_noise) noise.emplace();
  }

  using LossAccount::add;
  void add(const Losses& other) {
    LossAccount::add(other);
    if (noise && other.noise) noise->add(*other.noise);
  }
};

// The target of a tensor's conversion: only here do options meet a record.

// The target of a tensor's conversion: only here do options meet a record.

struct ConvertTarget {
  CastJob job;
  Layout layout{};
  EditChain edits;
  Dims dims;                             // logical, after the edits
  std::optional<StridedLayout> storage;  // dense targets
  std::optional<std::string> kept;
  std::vector<std::string> objections;

  bool sparse() const { return layout == Layout::coo; }
};

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options);

// The shape of the output's record; a sparse target has `nnz` entries.
Result<RecordShape> record_shape(const ConvertTarget& target, const ConvertOptions& options,
                                 std::uint64_t nnz);

// One tensor from a source to a sink.

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
  std::uint64_t buffers = 1;     // of the size of a box, that a reader keeps
  std::uint64_t bytes = 0;       // of input
  std::uint64_t reported = 0;    // as progress, by who writes the elements
  bool accounted = false;        // the readers count elements and losses themselves
  bool noise = false;            // is to be measured
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

// A record whose elements are wanted in another order than they are packed in: unpacked once, to a
// temporary file, where short pieces are read as from any file.

class UnpackedRecord {
 public:
  // Nothing where it is not worth it, or there is no room. `random_access`: has the sink that?
  static Result<std::optional<UnpackedRecord>> make(const TensorConversion& work,
                                                    bool random_access);

  // Instead of that of the file.
  const ByteSource& source() const { return *source_; }
  const TensorInfo& record() const { return record_; }

 private:
  UnpackedRecord(std::unique_ptr<ByteSource> source, TensorInfo record)
      : source_(std::move(source)), record_(std::move(record)) {}

  std::unique_ptr<ByteSource> source_;
  TensorInfo record_;
};

}  // namespace btf

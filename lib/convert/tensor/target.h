// What a tensor becomes: the only place where options are applied to a record. Also its losses, and
// records unpacked from compression.
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
#include "kernels/stats/stats.h"

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

// What a tensor is converted to.

struct ConvertTarget {
  CastJob job;
  Layout layout{};
  EditChain edits;
  Dims dims;                             // logical dims after the edits
  std::optional<StridedLayout> storage;  // for dense targets
  std::optional<std::string> kept;
  std::vector<std::string> objections;

  bool sparse() const { return layout == Layout::coo; }
};

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options);

// The shape of the output's record; a sparse target has `nnz` entries.
Result<RecordShape> record_shape(const ConvertTarget& target, const ConvertOptions& options,
                                 std::uint64_t nnz);

// One tensor of a source and its target.

struct TensorConversion {
  const ByteSource& source;
  const TensorInfo& record;
  const ConvertTarget& target;
  const ConvertOptions& options;

  // Returns true if the noise of all elements must be measured.
  bool measures_noise() const { return options.limits.snr.has_value(); }
};

// Supplies the elements of a dense target.
struct ElementSource {
  StridedLayout
      storage;  // storage that is read, with the dims of the target; decides how slabs are chosen
  DType stored{};                  // dtype of `storage`
  DType dtype{};                   // dtype of the elements that the readers return
  bool in_order = false;           // boxes must be contiguous and ascending in the target
  std::uint64_t last_granule = 1;  // see SlabLimits
  std::uint64_t slab_bytes = SlabLimits{}.bytes;
  std::uint64_t buffers = 1;     // number of box-sized buffers that a reader keeps
  std::uint64_t bytes = 0;       // bytes of input
  std::uint64_t reported = 0;    // bytes of progress that the writer of the elements reports
  bool accounted = false;        // the readers count elements and losses themselves
  bool noise = false;            // measure noise
  std::uint64_t noise_step = 1;  // sample every noise_step-th element in row-major order
  // Opens a reader for one worker, which adds its losses to the account. This source and the
  // account must outlive the reader.
  std::function<Result<std::unique_ptr<SlabReader>>(Losses&)> open;
};

// The elements of the record itself. `work` and everything it refers to must outlive the result.
ElementSource record_elements(const TensorConversion& work);

// The elements of a tensor in memory, which must outlive the result.
ElementSource memory_elements(const TensorView& view);

// Writes all elements to memory, and zeros to padding. Every element must have its own offset, and
// 4-bit elements must have no gaps.
Result<LossAccount> write_memory(const ElementSource& source, const CastPolicy& policy,
                                 const MutableTensorView& target, const Execution& execution);

// Returns true if the stored array has no gaps other than padding.
bool packed(const StridedLayout& storage);

// The boxes in which a dense target is written; with `in_order`, from front to back.
SlabGrid dense_slabs(const ElementSource& source, const StridedLayout& storage, DType dtype,
                     bool in_order, const Execution& execution);

// Writes the payload of a dense target.
Result<Losses> write_dense(const ElementSource& source, const CastPolicy& policy,
                           const StridedLayout& storage, DType dtype, const Execution& execution,
                           ByteSink& sink, std::uint64_t offset);

// The number of entries of a sparse result.
struct EntryCounts {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> by_slab{};  // of each slab of a dense source
};

Result<EntryCounts> count_entries(const TensorConversion& work);

// Writes the payload of a sparse target, which must have exactly these entries.
Result<Losses> write_coo(const TensorConversion& work, ByteSink& sink, std::uint64_t offset,
                         const EntryCounts& counts);

// A record whose elements are needed in another order than they are packed in: unpacked once to a
// temporary file, from which short pieces can be read cheaply.

class UnpackedRecord {
 public:
  // Unset if it is not worthwhile or if there is no room. `random_access` is that of the sink.
  static Result<std::optional<UnpackedRecord>> make(const TensorConversion& work,
                                                    bool random_access);

  // Replaces the source of the file.
  const ByteSource& source() const { return *source_; }
  const TensorInfo& record() const { return record_; }

 private:
  UnpackedRecord(std::unique_ptr<ByteSource> source, TensorInfo record)
      : source_(std::move(source)), record_(std::move(record)) {}

  std::unique_ptr<ByteSource> source_;
  TensorInfo record_;
};

}  // namespace btf

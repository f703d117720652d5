#include "convert/tensor/target.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/layout.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "elements/cast.h"
#include "elements/elements.h"
#include "formats/btf_writer.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

// Bytes written to the temporary file at once: whole frames and whole shuffled blocks.
constexpr std::uint64_t kChunk = 1U << 20;

// Elements that are closer together stay unpacked from one box to the next anyway.
constexpr std::uint64_t kMinSpan = 6U << 20;

// Pieces of this size or more unpack each frame once.
constexpr std::uint64_t kFramePiece = 1U << 20;

// Larger pieces of shuffled elements are nearly as cheap as plain ones.
constexpr std::uint64_t kShuffledPiece = 16U << 10;

class SpoolSource final : public ByteSource {
 public:
  explicit SpoolSource(Spool spool) : spool_(std::move(spool)) {}

  std::uint64_t size() const override { return spool_.size(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return spool_.read_at(offset, out);
  }
  Status check_unchanged() const override { return {}; }

 private:
  Spool spool_;
};

bool shuffled(const TensorInfo& record) { return spec(*record.layout).shuffled(); }

// Pieces smaller than this are expensive to read; 0 if none are.
std::uint64_t cheap_piece_bytes(const TensorConversion& work) {
  const TensorInfo& record = work.record;
  if (record.coo || !work.target.storage || !work.target.edits.keeps_all()) return 0;
  if (work.source.frame_count() > 0) return kFramePiece;
  return shuffled(record) ? kShuffledPiece : 0;
}

// Returns true if boxes are read in expensive pieces from all over the record.
bool reads_pieces(const TensorConversion& work, bool random_access) {
  const std::uint64_t dear = cheap_piece_bytes(work);
  if (dear == 0 || work.record.data_bytes < kMinSpan) return false;
  const ElementSource elements = record_elements(work);
  const SlabGrid grid = dense_slabs(elements, *work.target.storage, work.target.job.to,
                                    !random_access, work.options.execution);
  if (grid.count() < 2) return false;
  const Footprint box = footprint(elements.storage, grid.box(0));
  const std::uint64_t bytes = info(elements.stored).buffer_bytes();
  std::uint64_t span = box.run;
  for (const Footprint::Loop& loop : box.loops) span += (loop.count - 1) * loop.stride;
  return !box.contiguous() && box.run * bytes < dear && span * bytes >= kMinSpan;
}

// Reads the bytes of a record, unshuffled if needed.
class PieceReader {
 public:
  explicit PieceReader(const TensorConversion& work)
      : source_(work.source),
        offset_(work.record.data_offset),
        bytes_(info(*work.record.dtype).buffer_bytes()),
        elements_(work.source, work.record),
        shuffled_(shuffled(work.record)) {}

  Result<std::span<const std::byte>> read(std::uint64_t at, std::uint64_t count) {
    const std::span out(buffer_.reserve(count), count);
    BTF_TRY(shuffled_ ? elements_.read(at / bytes_, count / bytes_, out.data())
                      : source_.read_at(offset_ + at, out));
    return out;
  }

 private:
  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
  StoredElements elements_;
  bool shuffled_;
  Buffer buffer_;
};

// Returns false if there is not enough room.
Result<bool> unpack(const TensorConversion& work, Spool& spool) {
  const Execution& execution = work.options.execution;
  const std::uint64_t bytes = work.record.data_bytes;
  const std::uint64_t chunks = ceil_div(bytes, kChunk);
  std::vector<std::unique_ptr<PieceReader>> workers(worker_count(execution, chunks, bytes));
  for (auto& pieces : workers) pieces = std::make_unique<PieceReader>(work);
  std::atomic<bool> room = true;
  // Write the last byte first, so that threads can write anywhere before it.
  if (!spool.write_at(bytes - 1, std::array{std::byte{0}})) return false;
  BTF_TRY(for_each_slab(execution, static_cast<unsigned>(workers.size()), chunks,
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          if (!room) return {};
                          const std::uint64_t at = number * kChunk;
                          BTF_ASSIGN(const auto piece,
                                     workers[worker]->read(at, std::min(kChunk, bytes - at)));
                          if (!spool.write_at(at, piece)) room = false;
                          return {};
                        }));
  return room;
}

}  // namespace

Result<std::optional<UnpackedRecord>> UnpackedRecord::make(const TensorConversion& work,
                                                           bool random_access) {
  if (!reads_pieces(work, random_access) || Spool::room() < work.record.data_bytes)
    return std::nullopt;
  auto spool = Spool::create();
  if (!spool) return std::nullopt;
  BTF_ASSIGN(const bool unpacked, unpack(work, *spool));
  if (!unpacked) return std::nullopt;
  TensorInfo record = work.record;
  record.data_offset = 0;
  if (shuffled(record)) record.layout = Layout::linear;
  return UnpackedRecord(std::make_unique<SpoolSource>(*std::move(spool)), std::move(record));
}

namespace {

// The layout with or without shuffling, as wanted and as the dtype allows.
Layout shuffled_or_not(Layout layout, const ConvertOptions& options, DType dtype) {
  const LayoutSpec& row = spec(layout);
  const bool wanted = options.shuffle.value_or(row.shuffled()) && !options.plain;
  if (wanted && row.dense() && can_shuffle(dtype)) return Layout::shuffled;
  return row.shuffled() ? Layout::linear : layout;
}

// The dtype of the result if the options do not set one.
DType quantized_dtype(const Quantization& quantization, DType source) {
  if (quantization.dequantize) return can_scale(source) ? DType::float32 : source;
  return quantization.block ? info(*quantization.block).element : source;
}

}  // namespace

Result<ConvertTarget> choose_target(const TensorInfo& source, const ConvertOptions& options) {
  BTF_TRY(check_known(source));
  ConvertTarget target;
  target.job = {*source.dtype,
                options.dtype.value_or(quantized_dtype(options.quantization, *source.dtype)),
                options.policy};
  BTF_TRY(check_policy(target.job.from, target.job.to, options.policy));
  BTF_ASSIGN(target.edits, EditChain::make(source.dims, options.edits));
  target.dims = target.edits.empty() ? source.dims : target.edits.steps().back().to;
  target.layout = shuffled_or_not(options.layout.value_or(*source.layout), options, target.job.to);
  if (options.spec) {
    if (options.spec->storage->dims != target.dims)
      return fail(ErrorCode::refused, "the spec of the output says " +
                                          dims_text(options.spec->storage->dims) +
                                          ", the tensor has " + dims_text(target.dims));
    if (options.spec->strided) {
      BTF_ASSIGN(target.storage, with_padding(*options.spec->storage, target.job.to));
      return target;
    }
  }
  if (target.sparse()) return target;

  auto resolved = resolve(target.layout, target.dims, target.job.to);
  if (!resolved && options.where_possible && options.layout) {
    target.kept = resolved.error().message;
    target.layout = shuffled_or_not(*source.layout, options, target.job.to);
    if (target.sparse()) return target;
    resolved = resolve(target.layout, target.dims, target.job.to);
  }
  if (!resolved) {
    // A result that is too large for 64 bits is not an error in the input file.
    const Error& error = resolved.error();
    if (error.code == ErrorCode::malformed) return fail(ErrorCode::no_space, error.message);
    return std::unexpected(error);
  }
  target.storage = *std::move(resolved);
  for (auto objection : {tensorrt_objection(target.layout, target.job.to),
                         tensorrt_objection(target.layout, target.dims)})
    if (objection) target.objections.push_back(*std::move(objection));
  return target;
}

Result<RecordShape> record_shape(const ConvertTarget& target, const ConvertOptions& options,
                                 std::uint64_t nnz) {
  const unsigned bits = info(target.job.to).bits;
  RecordShape record{.dtype = target.job.to,
                     .layout_code = spec(target.layout).code(),
                     .dims = target.dims,
                     .payload = 0};
  Checked payload;
  if (target.sparse()) {
    record.layout_code = options.coo_code.value_or(kCooCodeSpec);
    payload = coo_payload_bytes(nnz, target.dims.size(), bits);
  } else {
    payload = stream_bytes(target.storage->storage_elements, bits);
    if (options.plain) {
      record.layout_code = spec(Layout::linear).code();
      record.dims = target.storage->storage_shape();
    }
  }
  if (!payload) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
  record.payload = *payload;
  return record;
}

}  // namespace btf

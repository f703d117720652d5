#include "convert/tensor/unpacked_record.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "elements/parallel.h"
#include "elements/stored_elements.h"
#include "formats/io/spool.h"

namespace btf {
namespace {

// Bytes written to the temporary file at once: whole frames and whole shuffled blocks.
constexpr std::uint64_t kChunk = 1U << 20;

// Elements no further apart stay unpacked from one box to the next anyway.
constexpr std::uint64_t kLeastSpan = 6U << 20;
// Pieces as large as a frame are unpacked once each.
constexpr std::uint64_t kFramePiece = 1U << 20;
// Larger pieces of shuffled elements cost little more than others.
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

// Below which size pieces are dear; 0: none is.
std::uint64_t dear_piece(const TensorConversion& work) {
  const TensorInfo& record = work.record;
  if (record.coo || !work.target.storage || !work.target.edits.keeps_all()) return 0;
  if (work.source.frame_count() > 0) return kFramePiece;
  return shuffled(record) ? kShuffledPiece : 0;
}

// Are boxes read in such pieces from all over the record?
bool reads_pieces(const TensorConversion& work, bool random_access) {
  const std::uint64_t dear = dear_piece(work);
  if (dear == 0 || work.record.data_bytes < kLeastSpan) return false;
  const ElementSource elements = record_elements(work);
  const SlabGrid grid = dense_slabs(elements, *work.target.storage, work.target.job.to,
                                    !random_access, work.options.execution);
  if (grid.count() < 2) return false;
  const Footprint box = footprint(elements.storage, grid.box(0));
  const std::uint64_t bytes = info(elements.stored).buffer_bytes();
  std::uint64_t span = box.run;
  for (const Footprint::Loop& loop : box.loops) span += (loop.count - 1) * loop.stride;
  return !box.contiguous() && box.run * bytes < dear && span * bytes >= kLeastSpan;
}

// Bytes as they are, or elements put together again.
class Pieces {
 public:
  explicit Pieces(const TensorConversion& work)
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

// False: there is no room.
Result<bool> unpack(const TensorConversion& work, Spool& spool) {
  const Execution& execution = work.options.execution;
  const std::uint64_t bytes = work.record.data_bytes;
  const std::uint64_t chunks = ceil_div(bytes, kChunk);
  std::vector<std::unique_ptr<Pieces>> workers(worker_count(execution, chunks, bytes));
  for (auto& pieces : workers) pieces = std::make_unique<Pieces>(work);
  std::atomic<bool> room = true;
  // The last byte first: threads may write what is inside.
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

}  // namespace btf

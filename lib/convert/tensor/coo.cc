// Conversions whose target is COO.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/tensor/coo_cast.h"
#include "convert/tensor/tensor.h"
#include "core/checked_math.h"
#include "elements/cast_slab.h"
#include "elements/coo.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using wire::kWord;

constexpr std::uint64_t kBlockBytes = 256U << 10;
constexpr std::uint64_t kCancelInterval = 1U << 20;  // entries

// How many bytes come before the first that is not zero.
std::uint64_t zero_bytes(const std::byte* bytes, std::uint64_t count) {
  const auto word = [&](std::uint64_t at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes + at, sizeof(bits));
    return bits;
  };
  std::uint64_t at = 0;
  while (at + 32 <= count && (word(at) | word(at + 8) | word(at + 16) | word(at + 24)) == 0)
    at += 32;
  while (at + 8 <= count && word(at) == 0) at += 8;
  while (at < count && bytes[at] == std::byte{0}) ++at;
  return at;
}

// The elements of a dense tensor whose bits are not all zero once they are cast, as entries whose
// codes are of the target's dtype already.
class DenseEntries final : public CooSource {
 public:
  DenseEntries(LinearWalk walk, const CastJob& job, Dims dims, const Execution& execution,
               bool measure_noise)
      : walk_(std::move(walk)),
        job_(job),
        dims_(std::move(dims)),
        execution_(execution),
        account_(measure_noise),
        source_bytes_(info(job.from).buffer_bytes()),
        target_bytes_(info(job.to).buffer_bytes()) {}

  Result<std::optional<CooEntry>> next() override {
    for (;;) {
      at_ += zero_bytes(codes_.data() + at_ * target_bytes_, (slab_.count - at_) * target_bytes_) /
             target_bytes_;
      if (at_ < slab_.count) {
        std::uint64_t code = 0;
        std::memcpy(&code, codes_.data() + at_ * target_bytes_, target_bytes_);
        const std::uint64_t key = slab_.first + at_++;
        return CooEntry{key, key, code};
      }
      BTF_ASSIGN(const std::optional<LinearSlab> slab, walk_.next());
      if (!slab) return std::nullopt;
      BTF_TRY(cast(*slab));
    }
  }

  Status rewind() override {
    slab_ = {};
    at_ = 0;
    account_ = Losses(account_.noise.has_value());
    return walk_.rewind();
  }

  const Losses& account() const { return account_; }

 private:
  Status cast(const LinearSlab& slab) {
    slab_ = slab;
    at_ = 0;
    LossAccount account;
    cast_run(job_, slab.codes, codes_.reserve(slab.count * target_bytes_), slab.count, account);
    if (forbidden(job_.policy, account)) return refuse_in(slab);
    account_.add(account);
    if (account_.noise && job_.from != job_.to)
      measure_noise(job_.from, job_.to,
                    {.source = slab.codes, .target = codes_.data(), .n = slab.count},
                    *account_.noise);
    if (execution_.progress) execution_.progress(coo_progress(slab.count * source_bytes_));
    return {};
  }

  std::unexpected<Error> refuse_in(const LinearSlab& slab) {
    LossAccount one;
    std::uint64_t i = 0;
    for (; i < slab.count; ++i) {
      cast_run(job_, slab.codes + i * source_bytes_, codes_.data(), 1, one);
      if (forbidden(job_.policy, one)) break;
    }
    return refuse_element(job_, index_of(dims_, slab.first + i), slab.codes + i * source_bytes_,
                          one);
  }

  LinearWalk walk_;
  CastJob job_;
  Dims dims_;
  const Execution& execution_;
  Losses account_;
  std::uint64_t source_bytes_;
  std::uint64_t target_bytes_;
  LinearSlab slab_;
  std::uint64_t at_ = 0;
  Buffer codes_;
};

// Leaves out what is zero once it is cast.
class PrunedEntries final : public CooSource {
 public:
  explicit PrunedEntries(CooSource& entries) : entries_(entries) {}

  Result<std::optional<CooEntry>> next() override {
    for (;;) {
      BTF_ASSIGN(std::optional<CooEntry> entry, entries_.next());
      if (!entry || entry->code != 0) return entry;
    }
  }

  Status rewind() override { return entries_.rewind(); }

 private:
  CooSource& entries_;
};

// The entries of the result in canonical order, and what casting them lost.
class Entries {
 public:
  static Result<Entries> open(const TensorConversion& work) {
    Entries entries;
    const Dims& dims = work.target.dims;
    if (!work.record.coo) {
      BTF_ASSIGN(LinearWalk walk, LinearWalk::open(work.source, work.record, work.target.edits,
                                                   work.options.execution));
      entries.dense_ = std::make_unique<DenseEntries>(std::move(walk), work.target.job, dims,
                                                      work.options.execution,
                                                      work.measures_noise());
      return entries;
    }
    BTF_ASSIGN(entries.cast_, CastEntries::open(work, row_major_key(dims)));
    if (work.options.prune_zeros)
      entries.pruned_ = std::make_unique<PrunedEntries>(*entries.cast_);
    return entries;
  }

  CooSource& source() {
    if (dense_) return *dense_;
    return pruned_ ? static_cast<CooSource&>(*pruned_) : *cast_;
  }

  Losses take_account() { return dense_ ? dense_->account() : cast_->take_account(); }

 private:
  std::unique_ptr<DenseEntries> dense_;
  std::unique_ptr<CastEntries> cast_;
  std::unique_ptr<PrunedEntries> pruned_;
};

// Collects small pieces that follow on one another into large writes.
class Appender {
 public:
  Appender(ByteSink& sink, std::uint64_t offset, const Execution& execution)
      : sink_(sink), offset_(offset), execution_(execution) {
    bytes_.reserve(kBlockBytes);
  }

  Status put(std::span<const std::byte> piece) {
    if (bytes_.size() + piece.size() > kBlockBytes) BTF_TRY(flush());
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return {};
  }

  // See ByteSink.
  Status begin_piece(std::uint64_t bytes) {
    BTF_TRY(flush());
    return sink_.begin_piece(bytes);
  }

  Status put_word(std::uint64_t word) {
    std::array<std::byte, kWord> piece;
    wire::store_u64(piece.data(), word);
    return put(piece);
  }

  Status flush() {
    BTF_TRY(check_cancelled(execution_));
    BTF_TRY(sink_.write_at(offset_, bytes_));
    offset_ += bytes_.size();
    bytes_.clear();
    return {};
  }

 private:
  ByteSink& sink_;
  std::uint64_t offset_;
  const Execution& execution_;
  std::vector<std::byte> bytes_;
};

Status put_indices(CooSource& entries, const Dims& dims, std::uint64_t nnz, Appender& out) {
  std::uint64_t count = 0;
  for (;; ++count) {
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries.next());
    if (!entry) break;
    for (const std::uint64_t index : index_of(dims, entry->key)) BTF_TRY(out.put_word(index));
  }
  if (count != nnz) return fail(ErrorCode::io, "the file was changed while it was read");
  return {};
}

Status put_values(CooSource& entries, DType dtype, Appender& out) {
  const unsigned bits = info(dtype).bits;
  std::uint64_t pending = 0;  // the low nibble that waits for a high one
  bool half = false;
  for (;;) {
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries.next());
    if (!entry) break;
    std::uint64_t code = entry->code;
    if (bits < 8) {
      half = !half;
      if (half) {
        pending = code;
        continue;
      }
      code = pending | code << 4;
    }
    BTF_TRY(out.put(std::as_bytes(std::span(&code, 1)).first(bits < 8 ? 1 : bits / 8)));
  }
  if (half) BTF_TRY(out.put(std::as_bytes(std::span(&pending, 1)).first(1)));
  return {};
}

}  // namespace

Result<std::uint64_t> count_entries(const TensorConversion& work) {
  const bool as_they_are = work.record.coo && !work.options.prune_zeros &&
                           work.options.duplicates == Duplicates::error &&
                           work.target.edits.keeps_all();
  if (as_they_are) return work.record.coo->nnz;
  BTF_ASSIGN(Entries entries, Entries::open(work));
  for (std::uint64_t count = 0;; ++count) {
    if (count % kCancelInterval == 0) BTF_TRY(check_cancelled(work.options.execution));
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries.source().next());
    if (!entry) return count;
  }
}

namespace {

// Elements that a COO tensor does not store are zero bits, and stay that. Where those are another
// value in the result, that is a loss like any other.
Status add_absent(const TensorConversion& work, Losses& losses) {
  if (!work.record.coo) return {};
  const double before = value_double(work.target.job.from, 0);
  const double after = value_double(work.target.job.to, 0);
  if (before == after) return {};
  AbsentElement absent;
  absent.one.elements = 1;
  (after == 0 ? absent.one.to_zero : absent.one.inexact) = 1;
  absent.one.max_abs = std::abs(after - before);
  absent.one.max_rel = before == 0 ? 0 : absent.one.max_abs / before;
  return account_for_absent(work.target.job, absent,
                            *element_count(work.target.dims) - losses.elements, losses);
}

}  // namespace

Result<Losses> write_coo(const TensorConversion& work, ByteSink& sink, std::uint64_t offset,
                         std::uint64_t nnz) {
  BTF_ASSIGN(Entries entries, Entries::open(work));
  Appender out(sink, offset, work.options.execution);
  const std::size_t rank = work.target.dims.size();
  BTF_TRY(out.begin_piece(2 * kWord));
  BTF_TRY(out.put_word(nnz));
  BTF_TRY(out.put_word(rank));
  BTF_TRY(out.begin_piece(nnz * rank * kWord));
  BTF_TRY(put_indices(entries.source(), work.target.dims, nnz, out));
  BTF_TRY(out.begin_piece(kWord));
  BTF_TRY(out.put_word(nnz));
  BTF_TRY(out.begin_piece(*stream_bytes(nnz, info(work.target.job.to).bits)));
  BTF_TRY(entries.source().rewind());
  BTF_TRY(put_values(entries.source(), work.target.job.to, out));
  BTF_TRY(out.flush());
  Losses losses = entries.take_account();
  BTF_TRY(add_absent(work, losses));
  return losses;
}

}  // namespace btf

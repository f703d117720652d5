// Conversions whose target is COO.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/tensor/coo_cast.h"
#include "convert/tensor/tensor.h"
#include "core/checked_math.h"
#include "elements/cast_slab.h"
#include "elements/coo_record.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using wire::kWord;

constexpr std::uint64_t kBlockBytes = 256U << 10;

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
        target_bytes_(info(job.to).buffer_bytes()),
        batch_(target_bytes_) {}

  Result<CooRun> next_run() override {
    batch_.clear();
    for (;;) {
      collect();
      if (batch_.full()) return batch_.run();
      BTF_ASSIGN(const std::optional<LinearSlab> slab, walk_.next());
      if (!slab) return batch_.run();
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
  // Of what is left of the slab, as far as there is room.
  void collect() {
    while (!batch_.full()) {
      at_ += zero_bytes(codes_.data() + at_ * target_bytes_, (slab_.count - at_) * target_bytes_) /
             target_bytes_;
      if (at_ == slab_.count) return;
      CooEntry entry{slab_.first + at_, slab_.first + at_, 0};
      std::memcpy(&entry.code, codes_.data() + at_ * target_bytes_, target_bytes_);
      batch_.add(entry);
      ++at_;
    }
  }

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
  CooBatch batch_;
};

// Leaves out what is zero once it is cast.
class PrunedEntries final : public CooSource {
 public:
  explicit PrunedEntries(CooSource& entries) : entries_(entries) {}

  Result<CooRun> next_run() override {
    for (;;) {
      BTF_ASSIGN(const CooRun run, entries_.next_run());
      if (run.count == 0) return run;
      keys_.clear();
      std::byte* const codes = codes_.reserve(run.count * run.code_bytes);
      for (std::uint64_t i = 0; i < run.count; ++i) {
        const CooEntry entry = run[i];
        if (entry.code == 0) continue;
        std::memcpy(codes + keys_.size() * run.code_bytes, &entry.code, run.code_bytes);
        keys_.push_back(entry.key);
      }
      // Where they stood in the file nobody asks.
      if (!keys_.empty()) return CooRun{keys_.size(), keys_.data(), codes, run.code_bytes};
    }
  }

  Status rewind() override { return entries_.rewind(); }

 private:
  CooSource& entries_;
  std::vector<std::uint64_t> keys_;
  Buffer codes_;
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

// The index of one number after the other, ascending: most are but a little further on.
class AscendingIndex {
 public:
  explicit AscendingIndex(const Dims& dims) : dims_(dims), index_(dims.size(), 0) {}

  const Dims& at(std::uint64_t number) {
    std::uint64_t further = number - std::exchange(number_, number);
    for (std::size_t d = dims_.size(); further != 0 && d-- > 0;) {
      further += index_[d];
      index_[d] = further;
      if (further < dims_[d]) return index_;
      index_[d] = further % dims_[d];
      further /= dims_[d];
    }
    return index_;
  }

 private:
  const Dims& dims_;
  std::uint64_t number_ = 0;
  Dims index_;  // of it
};

// Indices of entries, run by run.
class IndexRows {
 public:
  explicit IndexRows(const Dims& dims) : index_(dims), row_(dims.size() * kWord) {}

  Status put(const CooRun& run, Appender& out) {
    rows_.resize(run.count * row_);
    std::byte* at = rows_.data();
    for (std::uint64_t i = 0; i < run.count; ++i)
      for (const std::uint64_t one : index_.at(run.keys[i])) {
        wire::store_u64(at, one);
        at += kWord;
      }
    return out.put(rows_);
  }

 private:
  AscendingIndex index_;
  std::uint64_t row_;
  std::vector<std::byte> rows_;
};

// Values of entries, run by run; 4-bit codes two to a byte, whatever their runs.
class Values {
 public:
  explicit Values(DType dtype) : nibbles_(info(dtype).bits < 8) {}

  Status put(const CooRun& run, Appender& out) {
    if (!nibbles_) return out.put({run.codes, run.count * run.code_bytes});
    packed_.clear();
    for (std::uint64_t i = 0; i < run.count; ++i) {
      half_ = !half_;
      if (half_)
        low_ = *run.code(i);
      else
        packed_.push_back(low_ | *run.code(i) << 4);
    }
    return out.put(packed_);
  }

  Status finish(Appender& out) const { return half_ ? out.put({&low_, 1}) : Status{}; }

 private:
  bool nibbles_;
  std::vector<std::byte> packed_;
  std::byte low_{};  // waits for a high one
  bool half_ = false;
};

// put(run) for all runs; an error if they are not `nnz` entries.
template <typename Put>
Status put_entries(CooSource& entries, std::uint64_t nnz, Put&& put) {
  std::uint64_t count = 0;
  for (;;) {
    BTF_ASSIGN(const CooRun run, entries.next_run());
    count += run.count;
    if (count > nnz || (run.count == 0 && count != nnz))
      return fail(ErrorCode::io, "the file was changed while it was read");
    if (run.count == 0) return {};
    BTF_TRY(put(run));
  }
}

}  // namespace

Result<std::uint64_t> count_entries(const TensorConversion& work) {
  const bool as_they_are = work.record.coo && !work.options.prune_zeros &&
                           work.options.duplicates == Duplicates::error &&
                           work.target.edits.keeps_all();
  if (as_they_are) return work.record.coo->nnz;
  BTF_ASSIGN(Entries entries, Entries::open(work));
  for (std::uint64_t count = 0;;) {
    BTF_TRY(check_cancelled(work.options.execution));
    BTF_ASSIGN(const CooRun run, entries.source().next_run());
    if (run.count == 0) return count;
    count += run.count;
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
  const Execution& execution = work.options.execution;
  const DType dtype = work.target.job.to;
  const std::size_t rank = work.target.dims.size();
  IndexRows indices(work.target.dims);
  Values values(dtype);
  Appender out(sink, offset, execution);
  BTF_TRY(out.begin_piece(2 * kWord));
  BTF_TRY(out.put_word(nnz));
  BTF_TRY(out.put_word(rank));
  BTF_TRY(out.begin_piece(nnz * rank * kWord));
  if (sink.random_access()) {
    // Both in one walk, which costs more than what is written.
    Appender behind(sink, offset + (2 + nnz * rank) * kWord, execution);
    BTF_TRY(behind.put_word(nnz));
    BTF_TRY(put_entries(entries.source(), nnz, [&](const CooRun& run) -> Status {
      BTF_TRY(indices.put(run, out));
      return values.put(run, behind);
    }));
    BTF_TRY(out.flush());
    BTF_TRY(values.finish(behind));
    BTF_TRY(behind.flush());
    if (execution.progress) execution.progress(coo_progress(work.record.data_bytes));
  } else {
    BTF_TRY(put_entries(entries.source(), nnz,
                        [&](const CooRun& run) { return indices.put(run, out); }));
    BTF_TRY(out.begin_piece(kWord));
    BTF_TRY(out.put_word(nnz));
    BTF_TRY(out.begin_piece(*stream_bytes(nnz, info(dtype).bits)));
    BTF_TRY(entries.source().rewind());
    BTF_TRY(put_entries(entries.source(), nnz,
                        [&](const CooRun& run) { return values.put(run, out); }));
    BTF_TRY(values.finish(out));
    BTF_TRY(out.flush());
  }
  Losses losses = entries.take_account();
  BTF_TRY(add_absent(work, losses));
  return losses;
}

}  // namespace btf

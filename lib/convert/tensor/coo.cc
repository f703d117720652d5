// Conversions whose target is COO.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/tensor/ascending_index.h"
#include "convert/tensor/coo_cast.h"
#include "convert/tensor/dense_entries.h"
#include "convert/tensor/tensor.h"
#include "core/checked_math.h"
#include "elements/coo_record.h"
#include "elements/parallel.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using wire::kWord;

constexpr std::uint64_t kBlockBytes = 256U << 10;

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
    if (!work.record.coo) {
      BTF_ASSIGN(entries.dense_, DenseEntries::open(work));
      return entries;
    }
    BTF_ASSIGN(entries.cast_, CastEntries::open(work, row_major_key(work.target.dims)));
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
    if (count > nnz || (run.count == 0 && count != nnz)) return file_changed();
    if (run.count == 0) return {};
    BTF_TRY(put(run));
  }
}

}  // namespace

Result<EntryCounts> count_entries(const TensorConversion& work) {
  if (!work.record.coo) return count_dense_entries(work);
  const bool as_they_are = work.record.coo && !work.options.prune_zeros &&
                           work.options.duplicates == Duplicates::error &&
                           work.target.edits.keeps_all();
  if (as_they_are) return EntryCounts{work.record.coo->nnz};
  BTF_ASSIGN(Entries entries, Entries::open(work));
  for (EntryCounts counts;;) {
    BTF_TRY(check_cancelled(work.options.execution));
    BTF_ASSIGN(const CooRun run, entries.source().next_run());
    if (run.count == 0) return counts;
    counts.all += run.count;
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
                         const EntryCounts& counts) {
  const Execution& execution = work.options.execution;
  const DType dtype = work.target.job.to;
  if (!work.record.coo && sink.random_access() && info(dtype).bits >= 8) {
    BTF_ASSIGN(Losses losses, write_dense_entries(work, sink, offset, counts));
    if (execution.progress) execution.progress(coo_progress(work.record.data_bytes));
    return losses;
  }
  BTF_ASSIGN(Entries entries, Entries::open(work));
  const std::uint64_t nnz = counts.all;
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

// Conversions to and from COO.
#include "convert/tensor/coo.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "convert/tensor/dense.h"
#include "convert/tensor/target.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "elements/elements.h"
#include "formats/btf_reader.h"
#include "formats/io/byte_source.h"
#include "kernels/cast/cast_reference.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/number/exact_sum.h"
#include "kernels/stats/stats.h"

namespace btf {
namespace {

// The index of ascending element numbers; most are only slightly larger than the previous one.
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
  Dims index_;  // index of number_
};

// The COO entries of a dense tensor: elements whose bits are not all zero after the cast.

class DenseEntries final : public CooSource {
 public:
  static Result<std::unique_ptr<DenseEntries>> open(const TensorConversion& work);

  Result<CooRun> next_run() override;
  Status rewind() override;

  Losses account() const { return slabs_.account(); }

 private:
  DenseEntries(const TensorConversion& work, CastSlabs slabs);
  void collect();

  CastSlabs slabs_;
  std::uint64_t bytes_;
  std::uint64_t next_ = 0;  // next slab
  LinearSlab slab_;
  std::vector<std::uint64_t> bits_;  // elements of slab_ that are entries not yet collected
  std::uint64_t word_ = 0;           // the first word of bits_ that may be nonzero
  CooBatch batch_;
};

// Adds up the values of one index of a COO record.

// The exact sum of values of job.from, rounded once to job.to.
class CooSum {
 public:
  explicit CooSum(const CastJob& job) : job_(job) {}

  void add(std::uint64_t code);

  // Returns the code of the sum, and adds one element with its losses to the account.
  std::uint64_t code(LossAccount& account) const;

  // The sum to 63 bits, and its text to the precision of a double.
  Number value() const;
  std::string text() const;

 private:
  std::uint64_t encode(LossAccount& account) const;

  CastJob job_;
  ExactSum sum_;
  bool nan_ = false;
  bool positive_inf_ = false;
  bool negative_inf_ = false;
  bool only_negative_zeros_ = true;
};

// Bytes that a worker collects before it writes them.
constexpr std::uint64_t kEntryBytes = 256U << 10;

// Marks the elements that are entries and returns their number.
std::uint64_t find_entries(const LinearSlab& slab, std::uint64_t code_bytes,
                           std::vector<std::uint64_t>& bits) {
  bits.resize(ceil_div(slab.count, 64));
  return nonzero_bits(slab.codes, code_bytes, slab.count, bits.data());
}

// Offsets of the parts of a COO payload.
struct CooPlaces {
  std::uint64_t offset = 0;
  std::uint64_t nnz = 0;
  std::uint64_t rank = 0;
  std::uint64_t code_bytes = 0;

  std::uint64_t indices(std::uint64_t entry) const {
    return offset + (2 + entry * rank) * wire::kWord;
  }
  std::uint64_t values(std::uint64_t entry) const {
    return indices(nnz) + wire::kWord + entry * code_bytes;
  }
};

// Writes the entries of slabs; one for each worker.
class EntryWriter {
 public:
  EntryWriter(const CooPlaces& places, const Dims& dims, ByteSink& sink)
      : places_(places),
        index_(dims),
        sink_(sink),
        most_(std::max<std::uint64_t>(
            1, kEntryBytes / (places.rank * wire::kWord + places.code_bytes))) {}

  // Writes the entries of `slab`: `count` entries, the first of which has number `first`.
  Status write(const LinearSlab& slab, std::uint64_t first, std::uint64_t count) {
    if (find_entries(slab, places_.code_bytes, bits_) != count) return file_changed();
    first_ = first;
    count_ = 0;
    rows_.reserve(most_ * places_.rank * wire::kWord);
    values_.reserve(most_ * places_.code_bytes);
    for (std::uint64_t word = 0; word < bits_.size(); ++word)
      for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        put(slab, word * 64 + static_cast<std::uint64_t>(std::countr_zero(left)));
        if (count_ == most_) BTF_TRY(flush());
      }
    return flush();
  }

 private:
  void put(const LinearSlab& slab, std::uint64_t element) {
    std::byte* row = rows_.data() + count_ * places_.rank * wire::kWord;
    for (const std::uint64_t one : index_.at(slab.first + element)) {
      wire::store_u64(row, one);
      row += wire::kWord;
    }
    std::memcpy(values_.data() + count_ * places_.code_bytes,
                slab.codes + element * places_.code_bytes, places_.code_bytes);
    ++count_;
  }

  Status flush() {
    BTF_TRY(sink_.write_at(places_.indices(first_),
                           {rows_.data(), count_ * places_.rank * wire::kWord}));
    BTF_TRY(sink_.write_at(places_.values(first_), {values_.data(), count_ * places_.code_bytes}));
    first_ += std::exchange(count_, 0);
    return {};
  }

  CooPlaces places_;
  AscendingIndex index_;
  ByteSink& sink_;
  std::uint64_t most_;
  std::vector<std::uint64_t> bits_;
  Buffer rows_;
  Buffer values_;
  std::uint64_t first_ = 0;  // number of the first collected entry
  std::uint64_t count_ = 0;
};

Status write_words(ByteSink& sink, std::uint64_t offset, std::span<const std::uint64_t> words) {
  std::vector<std::byte> bytes(words.size() * wire::kWord);
  for (std::size_t i = 0; i < words.size(); ++i)
    wire::store_u64(bytes.data() + i * wire::kWord, words[i]);
  return sink.write_at(offset, bytes);
}

Result<std::unique_ptr<DenseEntries>> DenseEntries::open(const TensorConversion& work) {
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work, 1));
  return std::unique_ptr<DenseEntries>(new DenseEntries(work, std::move(slabs)));
}

DenseEntries::DenseEntries(const TensorConversion& work, CastSlabs slabs)
    : slabs_(std::move(slabs)), bytes_(info(work.target.job.to).buffer_bytes()), batch_(bytes_) {}

Result<CooRun> DenseEntries::next_run() {
  batch_.clear();
  for (;;) {
    collect();
    if (batch_.full() || next_ == slabs_.count()) return batch_.run();
    BTF_ASSIGN(slab_, slabs_.read(0, next_++));
    find_entries(slab_, bytes_, bits_);
    word_ = 0;
  }
}

// Collects entries while there is room.
void DenseEntries::collect() {
  for (; word_ < bits_.size(); ++word_)
    for (std::uint64_t& left = bits_[word_]; left != 0; left &= left - 1) {
      if (batch_.full()) return;
      const std::uint64_t at = word_ * 64 + static_cast<std::uint64_t>(std::countr_zero(left));
      CooEntry entry{slab_.first + at, slab_.first + at, 0};
      std::memcpy(&entry.code, slab_.codes + at * bytes_, bytes_);
      batch_.add(entry);
    }
}

Status DenseEntries::rewind() {
  next_ = 0;
  bits_.clear();
  word_ = 0;
  slabs_.forget_account();
  return {};
}

// Counts the entries of each slab on all threads.
Result<EntryCounts> count_dense_entries(const TensorConversion& work) {
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work));
  const std::uint64_t code_bytes = info(work.target.job.to).buffer_bytes();
  EntryCounts counts;
  counts.by_slab.resize(slabs.count());
  std::vector<std::vector<std::uint64_t>> bits(slabs.workers());
  BTF_TRY(for_each_slab(work.options.execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          counts.by_slab[number] = find_entries(slab, code_bytes, bits[worker]);
                          return {};
                        }));
  counts.all = std::accumulate(counts.by_slab.begin(), counts.by_slab.end(), std::uint64_t{0});
  return counts;
}

// Writes the entries on all threads. Requires elements of at least 8 bits and a sink with random
// access.
Result<Losses> write_dense_entries(const TensorConversion& work, ByteSink& sink,
                                   std::uint64_t offset, const EntryCounts& counts) {
  const ConvertTarget& target = work.target;
  const CooPlaces places{offset, counts.all, target.dims.size(),
                         info(target.job.to).buffer_bytes()};
  BTF_TRY(write_words(sink, offset, std::array{places.nnz, places.rank}));
  BTF_TRY(write_words(sink, places.indices(places.nnz), std::array{places.nnz}));
  BTF_ASSIGN(CastSlabs slabs, CastSlabs::open(work));
  if (slabs.count() != counts.by_slab.size()) return file_changed();
  std::vector<std::uint64_t> first(slabs.count());
  std::exclusive_scan(counts.by_slab.begin(), counts.by_slab.end(), first.begin(),
                      std::uint64_t{0});
  std::vector<EntryWriter> writers;
  writers.reserve(slabs.workers());
  for (unsigned i = 0; i < slabs.workers(); ++i) writers.emplace_back(places, target.dims, sink);
  BTF_TRY(for_each_slab(work.options.execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          return writers[worker].write(slab, first[number], counts.by_slab[number]);
                        }));
  return slabs.account();
}

void CooSum::add(std::uint64_t code) {
  const Number x = decode_one(job_.from, code);
  only_negative_zeros_ = only_negative_zeros_ && x.kind == Number::Class::zero && x.negative;
  switch (x.kind) {
    case Number::Class::zero:
      break;
    case Number::Class::finite:
      sum_.add(x);
      break;
    case Number::Class::infinite:
      (x.negative ? negative_inf_ : positive_inf_) = true;
      break;
    case Number::Class::nan:
      nan_ = true;
      break;
  }
}

// The sign of a NaN that an addition produces depends on the CPU, so it has none here.
Number CooSum::value() const {
  if (nan_ || (positive_inf_ && negative_inf_)) return {0, 0, false, Number::Class::nan};
  if (positive_inf_ || negative_inf_) return {0, 0, negative_inf_, Number::Class::infinite};
  Number sum = sum_.number();
  if (sum.kind == Number::Class::zero) sum.negative = only_negative_zeros_;
  return sum;
}

std::uint64_t CooSum::encode(LossAccount& account) const {
  Number sum = value();
  const NumberKind kind = info(job_.to).kind;
  const bool integer = kind == NumberKind::signed_integer || kind == NumberKind::unsigned_integer;
  ExactSum::Whole whole;
  // All 64 bits of an integer may be significant, while number() uses its last bit for sticky bits.
  if (integer && sum.kind == Number::Class::finite) {
    whole = sum_.whole(job_.policy.rounding);
    const bool wrap = job_.policy.overflow == Overflow::wrap;
    if (!whole.beyond || wrap) sum = number::normalized(sum.negative, whole.low, 0);
  }
  std::uint64_t code = 0;
  encoder(job_.to)(&sum, 1, reinterpret_cast<std::byte*>(&code), 1, job_.policy, account);
  if (whole.beyond) {
    account.overflowed = 1;
  } else if (whole.inexact && account.overflowed == 0) {
    (code == 0 ? account.to_zero : account.inexact) = 1;
  }
  return code;
}

std::uint64_t CooSum::code(LossAccount& account) const {
  LossAccount one;
  const std::uint64_t code = encode(one);
  // The encoded sum may already be rounded, so the error is computed from the exact sum.
  one.max_abs = one.max_rel = 0;
  const Number sum = value();
  const Number result = decode_one(job_.to, code);
  const auto is_real = [](const Number& x) {
    return x.kind == Number::Class::zero || x.kind == Number::Class::finite;
  };
  if (one.changed() != 0 && is_real(sum) && is_real(result)) {
    ExactSum error = sum_;
    error.subtract(result);
    one.max_abs = number::distance(error.number(), Number{});
    if (sum.kind == Number::Class::finite)
      one.max_rel = one.max_abs / number::distance(sum, Number{});
  }
  account.add(one);
  return code;
}

std::string CooSum::text() const { return number_text(number::to_double(value())); }

AbsentElement cast_absent(const CastJob& job) {
  constexpr std::uint64_t kZero = 0;
  AbsentElement absent;
  absent.one.elements = 1;
  if (job.from == job.to) return absent;
  absent.one = {};
  cast_run(job, reinterpret_cast<const std::byte*>(&kZero),
           reinterpret_cast<std::byte*>(&absent.code), 1, absent.one);
  return absent;
}

// Boxes of a dense tensor, filled with the absent element before entries are stored in them.
class SummedReader final : public SlabReader {
 public:
  SummedReader(std::unique_ptr<CastEntries> entries, const TensorConversion& work, Losses& account)
      : entries_(*entries),
        filler_(std::move(entries)),
        storage_(*work.target.storage),
        job_(work.target.job),
        absent_(cast_absent(job_)),
        bytes_(info(job_.to).buffer_bytes()),
        account_(account) {}

  Result<SourceSlab> read(const Box& box) override {
    Footprint from = footprint(storage_, box);
    std::byte* data = slab_.reserve(from.elements * bytes_);
    for (std::uint64_t i = 0; i < from.elements; ++i)
      std::memcpy(data + i * bytes_, &absent_.code, bytes_);
    BTF_ASSIGN(const std::uint64_t stored, filler_.fill(from.base, from.elements, data));
    std::uint64_t elements = 1;
    for (const std::uint64_t count : box.counts()) elements *= count;
    BTF_TRY(account_for_absent(job_, absent_, elements - stored, account_));
    account_.add(entries_.take_account());
    return SourceSlab{data, std::move(from.packed)};
  }

 private:
  CastEntries& entries_;
  CooFiller filler_;  // places the entries
  StridedLayout storage_;
  CastJob job_;
  AbsentElement absent_;
  std::uint64_t bytes_;
  Losses& account_;
  Buffer slab_;
};

}  // namespace

Status account_for_absent(const CastJob& job, const AbsentElement& absent, std::uint64_t count,
                          Losses& losses) {
  if (count == 0) return {};
  if (forbidden(job.policy, absent.one))
    return fail(ErrorCode::refused, "the elements that are not stored change from " +
                                        value_text(job.from, 0) + " to " +
                                        value_text(job.to, absent.code));
  LossAccount all = absent.one;
  for (std::uint64_t LossAccount::* const member :
       {&LossAccount::elements, &LossAccount::overflowed, &LossAccount::nan_lost,
        &LossAccount::to_zero, &LossAccount::inexact, &LossAccount::nan, &LossAccount::sign_lost})
    all.*member *= count;
  losses.add(all);
  if (losses.noise)
    losses.noise->add(decode_one(job.from, 0), decode_one(job.to, absent.code), count);
  return {};
}

Result<std::unique_ptr<CastEntries>> CastEntries::open(const TensorConversion& work, CooKey key) {
  BTF_ASSIGN(auto entries,
             sorted_entries(work.source, work.record, edited_key(work.target.edits, std::move(key)),
                            work.options.execution));
  if (work.options.duplicates != Duplicates::sum)
    entries = canonical_entries(std::move(entries), work.options.duplicates);
  return std::unique_ptr<CastEntries>(new CastEntries(work, std::move(entries)));
}

Status CastEntries::fill() {
  if (at_ < run_.count) return {};
  BTF_ASSIGN(run_, entries_->next_run());
  at_ = 0;
  return {};
}

Result<CooRun> CastEntries::next_run() {
  BTF_TRY(fill());
  if (run_.count == 0) return run_;
  std::uint64_t single = run_.count;
  if (work_.options.duplicates == Duplicates::sum) single = run_.first_duplicate(at_);
  if (single > at_) {
    const CooRun singles = run_.sub(at_, single - at_);
    at_ = single;
    return cast(singles);
  }
  sum_ = run_[at_++];
  CooRun one{1, &sum_.key, reinterpret_cast<const std::byte*>(&sum_.code), run_.code_bytes,
             sum_.position};
  BTF_TRY(fill());
  if (run_.count == 0 || run_.keys[at_] != sum_.key) return cast(one);
  BTF_TRY(add_up(sum_));
  one.code_bytes = info(job_.to).buffer_bytes();
  return one;
}

Status CastEntries::rewind() {
  take_account();
  run_ = {};
  at_ = 0;
  return entries_->rewind();
}

Result<CooRun> CastEntries::cast(const CooRun& run) {
  CooRun cast = run;
  LossAccount account;
  if (job_.from == job_.to) {
    account.elements = run.count;
  } else {
    cast.code_bytes = info(job_.to).buffer_bytes();
    cast.codes = codes_.reserve(run.count * cast.code_bytes);
    cast_run(job_, run.codes, codes_.data(), run.count, account);
    if (forbidden(job_.policy, account)) return refuse_in(run);
  }
  account_.add(account);
  if (account_.noise)
    measure_noise(job_.from, job_.to, {.source = run.codes, .target = cast.codes, .n = run.count},
                  *account_.noise);
  return cast;
}

std::unexpected<Error> CastEntries::refuse_in(const CooRun& run) {
  LossAccount one;
  std::uint64_t i = 0;
  for (; i < run.count; ++i) {
    one = {};
    cast_run(job_, run.code(i), codes_.data(), 1, one);
    if (forbidden(job_.policy, one)) break;
  }
  const Result<Dims> index = index_of(run[i]);
  if (!index) return std::unexpected(index.error());
  return refuse_element(job_, *index, run.code(i), one);
}

// Adds up this entry and the following ones with the same index.
Status CastEntries::add_up(CooEntry& entry) {
  CooSum sum(job_);
  sum.add(entry.code);
  while (run_.count != 0 && run_.keys[at_] == entry.key) {
    sum.add(run_[at_++].code);
    BTF_TRY(fill());
  }
  LossAccount one;
  entry.code = sum.code(one);
  if (forbidden(job_.policy, one)) {
    BTF_ASSIGN(const Dims index, index_of(entry));
    return fail(ErrorCode::refused, "the COO entries of index " + dims_text(index) + " add up to " +
                                        sum.text() + ", which" + loss_words(one) +
                                        std::string(info(job_.to).name));
  }
  account_.add(one);
  if (account_.noise) account_.noise->add(sum.value(), decode_one(job_.to, entry.code));
  return {};
}

// Keys cannot be used, since they may be offsets in a stored array.
Result<Dims> CastEntries::index_of(const CooEntry& entry) const {
  const std::uint64_t rank = work_.record.dims.size();
  std::vector<std::byte> bytes(rank * wire::kWord);
  BTF_TRY(work_.source.read_at(work_.record.coo->indices_offset + entry.position * bytes.size(),
                               bytes));
  Dims index(rank);
  for (std::uint64_t d = 0; d < rank; ++d)
    index[d] = wire::load_u64(bytes.data() + d * wire::kWord);
  Dims room;
  work_.target.edits.place(index, room);
  return index;
}

ElementSource summed_elements(const TensorConversion& work) {
  ElementSource elements;
  elements.storage = *work.target.storage;
  elements.stored = elements.dtype = work.target.job.to;
  elements.in_order = true;
  elements.bytes = work.record.data_bytes;
  elements.reported = coo_progress(elements.bytes);
  elements.accounted = true;
  elements.noise = work.measures_noise();
  elements.open = [work](Losses& account) -> Result<std::unique_ptr<SlabReader>> {
    BTF_ASSIGN(auto entries, CastEntries::open(work, storage_key(*work.target.storage)));
    return std::make_unique<SummedReader>(std::move(entries), work, account);
  };
  return elements;
}

namespace {

using wire::kWord;

constexpr std::uint64_t kBlockBytes = 256U << 10;

// Removes entries that are zero after the cast.
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
      // The positions in the file are not needed any more.
      if (!keys_.empty()) return CooRun{keys_.size(), keys_.data(), codes, run.code_bytes};
    }
  }

  Status rewind() override { return entries_.rewind(); }

 private:
  CooSource& entries_;
  std::vector<std::uint64_t> keys_;
  Buffer codes_;
};

// The entries of the result in canonical order, and the losses of casting them.
class Entries {
 public:
  static Result<Entries> open(const TensorConversion& work) {
    Entries entries;
    if (!work.record.coo) {
      BTF_ASSIGN(entries.dense_, DenseEntries::open(work));
      return entries;
    }
    BTF_ASSIGN(entries.cast_, CastEntries::open(work, row_major_key(work.target.dims)));
    if (work.options.prune_zeros) entries.pruned_ = std::make_unique<PrunedEntries>(*entries.cast_);
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

// Collects small adjacent pieces into large writes.
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

  // See ByteSink::begin_piece().
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

// Writes the indices of entries run by run.
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

// Writes the values of entries run by run; 4-bit codes two to a byte, across runs.
class Values {
 public:
  explicit Values(DType dtype) : nibbles_(info(dtype).half_byte()) {}

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
  std::byte low_{};  // waits for a high nibble
  bool half_ = false;
};

// Calls put(run) for all runs. An error if they do not have `nnz` entries.
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

// Absent elements are zero bits before and after the cast. If zero bits represent another value in
// the target's dtype, that counts as a loss.
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
  if (!work.record.coo && sink.random_access() && !info(dtype).half_byte()) {
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
    // Write both in one pass, since producing the entries costs more than writing them.
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

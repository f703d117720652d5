#include "convert/tensor/coo_cast.h"

#include <cstring>
#include <vector>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/tensor/coo_sum.h"
#include "elements/cast_slab.h"
#include "elements/coo_record.h"
#include "formats/btf/wire.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

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

// Boxes of a dense tensor, each filled with what is absent before the entries are put into it.
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
  CooFiller filler_;  // of these
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
  for (std::uint64_t LossAccount::*const member :
       {&LossAccount::elements, &LossAccount::overflowed, &LossAccount::nan_lost,
        &LossAccount::to_zero, &LossAccount::inexact, &LossAccount::nan})
    all.*member *= count;
  losses.add(all);
  if (losses.noise)
    losses.noise->add(decode_one(job.from, 0), decode_one(job.to, absent.code), count);
  return {};
}

Result<std::unique_ptr<CastEntries>> CastEntries::open(const TensorConversion& work, CooKey key) {
  BTF_ASSIGN(auto entries,
             sorted_entries(work.source, work.record,
                            edited_key(work.target.edits, std::move(key)),
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
  if (work_.options.duplicates == Duplicates::sum) single = run_.followed_by_its_like(at_);
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

// This entry and those behind it with the same index.
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
                                        sum.text() + ", which" + what_is_lost(one) +
                                        std::string(info(job_.to).name));
  }
  account_.add(one);
  if (account_.noise) account_.noise->add(sum.value(), decode_one(job_.to, entry.code));
  return {};
}

// Keys are not indices: not where they are offsets in a stored array.
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

}  // namespace btf

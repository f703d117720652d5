#include "convert/tensor/cast_slabs.h"

#include <utility>

#include "btf/try.h"
#include "elements/cast_slab.h"
#include "elements/coo_record.h"

namespace btf {

Result<CastSlabs> CastSlabs::open(const TensorConversion& work, unsigned most_workers) {
  BTF_ASSIGN(LinearSlabs slabs, LinearSlabs::open(work.source, work.record, work.target.edits,
                                                  work.options.execution, most_workers));
  return CastSlabs(work, std::move(slabs));
}

CastSlabs::CastSlabs(const TensorConversion& work, LinearSlabs slabs)
    : work_(work), slabs_(std::move(slabs)), workers_(slabs_.workers()) {
  forget_account();
}

Result<LinearSlab> CastSlabs::read(unsigned worker, std::uint64_t slab) {
  const CastJob& job = work_.target.job;
  Worker& mine = workers_[worker];
  BTF_ASSIGN(const LinearSlab read, slabs_.read(worker, slab));
  LinearSlab result = read;
  LossAccount account;
  if (job.from == job.to) {
    account.elements = read.count;
  } else {
    std::byte* const codes = mine.codes.reserve(read.count * info(job.to).buffer_bytes());
    cast_run(job, read.codes, codes, read.count, account);
    if (forbidden(job.policy, account)) return refuse_in(read);
    result.codes = codes;
    if (mine.account.noise)
      measure_noise(job.from, job.to, {.source = read.codes, .target = codes, .n = read.count},
                    *mine.account.noise);
  }
  mine.account.add(account);
  if (const Execution& execution = work_.options.execution; execution.progress) {
    const std::scoped_lock lock(*progress_);
    execution.progress(coo_progress(read.count * info(job.from).buffer_bytes()));
  }
  return result;
}

std::unexpected<Error> CastSlabs::refuse_in(const LinearSlab& slab) const {
  const CastJob& job = work_.target.job;
  const std::uint64_t bytes = info(job.from).buffer_bytes();
  LossAccount one;
  std::uint64_t code = 0;
  std::uint64_t i = 0;
  for (; i < slab.count; ++i) {
    one = {};
    cast_run(job, slab.codes + i * bytes, reinterpret_cast<std::byte*>(&code), 1, one);
    if (forbidden(job.policy, one)) break;
  }
  return refuse_element(job, index_of(work_.target.dims, slab.first + i), slab.codes + i * bytes,
                        one);
}

Losses CastSlabs::account() const {
  Losses all(work_.measures_noise());
  for (const Worker& worker : workers_) all.add(worker.account);
  return all;
}

void CastSlabs::forget_account() {
  for (Worker& worker : workers_) worker.account = Losses(work_.measures_noise());
}

}  // namespace btf

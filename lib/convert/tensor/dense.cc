// Conversions whose target is dense, to a file or in memory.
#include "convert/tensor/dense.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "convert/tensor/coo.h"
#include "convert/tensor/target.h"
#include "core/layout.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "elements/records.h"
#include "formats/io/byte_source.h"

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

namespace {

// Elements of a slab in memory whose 4-bit codes go through a buffer. The buffer stays in the
// caches; fresh memory would cost more than the cast.
constexpr std::uint64_t kUnpacked = 64U << 10;

// Larger targets in memory are written with non-temporal stores.
constexpr std::uint64_t kLargerThanCaches = 8U << 20;

// If runs are shorter, a target that is written in order gets more memory: larger slabs have longer
// runs, and the data between them is read less often.
constexpr std::uint64_t kLongRun = 2U << 10;

// The reader and the writer of one worker.
struct Worker {
  std::unique_ptr<SlabReader> reader;
  std::unique_ptr<SlabWriter> writer;
  Losses account;
  bool accounted = false;  // the reader accounts for losses
  std::uint64_t noise_step = 1;
};

struct Division {
  SlabGrid grid;
  unsigned workers = 1;
};

bool same_order(const StridedLayout& a, const StridedLayout& b) {
  return a.strides == b.strides && !a.split && !b.split;
}

bool nibbles(DType dtype) { return info(dtype).half_byte(); }

// `in_order`: slabs must follow one another as they are stored in the target.
Division divide(const ElementSource& source, const StridedLayout& storage, DType dtype,
                bool in_order, const Execution& execution) {
  const std::uint64_t bytes = std::max(source.bytes, storage_bytes(storage, dtype));
  const unsigned most = in_order ? 1 : worker_count(execution, UINT64_MAX, bytes);
  // Includes one buffer for the target.
  const std::uint64_t most_slab = max_slab_bytes(execution, most) * 2 / (source.buffers + 1);
  const SlabSide from{&source.storage, info(source.stored).buffer_bytes()};
  const auto choose = [&](std::uint64_t limit) {
    return choose_slabs(from, {&storage, info(dtype).buffer_bytes()},
                        {.bytes = std::min(limit, most_slab),
                         .target_contiguous = in_order || nibbles(dtype),
                         .last_granule = source.last_granule});
  };
  SlabGrid grid = choose(source.slab_bytes);
  if (in_order && grid.count() > 1 && run_bytes(from, grid.box(0)) < kLongRun)
    grid = choose(2 * source.slab_bytes);
  const unsigned workers = in_order ? 1 : worker_count(execution, grid.count(), bytes);
  return {std::move(grid), workers};
}

Status convert_slab(const CastJob& job, std::span<const std::uint64_t> dims, const Box& box,
                    Worker& worker) {
  BTF_ASSIGN(const SourceSlab source, worker.reader->read(box));
  if (job.from == job.to) {
    BTF_ASSIGN(const bool written, worker.writer->write(box, source));
    if (written && !worker.accounted) worker.account.elements += *element_count(box.counts());
    if (written) return {};
  }
  BTF_ASSIGN(const TargetSlab target, worker.writer->begin(box));
  // The counts of this slab. The largest errors are carried over, since most casts only look for
  // larger ones.
  LossAccount account;
  account.max_abs = worker.account.max_abs;
  account.max_rel = worker.account.max_rel;
  cast_slab(job, box.counts(), source, target, account);
  if (forbidden(job.policy, account)) return refuse(job, box, source);
  if (!worker.accounted) {
    worker.account.add(account);
    // Copied bits have no noise.
    if (worker.account.noise && job.from != job.to)
      slab_noise(job, {box, dims, worker.noise_step}, source, target, *worker.account.noise);
  }
  return worker.writer->finish();
}

Result<Losses> run(const Execution& execution, const CastJob& job,
                   std::span<const std::uint64_t> dims, const SlabGrid& grid,
                   std::vector<Worker>& workers, std::uint64_t bytes) {
  const std::uint64_t slabs = grid.count();
  std::uint64_t reported = 0;
  BTF_TRY(for_each_slab(execution, static_cast<unsigned>(workers.size()), slabs,
                        [&](unsigned worker, std::uint64_t slab) -> Status {
                          BTF_TRY(convert_slab(job, dims, grid.box(slab), workers[worker]));
                          if (execution.progress && worker == 0) {
                            const std::uint64_t done = bytes / slabs * (slab + 1);
                            execution.progress(done - std::min(reported, done));
                            reported = std::max(reported, done);
                          }
                          return {};
                        }));
  Losses account(workers.front().account.noise.has_value());
  for (const Worker& worker : workers) account.add(worker.account);
  return account;
}

// Returns true if each run of the record is a run of the target, and nothing else is read.
bool is_straight(const TensorConversion& work, const StridedLayout& storage) {
  const std::optional<StridedLayout>& target = work.target.storage;
  return target && same_order(storage, *target) && !work.source.compressed() &&
         !spec(*work.record.layout).shuffled();
}

}  // namespace

ElementSource record_elements(const TensorConversion& work) {
  const bool from_coo = work.record.coo.has_value();
  if (from_coo && work.options.duplicates == Duplicates::sum) return summed_elements(work);
  ElementSource elements;
  // Entries of a COO source are read as if they were stored like the target.
  if (from_coo) {
    elements.storage = *work.target.storage;
  } else {
    std::vector<EditedView> views = edited_views(*work.record.storage, work.target.edits);
    elements.buffers = buffers_of(views);
    elements.storage = std::move(views.back().storage);
  }
  elements.stored = elements.dtype = *work.record.dtype;
  elements.in_order = from_coo;
  elements.bytes = work.record.data_bytes;
  if (!from_coo && !work.target.edits.empty())
    elements.bytes = *stream_bytes(elements.storage.elements(), info(elements.stored).bits);
  elements.reported = from_coo ? coo_progress(work.record.data_bytes) : work.record.data_bytes;
  elements.noise = work.measures_noise();
  const std::uint64_t count = elements.storage.elements();
  if (!elements.noise && !from_coo && work.options.snr_sample > 0 && count > 0 &&
      work.target.job.to != elements.dtype) {
    elements.noise = true;
    elements.noise_step = (count - 1) / work.options.snr_sample + 1;
  }
  if (!from_coo && is_straight(work, elements.storage)) elements.slab_bytes = kLinearSlab;
  elements.open = [work, storage = elements.storage](LossAccount&) {
    return open_slab_reader(work.source, work.record, work.target.edits, storage,
                            work.options.duplicates, work.options.execution);
  };
  return elements;
}

SlabGrid dense_slabs(const ElementSource& source, const StridedLayout& storage, DType dtype,
                     bool in_order, const Execution& execution) {
  return divide(source, storage, dtype, source.in_order || in_order, execution).grid;
}

Result<Losses> write_dense(const ElementSource& source, const CastPolicy& policy,
                           const StridedLayout& storage, DType dtype, const Execution& execution,
                           ByteSink& sink, std::uint64_t offset) {
  const CastJob job{source.dtype, dtype, policy};
  const bool in_order = source.in_order || !sink.random_access();
  const Division division = divide(source, storage, dtype, in_order, execution);
  NibbleSeams seams;
  std::vector<Worker> workers(division.workers);
  for (Worker& worker : workers) {
    worker.account = Losses(source.noise);
    worker.noise_step = source.noise_step;
    BTF_ASSIGN(worker.reader, source.open(worker.account));
    worker.accounted = source.accounted;
    worker.writer = nibbles(dtype) ? nibble_file_writer(sink, offset, storage, seams)
                                   : file_writer(sink, offset, storage, dtype);
  }
  return run(execution, job, storage.dims, division.grid, workers, source.reported);
}

bool packed(const StridedLayout& storage) {
  return distinct_elements(storage) &&
         element_count(storage.storage_shape()) == storage.storage_elements;
}

ElementSource memory_elements(const TensorView& view) {
  ElementSource elements;
  elements.storage = view.storage;
  elements.stored = elements.dtype = view.dtype;
  elements.slab_bytes = 1U << 20;
  elements.bytes = elements.reported = view.bytes.size();
  elements.open = [view, bytes = std::make_shared<MemorySource>(view.bytes)](LossAccount&) {
    return info(view.dtype).half_byte()
               ? file_reader(*bytes, 0, view.storage, view.dtype)
               : memory_reader(view.bytes.data(), view.storage, view.dtype);
  };
  return elements;
}

Result<LossAccount> write_memory(const ElementSource& source, const CastPolicy& policy,
                                 const MutableTensorView& target, const Execution& execution) {
  BTF_TRY(check_buffer(target.bytes.size(), target.storage, target.dtype));
  if (!distinct_elements(target.storage))
    return fail(ErrorCode::invalid_argument, "elements of the target share memory");
  if (nibbles(target.dtype) && !packed(target.storage))
    return fail(ErrorCode::unsupported, "a target of 4-bit elements must have no gaps");
  if (source.in_order && !packed(target.storage))
    return fail(ErrorCode::unsupported, "the target of a COO tensor must have no gaps");
  const CastJob job{source.dtype, target.dtype, policy};
  const bool stream = target.bytes.size() >= kLargerThanCaches;
  const Division division =
      divide(source, target.storage, target.dtype, source.in_order, execution);
  NibbleSeams seams;
  std::vector<Worker> workers(division.workers);
  for (Worker& worker : workers) {
    BTF_ASSIGN(worker.reader, source.open(worker.account));
    worker.accounted = source.accounted;
    worker.writer = nibbles(target.dtype)
                        ? nibble_memory_writer(target.bytes.data(), target.storage, stream, seams)
                        : memory_writer(target.bytes.data(), target.storage, target.dtype, stream);
  }
  return run(execution, job, target.storage.dims, division.grid, workers, source.reported);
}

Result<LossAccount> convert(const TensorView& source, const MutableTensorView& target,
                            const CastPolicy& policy, const Execution& execution) {
  if (source.storage.dims != target.storage.dims)
    return fail(ErrorCode::invalid_argument, "source and target have different dims");
  BTF_TRY(check_buffer(source.bytes.size(), source.storage, source.dtype));
  BTF_TRY(check_policy(source.dtype, target.dtype, policy));
  ElementSource elements = memory_elements(source);
  if ((nibbles(source.dtype) || nibbles(target.dtype)) &&
      same_order(source.storage, target.storage))
    elements.slab_bytes =
        kUnpacked * std::max(info(source.dtype).buffer_bytes(), info(target.dtype).buffer_bytes());
  return write_memory(elements, policy, target, execution);
}

}  // namespace btf

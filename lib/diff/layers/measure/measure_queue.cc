#include "diff/layers/measure/measure_queue.h"

#include <algorithm>
#include <thread>

#include "btf/try.h"
#include "diff/layers/measure/measure.h"
#include "diff/pairs/side.h"
#include "elements/parallel.h"

namespace btf {
namespace {

constexpr std::uint64_t kSmall = 128U << 10;  // bytes
constexpr std::size_t kMostWaiting = 4;

// The same elements under golden's dims, if they lie in row-major order.
Status flatten(TensorInfo& tensor, const Dims& dims) {
  if (tensor.dims == dims) return {};
  const auto reshaped = [&](const Dims& to) { return resolve(Layout::linear, to, *tensor.dtype); };
  BTF_ASSIGN(const StridedLayout own, reshaped(tensor.dims));
  if (!tensor.storage || tensor.storage->split || tensor.storage->strides != own.strides)
    return fail(ErrorCode::unsupported, "shape " + dims_text(tensor.dims) + " against " +
                                            dims_text(dims) +
                                            ", and not stored in row-major order");
  BTF_ASSIGN(tensor.storage, reshaped(dims));
  tensor.dims = dims;
  return {};
}

}  // namespace

struct MeasureQueue::Job {
  std::uint64_t number = 0;
  LayerPair pair;
  std::unique_ptr<DiffSide> actual;
  std::unique_ptr<DiffSide> golden;
};

MeasureQueue::MeasureQueue(const Execution& execution, TakeFigures take)
    : execution_(execution), take_(std::move(take)) {
  const unsigned most = worker_count(execution, UINT64_MAX, UINT64_MAX);
  // Each has buffers of its own.
  constexpr std::uint64_t kBuffers = 2U << 20;
  const auto fit = std::max<std::uint64_t>(1, execution.memory / kBuffers);
  helpers_ = static_cast<unsigned>(std::min<std::uint64_t>(most, fit)) - 1;
  std::swap(progress_, execution_.progress);
}

MeasureQueue::~MeasureQueue() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  waiting_.clear();
  more_.notify_all();
}

void MeasureQueue::add(std::uint64_t number, LayerPair pair) {
  auto job = std::make_unique<Job>();
  job->number = number;
  job->pair = std::move(pair);
  LayerPair& own = job->pair;
  const Status sides = [&]() -> Status {
    BTF_TRY(flatten(own.actual, own.golden.dims));
    BTF_ASSIGN(job->actual, file_side(*own.actual_file, own.actual, execution_));
    BTF_ASSIGN(job->golden, file_side(*own.golden_file, own.golden, execution_));
    return {};
  }();
  if (!sides) {
    const std::scoped_lock lock(taking_);
    return take_(number, std::unexpected(sides.error()));
  }
  if (helpers_ == 0 || own.golden.data_bytes <= kSmall) return measure(*job);
  std::unique_lock lock(mutex_);
  if (waiting_.size() == kMostWaiting) {
    // Nobody is idle, so this thread takes its share.
    lock.unlock();
    return measure(*job);
  }
  waiting_.push_back(std::move(job));
  more_.notify_one();
  lock.unlock();
  if (workers_started_) return;
  workers_started_ = true;
  workers_.start(helpers_, [this](unsigned) { work(); });
}

void MeasureQueue::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::unique_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    measure(*job);
  }
}

void MeasureQueue::measure(const Job& job) {
  const Result<LayerFigures> figures = measure_layer(*job.actual, *job.golden, execution_);
  const std::scoped_lock lock(taking_);
  take_(job.number, figures);
  if (progress_) progress_(std::max(job.pair.actual.data_bytes, job.pair.golden.data_bytes));
}

void MeasureQueue::finish() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    more_.notify_all();
  }
  // There may be no thread: what is left is done here.
  work();
  workers_.join();
}

}  // namespace btf

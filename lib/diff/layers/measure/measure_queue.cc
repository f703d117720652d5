#include "diff/layers/measure/measure_queue.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "btf/try.h"
#include "core/open_files.h"
#include "diff/layers/measure/measure.h"
#include "diff/pairs/side.h"
#include "diff/scaled_side.h"
#include "elements/parallel.h"

namespace btf {
namespace {

constexpr std::uint64_t kSmall = 128U << 10;  // bytes
constexpr std::size_t kMostWaiting = 4;
constexpr std::size_t kSmallTogether = 16;

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

// Scales of a dim stay with that dim.
Status flatten(TensorInfo& tensor, const Dims& dims, const QuantizePlan& scales) {
  if (scales.scales.several() && tensor.dims != dims)
    return fail(ErrorCode::unsupported, "shape " + dims_text(tensor.dims) + " against " +
                                            dims_text(dims) +
                                            ", and scales for each index of a dim");
  return flatten(tensor, dims);
}

double step_of(const QuantizePlan& plan) {
  if (plan.scaling == Scaling::none || info(plan.cast.from).floating()) return 0;
  double squares = 0;
  for (const double scale : plan.scales.values) squares += scale * scale;
  return std::sqrt(squares / static_cast<double>(plan.scales.values.size()));
}

// Are the files as they were when they were opened, and will nothing more be read of them? Of what
// was changed the sets tell in the end.
bool are_settled(const LayerPair& pair) {
  const auto is_settled = [](const TensorFile& file) {
    return file.tensor_count() == 1 && file.check_unchanged();
  };
  return is_settled(*pair.actual_file) && is_settled(*pair.golden_file);
}

}  // namespace

struct MeasureQueue::Job {
  std::uint64_t number = 0;
  LayerPair pair;  // outlives the sides, which refer to it
  std::unique_ptr<DiffSide> actual{};
  std::unique_ptr<DiffSide> golden{};
};

struct MeasureQueue::Measured {
  std::uint64_t number = 0;
  Result<LayerFigures> figures;
  bool settled = false;
};

MeasureQueue::MeasureQueue(const Execution& execution, TakeFigures take)
    : execution_(execution), take_(std::move(take)), small_together_(open_files(kSmallTogether)) {
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
  const bool alone = helpers_ == 0 || pair.golden.data_bytes > kSmall;
  if (alone) send();
  // No job is moved once it has sides.
  if (small_.empty()) small_.reserve(alone ? 1 : small_together_);
  Job& job = small_.emplace_back(number, std::move(pair));
  LayerPair& own = job.pair;
  const Status sides = [&]() -> Status {
    BTF_TRY(flatten(own.actual, own.golden.dims, own.actual_scales));
    const auto side = [&](const TensorFile& file, const TensorInfo& record,
                          const QuantizePlan& scales) {
      return scaled_side(file_side(file, record, execution_), scales, {});
    };
    BTF_ASSIGN(job.actual, side(*own.actual_file, own.actual, own.actual_scales));
    BTF_ASSIGN(job.golden, side(*own.golden_file, own.golden, own.golden_scales));
    return {};
  }();
  if (!sides) {
    small_.pop_back();
    return take_(number, std::unexpected(sides.error()), false);
  }
  if (alone || small_.size() == small_together_) send();
}

// To the threads; where they have enough to do this one takes its share.
void MeasureQueue::send() {
  if (small_.empty()) return;
  Jobs jobs = std::exchange(small_, {});
  std::unique_lock lock(mutex_);
  const bool full = helpers_ == 0 || waiting_.size() == kMostWaiting;
  if (!full) {
    waiting_.push_back(std::move(jobs));
    more_.notify_one();
  }
  lock.unlock();
  if (full) measure(jobs);
  deliver();
  if (full || workers_started_) return;
  workers_started_ = true;
  workers_.start(helpers_, [this](unsigned) { work(); });
}

void MeasureQueue::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Jobs jobs = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    measure(jobs);
  }
}

void MeasureQueue::measure(const Jobs& jobs) {
  std::vector<Measured> found;
  found.reserve(jobs.size());
  std::uint64_t bytes = 0;
  for (const Job& job : jobs) {
    Result<LayerFigures> figures = measure_layer(*job.actual, *job.golden, execution_);
    if (figures) {
      figures->actual.scale = step_of(job.pair.actual_scales);
      figures->golden.scale = step_of(job.pair.golden_scales);
    }
    found.push_back({job.number, std::move(figures), are_settled(job.pair)});
    bytes += std::max(job.pair.actual.data_bytes, job.pair.golden.data_bytes);
  }
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::move(found, std::back_inserter(measured_));
  }
  if (!progress_) return;
  const std::scoped_lock lock(telling_);
  progress_(bytes);
}

void MeasureQueue::deliver() {
  std::vector<Measured> measured;
  {
    const std::scoped_lock lock(mutex_);
    measured.swap(measured_);
  }
  for (const Measured& one : measured) take_(one.number, one.figures, one.settled);
}

void MeasureQueue::finish() {
  send();
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    more_.notify_all();
  }
  // There may be no thread: what is left is done here.
  work();
  workers_.join();
  deliver();
}

}  // namespace btf

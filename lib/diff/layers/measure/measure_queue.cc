#include "diff/layers/measure/measure_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "btf/layers/layers.h"
#include "btf/try.h"
#include "core/open_files.h"
#include "diff/layers/measure/measure.h"
#include "diff/pairs/side.h"
#include "diff/scaled_side.h"
#include "elements/parallel.h"

namespace btf {
namespace {

PairQueueLimits queue_limits(const Execution& execution) {
  // Each thread has buffers of its own.
  constexpr std::uint64_t kBuffers = 2U << 20;
  const std::uint64_t fit = std::max<std::uint64_t>(1, execution.memory / kBuffers);
  return {.workers = static_cast<unsigned>(
              std::min<std::uint64_t>(worker_count(execution, UINT64_MAX, UINT64_MAX), fit)),
          .most_together = open_files(16),
          .small = 128U << 10,
          .most_waiting = 4};
}

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

class MeasureQueue::Job final : public QueuedPair {
 public:
  Job(MeasureQueue& of, std::uint64_t number, LayerPair pair)
      : of_(of), number_(number), pair_(std::move(pair)) {}

  // On the caller's thread: several pairs may be of one file.
  Status make_sides() {
    if (Layer::is_flat(pair_.golden.dims, pair_.actual.dims) &&
        flatten(pair_.golden, pair_.actual.dims, pair_.golden_scales)) {
      // Slices are those of the dims that there are.
    } else {
      BTF_TRY(flatten(pair_.actual, pair_.golden.dims, pair_.actual_scales));
    }
    const auto side = [&](const TensorFile& file, const TensorInfo& record,
                          const QuantizePlan& scales) {
      return scaled_side(file_side(file, record, of_.execution_), scales, {});
    };
    BTF_ASSIGN(actual_, side(*pair_.actual_file, pair_.actual, pair_.actual_scales));
    BTF_ASSIGN(golden_, side(*pair_.golden_file, pair_.golden, pair_.golden_scales));
    return {};
  }

  Status compare() override {
    figures_ = measure_layer(*actual_, *golden_, of_.execution_, pair_.quantised);
    if (figures_) {
      figures_->actual.scale = step_of(pair_.actual_scales);
      figures_->golden.scale = step_of(pair_.golden_scales);
    }
    settled_ = are_settled(pair_);
    actual_.reset();
    golden_.reset();
    pair_.actual_file.reset();
    pair_.golden_file.reset();
    return {};
  }

  Status deliver(const Status& compared) override {
    BTF_TRY(compared);
    of_.take_(number_, figures_, settled_);
    if (of_.progress_) of_.progress_(std::max(pair_.actual.data_bytes, pair_.golden.data_bytes));
    return {};
  }

 private:
  MeasureQueue& of_;
  std::uint64_t number_;
  LayerPair pair_;  // outlives the sides, which refer to it
  std::unique_ptr<DiffSide> actual_;
  std::unique_ptr<DiffSide> golden_;
  Result<LayerFigures> figures_;
  bool settled_ = false;
};

MeasureQueue::MeasureQueue(const Execution& execution, TakeFigures take)
    : execution_(execution), take_(std::move(take)), queue_(queue_limits(execution), execution) {
  std::swap(progress_, execution_.progress);
}

Status MeasureQueue::add(std::uint64_t number, LayerPair pair) {
  const std::uint64_t bytes = pair.golden.data_bytes;
  auto job = std::make_unique<Job>(*this, number, std::move(pair));
  if (const Status sides = job->make_sides(); !sides) {
    take_(number, std::unexpected(sides.error()), false);
    return {};
  }
  return queue_.add(std::move(job), bytes);
}

}  // namespace btf

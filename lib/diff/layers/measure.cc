#include "diff/layers/measure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "btf/layers.h"
#include "btf/try.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "diff/hints/evidence/grids.h"
#include "diff/layers/totals.h"
#include "diff/loaded_pair.h"
#include "diff/sides/rows.h"
#include "diff/sides/side.h"
#include "elements/cast.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

// Added to a logit, these mask it: -1e9, -65504, -Inf. Unmasked logits are small.
constexpr double kMask = -9000;
constexpr double kMaxBesideMasks = 1000;

class LayerMeter {
 public:
  LayerMeter(const DiffSide& actual, const DiffSide& golden, bool quantised)
      : limit_(static_cast<double>(hints::limits_of(actual.dtype()).highest)),
        quantised_(quantised),
        codes_(!info(actual.dtype()).floating() && info(golden.dtype()).floating()),
        dims_(golden.dims()),
        all_(golden.dims(), limit_),
        masked_({}, limit_) {}

  template <typename Real>
  void take(const PairRun<Real>& run) {
    const std::uint64_t n = run.values();
    if (quantised_) {
      actual_grid_.take(run.actual, n);
      golden_grid_.take(run.golden, n);
    }
    const std::uint64_t weight = run.alike ? run.count : 1;
    if constexpr (!std::is_same_v<Real, long double>) {
      const PairSums sums = error_runs<Real>().pairs(run.actual, run.golden, n);
      if (sums.golden.largest < -kMask && is_exact_enough(sums))
        return all_.add(NumberRun<Real>{run.actual, run.golden, run.first, n, weight}, sums);
    }
    split(run, n, weight);
  }

  LayerFigures finish() {
    LayerFigures f;
    f.elements = element_count(dims_).value_or(0);
    const bool masks = std::max(all_.actual.largest, all_.golden.largest) <= kMaxBesideMasks;
    if (masks)
      f.masked = masked_pairs_;
    else if (masked_pairs_ > 0)
      all_.add(masked_);
    f.pairs = all_.pairs;
    f.equal = all_.equal - unequal_;
    f.nan = all_.nan;
    f.inf = all_.inf;
    f.at_limit = all_.at_limit;
    f.max_error = all_.largest;
    f.worst_runs = all_.worst.runs();
    f.actual = all_.actual.figures(all_.pairs);
    f.golden = all_.golden.figures(all_.pairs);
    if (quantised_ && f.actual.step == 0) f.actual.step = actual_grid_.step();
    if (quantised_ && f.golden.step == 0) f.golden.step = golden_grid_.step();
    const long double norm = std::sqrt(all_.golden.square);
    const long double error = std::sqrt(all_.error2);
    f.error = static_cast<double>(error);
    f.relative_error = ratio(error, norm);
    f.slice_error = all_.worst_slice();
    f.gain_share = ratio(std::abs(all_.product), error * norm);
    if (f.pairs > 0)
      f.offset_share =
          ratio(std::abs(all_.error), error * std::sqrt(static_cast<long double>(f.pairs)));
    if (all_.golden.square > 0)
      f.gain = static_cast<double>((all_.golden.square + all_.product) / all_.golden.square);
    if (codes_) fit_scale(f);
    return f;
  }

 private:
  static double ratio(long double part, long double whole) {
    return part == 0 ? 0 : static_cast<double>(part / whole);
  }

  // Replaces pairs without a number by zeros, which add nothing to any sum; keeps pairs that may be
  // masked separate.
  template <typename Real>
  void split(const PairRun<Real>& run, std::uint64_t n, std::uint64_t weight) {
    std::uint64_t numbers = 0;
    std::uint64_t masked = 0;
    bool masks = false;
    bool one_sided = false;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Real a = run.actual[i];
      const Real g = run.golden[i];
      const bool mask = a <= static_cast<Real>(kMask) && g <= static_cast<Real>(kMask);
      const bool number = std::isfinite(a) && std::isfinite(g);
      if (mask && !masks) {
        masks = true;
        if (masked_pairs_ == 0) masked_ = LayerTotals(dims_, limit_);
        std::ranges::fill(actual_masked_, 0.0);
        std::ranges::fill(golden_masked_, 0.0);
      }
      if (!number) count_special(a, g, weight, mask ? masked_ : all_);
      one_sided |= !number && !(a == g || (std::isnan(a) && std::isnan(g)));
      const bool plain = number && !mask;
      actual_numbers_[i] = plain ? static_cast<double>(a) : 0;
      golden_numbers_[i] = plain ? static_cast<double>(g) : 0;
      numbers += plain ? 1U : 0U;
      // 64-bit integers that become the same double.
      if (plain && a != g && actual_numbers_[i] == golden_numbers_[i]) unequal_ += weight;
      if (!mask) continue;
      masked_pairs_ += weight;
      if (!number) continue;
      ++masked;
      actual_masked_[i] = static_cast<double>(a);
      golden_masked_[i] = static_cast<double>(g);
    }
    all_.add({actual_numbers_.data(), golden_numbers_.data(), run.first, n, weight}, numbers);
    if (one_sided) all_.worst.take(HUGE_VAL, run.first, n);
    if (masks)
      masked_.add({actual_masked_.data(), golden_masked_.data(), run.first, n, weight}, masked);
  }

  template <typename Real>
  static void count_special(Real a, Real g, std::uint64_t weight, LayerTotals& totals) {
    const auto one_kind = [&](bool actual, bool golden, auto& counts) {
      std::uint64_t& count = actual && golden ? counts.both
                             : actual         ? counts.actual
                                              : counts.golden;
      if (actual || golden) count += weight;
    };
    one_kind(std::isnan(a), std::isnan(g), totals.nan);
    if (std::isinf(a) && std::isinf(g) && std::signbit(a) != std::signbit(g))
      totals.inf.opposite += weight;
    else
      one_kind(std::isinf(a), std::isinf(g), totals.inf);
  }

  // Codes whose scale is unknown: uses the scale that fits best.
  void fit_scale(LayerFigures& f) const {
    const long double product = all_.golden.square + all_.product;  // sum of actual * golden
    const long double most = all_.actual.square * all_.golden.square;
    f.scale_fitted = true;
    f.relative_error =
        most > 0 ? static_cast<double>(std::sqrt(std::max(0.0L, 1 - product / most * product)))
                 : ratio(all_.golden.square, all_.golden.square);
    f.error = f.relative_error * f.golden.norm;
    f.slice_error = f.gain_share = f.offset_share = 0;
  }

  double limit_;
  bool quantised_;
  WideGrid actual_grid_;
  WideGrid golden_grid_;
  bool codes_;
  const Dims& dims_;
  LayerTotals all_;
  LayerTotals masked_;  // pairs that may be masked; has the tensor's dims once there is one
  std::uint64_t masked_pairs_ = 0;
  std::uint64_t unequal_ = 0;
  std::array<double, kPairRun> actual_numbers_;
  std::array<double, kPairRun> golden_numbers_;
  std::array<double, kPairRun> actual_masked_;
  std::array<double, kPairRun> golden_masked_;
};

}  // namespace

Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution, bool quantised) {
  Execution alone = execution;
  alone.jobs = 1;
  const PairRows rows(actual, golden, alone);
  LayerMeter meter(actual, golden, quantised);
  const auto walk = [&]<typename Real>(Real) {
    return rows.walk<Real>(
        [&](unsigned, std::uint64_t, const PairRun<Real>& run) { meter.take(run); });
  };
  BTF_TRY(rows.use_float() ? walk(0.0F) : rows.use_double() ? walk(0.0) : walk(0.0L));
  return meter.finish();
}

namespace {

PairQueueLimits queue_limits(const Execution& execution) {
  // Each thread has buffers of its own.
  constexpr std::uint64_t kBuffers = 2U << 20;
  const std::uint64_t fit = std::max<std::uint64_t>(1, execution.memory / kBuffers);
  return {.workers = static_cast<unsigned>(
              std::min<std::uint64_t>(worker_count(execution, UINT64_MAX, UINT64_MAX), fit)),
          .max_batch = open_files(16),
          .small = 128U << 10,
          .max_waiting = 4};
}

// Gives the tensor golden's dims, if its elements are stored in row-major order.
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

// Scales per index of a dim cannot be moved to another dim.
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

// Whether the files are unchanged and nothing more will be read from them. Other changes are
// detected by the sets at the end.
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

  // On the caller's thread, since several pairs may be in one file.
  Status make_sides() {
    if (Layer::is_flat(pair_.golden.dims, pair_.actual.dims) &&
        flatten(pair_.golden, pair_.actual.dims, pair_.golden_scales)) {
      // Slices are those of the dims that exist.
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

#include "btf/stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/dtype_table.h"
#include "elements/coo.h"
#include "elements/element_access.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "formats/io/byte_source.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

constexpr std::uint64_t kChunk = 1024;

// Mean and sum of squared deviations, merged chunk by chunk (Chan, Golub, LeVeque).
struct Moments {
  long double count = 0;
  long double mean = 0;
  long double squares = 0;

  void add(const Moments& other) {
    if (other.count == 0) return;
    const long double total = count + other.count;
    const long double delta = other.mean - mean;
    mean += delta * other.count / total;
    squares += other.squares + delta * delta * count * other.count / total;
    count = total;
  }
};

// Real holds every value of the dtype exactly.
template <typename Real>
class StatsOf {
 public:
  explicit StatsOf(const TensorInfo& tensor)
      : dims_(tensor.dims),
        row_(info(*tensor.dtype)),
        widen_(widener<Real>(*tensor.dtype)),
        least_normal_(row_.floating() && !row_.fp.power_of_two
                          ? std::ldexp(Real{1}, 1 - row_.fp.bias)
                          : Real{0}) {}

  // `count` elements from the row-major number `first` on.
  void add(const std::byte* codes, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t at = 0; at < count; at += kChunk) {
      const std::uint64_t n = std::min(kChunk, count - at);
      const std::byte* chunk = codes + at * row_.buffer_bytes();
      widen_(chunk, 1, n, values_.data());
      add_chunk(chunk, first + at, n);
    }
  }

  // `count` elements whose bits are zero, from the row-major number `first` on.
  void add_absent(std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t zero = 0;
    const auto* code = reinterpret_cast<const std::byte*>(&zero);
    widen_(code, 1, 1, values_.data());
    const Real value = values_[0];
    stats_.elements += count;
    stats_.zeros += value == 0 ? count : 0;
    stats_.finite += count;
    keep_extremes(value, code, first);
    moments_.add({static_cast<long double>(count), value, 0});
  }

  TensorStats result() && {
    if (moments_.count > 0) {
      stats_.mean = static_cast<double>(moments_.mean);
      stats_.std = static_cast<double>(std::sqrt(moments_.squares / moments_.count));
    }
    if (min_.set) stats_.min = Extreme{min_.code, index_of(dims_, min_.at)};
    if (max_.set) stats_.max = Extreme{max_.code, index_of(dims_, max_.at)};
    return std::move(stats_);
  }

 private:
  void add_chunk(const std::byte* codes, std::uint64_t first, std::uint64_t n) {
    // Sums are taken from the first value on: those of large integers would lose their last digits.
    long double pivot = 0;
    long double sum = 0;
    std::uint64_t finite = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Real value = values_[i];
      if (!std::isfinite(value)) {
        add_special(value, first + i);
        continue;
      }
      if (finite == 0) pivot = value;
      values_[finite++] = value;
      sum += value - pivot;
      stats_.zeros += value == 0 ? 1 : 0;
      stats_.subnormals += value != 0 && std::abs(value) < least_normal_ ? 1 : 0;
      keep_extremes(value, codes + i * row_.buffer_bytes(), first + i);
    }
    stats_.elements += n;
    stats_.finite += finite;
    if (finite == 0) return;
    const auto count = static_cast<long double>(finite);
    const long double shift = sum / count;
    Moments chunk{count, pivot + shift, 0};
    for (std::uint64_t i = 0; i < finite; ++i) {
      const long double deviation = values_[i] - pivot - shift;
      chunk.squares += deviation * deviation;
    }
    moments_.add(chunk);
  }

  void add_special(Real value, std::uint64_t at) {
    if (std::isnan(value)) {
      ++stats_.nan;
      if (!stats_.first_nan) stats_.first_nan = index_of(dims_, at);
    } else {
      ++(value > 0 ? stats_.positive_inf : stats_.negative_inf);
    }
  }

  void keep_extremes(Real value, const std::byte* code, std::uint64_t at) {
    if (!min_.set || value < min_.value) min_ = extreme(value, code, at);
    if (!max_.set || value > max_.value) max_ = extreme(value, code, at);
  }

  struct Kept {
    bool set = false;
    Real value = 0;
    std::uint64_t code = 0;
    std::uint64_t at = 0;
  };

  Kept extreme(Real value, const std::byte* element, std::uint64_t at) const {
    Kept kept{true, value, 0, at};
    std::memcpy(&kept.code, element, row_.buffer_bytes());
    return kept;
  }

  const Dims& dims_;
  const DTypeInfo& row_;
  WidenFn<Real> widen_;
  Real least_normal_;
  Kept min_;
  Kept max_;
  TensorStats stats_;
  Moments moments_;
  std::array<Real, kChunk> values_;
};

template <typename Real>
Result<TensorStats> dense_stats(const ByteSource& source, const TensorInfo& tensor,
                                const Execution& execution) {
  StatsOf<Real> stats(tensor);
  BTF_ASSIGN(LinearWalk walk, LinearWalk::open(source, tensor, {}, execution));
  for (;;) {
    BTF_TRY(check_cancelled(execution));
    BTF_ASSIGN(const std::optional<LinearSlab> slab, walk.next());
    if (!slab) return std::move(stats).result();
    stats.add(slab->codes, slab->first, slab->count);
    if (execution.progress) execution.progress(slab->count * info(*tensor.dtype).bits / 8);
  }
}

// The gaps between the entries are runs of absent elements, so the cost goes by the entries.
template <typename Real>
Result<TensorStats> coo_stats(const ByteSource& source, const TensorInfo& tensor,
                              const Execution& execution) {
  StatsOf<Real> stats(tensor);
  BTF_ASSIGN(auto sorted, sorted_entries(
                              source, tensor,
                              [&](std::span<const std::uint64_t> index) {
                                return linear_key(tensor.dims, index);
                              },
                              execution));
  const auto entries = canonical_entries(std::move(sorted));
  std::uint64_t next = 0;
  for (;;) {
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries->next());
    stats.add_absent(next, (entry ? entry->key : *element_count(tensor.dims)) - next);
    if (!entry) return std::move(stats).result();
    stats.add(reinterpret_cast<const std::byte*>(&entry->code), entry->key, 1);
    next = entry->key + 1;
  }
}

template <typename Real>
Result<TensorStats> stats_as(const ByteSource& source, const TensorInfo& tensor,
                             const Execution& execution) {
  return tensor.coo ? coo_stats<Real>(source, tensor, execution)
                    : dense_stats<Real>(source, tensor, execution);
}

}  // namespace

Result<TensorStats> stats(const TensorFile& file, const TensorInfo& tensor,
                          const Execution& execution) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  auto result = fits_double(*tensor.dtype) ? stats_as<double>(*source, tensor, execution)
                                           : stats_as<long double>(*source, tensor, execution);
  if (!result) return std::unexpected(file.about(tensor.index, result.error()));
  return result;
}

}  // namespace btf

#include "inspect/stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "btf/inspect.h"
#include "btf/try.h"
#include "core/dtype.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "elements/coo_record.h"
#include "elements/elements.h"
#include "elements/records.h"
#include "formats/io/byte_source.h"
#include "kernels/stats/stats.h"

namespace btf {
namespace {

// Below this, some squares may have underflowed to 0.
constexpr double kMinSquares = 0x1p-700;

constexpr std::uint64_t kSignBit = 1ULL << 63;

// The squares are about `centre`; the mean differs from it by `away`.
Moments moments_about(std::uint64_t n, long double centre, long double away,
                      const Squares& squares) {
  const auto count = static_cast<long double>(n);
  const long double all = static_cast<long double>(squares.sum) + squares.rest;
  return {count, centre, away, std::max(0.0L, all - count * away * away)};
}

}  // namespace

void Moments::add(const Moments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const long double total = count + other.count;
  const long double delta = other.mean - mean + (other.rest - rest);
  const long double step = delta * other.count / total;
  const long double moved = mean + step;
  const long double part = moved - mean;
  rest += mean - (moved - part) + (step - part);
  mean = moved;
  squares += other.squares + delta * delta * count * other.count / total;
  count = total;
}

void Tally::keep_min(const FoundNumber& kept) {
  if (!min || kept.value < min->value || (kept.value == min->value && kept.at < min->at))
    min = kept;
}

void Tally::keep_max(const FoundNumber& kept) {
  if (!max || kept.value > max->value || (kept.value == max->value && kept.at < max->at))
    max = kept;
}

void Tally::keep_nan(std::uint64_t at) {
  if (!first_nan || at < *first_nan) first_nan = at;
}

void Tally::add(const Tally& other) {
  counts.elements += other.counts.elements;
  counts.finite += other.counts.finite;
  counts.nan += other.counts.nan;
  counts.positive_inf += other.counts.positive_inf;
  counts.negative_inf += other.counts.negative_inf;
  counts.zeros += other.counts.zeros;
  counts.subnormals += other.counts.subnormals;
  if (other.min) keep_min(*other.min);
  if (other.max) keep_max(*other.max);
  if (other.first_nan) keep_nan(*other.first_nan);
}

ChunkStats::ChunkStats(DType dtype)
    : row_(info(dtype)),
      integers_(!fits_double(dtype)),
      turn_(row_.kind == NumberKind::signed_integer ? kSignBit : 0),
      widen_(widener<double>(dtype)),
      limit_(std::numeric_limits<double>::denorm_min()),
      has_subnormals_(row_.floating() && !row_.fp.power_of_two) {
  if (has_subnormals_) limit_ = std::ldexp(1.0, 1 - row_.fp.bias);
}

Moments ChunkStats::add(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers) {
  if (count == 0) return {};
  tally_.counts.elements += count;
  return integers_ ? add_integers(codes, count, numbers) : add_numbers(codes, count, numbers);
}

Moments ChunkStats::add_absent(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return {};
  const std::uint64_t zero = 0;
  const Moments one = add(reinterpret_cast<const std::byte*>(&zero), 1, {first});
  tally_.counts.elements += count - 1;
  tally_.counts.finite += count - 1;
  tally_.counts.zeros += one.mean == 0 ? count - 1 : 0;
  return {static_cast<long double>(count), one.mean, one.rest, 0};
}

Moments ChunkStats::add_numbers(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers) {
  const NumberRuns& runs = number_runs();
  widen_(codes, 1, count, values_.data());
  NumberSums sums = runs.sums(values_.data(), count, limit_);
  const std::uint64_t finite = std::isfinite(sums.sum) ? count : take_out_special(count, numbers);
  if (finite == 0) return {};
  if (finite != count) sums = runs.sums(values_.data(), finite, limit_);

  TensorStats& counts = tally_.counts;
  counts.finite += finite;
  const std::uint64_t zeros =
      has_subnormals_ && sums.small > 0 ? runs.zeros(values_.data(), finite) : sums.small;
  counts.zeros += zeros;
  counts.subnormals += sums.small - zeros;

  const auto first_of = [&](double value) {
    const auto found = static_cast<std::uint64_t>(
        std::find(values_.begin(), values_.begin() + finite, value) - values_.begin());
    return kept(codes, finite == count ? found : places_[found], value, numbers);
  };
  if (lower(sums.least, numbers)) tally_.keep_min(first_of(sums.least));
  if (higher(sums.most, numbers)) tally_.keep_max(first_of(sums.most));

  if (!std::isfinite(sums.sum)) return wide_moments(finite);
  const auto n = static_cast<long double>(finite);
  const auto centre = static_cast<double>((static_cast<long double>(sums.sum) + sums.rest) / n);
  const Squares squares = runs.squares(values_.data(), finite, centre);
  if (!std::isfinite(squares.sum) || (squares.sum < kMinSquares && sums.least != sums.most))
    return wide_moments(finite);
  return moments_about(finite, centre, (sums.sum - n * centre + sums.rest) / n, squares);
}

// Moves the finite values to the front and counts the others.
std::uint64_t ChunkStats::take_out_special(std::uint64_t count, ChunkNumbers numbers) {
  std::uint64_t finite = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = values_[i];
    values_[finite] = value;
    places_[finite] = static_cast<std::uint16_t>(i);
    finite += std::isfinite(value) ? 1 : 0;
    tally_.counts.positive_inf += value > std::numeric_limits<double>::max() ? 1 : 0;
    tally_.counts.negative_inf += value < std::numeric_limits<double>::lowest() ? 1 : 0;
    if (!std::isnan(value)) continue;
    ++tally_.counts.nan;
    tally_.keep_nan(numbers[i]);
  }
  return finite;
}

// For values whose sum or squares overflow double.
Moments ChunkStats::wide_moments(std::uint64_t n) const {
  const auto count = static_cast<long double>(n);
  const long double pivot = values_[0];
  long double sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += values_[i] - pivot;
  const long double shift = sum / count;
  Moments all{count, pivot, shift, 0};
  for (std::uint64_t i = 0; i < n; ++i) {
    const long double deviation = values_[i] - pivot - shift;
    all.squares += deviation * deviation;
  }
  return all;
}

Moments ChunkStats::add_integers(const std::byte* codes, std::uint64_t count,
                                 ChunkNumbers numbers) {
  __extension__ using Wide = unsigned __int128;
  const NumberRuns& runs = number_runs();
  const auto* values = reinterpret_cast<const std::uint64_t*>(codes);
  const IntegerSums sums = runs.integer_sums(values, count, turn_);
  tally_.counts.finite += count;
  tally_.counts.zeros += sums.zeros;

  const auto real = [&](std::uint64_t turned) {
    return static_cast<long double>(turned) - static_cast<long double>(turn_);
  };
  const auto first_of = [&](std::uint64_t turned) {
    const auto found =
        static_cast<std::uint64_t>(std::find(values, values + count, turned ^ turn_) - values);
    return kept(codes, found, real(turned), numbers);
  };
  if (lower(real(sums.least), numbers)) tally_.keep_min(first_of(sums.least));
  if (higher(real(sums.most), numbers)) tally_.keep_max(first_of(sums.most));

  const Wide sum = (Wide{sums.high} << 32) + sums.low;
  const auto centre = static_cast<std::uint64_t>(sum / count);
  const long double away = static_cast<long double>(static_cast<std::uint64_t>(sum % count)) /
                           static_cast<long double>(count);
  return moments_about(count, real(centre), away,
                       runs.integer_squares(values, count, turn_, centre));
}

// Returns true if it is worth looking for the first of them.
bool ChunkStats::lower(long double value, ChunkNumbers numbers) const {
  const auto& min = tally_.min;
  return !min || value < min->value || (value == min->value && numbers[0] < min->at);
}

bool ChunkStats::higher(long double value, ChunkNumbers numbers) const {
  const auto& max = tally_.max;
  return !max || value > max->value || (value == max->value && numbers[0] < max->at);
}

Tally::FoundNumber ChunkStats::kept(const std::byte* codes, std::uint64_t i, long double value,
                                    ChunkNumbers numbers) const {
  Tally::FoundNumber kept{value, 0, numbers[i]};
  std::memcpy(&kept.code, codes + i * row_.buffer_bytes(), row_.buffer_bytes());
  return kept;
}

Result<ElementPasses> ElementPasses::open(const TensorFile& file, const TensorInfo& tensor,
                                          const Execution& execution) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  ElementPasses passes;
  passes.file_ = &file;
  passes.tensor_ = &tensor;
  passes.execution_ = execution;
  passes.execution_.progress = nullptr;  // earlier statistics have already reported all bytes
  passes.elements_ = *element_count(tensor.dims);
  const auto opened = [&]() -> Status {
    if (tensor.coo) {
      BTF_ASSIGN(passes.entries_,
                 CooRecord::open(*source, tensor, row_major_key(tensor.dims), passes.execution_));
    } else {
      BTF_ASSIGN(passes.slabs_, LinearSlabs::open(*source, tensor, {}, passes.execution_));
    }
    return {};
  }();
  if (!opened) return std::unexpected(file.about(tensor.index, opened.error()));
  return passes;
}

unsigned ElementPasses::workers() const { return slabs_ ? slabs_->workers() : 1; }

Status ElementPasses::run(
    const std::function<void(unsigned worker, const ElementPiece&)>& take) const {
  Status done;
  if (entries_) {
    done = run_entries(take);
  } else {
    stored_ = elements_;
    done = for_each_slab(execution_, slabs_->workers(), slabs_->count(),
                         [&](unsigned worker, std::uint64_t number) -> Status {
                           BTF_ASSIGN(const LinearSlab slab, slabs_->read(worker, number));
                           take(worker, {slab.codes, slab.count, {slab.first}});
                           return {};
                         });
  }
  if (!done) return std::unexpected(file_->about(tensor_->index, done.error()));
  return {};
}

Status ElementPasses::run_entries(
    const std::function<void(unsigned worker, const ElementPiece&)>& take) const {
  BTF_ASSIGN(auto sorted, entries_->entries());
  const auto entries = canonical_entries(std::move(sorted));
  stored_ = 0;
  for (;;) {
    BTF_TRY(check_cancelled(execution_));
    BTF_ASSIGN(const CooRun run, entries->next_run());
    if (run.count == 0) return {};
    take(0, {run.code(0), run.count, {.each = run.keys}});
    stored_ += run.count;
  }
}

namespace {

// The moments of the complete chunks of a slab, and the elements before and after these, whose
// chunks other slabs begin or end.
struct SlabMoments {
  std::uint64_t first = 0;
  std::vector<std::byte> head;
  std::vector<Moments> whole;
  std::vector<std::byte> tail;
};

// Adds moments in the order of the elements, in whichever order workers finish.
class MomentsInOrder {
 public:
  explicit MomentsInOrder(DType dtype)
      : bytes_(info(dtype).buffer_bytes()), chunks_(dtype), open_(kStatsChunk) {}

  void put(std::uint64_t slab, SlabMoments moments) {
    waiting_.emplace(slab, std::move(moments));
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      const SlabMoments& ready = waiting_.begin()->second;
      append(ready.first, ready.head);
      for (const Moments& chunk : ready.whole) all_.add(chunk);
      append(ready.first + ready.head.size() / bytes_ + ready.whole.size() * kStatsChunk,
             ready.tail);
      waiting_.erase(waiting_.begin());
      ++next_;
    }
  }

  Moments finish() {
    end_chunk();
    return all_;
  }

  const Tally& tally() const { return chunks_.tally(); }

 private:
  void append(std::uint64_t first, std::span<const std::byte> codes) {
    if (codes.empty()) return;
    if (count_ == 0) first_ = first;
    auto* open = reinterpret_cast<std::byte*>(open_.data());
    std::ranges::copy(codes, open + count_ * bytes_);
    count_ += codes.size() / bytes_;
    if ((first_ + count_) % kStatsChunk == 0) end_chunk();
  }

  void end_chunk() {
    all_.add(chunks_.add(reinterpret_cast<const std::byte*>(open_.data()), count_, {first_}));
    count_ = 0;
  }

  std::uint64_t bytes_;
  ChunkStats chunks_;
  std::map<std::uint64_t, SlabMoments> waiting_;
  std::uint64_t next_ = 0;
  Moments all_;
  std::vector<std::uint64_t> open_;  // elements of the incomplete chunk
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
};

SlabMoments moments_of(const LinearSlab& slab, std::uint64_t bytes, ChunkStats& chunks) {
  const std::uint64_t end = slab.first + slab.count;
  const std::uint64_t begin = std::min(end, ceil_div(slab.first, kStatsChunk) * kStatsChunk);
  const std::uint64_t last = std::max(begin, end / kStatsChunk * kStatsChunk);
  const auto codes = [&](std::uint64_t number) {
    return slab.codes + (number - slab.first) * bytes;
  };
  SlabMoments moments{slab.first, {codes(slab.first), codes(begin)}, {}, {codes(last), codes(end)}};
  moments.whole.reserve((last - begin) / kStatsChunk);
  for (std::uint64_t at = begin; at < last; at += kStatsChunk)
    moments.whole.push_back(chunks.add(codes(at), kStatsChunk, {at}));
  return moments;
}

TensorStats result_of(const Dims& dims, const Tally& tally, const Moments& moments) {
  TensorStats stats = tally.counts;
  if (moments.count > 0) {
    stats.mean = static_cast<double>(moments.mean + moments.rest);
    stats.std = static_cast<double>(std::sqrt(moments.squares / moments.count));
  }
  if (tally.min) stats.min = Extreme{tally.min->code, index_of(dims, tally.min->at)};
  if (tally.max) stats.max = Extreme{tally.max->code, index_of(dims, tally.max->at)};
  if (tally.first_nan) stats.first_nan = index_of(dims, *tally.first_nan);
  return stats;
}

Result<TensorStats> dense_stats(const ByteSource& source, const TensorInfo& tensor,
                                const Execution& execution) {
  BTF_ASSIGN(LinearSlabs slabs, LinearSlabs::open(source, tensor, {}, execution));
  std::vector<ChunkStats> workers(slabs.workers(), ChunkStats(*tensor.dtype));
  MomentsInOrder in_order(*tensor.dtype);
  std::mutex mutex;
  BTF_TRY(for_each_slab(execution, slabs.workers(), slabs.count(),
                        [&](unsigned worker, std::uint64_t number) -> Status {
                          BTF_ASSIGN(const LinearSlab slab, slabs.read(worker, number));
                          SlabMoments moments =
                              moments_of(slab, info(*tensor.dtype).buffer_bytes(), workers[worker]);
                          const std::scoped_lock lock(mutex);
                          in_order.put(number, std::move(moments));
                          if (execution.progress)
                            execution.progress(slab.count * info(*tensor.dtype).bits / 8);
                          return {};
                        }));
  const Moments moments = in_order.finish();
  Tally tally = in_order.tally();
  for (const ChunkStats& worker : workers) tally.add(worker.tally());
  return result_of(tensor.dims, tally, moments);
}

// Entries of a COO record, in chunks of this size.
class EntryChunks {
 public:
  explicit EntryChunks(DType dtype)
      : bytes_(info(dtype).buffer_bytes()),
        chunks_(dtype),
        codes_(kStatsChunk),
        numbers_(kStatsChunk) {}

  void put(const CooRun& run) {
    for (std::uint64_t at = 0; at < run.count;) {
      const std::uint64_t some = std::min(run.count - at, kStatsChunk - count_);
      std::memcpy(reinterpret_cast<std::byte*>(codes_.data()) + count_ * bytes_, run.code(at),
                  some * bytes_);
      std::copy_n(run.keys + at, some, numbers_.data() + count_);
      at += some;
      count_ += some;
      if (count_ == kStatsChunk) end();
    }
  }

  void end() {
    const std::uint64_t count = std::exchange(count_, 0);
    moments_.add(chunks_.add(reinterpret_cast<const std::byte*>(codes_.data()), count,
                             {.each = numbers_.data()}));
  }

  void add_absent(std::uint64_t first, std::uint64_t count) {
    moments_.add(chunks_.add_absent(first, count));
  }

  const Tally& tally() const { return chunks_.tally(); }
  const Moments& moments() const { return moments_; }

 private:
  std::uint64_t bytes_;
  ChunkStats chunks_;
  Moments moments_;
  std::vector<std::uint64_t> codes_;
  std::vector<std::uint64_t> numbers_;
  std::uint64_t count_ = 0;
};

// The first number that is not among those of the runs, which must ascend.
class FirstAbsent {
 public:
  void put(const CooRun& run) {
    // If numbers are consecutive, each is as far from the first as its position in the run.
    if (run.count == 0 || run.keys[0] != next_) return;
    const auto all = std::views::iota(std::uint64_t{0}, run.count);
    const auto gap = std::ranges::partition_point(
        all, [&](std::uint64_t i) { return run.keys[i] == next_ + i; });
    next_ += static_cast<std::uint64_t>(gap - all.begin());
  }
  std::uint64_t number() const { return next_; }

 private:
  std::uint64_t next_ = 0;
};

// Elements that a COO record does not store are only counted, so that the cost grows with the
// entries.
Result<TensorStats> coo_stats(const ByteSource& source, const TensorInfo& tensor,
                              const Execution& execution) {
  BTF_ASSIGN(auto sorted, sorted_entries(source, tensor, row_major_key(tensor.dims), execution));
  const auto entries = canonical_entries(std::move(sorted));
  EntryChunks chunks(*tensor.dtype);
  FirstAbsent absent;
  std::uint64_t stored = 0;
  for (;;) {
    BTF_ASSIGN(const CooRun run, entries->next_run());
    if (run.count == 0) break;
    chunks.put(run);
    absent.put(run);
    stored += run.count;
  }
  chunks.end();
  chunks.add_absent(absent.number(), *element_count(tensor.dims) - stored);
  return result_of(tensor.dims, chunks.tally(), chunks.moments());
}

}  // namespace

Result<TensorStats> stats(const TensorFile& file, const TensorInfo& tensor,
                          const Execution& execution) {
  Status status = check_known(tensor);
  if (status) status = file.check_overlap(tensor);
  if (!status) return std::unexpected(file.about(tensor.index, status.error()));
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  auto result =
      tensor.coo ? coo_stats(*source, tensor, execution) : dense_stats(*source, tensor, execution);
  if (!result) return std::unexpected(file.about(tensor.index, result.error()));
  return result;
}

}  // namespace btf

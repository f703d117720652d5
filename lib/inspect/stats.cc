#include "btf/stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "elements/coo_record.h"
#include "elements/element_access.h"
#include "elements/parallel.h"
#include "elements/records/linear_walk.h"
#include "formats/io/byte_source.h"
#include "inspect/chunk_stats.h"

namespace btf {
namespace {

// The moments of a slab's whole chunks, and the elements before and behind these, which belong to
// chunks that other slabs begin or end.
struct SlabMoments {
  std::uint64_t first = 0;
  std::vector<std::byte> head;
  std::vector<Moments> whole;
  std::vector<std::byte> tail;
};

// Adds up moments in the order of the elements, whichever worker is done first.
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
  std::vector<std::uint64_t> open_;  // elements of the chunk that is not complete
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

// Entries of a COO record, in chunks of this many.
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

// The first number that is not among those of the runs, which ascend.
class FirstAbsent {
 public:
  void put(const CooRun& run) {
    // As long as numbers follow one another each is as far from the first as it is in the run.
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

// Elements that a COO record does not store are only counted: the cost grows with the entries.
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

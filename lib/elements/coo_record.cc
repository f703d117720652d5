#include "elements/coo_record.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/file.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "core/resources.h"
#include "elements/cast.h"
#include "elements/elements.h"
#include "formats/btf_reader.h"
#include "formats/io/byte_source.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

// Computes the keys of a COO record's entries, block by block, from the indices in the file. Not
// thread-safe. `source` must outlive it.
class CooKeys {
 public:
  CooKeys(const ByteSource& source, const TensorInfo& record, CooKey key);

  std::uint64_t block_entries() const { return block_entries_; }  // the most that load() may get

  // Reads the indices of `count` entries from number `position` on.
  Status load(std::uint64_t position, std::uint64_t count);

  // The number of entries before the first one with an index out of range, and the error for that.
  std::uint64_t valid() const { return valid_; }
  std::unexpected<Error> out_of_range() const;

  // The number of valid entries that have a key.
  std::uint64_t count() const { return count_; }
  const std::uint64_t* keys() const { return keys_.data(); }
  // Their positions in the block; nullptr if all entries have a key.
  const std::uint64_t* selected() const { return place_ != nullptr ? nullptr : selected_.data(); }

 private:
  void keys_by_strides(std::uint64_t count);
  void keys_by_function(std::uint64_t count);

  const ByteSource& source_;
  CooParts parts_;
  Dims dims_;
  CooKey key_;
  const PlaceKey* place_;  // key_ if it is a PlaceKey, otherwise nullptr
  std::uint64_t block_entries_;
  std::uint64_t position_ = 0;
  std::uint64_t valid_ = 0;
  std::uint64_t count_ = 0;
  Buffer indices_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> selected_;
  Dims index_;
};

constexpr std::uint64_t kBlockBytes = 256U << 10;

// Computes offsets by strides. Returns the number of entries before one that is out of range.
using PlacesFn = std::uint64_t (*)(const std::byte* indices, std::uint64_t count, const Dims& dims,
                                   const Dims& strides, std::uint64_t* places);

// With a rank known at compile time this is twice as fast.
template <std::size_t kRank>
std::uint64_t places_of_rank(const std::byte* indices, std::uint64_t count, const Dims& dims,
                             const Dims& strides, std::uint64_t* places) {
  std::array<std::uint64_t, kRank> dim;
  std::array<std::uint64_t, kRank> stride;
  std::ranges::copy_n(dims.begin(), kRank, dim.begin());
  std::ranges::copy_n(strides.begin(), kRank, stride.begin());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t place = 0;
    bool outside = false;
    for (std::size_t d = 0; d < kRank; ++d, indices += wire::kWord) {
      const std::uint64_t index = wire::load_u64(indices);
      outside |= index >= dim[d];
      place += index * stride[d];
    }
    if (outside) return i;
    places[i] = place;
  }
  return count;
}

constexpr PlacesFn kPlacesOfRank[] = {nullptr,           places_of_rank<1>, places_of_rank<2>,
                                      places_of_rank<3>, places_of_rank<4>, places_of_rank<5>};

std::uint64_t any_places(const std::byte* indices, std::uint64_t count, const Dims& dims,
                         const PlaceKey& key, std::uint64_t* places) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d, indices += wire::kWord) {
      const std::uint64_t index = wire::load_u64(indices);
      if (index >= dims[d]) return i;
      place += key.along(d, index);
    }
    places[i] = place;
  }
  return count;
}

CooKeys::CooKeys(const ByteSource& source, const TensorInfo& record, CooKey key)
    : source_(source),
      parts_(*record.coo),
      dims_(record.dims),
      key_(std::move(key)),
      place_(key_.target<PlaceKey>()),
      // An even number, so that blocks of 4-bit codes begin at whole bytes.
      block_entries_(
          std::max<std::uint64_t>(2, kBlockBytes / (wire::kWord * (dims_.size() + 1)) / 2 * 2)),
      index_(dims_.size()) {}

Status CooKeys::load(std::uint64_t position, std::uint64_t count) {
  position_ = position;
  const std::uint64_t row = dims_.size() * wire::kWord;
  BTF_TRY(source_.read_at(parts_.indices_offset + position * row,
                          std::span(indices_.reserve(count * row), count * row)));
  keys_.resize(count);
  if (place_ != nullptr)
    keys_by_strides(count);
  else
    keys_by_function(count);
  return {};
}

void CooKeys::keys_by_strides(std::uint64_t count) {
  const std::size_t rank = dims_.size();
  const PlacesFn places =
      rank < std::size(kPlacesOfRank) && !place_->mapping.split ? kPlacesOfRank[rank] : nullptr;
  valid_ = places != nullptr
               ? places(indices_.data(), count, dims_, place_->mapping.strides, keys_.data())
               : any_places(indices_.data(), count, dims_, *place_, keys_.data());
  count_ = valid_;
}

void CooKeys::keys_by_function(std::uint64_t count) {
  selected_.resize(count);
  count_ = 0;
  const std::byte* at = indices_.data();
  for (valid_ = 0; valid_ < count; ++valid_) {
    for (std::size_t d = 0; d < dims_.size(); ++d, at += wire::kWord) {
      index_[d] = wire::load_u64(at);
      if (index_[d] >= dims_[d]) return;
    }
    const std::optional<std::uint64_t> key = key_(index_);
    if (!key) continue;
    keys_[count_] = *key;
    selected_[count_++] = valid_;
  }
}

std::unexpected<Error> CooKeys::out_of_range() const {
  const std::byte* row = indices_.data() + valid_ * dims_.size() * wire::kWord;
  std::uint64_t index = 0;
  std::size_t d = 0;
  for (; d < dims_.size(); ++d) {
    index = wire::load_u64(row + d * wire::kWord);
    if (index >= dims_[d]) break;
  }
  const std::uint64_t position = position_ + valid_;
  const std::uint64_t at = parts_.indices_offset + (position * dims_.size() + d) * wire::kWord;
  return malformed("coo-index-out-of-range", at, "COO entry ", position, " has index ", index,
                   " in dim ", d, " of size ", dims_[d], " (byte ", at, ")");
}

// A function object, so that sorting can inline it.
constexpr auto before = [](const CooEntry& a, const CooEntry& b) {
  return a.key != b.key ? a.key < b.key : a.position < b.position;
};

class SortedVector final : public CooSource {
 public:
  SortedVector(std::vector<CooEntry> entries, std::uint64_t code_bytes)
      : entries_(std::move(entries)), batch_(code_bytes) {}

  Result<CooRun> next_run() override {
    batch_.clear();
    while (at_ < entries_.size() && !batch_.full()) batch_.add(entries_[at_++]);
    return batch_.run();
  }

  Status rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::vector<CooEntry> entries_;
  std::size_t at_ = 0;
  CooBatch batch_;
};

// One sorted run in the spool, read through a buffer.
class Run {
 public:
  Run(const Spool& spool, std::uint64_t begin, std::uint64_t count, std::uint64_t buffer_entries)
      : spool_(&spool), begin_(begin), count_(count), buffer_(buffer_entries) {}

  Status advance() {
    if (++at_ < filled_) return {};
    begin_ += filled_ * sizeof(CooEntry);
    count_ -= filled_;
    filled_ = std::min<std::uint64_t>(buffer_.size(), count_);
    at_ = 0;
    return spool_->read_at(begin_, std::as_writable_bytes(std::span(buffer_).first(filled_)));
  }

  bool done() const { return filled_ == 0; }
  const CooEntry& front() const { return buffer_[at_]; }

 private:
  const Spool* spool_;
  std::uint64_t begin_;
  std::uint64_t count_;
  std::vector<CooEntry> buffer_;
  std::uint64_t filled_ = 0;
  std::uint64_t at_ = 0;
};

class MergedRuns final : public CooSource {
  // Must precede its first use, since its type is deduced.
  auto later() const {
    return [&](std::size_t a, std::size_t b) { return before(runs_[b].front(), runs_[a].front()); };
  }

 public:
  MergedRuns(Spool spool, std::vector<std::uint64_t> counts, std::uint64_t code_bytes,
             std::uint64_t memory)
      : spool_(std::move(spool)), counts_(std::move(counts)), memory_(memory), batch_(code_bytes) {}

  Status rewind() override {
    runs_.clear();
    heap_.clear();
    const std::uint64_t buffer =
        std::max<std::uint64_t>(16, memory_ / sizeof(CooEntry) / counts_.size());
    std::uint64_t begin = 0;
    for (const std::uint64_t count : counts_) {
      runs_.emplace_back(spool_, begin, count, std::min(buffer, count));
      begin += count * sizeof(CooEntry);
      BTF_TRY(runs_.back().advance());
      heap_.push_back(runs_.size() - 1);
    }
    std::ranges::make_heap(heap_, later());
    return {};
  }

  Result<CooRun> next_run() override {
    batch_.clear();
    while (!heap_.empty() && !batch_.full()) BTF_TRY(take_lowest());
    return batch_.run();
  }

 private:
  Status take_lowest() {
    std::ranges::pop_heap(heap_, later());
    Run& run = runs_[heap_.back()];
    batch_.add(run.front());
    BTF_TRY(run.advance());
    if (run.done())
      heap_.pop_back();
    else
      std::ranges::push_heap(heap_, later());
    return {};
  }

  Spool spool_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t memory_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  CooBatch batch_;
};

// Sorts all `count` entries in runs of at most `memory` bytes. If there are several, they go to an
// unlinked file and are merged.
Result<std::unique_ptr<CooSource>> sort_entries(CooSource& entries, std::uint64_t count,
                                                std::uint64_t memory) {
  const std::uint64_t most = std::max<std::uint64_t>(64, memory / sizeof(CooEntry));
  std::vector<CooEntry> run;
  run.reserve(std::min(count, most));  // growing would take more memory
  std::optional<Spool> spool;
  std::vector<std::uint64_t> counts;
  const auto spill = [&]() -> Status {
    if (!spool) {
      BTF_ASSIGN(spool, Spool::create());
    }
    counts.push_back(run.size());
    BTF_TRY(spool->append(std::as_bytes(std::span(run))));
    run.clear();
    return {};
  };
  std::uint64_t code_bytes = 0;
  for (;;) {
    BTF_ASSIGN(const CooRun read, entries.next_run());
    if (read.count == 0) break;
    code_bytes = read.code_bytes;
    for (std::uint64_t i = 0; i < read.count; ++i) {
      run.push_back(read[i]);
      if (run.size() < most) continue;
      std::ranges::sort(run, before);
      BTF_TRY(spill());
    }
  }
  std::ranges::sort(run, before);
  if (!spool) return std::make_unique<SortedVector>(std::move(run), code_bytes);
  if (!run.empty()) BTF_TRY(spill());
  run = std::vector<CooEntry>();  // unlike {}, this frees the memory
  auto merged =
      std::make_unique<MergedRuns>(*std::move(spool), std::move(counts), code_bytes, memory);
  BTF_TRY(merged->rewind());
  return merged;
}

// Entries from one mark to the next, which one worker scans at a time.
constexpr std::uint64_t kMarkEntries = 64U << 10;

// The entries in the order of the file, block by block.
class FileEntries final : public CooSource {
 public:
  FileEntries(const ByteSource& source, const TensorInfo& record, CooKey key,
              const Execution& execution)
      : source_(source),
        parts_(*record.coo),
        bits_(info(*record.dtype).bits),
        code_bytes_(info(*record.dtype).buffer_bytes()),
        row_bytes_(record.dims.size() * wire::kWord),
        execution_(execution),
        keys_(source, record, std::move(key)),
        end_(parts_.nnz) {}

  // Requires ascending keys and restricts the entries to a range, whose first entry is `first`.
  void limit(std::uint64_t first, KeyRange range) {
    first_ = position_ = first;
    range_ = range;
    ascending_ = true;
  }

  // For each mark, false if the key leaves out all entries up to the next one.
  void skip(std::vector<bool> wanted) { wanted_ = std::move(wanted); }

  Result<CooRun> next_run() override {
    while (position_ < end_) {
      std::uint64_t count = std::min(keys_.block_entries(), end_ - position_);
      if (!wanted_.empty()) {
        const std::uint64_t mark = position_ / kMarkEntries;
        const std::uint64_t stretch = std::min((mark + 1) * kMarkEntries, end_) - position_;
        if (!wanted_[mark]) {
          position_ += stretch;
          report_progress(stretch);
          continue;
        }
        count = std::min(count, stretch);
      }
      BTF_TRY(check_cancelled(execution_));
      BTF_TRY(keys_.load(position_, count));
      if (keys_.valid() == 0) return keys_.out_of_range();
      const std::uint64_t first = std::exchange(position_, position_ + keys_.valid());
      report_progress(keys_.valid());
      BTF_ASSIGN(const CooRun run, selected_run(first));
      if (run.count > 0) return run;
    }
    return CooRun{};
  }

  Status rewind() override {
    position_ = first_;
    last_.reset();
    end_ = parts_.nnz;
    return {};
  }

 private:
  void report_progress(std::uint64_t entries) const {
    if (execution_.progress)
      execution_.progress(coo_progress(entries * row_bytes_ + *stream_bytes(entries, bits_)));
  }

  Result<CooRun> selected_run(std::uint64_t first) {
    CooRun run{
        .count = keys_.count(), .keys = keys_.keys(), .code_bytes = code_bytes_, .position = first};
    BTF_TRY(load_codes(first, keys_.valid()));
    run.codes = codes_.data();
    if (const std::uint64_t* const selected = keys_.selected()) compact(selected, first, run);
    if (!ascending_ || run.count == 0) return run;
    if (!std::is_sorted(run.keys, run.keys + run.count) || last_ > run.keys[0])
      return file_changed();
    last_ = run.keys[run.count - 1];
    return within_range(run);
  }

  Status load_codes(std::uint64_t first, std::uint64_t count) {
    std::byte* codes = codes_.reserve(count * code_bytes_);
    if (bits_ >= 8)
      return source_.read_at(parts_.values_offset + first * code_bytes_,
                             std::span(codes, count * code_bytes_));
    const std::uint64_t bytes = ceil_div(first + count, 2) - first / 2;
    std::byte* packed = packed_.reserve(bytes);
    BTF_TRY(source_.read_at(parts_.values_offset + first / 2, std::span(packed, bytes)));
    unpack_nibbles(packed, first % 2, count, codes);
    return {};
  }

  void compact(const std::uint64_t* selected, std::uint64_t first, CooRun& run) {
    positions_.resize(run.count);
    for (std::uint64_t i = 0; i < run.count; ++i) {
      positions_[i] = first + selected[i];
      std::memmove(codes_.data() + i * code_bytes_, codes_.data() + selected[i] * code_bytes_,
                   code_bytes_);
    }
    run.positions = positions_.data();
  }

  CooRun within_range(const CooRun& run) {
    const std::uint64_t* const end = run.keys + run.count;
    const std::uint64_t* const low = std::lower_bound(run.keys, end, range_.first);
    const std::uint64_t* const high = std::lower_bound(low, end, range_.end);
    if (high != end) end_ = position_;
    return run.sub(static_cast<std::uint64_t>(low - run.keys),
                   static_cast<std::uint64_t>(high - low));
  }

  const ByteSource& source_;
  CooParts parts_;
  unsigned bits_;
  std::uint64_t code_bytes_;
  std::uint64_t row_bytes_;
  Execution execution_;
  CooKeys keys_;
  std::uint64_t first_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t end_;
  KeyRange range_;
  bool ascending_ = false;
  std::vector<bool> wanted_;
  std::optional<std::uint64_t> last_;  // key
  Buffer packed_;
  Buffer codes_;
  std::vector<std::uint64_t> positions_;
};

// What the scan finds out about the entries from one mark to the next.
struct Stretch {
  std::uint64_t entries = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool ascending = true;

  void add(const std::uint64_t* keys, std::uint64_t count) {
    if (count == 0) return;
    if (entries == 0) first = last = keys[0];
    // No early exit: most stretches are ascending, and the loop is faster without it.
    bool falls = keys[0] < last;
    for (std::uint64_t i = 1; i < count; ++i) falls |= keys[i] < keys[i - 1];
    ascending = ascending && !falls;
    last = keys[count - 1];
    entries += count;
  }
};

}  // namespace

Result<CooRecord> CooRecord::open(const ByteSource& source, const TensorInfo& record, CooKey key,
                                  const Execution& execution) {
  CooRecord opened(source, record, std::move(key), execution);
  BTF_TRY(opened.scan());
  return opened;
}

Status CooRecord::scan() {
  const std::uint64_t nnz = record_->coo->nnz;
  const unsigned bits = info(*record_->dtype).bits;
  const std::uint64_t row = record_->dims.size() * wire::kWord;
  std::vector<Stretch> stretches(ceil_div(nnz, kMarkEntries));
  const unsigned workers = worker_count(execution_, stretches.size(), nnz * row);
  std::vector<std::optional<CooKeys>> keys(workers);
  for (auto& own : keys) own.emplace(*source_, *record_, key_);
  std::mutex mutex;
  BTF_TRY(for_each_slab(
      execution_, workers, stretches.size(), [&](unsigned worker, std::uint64_t number) -> Status {
        CooKeys& own = *keys[worker];
        const std::uint64_t begin = number * kMarkEntries;
        const std::uint64_t end = std::min(begin + kMarkEntries, nnz);
        for (std::uint64_t at = begin; at < end; at += own.valid()) {
          const std::uint64_t count = std::min(own.block_entries(), end - at);
          BTF_TRY(own.load(at, count));
          if (own.valid() < count) return own.out_of_range();
          stretches[number].add(own.keys(), own.count());
          const std::scoped_lock lock(mutex);
          if (execution_.progress)
            execution_.progress(coo_progress(count * row + *stream_bytes(count, bits)));
        }
        return {};
      }));
  ascending_ = true;
  std::uint64_t last = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.entries == 0) continue;
    ascending_ = ascending_ && stretch.ascending && stretch.first >= last;
    last = stretch.last;
  }
  // A function may leave entries out, so they cannot be found by their keys.
  if (key_.target<PlaceKey>() == nullptr)
    for (const Stretch& stretch : stretches) wanted_.push_back(stretch.entries > 0);
  if (!ascending_ || key_.target<PlaceKey>() == nullptr) return {};
  for (const Stretch& stretch : stretches) marks_.push_back(stretch.first);
  return {};
}

// Returns the first entry whose key is not below this one.
Result<std::uint64_t> CooRecord::find(std::uint64_t key) const {
  const auto above =
      static_cast<std::uint64_t>(std::ranges::lower_bound(marks_, key) - marks_.begin());
  if (above == 0) return 0;
  std::uint64_t low = (above - 1) * kMarkEntries;  // its key is lower
  std::uint64_t high = std::min(above * kMarkEntries, record_->coo->nnz);
  CooKeys keys(*source_, *record_, key_);
  // Usually the key is that of a mark, and the mark's entry is the first with it unless there are
  // duplicates.
  std::uint64_t next = above < marks_.size() && marks_[above] == key ? high - 1 : low;
  while (high - low > 1) {
    if (next == low) next = low + (high - low) / 2;
    BTF_TRY(keys.load(next, 1));
    if (keys.count() == 0) return file_changed();
    (keys.keys()[0] < key ? low : high) = next;
    next = low;
  }
  return high;
}

Result<std::unique_ptr<CooSource>> CooRecord::entries(KeyRange range) const {
  auto entries = std::make_unique<FileEntries>(*source_, *record_, key_, execution_);
  entries->skip(wanted_);
  if (!ascending_) return sort_entries(*entries, record_->coo->nnz, execution_.memory);
  std::uint64_t first = 0;
  if (range.first > 0) {
    BTF_ASSIGN(first, find(range.first));
  }
  entries->limit(first, range);
  return entries;
}

std::unique_ptr<CooSource> file_entries(const ByteSource& source, const TensorInfo& record,
                                        CooKey key, const Execution& execution) {
  return std::make_unique<FileEntries>(source, record, std::move(key), execution);
}

Result<std::unique_ptr<CooSource>> sorted_entries(const ByteSource& source,
                                                  const TensorInfo& record, CooKey key,
                                                  const Execution& execution) {
  BTF_ASSIGN(const CooRecord opened, CooRecord::open(source, record, std::move(key), execution));
  return opened.entries();
}

}  // namespace btf

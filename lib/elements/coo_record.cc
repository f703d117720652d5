#include "elements/coo_record.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "elements/coo_keys.h"
#include "elements/coo_sort.h"
#include "elements/parallel.h"
#include "formats/btf/wire.h"
#include "kernels/move/nibbles.h"

namespace btf {
namespace {

// From one mark to the next; work for one worker at a time.
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

  // Whose keys are known to ascend, those in the range; entry `first` has the first of them.
  void limit(std::uint64_t first, KeyRange range) {
    first_ = position_ = first;
    range_ = range;
    ascending_ = true;
  }

  // One for each mark: false where the key leaves all entries out.
  void skip(std::vector<bool> wanted) { wanted_ = std::move(wanted); }

  Result<CooRun> next_run() override {
    while (position_ < end_) {
      std::uint64_t count = std::min(keys_.block_entries(), end_ - position_);
      if (!wanted_.empty()) {
        const std::uint64_t mark = position_ / kMarkEntries;
        const std::uint64_t stretch = std::min((mark + 1) * kMarkEntries, end_) - position_;
        if (!wanted_[mark]) {
          position_ += stretch;
          tell_of(stretch);
          continue;
        }
        count = std::min(count, stretch);
      }
      BTF_TRY(check_cancelled(execution_));
      BTF_TRY(keys_.load(position_, count));
      if (keys_.sound() == 0) return keys_.out_of_range();
      const std::uint64_t first = std::exchange(position_, position_ + keys_.sound());
      tell_of(keys_.sound());
      BTF_ASSIGN(const CooRun run, chosen_run(first));
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
  void tell_of(std::uint64_t entries) const {
    if (execution_.progress)
      execution_.progress(coo_progress(entries * row_bytes_ + *stream_bytes(entries, bits_)));
  }

  Result<CooRun> chosen_run(std::uint64_t first) {
    CooRun run{
        .count = keys_.count(), .keys = keys_.keys(), .code_bytes = code_bytes_, .position = first};
    BTF_TRY(load_codes(first, keys_.sound()));
    run.codes = codes_.data();
    if (const std::uint64_t* const chosen = keys_.chosen()) choose(chosen, first, run);
    if (!ascending_ || run.count == 0) return run;
    if (!std::is_sorted(run.keys, run.keys + run.count) || last_ > run.keys[0])
      return file_changed();
    last_ = run.keys[run.count - 1];
    return within_range(run);
  }

  // In a number of entries that is not even there is half a byte at most.
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

  void choose(const std::uint64_t* chosen, std::uint64_t first, CooRun& run) {
    positions_.resize(run.count);
    for (std::uint64_t i = 0; i < run.count; ++i) {
      positions_[i] = first + chosen[i];
      std::memmove(codes_.data() + i * code_bytes_, codes_.data() + chosen[i] * code_bytes_,
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

// The entries from one mark to the next.
struct Stretch {
  std::uint64_t entries = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool ascending = true;

  void add(const std::uint64_t* keys, std::uint64_t count) {
    if (count == 0) return;
    if (entries == 0) first = last = keys[0];
    // All of them and no early end: what is common is quickest so.
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
  BTF_TRY(opened.look_over());
  return opened;
}

Status CooRecord::look_over() {
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
        for (std::uint64_t at = begin; at < end; at += own.sound()) {
          const std::uint64_t count = std::min(own.block_entries(), end - at);
          BTF_TRY(own.load(at, count));
          if (own.sound() < count) return own.out_of_range();
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
  // A function may leave entries out, and then there is no finding one by its key.
  if (key_.target<PlaceKey>() == nullptr)
    for (const Stretch& stretch : stretches) wanted_.push_back(stretch.entries > 0);
  if (!ascending_ || key_.target<PlaceKey>() == nullptr) return {};
  for (const Stretch& stretch : stretches) marks_.push_back(stretch.first);
  return {};
}

// The first entry whose key is not below this one.
Result<std::uint64_t> CooRecord::find(std::uint64_t key) const {
  const auto above =
      static_cast<std::uint64_t>(std::ranges::lower_bound(marks_, key) - marks_.begin());
  if (above == 0) return 0;
  std::uint64_t low = (above - 1) * kMarkEntries;  // its key is lower
  std::uint64_t high = std::min(above * kMarkEntries, record_->coo->nnz);
  CooKeys keys(*source_, *record_, key_);
  // The key of a mark is asked for most, and its entry is the first with it but for duplicates.
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

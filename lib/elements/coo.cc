#include "elements/coo.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "btf/try.h"
#include "core/buffer.h"
#include "core/checked_math.h"
#include "elements/coo_sort.h"
#include "elements/parallel.h"
#include "elements/row_major.h"
#include "formats/btf/wire.h"
#include "kernels/move/nibbles.h"

namespace btf {
namespace {

Result<bool> is_ascending(CooSource& entries) {
  std::uint64_t last = 0;
  bool ascending = true;
  for (;;) {
    BTF_ASSIGN(const std::optional<CooEntry> entry, entries.next());
    if (!entry) break;
    ascending = ascending && entry->key >= last;
    last = entry->key;
  }
  BTF_TRY(entries.rewind());
  return ascending;
}

// The entries in the order of the file, block by block.
class FileEntries final : public CooSource {
 public:
  FileEntries(const ByteSource& source, const TensorInfo& record, CooKey key,
              const Execution& execution)
      : source_(source),
        parts_(*record.coo),
        dims_(record.dims),
        bits_(info(*record.dtype).bits),
        key_(std::move(key)),
        place_(key_.target<PlaceKey>()),
        execution_(execution),
        index_(dims_.size()),
        block_entries_(std::max<std::uint64_t>(2, kBlockBytes / (8 * (dims_.size() + 1)) / 2 * 2)) {
  }

  Result<std::optional<CooEntry>> next() override {
    while (position_ != parts_.nnz) {
      const std::uint64_t in_block = position_ % block_entries_;
      if (in_block == 0) BTF_TRY(load_block());
      if (in_block < placed_) return CooEntry{places_[in_block], position_++, load_code(in_block)};
      const std::uint64_t rank = dims_.size();
      for (std::uint64_t d = 0; d < rank; ++d) {
        index_[d] = wire::load_u64(indices_.data() + (in_block * rank + d) * wire::kWord);
        if (index_[d] >= dims_[d]) return out_of_range(d);
      }
      const std::uint64_t position = position_++;
      if (const auto key = key_(index_)) return CooEntry{*key, position, load_code(in_block)};
    }
    return std::nullopt;
  }

  Status rewind() override {
    position_ = 0;
    return {};
  }

  // Is that the order of the keys, too?
  Result<bool> ascending() {
    if (place_ == nullptr) return is_ascending(*this);
    std::uint64_t last = 0;
    bool ascending = true;
    while (position_ != parts_.nnz) {
      BTF_TRY(load_block());
      // What is wrong is told as next() tells it.
      if (placed_ != places_.size()) return is_ascending(*this);
      for (const std::uint64_t place : places_) {
        ascending = ascending && place >= last;
        last = place;
      }
      position_ += placed_;
    }
    BTF_TRY(rewind());
    return ascending;
  }

 private:
  static constexpr std::uint64_t kBlockBytes = 256U << 10;

  Status load_block() {
    const std::uint64_t count = std::min(block_entries_, parts_.nnz - position_);
    const std::uint64_t row = dims_.size() * wire::kWord;
    BTF_TRY(source_.read_at(parts_.indices_offset + position_ * row,
                            std::span(indices_.reserve(count * row), count * row)));
    // Blocks have an even number of entries, so 4-bit codes start at a whole byte too.
    const std::uint64_t bytes = *stream_bytes(count, bits_);
    BTF_TRY(check_cancelled(execution_));
    if (execution_.progress) execution_.progress(coo_progress(count * row + bytes));
    find_places(count);
    return source_.read_at(parts_.values_offset + position_ * bits_ / 8,
                           std::span(values_.reserve(bytes), bytes));
  }

  // Of the block's entries, up to the first whose index is out of range.
  void find_places(std::uint64_t count) {
    placed_ = 0;
    if (place_ == nullptr) return;
    places_.resize(count);
    const std::uint64_t rank = dims_.size();
    const std::byte* at = indices_.data();
    for (; placed_ < count; ++placed_) {
      std::uint64_t place = 0;
      bool inside = true;
      for (std::uint64_t d = 0; d < rank; ++d, at += wire::kWord) {
        const std::uint64_t i = wire::load_u64(at);
        inside = inside && i < dims_[d];
        place += place_->along(d, i);
      }
      if (!inside) return;
      places_[placed_] = place;
    }
  }

  std::uint64_t load_code(std::uint64_t i) {
    if (bits_ < 8) {
      std::byte code{};
      unpack_nibbles(values_.data(), i, 1, &code);
      return std::to_integer<std::uint64_t>(code);
    }
    std::uint64_t code = 0;
    std::memcpy(&code, values_.data() + i * (bits_ / 8), bits_ / 8);
    return code;
  }

  std::unexpected<Error> out_of_range(std::uint64_t d) const {
    const std::uint64_t at = parts_.indices_offset + (position_ * dims_.size() + d) * wire::kWord;
    return malformed("coo-index-out-of-range", at,
                     "COO entry " + std::to_string(position_) + " has index " +
                         std::to_string(index_[d]) + " in dim " + std::to_string(d) + " of size " +
                         std::to_string(dims_[d]) + " (byte " + std::to_string(at) + ")");
  }

  const ByteSource& source_;
  CooParts parts_;
  Dims dims_;
  unsigned bits_;
  CooKey key_;
  const PlaceKey* place_;  // of key_, if it is one
  Execution execution_;
  Dims index_;
  std::vector<std::uint64_t> places_;  // of the block's first `placed_` entries
  std::uint64_t placed_ = 0;
  std::uint64_t block_entries_;
  std::uint64_t position_ = 0;
  Buffer indices_;
  Buffer values_;
};

class CanonicalEntries final : public CooSource {
 public:
  CanonicalEntries(std::unique_ptr<CooSource> entries, Duplicates duplicates)
      : entries_(std::move(entries)), duplicates_(duplicates) {}

  Result<std::optional<CooEntry>> next() override {
    if (!started_) {
      BTF_ASSIGN(ahead_, entries_->next());
      started_ = true;
    }
    if (!ahead_) return std::nullopt;
    CooEntry entry = *ahead_;
    BTF_ASSIGN(ahead_, entries_->next());
    if (ahead_ && ahead_->key == entry.key) BTF_TRY(merge(entry));
    return entry;
  }

  Status rewind() override {
    started_ = false;
    return entries_->rewind();
  }

 private:
  Status merge(CooEntry& entry) {
    while (ahead_ && ahead_->key == entry.key) {
      if (duplicates_ == Duplicates::last)
        entry.code = ahead_->code;
      else if (duplicates_ != Duplicates::first)
        return duplicate(entry, *ahead_);
      BTF_ASSIGN(ahead_, entries_->next());
    }
    return {};
  }

  static std::unexpected<Error> duplicate(const CooEntry& one, const CooEntry& other) {
    return std::unexpected(Error{ErrorCode::refused,
                                 "COO entries " + std::to_string(one.position) + " and " +
                                     std::to_string(other.position) + " have the same index",
                                 {},
                                 "coo-duplicate-index",
                                 0});
  }

  std::unique_ptr<CooSource> entries_;
  Duplicates duplicates_;
  bool started_ = false;
  std::optional<CooEntry> ahead_;
};

}  // namespace

std::unique_ptr<CooSource> file_entries(const ByteSource& source, const TensorInfo& record,
                                        CooKey key, const Execution& execution) {
  return std::make_unique<FileEntries>(source, record, std::move(key), execution);
}

Result<std::unique_ptr<CooSource>> sorted_entries(const ByteSource& source,
                                                  const TensorInfo& record, CooKey key,
                                                  const Execution& execution) {
  auto entries = std::make_unique<FileEntries>(source, record, std::move(key), execution);
  BTF_ASSIGN(const bool ascending, entries->ascending());
  if (ascending) return entries;
  return sort_entries(*entries, record.coo->nnz, execution.memory);
}

std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates) {
  return std::make_unique<CanonicalEntries>(std::move(entries), duplicates);
}

PlaceKey row_major_key(const Dims& dims) { return {row_major(dims)}; }

PlaceKey storage_key(const StridedLayout& storage) { return {{storage.strides, storage.split}}; }

std::uint64_t linear_key(const Dims& dims, std::span<const std::uint64_t> index) {
  std::uint64_t key = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) key = key * dims[d] + index[d];
  return key;
}

Dims index_of(const Dims& dims, std::uint64_t key) {
  Dims index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = key % dims[d];
    key /= dims[d];
  }
  return index;
}

CooKey edited_key(const EditChain& edits, CooKey key) {
  if (edits.empty()) return key;
  return [edits, key = std::move(key), index = Dims(), room = Dims()](
             std::span<const std::uint64_t> source) mutable -> std::optional<std::uint64_t> {
    index.assign(source.begin(), source.end());
    return edits.place(index, room) ? key(index) : std::nullopt;
  };
}

}  // namespace btf

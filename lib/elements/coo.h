// COO records as sorted streams. A record may hold its entries in any order; here they come in the
// order of a key, and memory stays bounded: what does not fit is sorted by way of a temporary file.
// They come in runs; CooEntries takes them one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/convert.h"
#include "core/edit_chain.h"
#include "elements/plan.h"

namespace btf {

struct CooEntry {
  std::uint64_t key = 0;
  std::uint64_t position = 0;  // in the file
  std::uint64_t code = 0;      // the value's bits
};

// From the entry's index, one number per dim, to what it is sorted by; nothing: it is left out.
using CooKey =
    std::function<std::optional<std::uint64_t>(std::span<const std::uint64_t> index)>;

// By strides: the row-major number, or the offset in a stored array. Keys of a file's entries are
// computed much faster by strides than by a function.
struct PlaceKey {
  Mapping mapping;

  std::optional<std::uint64_t> operator()(std::span<const std::uint64_t> index) const {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place += along(d, index[d]);
    return place;
  }
  std::uint64_t along(std::size_t dim, std::uint64_t i) const {
    if (!mapping.split || mapping.split->dim != dim) return i * mapping.strides[dim];
    const Split& split = *mapping.split;
    return i / split.lanes * mapping.strides[dim] + i % split.lanes * split.lane_stride;
  }
};

PlaceKey row_major_key(const Dims& dims);
PlaceKey storage_key(const StridedLayout& storage);

// Entries side by side, in the order in which a source has them.
struct CooRun {
  std::uint64_t count = 0;
  const std::uint64_t* keys = nullptr;
  const std::byte* codes = nullptr;          // `code_bytes` each
  std::uint64_t code_bytes = 0;              // DTypeInfo::buffer_bytes()
  std::uint64_t position = 0;                // of the first in the file
  const std::uint64_t* positions = nullptr;  // of each; nullptr: they follow the first

  CooEntry operator[](std::uint64_t i) const {
    CooEntry entry{keys[i], positions != nullptr ? positions[i] : position + i, 0};
    std::memcpy(&entry.code, code(i), code_bytes);
    return entry;
  }
  CooRun sub(std::uint64_t first, std::uint64_t n) const {
    return {n,          keys + first,     code(first),
            code_bytes, position + first, positions != nullptr ? positions + first : nullptr};
  }
  const std::byte* code(std::uint64_t i) const { return codes + i * code_bytes; }

  // The first of the entries from `from` on whose key the next one has too. The last one may have
  // its like in the run behind.
  std::uint64_t followed_by_its_like(std::uint64_t from) const {
    const std::uint64_t* const end = keys + count - 1;
    return static_cast<std::uint64_t>(
        std::mismatch(keys + from, end, keys + from + 1, std::not_equal_to<>{}).first - keys);
  }
};

class CooSource {
 public:
  virtual ~CooSource() = default;
  // Nothing, a run without entries, after the last entry. Ascending by key, entries of one key by
  // position. Valid until the next call. Entries before one that is an error come first.
  virtual Result<CooRun> next_run() = 0;
  virtual Status rewind() = 0;
};

// At most so many entries are collected for a run; one that is read from a file may have more.
inline constexpr std::uint64_t kCooRun = 1024;

// Collects entries for a run.
class CooBatch {
 public:
  explicit CooBatch(std::uint64_t code_bytes)
      : code_bytes_(code_bytes), keys_(kCooRun), positions_(kCooRun), codes_(kCooRun) {}

  void clear() { count_ = 0; }
  bool full() const { return count_ == kCooRun; }
  void add(const CooEntry& entry);
  CooRun run() const;

 private:
  std::uint64_t code_bytes_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> positions_;
  std::vector<std::uint64_t> codes_;  // room for those of any dtype
};

// The same one by one. Nothing after the last.
class CooEntries {
 public:
  explicit CooEntries(std::unique_ptr<CooSource> source) : source_(std::move(source)) {}

  Result<std::optional<CooEntry>> next();

 private:
  std::unique_ptr<CooSource> source_;
  CooRun run_;
  std::uint64_t at_ = 0;
};

// Puts entries into an array, stretch by stretch from front to back: their keys are offsets in it.
class CooFiller {
 public:
  explicit CooFiller(std::unique_ptr<CooSource> source) : source_(std::move(source)) {}

  // Those with keys from `first` on and below `first` + `count`; returns how many.
  Result<std::uint64_t> fill(std::uint64_t first, std::uint64_t count, std::byte* codes);

 private:
  std::unique_ptr<CooSource> source_;
  CooRun run_;
  std::uint64_t at_ = 0;
};

// One entry a key. Sums are another dtype's business too: coo_cast.h has them, here they are an
// error like any duplicate.
std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates = Duplicates::error);

// Row-major number of an index, and back.
std::uint64_t linear_key(const Dims& dims, std::span<const std::uint64_t> index);
Dims index_of(const Dims& dims, std::uint64_t key);

// `key` sees where the edits put an index of the record.
CooKey edited_key(const EditChain& edits, CooKey key);

}  // namespace btf

// Elements of single records; the plan, which turns two layouts of one shape into strided loops;
// COO entries as streams.
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
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/read.h"
#include "core/edit_chain.h"
#include "core/resources.h"
#include "formats/io/byte_source.h"

namespace btf {

// Fails if the dtype or the layout of the record is unknown.
Status check_known(const TensorInfo& record);

Result<std::vector<Element>> elements_at(const ByteSource& source, const TensorInfo& tensor,
                                         std::span<const Dims> indices);

// Reads elements of 8 bits or more of a dense tensor by their index in the stored array, also if
// their bytes are shuffled. Not thread-safe. The source must outlive it.
class StoredElements {
 public:
  // Elements that are stored without shuffling from byte `offset` on.
  StoredElements(const ByteSource& source, std::uint64_t offset, DType dtype);
  // The elements of a dense record.
  StoredElements(const ByteSource& source, const TensorInfo& record);

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out);

  // Their address if they are in memory in this form; nullptr if they have to be read.
  const std::byte* held(std::uint64_t first, std::uint64_t count) const;

  // The offset of an element in the source; of a shuffled one, that of its lowest byte.
  std::uint64_t place(std::uint64_t element) const;

 private:
  // A block of shuffled elements.
  struct Block {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Block block_of(std::uint64_t element) const;
  Status read_shuffled(const Block& block, std::uint64_t first, std::uint64_t count,
                       std::byte* out);

  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t width_;
  std::uint64_t block_ = 0;     // elements of a block; 0 if not shuffled
  std::uint64_t elements_ = 0;  // of the record, if shuffled
  Buffer planes_;
};

// How a logical index becomes an offset in elements: the strides of a StridedLayout without its
// shape.
struct Mapping {
  Dims strides;
  std::optional<Split> split;

  bool operator==(const Mapping&) const = default;
};

struct PlanAxis {
  std::uint64_t count = 0;
  std::uint64_t source_stride = 0;
  std::uint64_t target_stride = 0;

  bool operator==(const PlanAxis&) const = default;
};

// Loops over `axes`, outermost first, with the target's smallest stride last; without axes, one
// element. Adjacent axes that are contiguous on both sides are merged.
struct Region {
  std::uint64_t source_base = 0;
  std::uint64_t target_base = 0;
  std::vector<PlanAxis> axes;
};

// The plan: two arrangements of the same elements become plain strided loops without divisions.
// Covers every index below `counts` exactly once. If the count of a split dim is not a multiple of
// the lanes, the rest is a separate region. Empty if a count is 0.
std::vector<Region> make_plan(std::span<const std::uint64_t> counts, const Mapping& source,
                              const Mapping& target);

// A region as two-dimensional tiles, which a kernel runs at once. The inner axis is the target's
// innermost, and the outer one, of the other axes, the source's innermost.
struct Tiling {
  PlanAxis inner{1, 1, 1};
  PlanAxis outer{1, 1, 1};
  std::vector<PlanAxis> loops;  // the remaining axes, outermost first
};

Tiling tile_region(const Region& region);

// Calls run(source offset, target offset) for every tile.
template <typename Run>
void for_each_tile(const Region& region, const Tiling& tiling, Run&& run) {
  const std::vector<PlanAxis>& loops = tiling.loops;
  std::vector<std::uint64_t> index(loops.size(), 0);
  std::uint64_t source = region.source_base;
  std::uint64_t target = region.target_base;
  for (;;) {
    run(source, target);
    std::size_t d = loops.size();
    for (; d > 0; --d) {
      const PlanAxis& loop = loops[d - 1];
      source += loop.source_stride;
      target += loop.target_stride;
      if (++index[d - 1] < loop.count) break;
      source -= loop.count * loop.source_stride;
      target -= loop.count * loop.target_stride;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// An entry of a COO record. Entries are streamed in runs, in the order of the file or sorted by a
// key, in bounded memory: if necessary they are sorted in a temporary file.
struct CooEntry {
  std::uint64_t key = 0;
  std::uint64_t position = 0;  // in the file
  std::uint64_t code = 0;      // the value's bits
};

// Maps an entry's index to the key that it is sorted by; unset to leave the entry out.
using CooKey = std::function<std::optional<std::uint64_t>(std::span<const std::uint64_t> index)>;

// A key by strides: the row-major index, or the offset in a stored array. It is computed much
// faster than a key by any other function.
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

// Consecutive entries of a source.
struct CooRun {
  std::uint64_t count = 0;
  const std::uint64_t* keys = nullptr;
  const std::byte* codes = nullptr;          // `code_bytes` each
  std::uint64_t code_bytes = 0;              // DTypeInfo::buffer_bytes()
  std::uint64_t position = 0;                // of the first entry in the file
  const std::uint64_t* positions = nullptr;  // of each entry; nullptr if they are consecutive

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

  // The first entry from `from` on that has the same key as the next one; otherwise the last entry,
  // whose key may occur again in the next run.
  std::uint64_t first_duplicate(std::uint64_t from) const {
    const std::uint64_t* const end = keys + count - 1;
    return static_cast<std::uint64_t>(
        std::mismatch(keys + from, end, keys + from + 1, std::not_equal_to<>{}).first - keys);
  }
};

class CooSource {
 public:
  virtual ~CooSource() = default;
  // The next entries, ascending by key and then by position, valid until the next call; an empty
  // run after the last entry. Entries before an invalid one are returned before its error is.
  virtual Result<CooRun> next_run() = 0;
  virtual Status rewind() = 0;
};

// The most entries that are collected for a run; one that is read from a file may have more.
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
  std::vector<std::uint64_t> codes_;  // large enough for any dtype
};

// Reads entries one by one.
class CooEntries {
 public:
  explicit CooEntries(std::unique_ptr<CooSource> source) : source_(std::move(source)) {}

  // Unset after the last entry.
  Result<std::optional<CooEntry>> next();

 private:
  std::unique_ptr<CooSource> source_;
  CooRun run_;
  std::uint64_t at_ = 0;
};

// Stores entries into an array, whose offsets are their keys, part by part from front to back.
class CooFiller {
 public:
  explicit CooFiller(std::unique_ptr<CooSource> source) : source_(std::move(source)) {}

  // Stores the entries with keys in [first, first + count); returns their number.
  Result<std::uint64_t> fill(std::uint64_t first, std::uint64_t count, std::byte* codes);

 private:
  std::unique_ptr<CooSource> source_;
  CooRun run_;
  std::uint64_t at_ = 0;
};

// One entry for each key. Sums of duplicates depend on the target's dtype as well and are made
// in convert/tensor/coo.h; here Duplicates::sum fails as Duplicates::error does.
std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates = Duplicates::error);

// The row-major number of an index, and the index of a number.
std::uint64_t linear_key(std::span<const std::uint64_t> dims, std::span<const std::uint64_t> index);
Dims index_of(const Dims& dims, std::uint64_t key);

// Applies the edits to an index of the record, and `key` to the result.
CooKey edited_key(const EditChain& edits, CooKey key);

}  // namespace btf

// Elements of single records, and the plan: two layouts of one shape, solved into loops over
// strides.
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

// Checks shared by operations on single records.

// Refuses a record whose dtype or layout is unknown.
Status check_known(const TensorInfo& record);

Result<std::vector<Element>> elements_at(const ByteSource& source, const TensorInfo& tensor,
                                         std::span<const Dims> indices);

// The elements of a dense tensor by their number in the stored array, whole, whatever the layout
// did to their bytes.

// For types of 8 bits and more. Not for several threads at once. The source outlives it.
class StoredElements {
 public:
  // As they stand from byte `offset` on.
  StoredElements(const ByteSource& source, std::uint64_t offset, DType dtype);
  // Those of a dense record.
  StoredElements(const ByteSource& source, const TensorInfo& record);

  Status read(std::uint64_t first, std::uint64_t count, std::byte* out);

  // Where they are in memory as they are; nullptr: they have to be read.
  const std::byte* held(std::uint64_t first, std::uint64_t count) const;

  // The byte of the source where an element stands; of a shuffled one its lowest byte does.
  std::uint64_t place(std::uint64_t element) const;

 private:
  // The block that an element is in: its first element, and the number of elements.
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
  std::uint64_t block_ = 0;     // elements; 0: not shuffled
  std::uint64_t elements_ = 0;  // in all; shuffled ones
  Buffer planes_;
};

// The plan: two arrangements of the same logical elements become boxes of plain strided loops,
// without tails or divisions, folded where both sides are contiguous. Kernels run its tiles.

// How a logical index becomes an offset in elements; the strides of a StridedLayout without its
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

// A box of elements: the loops over `axes`, outermost first, the target's smallest stride last.
// No axes: one element. Neighbouring axes that run on in both sides are one axis.
struct Region {
  std::uint64_t source_base = 0;
  std::uint64_t target_base = 0;
  std::vector<PlanAxis> axes;
};

// Covers every index below `counts` exactly once. A split dim whose count is no multiple of the
// lanes gives a region of its own for the rest. Empty when a count is 0.
std::vector<Region> make_plan(std::span<const std::uint64_t> counts, const Mapping& source,
                              const Mapping& target);

// A region as two-dimensional tiles: the inner axis is the target's innermost, the outer one the
// source's innermost of the others, and the loops are what is left.
struct Tiling {
  PlanAxis inner{1, 1, 1};
  PlanAxis outer{1, 1, 1};
  std::vector<PlanAxis> loops;  // outermost first
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

// COO records as sorted streams. A record may hold its entries in any order; here they come in the
// order of a key, and memory stays bounded: what does not fit is sorted by way of a temporary file.
// They come in runs; CooEntries takes them one by one.

struct CooEntry {
  std::uint64_t key = 0;
  std::uint64_t position = 0;  // in the file
  std::uint64_t code = 0;      // the value's bits
};

// From the entry's index, one number per dim, to what it is sorted by; nothing: it is left out.
using CooKey = std::function<std::optional<std::uint64_t>(std::span<const std::uint64_t> index)>;

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

// One entry a key. Sums need the target's dtype (convert/tensor/coo.h) and are refused here, as an
// error like any other duplicate.
std::unique_ptr<CooSource> canonical_entries(std::unique_ptr<CooSource> entries,
                                             Duplicates duplicates = Duplicates::error);

// Row-major number of an index, and back.
std::uint64_t linear_key(const Dims& dims, std::span<const std::uint64_t> index);
Dims index_of(const Dims& dims, std::uint64_t key);

// `key` sees where the edits put an index of the record.
CooKey edited_key(const EditChain& edits, CooKey key);

}  // namespace btf

// COO records as sorted streams. A record may hold its entries in any order; here they come in the
// order of a key, and memory stays bounded: what does not fit is sorted by way of a temporary file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "btf/convert.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "core/edit_chain.h"
#include "elements/plan.h"
#include "formats/io/byte_source.h"

namespace btf {

struct CooEntry {
  std::uint64_t key = 0;
  std::uint64_t position = 0;  // in the file
  std::uint64_t code = 0;      // the value's bits
};

// From the entry's index, one number per dim, to what it is sorted by; nothing: it is left out.
using CooKey =
    std::function<std::optional<std::uint64_t>(std::span<const std::uint64_t> index)>;

// By strides: the row-major number, or the place in a stored array. The entries of a file are told
// by it much faster than by a function.
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

class CooSource {
 public:
  virtual ~CooSource() = default;
  // Nothing after the last entry. Ascending by key, entries of one key by position.
  virtual Result<std::optional<CooEntry>> next() = 0;
  virtual Status rewind() = 0;
};

// The entries in the order of the file. Checks every index against the dims.
std::unique_ptr<CooSource> file_entries(const ByteSource& source, const TensorInfo& record,
                                        CooKey key, const Execution& execution = {});

// The same, sorted. `record` must be a COO record of `source`; both outlive the result.
Result<std::unique_ptr<CooSource>> sorted_entries(const ByteSource& source,
                                                  const TensorInfo& record, CooKey key,
                                                  const Execution& execution);

// Entries are read up to three times: to see their order, and then for their indices and values.
// Each time tells of so much of the record as progress.
constexpr std::uint64_t coo_progress(std::uint64_t bytes) { return bytes / 3; }

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

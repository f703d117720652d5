// The entries of a COO record, in the order of the file or in that of a key.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"

namespace btf {

// The entries in the order of the file. Checks every index against the dims.
std::unique_ptr<CooSource> file_entries(const ByteSource& source, const TensorInfo& record,
                                        CooKey key, const Execution& execution = {});

// Entries are read up to three times: to see their order, and then for their indices and values.
// Each time reports so much of the record as progress.
constexpr std::uint64_t coo_progress(std::uint64_t bytes) { return bytes / 3; }

// Keys from `first` on and below `end`.
struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t end = UINT64_MAX;
};

// A COO record by the order of a key: all its indices are looked at once, with as many workers as
// there may be, and then its entries may be walked any number of times.
class CooRecord {
 public:
  // `record` must be a COO record of `source`; both outlive the result.
  static Result<CooRecord> open(const ByteSource& source, const TensorInfo& record, CooKey key,
                                const Execution& execution);

  // Keys, ascending, between which entries may be read by themselves: those of every so many
  // entries. None: they can be read as a whole only.
  std::span<const std::uint64_t> marks() const { return marks_; }

  // Sorted. A part of them only where there are marks. `source` and `record` outlive these too.
  Result<std::unique_ptr<CooSource>> entries(KeyRange range = {}) const;

 private:
  CooRecord(const ByteSource& source, const TensorInfo& record, CooKey key,
            const Execution& execution)
      : source_(&source), record_(&record), key_(std::move(key)), execution_(execution) {}

  Status look_over();
  Result<std::uint64_t> find(std::uint64_t key) const;

  const ByteSource* source_;
  const TensorInfo* record_;
  CooKey key_;
  Execution execution_;
  bool ascending_ = false;
  std::vector<std::uint64_t> marks_;
  std::vector<bool> wanted_;  // where a function is the key: entries between marks it has any of
};

// The same for one walk.
Result<std::unique_ptr<CooSource>> sorted_entries(const ByteSource& source,
                                                  const TensorInfo& record, CooKey key,
                                                  const Execution& execution);

}  // namespace btf

// The entries of a COO record, in the order of the file or sorted by a key.
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

// The entries in the order of the file. Every index is checked against the dims.
std::unique_ptr<CooSource> file_entries(const ByteSource& source, const TensorInfo& record,
                                        CooKey key, const Execution& execution = {});

// Entries are read up to three times: to find out their order, and then for their indices and their
// values. Each time reports this part of the bytes as progress.
constexpr std::uint64_t coo_progress(std::uint64_t bytes) { return bytes / 3; }

// The keys in [first, end).
struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t end = UINT64_MAX;
};

// A COO record in the order of a key. Its indices are scanned once, on several threads; then its
// entries can be read any number of times.
class CooRecord {
 public:
  // `record` must be a COO record of `source`. Both must outlive the result.
  static Result<CooRecord> open(const ByteSource& source, const TensorInfo& record, CooKey key,
                                const Execution& execution);

  // Ascending keys at regular distances: the entries between two of them can be read separately.
  // Empty if the entries can only be read as a whole.
  std::span<const std::uint64_t> marks() const { return marks_; }

  // The sorted entries; a range of them only if there are marks. `source` and `record` must outlive
  // the result.
  Result<std::unique_ptr<CooSource>> entries(KeyRange range = {}) const;

 private:
  CooRecord(const ByteSource& source, const TensorInfo& record, CooKey key,
            const Execution& execution)
      : source_(&source), record_(&record), key_(std::move(key)), execution_(execution) {}

  Status scan();
  Result<std::uint64_t> find(std::uint64_t key) const;

  const ByteSource* source_;
  const TensorInfo* record_;
  CooKey key_;
  Execution execution_;
  bool ascending_ = false;
  std::vector<std::uint64_t> marks_;
  // If the key is a function: for each mark, whether it keeps any of the entries up to the next
  // one.
  std::vector<bool> wanted_;
};

// The same for reading the entries once.
Result<std::unique_ptr<CooSource>> sorted_entries(const ByteSource& source,
                                                  const TensorInfo& record, CooKey key,
                                                  const Execution& execution);

}  // namespace btf

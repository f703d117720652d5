// The records of a damaged BTF file. A canonical file says where a record begins twice: in the
// offset table, and by where the record before it ends. So damage to one is distinguished from
// damage to the other, and a record that the table has lost is found behind the one before it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "btf/file.h"
#include "formats/btf/reader.h"
#include "formats/io/byte_source.h"

namespace btf {

// One record of the table. Its fault is not kept: lost() finds it again.
struct SalvagedRecord {
  enum class State : std::uint8_t { sound, unreadable, overlapping, in_doubt };

  std::uint64_t begin = 0;  // as the table says, unless it was followed
  std::uint64_t end = 0;    // of the payload; sound records
  // overlapping: the tensor it shares bytes with. in_doubt: bytes behind it that belong to none.
  std::uint64_t detail = 0;
  State state = State::unreadable;
  bool followed = false;  // found behind the record before it, the table's entry being unusable
  bool blank = false;     // in_doubt: all bytes of the header are zero
};

class BtfSalvage {
 public:
  // Looks at headers only. An error says that nothing can be found, or that reading failed.
  static Result<BtfSalvage> find(const ByteSource& source);

  const std::vector<SalvagedRecord>& records() const { return records_; }
  std::optional<std::uint64_t> stated_count() const { return stated_count_; }  // by the file

  Result<TensorInfo> tensor(std::uint64_t index) const {
    return headers_->at(index, records_[index].begin);
  }
  // Why a record that is not sound is not.
  Error fault(std::uint64_t index) const;

 private:
  // Where a record begins and ends that could be read.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  explicit BtfSalvage(const ByteSource& source) : source_(&source) {}

  Status choose_count();
  bool contiguous(std::uint64_t count) const;
  Status locate();
  void locate_one(std::uint64_t index, std::optional<std::uint64_t> behind,
                  std::optional<std::uint64_t> entry);
  void resolve_overlaps();
  Status look_behind();

  std::optional<Extent> probe(std::uint64_t offset);
  std::uint64_t table_end() const { return (records_.size() + 1) * 8; }
  bool in_file(std::uint64_t offset) const;
  std::uint64_t times_in_table(std::uint64_t offset) const;
  unsigned closes(const Extent& extent) const;
  unsigned score(const SalvagedRecord& record, bool opens) const;

  const ByteSource* source_;
  std::unique_ptr<BtfRecords> headers_;
  std::vector<SalvagedRecord> records_;
  std::vector<std::uint64_t> table_;  // entries that lie in the file, sorted
  std::vector<bool> opens_;           // the record begins where the one before it ends
  std::optional<std::uint64_t> stated_count_;
  std::optional<Error> trouble_;  // of reading, not of what was read
};

}  // namespace btf

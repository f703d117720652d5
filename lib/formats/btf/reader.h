// Reads BTF.
#pragma once

#include <cstdint>
#include <memory>

#include "core/checked_math.h"
#include "formats/interface/format.h"

namespace btf {

// A longer table of records is none: no file has that many.
inline constexpr std::uint64_t kMostBtfTensors = std::uint64_t{1} << 48;

// Records wherever they may begin, for who does not believe the offset table.
class BtfRecords {
 public:
  virtual ~BtfRecords() = default;
  // The record offset in the table.
  virtual Result<std::uint64_t> entry(std::uint64_t index) const = 0;
  // The record that begins there, checked against the file; it is said to be the tensor `index`.
  virtual Result<TensorInfo> at(std::uint64_t index, std::uint64_t offset) const = 0;
};

// Where the record ends, with its padding; of one whose dtype or layout is unknown, its header.
Checked btf_record_end(const TensorInfo& info);

// The table has `count` entries, which must lie in the source. The source outlives the result.
std::unique_ptr<BtfRecords> btf_records(const ByteSource& source, std::uint64_t count);

// Does the offset table fit the file?
Result<bool> offset_table_fits(const ByteSource& source);

// BTF has no magic number. Without tensors it has 8 bytes, or names behind them; else the table
// fits, and one of the first records can be where it says.
enum class BtfLook : std::uint8_t {
  none,
  no_record,  // the table fits
  sound,
};

Result<BtfLook> look_of_btf(const ByteSource& source);

Result<bool> recognizes_btf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source,
                                               const OpenRequest& request);

Result<bool> begins_as_btf(const ByteSource& beginning);
std::unique_ptr<StreamBound> btf_bound();

}  // namespace btf

// The BTF wire format, its name table, and the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "btf/attributes.h"
#include "btf/error.h"
#include "core/numbers.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"

namespace btf::wire {

// The BTF wire format, shared by reader and writer. docs/format.md specifies it.
//
//   FILE   = u64 num_tensors, u64 record_offset[num_tensors], record*
//   record = u64 rank, u8 dtype, u8 layout, u8 reserved[6], u64 dims[rank], payload, padding
//   COO payload = u64 nnz, u64 rank, u64 indices[nnz][rank], u64 nnz, dtype values[nnz]

inline constexpr std::uint64_t kWord = 8;           // bytes; also the alignment of records
inline constexpr std::uint64_t kRecordHeader = 16;  // rank, dtype, layout, reserved

inline constexpr std::uint64_t kDTypeAt = 8;  // offsets within a record
inline constexpr std::uint64_t kLayoutAt = 9;
inline constexpr std::uint64_t kReservedAt = 10;

inline std::uint64_t load_u64(const std::byte* bytes) { return load_little<std::uint64_t>(bytes); }

inline void store_u64(std::byte* bytes, std::uint64_t value) { store_little(bytes, value); }

// The name table on the wire, shared by its reader and writer. docs/format.md specifies it.
//
//   TABLE  = magic, u32 version, u32 flags, u64 num_tensors, u64 name bytes, u64 attribute bytes,
//   u64 0,
//            u32 name_end[num_tensors], names, attributes, zeros to a multiple of 8, FOOTER
//   FOOTER = u64 bytes of the table, u64 XXH64 of all before it, magic

inline constexpr std::string_view kNamesBegin =
    "\x89"
    "BTFN\r\n\x1a";
inline constexpr std::string_view kNamesEnd =
    "\x89"
    "BTFE\r\n\x1a";

inline constexpr std::uint32_t kNamesVersion = 1;
inline constexpr std::uint64_t kNamesHeader = 48;
inline constexpr std::uint64_t kNamesFooter = 24;
inline constexpr std::uint64_t kNameEnd = 4;  // bytes of an entry of name_end
inline constexpr std::uint64_t kMinNames = kNamesHeader + kNamesFooter;

inline constexpr std::uint64_t kLongestName = 65535;  // bytes
inline constexpr std::uint64_t kMaxNameBytes = UINT32_MAX;
inline constexpr std::uint64_t kMaxAttributeBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxTableBytes = std::uint64_t{8} << 30;

// Size of a whole table; unset if it is larger than a table may be.
inline Checked name_table_bytes(std::uint64_t tensors, std::uint64_t names,
                                std::uint64_t attributes) {
  if (names > kMaxNameBytes || attributes > kMaxAttributeBytes) return {};
  const Checked ends = checked_mul(tensors, kNameEnd);
  const Checked content = checked_add(checked_add(ends, kNamesHeader), names + attributes);
  const Checked bytes = checked_add(round_up(content, kWord), kNamesFooter);
  return bytes && *bytes <= kMaxTableBytes ? bytes : Checked();
}

}  // namespace btf::wire

namespace btf {

// The names of tensors after the last record of a BTF file, if it has any.

// The end of a record with its padding. An error with a finding if it cannot be read.
using RecordEnd = std::function<Result<std::uint64_t>(std::uint64_t index)>;

class NameTable {
 public:
  // Where the footer says that a table begins, independent of where records end; unset if it does
  // not. The end of the file is only read if the record with the highest number does not reach it.
  static Result<std::optional<std::uint64_t>> claimed_begin(const ByteSource& source,
                                                            std::uint64_t tensors,
                                                            const RecordEnd& record_end);

  // Unset if there is none. An error if the file cannot be read.
  static Result<std::optional<NameTable>> find(const ByteSource& source, std::uint64_t tensors,
                                               const RecordEnd& record_end);

  std::uint64_t begin() const { return begin_; }
  std::uint64_t tensors() const { return tensors_; }

  // Returns an error if the names cannot be used. The first call reads the whole table.
  Status usable();
  // Unset if the tensor has no name.
  Result<std::optional<std::string>> name(std::uint64_t index);

  Result<FileAttributes> attributes();
  // Returns true if reserved bytes and padding are zero.
  Result<bool> reserved_bytes_are_zero() const;

 private:
  NameTable(const ByteSource& source, std::uint64_t begin, std::uint64_t tensors)
      : source_(&source), begin_(begin), tensors_(tensors) {}

  std::uint64_t ends_begin() const;
  std::uint64_t names_begin() const;
  std::uint64_t attributes_begin() const { return names_begin() + name_bytes_; }
  std::uint64_t footer() const;
  Status read_header();
  Status check_sum() const;
  Status check_names();
  Status check_all();
  Result<std::string> text(std::uint64_t begin, std::uint64_t end);
  Result<std::uint64_t> name_end(std::uint64_t index);

  const ByteSource* source_;
  std::uint64_t begin_;  // offset in the file
  std::uint64_t tensors_;
  std::uint64_t name_bytes_ = 0;
  std::uint64_t attribute_bytes_ = 0;
  std::optional<Status> usable_;
  std::optional<Window> ends_;
  std::optional<Window> names_;
};

// Larger numbers of records are invalid: no file has that many.
inline constexpr std::uint64_t kMaxBtfTensors = std::uint64_t{1} << 48;

// Reads records at any offset, for callers that do not trust the offset table.
class BtfRecords {
 public:
  virtual ~BtfRecords() = default;
  // The offset of a record according to the table.
  virtual Result<std::uint64_t> entry(std::uint64_t index) const = 0;
  // The record at `offset`, checked against the file. The result has the given `index`.
  virtual Result<TensorInfo> at(std::uint64_t index, std::uint64_t offset) const = 0;
};

// The end of the record with its padding, or of its header if its dtype or layout is unknown.
Checked btf_record_end(const TensorInfo& info);

// The table has `count` entries, which must be within the source. The source must outlive the
// result.
std::unique_ptr<BtfRecords> btf_records(const ByteSource& source, std::uint64_t count);

// Returns true if the offset table fits the file.
Result<bool> offset_table_fits(const ByteSource& source);

// How much a file looks like BTF, which has no magic number. A file without tensors has 8 bytes,
// possibly followed by names. Otherwise its offset table must fit, and one of the first records
// must be possible at its offset.
enum class BtfLook : std::uint8_t {
  none,
  no_record,  // only the table fits
  sound,
};

Result<BtfLook> look_of_btf(const ByteSource& source);

Result<bool> recognizes_btf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source,
                                               const OpenRequest& request);

Result<bool> begins_as_btf(const ByteSource& beginning);
std::unique_ptr<StreamBound> btf_bound();

}  // namespace btf

// The interface of a file format: its row in the table, its reader, check and writer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/attributes.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/validate.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/stream_bound.h"

namespace btf {

// How every format is written: all tensors are announced first, so that the size of the file is
// known before it is created. Then they are written, in the same order unless the format has its
// own.

// A record's dtype, dims and layout, and the payload's size in bytes.
struct RecordShape {
  DType dtype{};
  std::uint8_t layout_code = 0;
  Dims dims;
  std::uint64_t payload = 0;
  std::string name{};
  bool named = false;  // false if the name is only that of its file, for formats that need one
};

class TensorWriter {
 public:
  virtual ~TensorWriter() = default;

  // Announces a tensor. An error if the format cannot hold it, or not together with the others.
  Status add(const RecordShape& record) {
    ++announced_;
    if (record.dims.size() <= kMaxRank) return announce(record);
    return fail(ErrorCode::unsupported, "the result has rank ", record.dims.size(),
                ", files hold at most ", kMaxRank);
  }
  // After all add() calls: the order of writing, by number of announcement.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order = own_order();
    if (!order.empty()) return order;
    order.resize(announced_);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // Sets attributes of the tensors, by index in the order of add(). A format drops those that it
  // cannot store.
  virtual void describe(const FileAttributes&) {}
  // The size of the whole file.
  virtual Result<std::uint64_t> total_bytes() const = 0;

  // Writes the bytes before the first record.
  virtual Status begin(ByteSink& sink) = 0;
  // Writes the bytes before the payload of the next record; returns the payload's offset.
  virtual Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) = 0;
  // Where the elements are written; nullptr if they go to the sink unchanged.
  virtual ByteSink* elements() { return nullptr; }
  // The number of bytes that the elements take in the file.
  virtual std::uint64_t data_bytes(const RecordShape& record) const { return record.payload; }
  // Writes the bytes after the payload.
  virtual Status end_record(ByteSink& sink) = 0;
  // Writes the bytes after the last record.
  virtual Status end(ByteSink&) { return {}; }

 private:
  virtual Status announce(const RecordShape& record) = 0;
  // Empty if the order is that of announcement.
  virtual std::vector<std::size_t> own_order() const { return {}; }

  std::size_t announced_ = 0;
};

// The checks of tensors that all formats share. Reports invalid tensors and, with the code
// `of_type`, those of types without a dtype. An error only if the system cannot read.
Status check_tensors(const TensorFile& file, FindingCode of_type, const FindingSink& report);

// Reads all elements of the valid tensors, since their text or stream may be damaged, and reports
// what is wrong.
Status check_elements(const TensorFile& file, const FindingSink& report);

// The neutral interface through which every format provides its tensors.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual std::uint64_t tensor_count() const = 0;
  virtual Result<TensorInfo> tensor(std::uint64_t index) const = 0;
  // The tensor's name in the file; unset if it has none. An error if the name cannot be read,
  // although the tensor itself may be valid.
  virtual Result<std::optional<std::string>> name(std::uint64_t) const { return std::nullopt; }
  // Other attributes of the tensors. An error if they cannot be read.
  virtual Result<FileAttributes> attributes() const { return FileAttributes(); }
  // Where a record begins, without checking it against the file. Unset if this is not known in
  // advance.
  virtual std::optional<std::uint64_t> record_offset(std::uint64_t) const { return std::nullopt; }
  // Returns true if open() made sure that tensors share no bytes, or if the format allows it.
  // Otherwise overlaps are looked for.
  virtual bool overlap_is_settled() const { return false; }
  // The source of a tensor's elements if it is not the file's source. The offsets in its TensorInfo
  // refer to it. It may be created at the first call.
  virtual Result<const ByteSource*> elements(std::uint64_t) const { return nullptr; }
  // The same for the bytes of a tensor as they are stored, also of a dtype that only this format has.
  virtual Result<const ByteSource*> stored(std::uint64_t) const { return nullptr; }
  // In formats that store scales with the codes: the tensor as decoded numbers, which elements()
  // then provides; a tensor without scales is unchanged. Unset in other formats.
  virtual Result<std::optional<TensorInfo>> dequantized(std::uint64_t) const {
    return std::nullopt;
  }
  // An error, whose finding is a warning, if the file contains numbers other than the listed
  // tensors.
  virtual Status check_complete() const { return {}; }
  // Paths of the other files that were opened for tensors.
  virtual std::vector<std::string> other_files() const { return {}; }
  // An error if other files that it reads have changed.
  virtual Status check_unchanged() const { return {}; }
};

struct OpenRequest {
  std::string_view path;
  const OpenOptions& options;
};

struct WriteRequest {
  std::string_view path;
  const TensorSpec* spec = nullptr;  // the spec of raw bytes
  bool as_uint = false;
  std::string_view format = {};  // the requested format
  bool compressed = false;
};

// The file extensions of a format.
struct NameEnding {
  std::string_view ending;
  std::string_view title;  // describes such a file, with an article
  bool written = true;     // outputs with this extension get this format
};

struct FormatRow {
  std::string_view name;
  std::string_view title;  // as users write it
  unsigned traits = 0;     // FormatTrait
  // The first one with `written` is the extension of outputs.
  std::array<NameEnding, 3> endings{};
  Result<bool> (*recognizes)(const ByteSource& source, const OpenRequest& request);
  // The source must outlive the reader.
  Result<std::unique_ptr<TensorReader>> (*open)(const ByteSource& source,
                                                const OpenRequest& request);
  // Reports what is wrong or unusual in the structure of the file and its records.
  Status (*check)(const TensorFile& file, const FindingSink& report);
  // nullptr for formats that are only read.
  std::unique_ptr<TensorWriter> (*writer)(const WriteRequest& request) = nullptr;
  // Returns true if the first bytes of a stream, up to 64, are of this format. nullptr if
  // `recognizes` can decide it from them.
  Result<bool> (*begins)(const ByteSource& beginning) = nullptr;
  // The number of bytes of a stream that are needed; nullptr if all of them are.
  std::unique_ptr<StreamBound> (*bound)() = nullptr;
  // The size that the file must have according to the spec or the name; nullptr if the file itself
  // tells its size.
  std::optional<std::uint64_t> (*expected_bytes)(const OpenRequest& request) = nullptr;
  // The finding for a file with such a name whose beginning is of no known format.
  std::optional<FindingCode> misnamed{};

  bool has(FormatTrait trait) const { return (traits & trait) != 0; }
  bool writes_under(const NameEnding& name) const { return writer != nullptr && name.written; }
  // The extension of its outputs; empty if it has none.
  std::string_view ending() const {
    const auto* const own =
        std::ranges::find_if(endings, [&](const NameEnding& name) { return writes_under(name); });
    return own == endings.end() ? std::string_view() : own->ending;
  }
};

}  // namespace btf

// The interface of a file format: its row in the table, its reader, its check, its writer, and how
// much of a stream it needs.
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
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {

// How much of a stream is needed, by its first bytes: a pipe need not end, and a few bytes of
// zstd can stand for terabytes of zeros.

// Bytes behind the last tensor are odd, but no reason not to read the others. So many are taken.
inline constexpr std::uint64_t kContentSlack = 1U << 20;

// Instead of a size: there is no bound.
inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// How much content is needed, as known from the headers read so far.
class ContentExtent {
 public:
  // More than `room` cannot be kept.
  explicit ContentExtent(std::uint64_t room) : room_(room) {}

  // All bytes up to `end` are part of what the headers list.
  void need(std::uint64_t end) {
    least_ = std::max(least_, end);
    if (end > room_)
      beyond_room_ = std::max(beyond_room_, end);
    else
      allow(checked_add(end, kContentSlack).value_or(kUnlimited));
  }
  // They may be there, and need not.
  void allow(std::uint64_t end) { most_ = std::max(most_, end); }

  std::uint64_t most() const { return most_; }
  std::uint64_t least() const { return least_; }
  std::uint64_t room() const { return room_; }
  // Bytes that are needed and more than there is room for; 0: none.
  std::uint64_t beyond_room() const { return beyond_room_; }

 private:
  std::uint64_t room_;
  std::uint64_t most_ = kContentSlack;
  std::uint64_t least_ = 0;
  std::uint64_t beyond_room_ = 0;
};

// A format's bound for a stream, by its beginning. Headers that are not sound say nothing about the
// size, and are no error here: the reader reports them.
class StreamBound {
 public:
  virtual ~StreamBound() = default;

  // Reads what the headers in `content` say so far. Called again and again while it grows.
  virtual Status take(const ByteSource& content, ContentExtent& extent) = 0;

  // The subject of "... needs N bytes".
  virtual std::string_view whose() const = 0;

  // The bytes without which nothing of it can be used, as far as known; 0: parts can be.
  virtual std::uint64_t needed(const ContentExtent&) const { return 0; }

  // Bytes that the end of `frames` compressed frames must not come before; 0: that is not known.
  virtual std::uint64_t least(const ContentExtent&, const ByteSource&, std::uint64_t) const {
    return 0;
  }

  // False: a part is of an unknown size, so that the end cannot be known.
  virtual bool complete() const { return true; }
};

// The one way in which every format takes tensors: all are announced first, so that the size of the
// file is known before it is created; then they are written, in the same order if the format has
// none of its own.

// A record's dtype, dims and layout, and the payload's size in bytes.
struct RecordShape {
  DType dtype{};
  std::uint8_t layout_code = 0;
  Dims dims;
  std::uint64_t payload = 0;
  std::string name{};
  bool named = false;  // the tensor's own; else made of its file's, for formats that need one
};

class TensorWriter {
 public:
  virtual ~TensorWriter() = default;

  // Announces a tensor. An error says that the format cannot hold it, or not with the others.
  Status add(const RecordShape& record) {
    ++announced_;
    if (record.dims.size() <= kMaxRank) return announce(record);
    return fail(ErrorCode::unsupported, "the result has rank " +
                                            std::to_string(record.dims.size()) +
                                            ", files hold at most " + std::to_string(kMaxRank));
  }
  // After the last one: in which order they are written, by the numbers of their announcements.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order = own_order();
    if (!order.empty()) return order;
    order.resize(announced_);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // Attributes of the tensors, by index in the order of add(). A format leaves out those that it
  // cannot hold.
  virtual void describe(const FileAttributes&) {}
  // Size of the whole file.
  virtual Result<std::uint64_t> total_bytes() const = 0;

  // Writes the bytes before the first record.
  virtual Status begin(ByteSink& sink) = 0;
  // Writes the bytes before the payload of the next record; returns the payload's offset.
  virtual Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) = 0;
  // Where its elements are written, if not to the sink as they are.
  virtual ByteSink* elements() { return nullptr; }
  // Bytes that its elements take in the file.
  virtual std::uint64_t data_bytes(const RecordShape& record) const { return record.payload; }
  // Writes the bytes after the payload.
  virtual Status end_record(ByteSink& sink) = 0;
  // Writes the bytes after the last record.
  virtual Status end(ByteSink&) { return {}; }

 private:
  virtual Status announce(const RecordShape& record) = 0;
  // Empty: as announced.
  virtual std::vector<std::size_t> own_order() const { return {}; }

  std::size_t announced_ = 0;
};

// The checks of tensors that all formats share.

// Reports tensors that are not sound and, as `of_type`, those of types that no dtype stands for. An
// error: the system refused to read.
Status check_tensors(const TensorFile& file, FindingCode of_type, const FindingSink& report);

// Reads all elements of the tensors that are sound, for the text or the stream that they are in may
// be none; that is reported too.
Status check_elements(const TensorFile& file, const FindingSink& report);

// The parts of a file format: reader, check, writer, and how it is recognized.

// The one neutral form in which every format hands out its tensors.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual std::uint64_t tensor_count() const = 0;
  virtual Result<TensorInfo> tensor(std::uint64_t index) const = 0;
  // The tensor's name in the file; nothing: it has none. An error: the name cannot be read;
  // the tensor may be sound.
  virtual Result<std::optional<std::string>> name(std::uint64_t) const { return std::nullopt; }
  // Other attributes of the tensors. An error: they cannot be read.
  virtual Result<FileAttributes> attributes() const { return FileAttributes(); }
  // Where a record begins; not checked against the file. Nothing if that is not known beforehand.
  virtual std::optional<std::uint64_t> record_offset(std::uint64_t) const { return std::nullopt; }
  // Did open() see to it that tensors share no bytes, or may they? Else that is looked for.
  virtual bool overlap_is_settled() const { return false; }
  // The source of a tensor's elements, if not the file's source as it is; the offsets in its
  // TensorInfo are offsets in it. It may be made at the first call.
  virtual Result<const ByteSource*> elements(std::uint64_t) const { return nullptr; }
  // In a format with scales among the codes: the tensor as decoded numbers, which elements()
  // then gives; a tensor without scales is unchanged. Nothing: in any other format.
  virtual Result<std::optional<TensorInfo>> dequantized(std::uint64_t) const {
    return std::nullopt;
  }
  // An error if the file holds numbers besides the tensors that it lists: where. Its finding is a
  // warning.
  virtual Status check_complete() const { return {}; }
  // Paths of the other files that it has opened for the tensors that were asked for.
  virtual std::vector<std::string> other_files() const { return {}; }
  // An error if other files than the source, which it reads too, were changed meanwhile.
  virtual Status check_unchanged() const { return {}; }
};

struct OpenRequest {
  std::string_view path;
  const OpenOptions& options;
};

struct WriteRequest {
  std::string_view path;
  const TensorSpec* spec = nullptr;  // of raw bytes
  bool as_uint = false;
  std::string_view format = {};  // its name, if it was said
  bool compressed = false;
};

// The extensions of such files.
struct NameEnding {
  std::string_view ending;
  std::string_view title;  // of what has such a name, with an article
  bool written = true;     // an output with such a name becomes this format
};

struct FormatRow {
  std::string_view name;
  std::string_view title;  // as people write it
  unsigned traits = 0;     // FormatTrait
  // The first that is written is the one that outputs get.
  std::array<NameEnding, 3> endings{};
  Result<bool> (*recognizes)(const ByteSource& source, const OpenRequest& request);
  // The source outlives the reader.
  Result<std::unique_ptr<TensorReader>> (*open)(const ByteSource& source,
                                                const OpenRequest& request);
  // Reports what is wrong or odd with the structure of the file and of its records.
  Status (*check)(const TensorFile& file, const FindingSink& report);
  // nullptr: it is read only.
  std::unique_ptr<TensorWriter> (*writer)(const WriteRequest& request) = nullptr;
  // Do the first bytes of a stream, up to 64, say that it is of this format? nullptr:
  // as `recognizes` says of them.
  Result<bool> (*begins)(const ByteSource& beginning) = nullptr;
  // How much of such a stream is needed; nullptr: all of it.
  std::unique_ptr<StreamBound> (*bound)() = nullptr;
  // Bytes that the file has if the spec or the name is right; nullptr: the file says it itself.
  std::optional<std::uint64_t> (*expected_bytes)(const OpenRequest& request) = nullptr;
  // The finding of a file that has such a name and begins as no known format.
  std::optional<FindingCode> misnamed{};

  bool has(FormatTrait trait) const { return (traits & trait) != 0; }
  bool writes_under(const NameEnding& name) const { return writer != nullptr && name.written; }
  // The extension of its outputs; empty: it has none of its own.
  std::string_view ending() const {
    const auto* const own =
        std::ranges::find_if(endings, [&](const NameEnding& name) { return writes_under(name); });
    return own == endings.end() ? std::string_view() : own->ending;
  }
};

}  // namespace btf
